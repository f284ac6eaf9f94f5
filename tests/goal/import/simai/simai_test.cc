// SimAI's workloads: what lines say, who takes part in which collective, and what waits for what.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "goal/import/simai/steps.h"
#include "goal/import/simai/workload_file.h"
#include "goal/import/training_steps/groups.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

const std::string kHead = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: ";
const std::string kLayer = "l -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";

std::string refused(const std::string& text, const SimaiOptions& options = {}) {
  try {
    std::vector<Anomaly> anomalies;
    simai_graph(parse_simai(text, "x"), options, "x", anomalies);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Graph made(const std::string& text, const SimaiOptions& options = {}) {
  std::vector<Anomaly> anomalies;
  return simai_graph(parse_simai(text, "x"), options, "x", anomalies);
}

std::uint64_t told(const std::string& text, const std::string& name, const SimaiOptions& options = {}) {
  std::vector<Anomaly> anomalies;
  simai_graph(parse_simai(text, "x"), options, "x", anomalies);
  for (const Anomaly& anomaly : anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

// Bytes that a rank has in the buffers of its collectives, by the first word of the communicator's name: what
// a file's own numbers add up to.
std::map<std::string, std::uint64_t> buffers(const Graph& graph, Rank rank) {
  std::map<std::string, std::uint64_t> sums;
  const RankView view = graph.rank(rank);
  for (OpIndex i = 0; i < view.ops(); ++i) {
    if (view.kind(i) != OpKind::kCollective) continue;
    const Collective& of = view.collective(i);
    const std::string& name = graph.communicators()[of.comm].name;
    const bool whole = of.kind == CollectiveKind::kAllreduce || of.kind == CollectiveKind::kBcast;
    sums[name.substr(0, name.find(' '))] += of.bytes * (whole ? 1 : graph.communicator_size(of.comm));
  }
  return sums;
}

}  // namespace

TEST_CASE("groups: Megatron's order, each rank in one group of every axis") {
  const TrainingLayout layout{.tensor = 2, .data = 4, .expert = 2, .pipeline = 2};
  GraphBuilder builder;
  TrainingGroups groups(layout, builder);
  const auto ranks_of = [&](TrainingAxis axis, Rank rank) {
    std::vector<Rank> ranks;
    for (Rank other = 0; other < layout.ranks(); ++other) {
      if (layout.group(axis, other) == layout.group(axis, rank)) ranks.push_back(other);
    }
    return ranks;
  };
  using Ranks = std::vector<Rank>;
  CHECK(ranks_of(TrainingAxis::kTensor, 3) == Ranks{2, 3});
  CHECK(ranks_of(TrainingAxis::kExpert, 3) == Ranks{1, 3});
  CHECK(ranks_of(TrainingAxis::kExpertTensor, 3) == Ranks{0, 1, 2, 3});
  CHECK(ranks_of(TrainingAxis::kExpertData, 3) == Ranks{3, 7});
  CHECK(ranks_of(TrainingAxis::kData, 3) == Ranks{1, 3, 5, 7});
  CHECK(ranks_of(TrainingAxis::kPipeline, 3) == Ranks{3, 11});
  CHECK(ranks_of(TrainingAxis::kExpert, 15) == Ranks{13, 15});
  groups.add(TrainingAxis::kExpert);
  CHECK(groups.count() == 8);
}

TEST_CASE("simai: bytes and times that no collective uses are told") {
  const auto unread = [](const std::string& layers) {
    std::string text;
    for (const auto& [name, times] :
         parse_simai(kHead + "2 ep: 1 pp: 1 all_gpus: 2\n" + layers, "x").unread) {
      text += name + " " + std::to_string(times) + "; ";
    }
    return text;
  };
  CHECK(unread("1\nl -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 7\n").empty());
  CHECK(unread("1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n").empty());
  CHECK(unread("2\nl -1 1 ALLREDUCE 8 1 NONE 5 1 NONE 6 7\nm -1 1 NONE 8 1 NONE 0 1 NONE 0 7\n") ==
        "bytes of NONE 3; update time without a collective 1; ");
}

TEST_CASE("simai: one layer of a transformer, and what waits for what") {
  const std::string text = kHead + "2 ep: 1 pp: 1 all_gpus: 2\n1\n" +
                           "layer -1 10 ALLREDUCE 1000 20 ALLGATHER 2001 30 ALLREDUCE 4000 7\n";
  // The group of weights has one rank; 2001 bytes of two are 1001 each.
  CHECK(made(text) == parse_text(R"(num_ranks 2
comm 1 "tp 0" { 0 1 }
rank 0 {
a: calc 10
b: allreduce 1000b cpu 1 comm 1
b requires a
c: calc 27
c requires b
c requires a
d: allgather 1001b cpu 1 comm 1
d requires c
d requires b
e: calc 37
e requires d
e requires c
}
rank 1 {
a: calc 10
b: allreduce 1000b cpu 1 comm 1
b requires a
c: calc 27
c requires b
c requires a
d: allgather 1001b cpu 1 comm 1
d requires c
d requires b
e: calc 37
e requires d
e requires c
}
)",
                                 "y"));
  CHECK(told(text, "collectives_of_one_rank") == 1);
}

TEST_CASE("simai: bytes of each group are the file's own sums") {
  const std::string text = kHead +
                           "2 ep: 2 pp: 2 vpp: 8 ga: 1 all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 "
                           "pp_comm 64\n4\n"
                           "a -1 1 NONE 0 1 NONE 0 1 ALLGATHER 400 100\n"
                           "b -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER_DP_EP 800 100\n"
                           "c -1 1 ALLTOALL_EP 160 1 ALLTOALL_EP 240 1 NONE 0 100\n"
                           "d -1 1 ALLGATHER 60 1 REDUCESCATTER 80 1 NONE 0 100\n";
  const Graph graph = made(text);
  CHECK(graph.ranks() == 16);
  for (Rank rank = 0; rank < 16; ++rank) {
    CHECK(buffers(graph, rank) ==
          std::map<std::string, std::uint64_t>{{"dp", 400}, {"edp", 800}, {"ep", 400}, {"tp", 140}});
  }
  CHECK(told(text, "stages_not_told_apart") == 2);
  CHECK(told(text, "assumed_gathered_bytes") == 2);
}

TEST_CASE("simai: bytes of ALLGATHER are each rank's in ASTRA-sim's files, or as one says") {
  const std::string text = "MODEL\n2\n" + kLayer + "l -1 1 ALLGATHER 100 1 ALLREDUCE 50 1 ALLREDUCE 9 1\n";
  CHECK(buffers(made(text, {.ranks = 4}), 0)["world"] == 450);
  CHECK(buffers(made(text, {.ranks = 4, .gathered = GatheredBytes::kTotal}), 0)["world"] == 150);
  CHECK(told(text, "unissued_collectives", {.ranks = 4}) == 1);  // of weight gradients
}

TEST_CASE("simai: data parallelism computes weight gradients first, and waits for them in the next pass") {
  const std::string text =
      "DATA\n2\nl -1 1 NONE 0 2 NONE 0 4 ALLREDUCE 8 3\nm -1 10 NONE 0 20 NONE 0 40 NONE 0 0\n";
  // One pass: 1 + 10 forward, 40 + 20 of m, 4 of l, and then l's collective; two: forward waits for it.
  const Graph one = made(text, {.ranks = 2});
  CHECK(one.rank(0).ops() == 3);
  CHECK(one.rank(0).value(0) == 75);
  const Graph two = made(text, {.ranks = 2, .passes = 2});
  REQUIRE(two.rank(0).ops() == 6);
  CHECK(two.rank(0).value(3) == 75);
  CHECK(two.rank(0).dependency_counts() == std::vector<std::uint32_t>{0, 1, 1, 2, 2, 1});
}

TEST_CASE("simai: recomputation goes from a checkpoint to the layer that needs it") {
  const std::string text = kHead + "1 checkpoints: 1 1 checkpoint_initiates: 1 3\n4\n" +
                           "a -1 1 NONE 0 0 NONE 0 0 NONE 0 0\nb -1 10 NONE 0 0 NONE 0 0 NONE 0 0\n"
                           "c -1 100 NONE 0 0 NONE 0 0 NONE 0 0\nd -1 1000 NONE 0 0 NONE 0 0 NONE 0 0\n";
  const Graph graph = made(text, {.ranks = 1});
  REQUIRE(graph.rank(0).ops() == 1);
  CHECK(graph.rank(0).value(0) == 1111 + 110);
}

TEST_CASE("simai: dimensions of a machine") {
  const std::string layers = "\n2\n" + kLayer + "l -1 1 ALLREDUCE 10 1 NONE 0 1 ALLREDUCE 500 1\n";
  using Sums = std::map<std::string, std::uint64_t>;
  const SimaiOptions options{.ranks = 8, .first_dimension = 2};
  CHECK(buffers(made("HYBRID_DATA_MODEL" + layers, options), 0) == Sums{{"dim0", 10}, {"dim1", 500}});
  CHECK(buffers(made("HYBRID_MODEL_DATA" + layers, options), 0) == Sums{{"dim1", 10}, {"dim0", 500}});
  CHECK(made("HYBRID_DATA_MODEL" + layers, options).communicators()[1].ranks == std::vector<Rank>{0, 1});
  const Graph custom = made(
      "HYBRID_CUSTOMIZED\n1\nl -1 1 ALLREDUCE 10 1 NONE 0 1 ALLREDUCE 500 1 HYBRID_MODEL_DATA\n", options);
  CHECK(buffers(custom, 0) == Sums{{"dim1", 10}, {"dim0", 500}});
}

TEST_CASE("simai: DLRM exchanges embeddings beside the bottom layers") {
  const std::string text =
      "HYBRID_DLRM 1\n3\ne -1 5 ALLTOALL 80 5 ALLTOALL 40 5 NONE 0 0\nb -1 7 NONE 0 7 NONE 0 7 ALLREDUCE 16 "
      "0\n"
      "t -1 9 NONE 0 9 NONE 0 9 ALLREDUCE 32 0\n";
  const Graph graph = made(text, {.ranks = 4});
  CHECK(buffers(graph, 0) == std::map<std::string, std::uint64_t>{{"world", 168}});
  const RankView rank = graph.rank(0);
  // e; exchange; b; (wait) t and its weight gradients; allreduce; t's input gradients; exchange; …
  CHECK(rank.value(0) == 5);
  CHECK(rank.kind(1) == OpKind::kCollective);
  CHECK(rank.value(2) == 7);
  CHECK(rank.value(3) == 18);
  CHECK(rank.dependency_counts()[3] == 2);
}

TEST_CASE("simai: errors say line, column, what was found and what was expected") {
  CHECK(refused("DATAA\n1\n" + kLayer) ==
        "x:1:1: found 'DATAA'; expected a kind of parallelism, such as DATA or "
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD");
  CHECK(refused("DATA\nmany\n") ==
        "x:2:1: found 'many'; expected the number of layers, a whole number from 1 to 16777216");
  CHECK(refused("DATA\n2\n" + kLayer) == "x:3: the file ends behind 1 layers, and line 2 tells of 2");
  CHECK(refused("DATA\n1\n" + kLayer + kLayer) ==
        "x:4:1: there are more than the 1 layers that line 2 tells");
  CHECK(
      refused("DATA\n1\nl -1 1 REDUCE 0 1 NONE 0 1 NONE 0 1\n") ==
      "x:3:8: found 'REDUCE'; expected the collective of forward: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, "
      "ALLTOALL or BROADCAST, with _EP or _DP_EP behind it for groups of experts");
  CHECK(refused("DATA\n1\nl -1 1 NONE 0 1 NONE 0 1 NONE -4 1\n") ==
        "x:3:31: found '-4'; expected bytes of the collective of weight gradients, a whole number from 0 to "
        "1152921504606846976");
  CHECK(refused("DATA\n1\nl -1 1 NONE 0 1 NONE 0 1 NONE 0\n") ==
        "x:3:32: found the end of the line; expected nanoseconds of the update, a whole number from 0 to "
        "1000000000000000000");
  CHECK(refused("DATA\n1\n" + kLayer) ==
        "x: does not say how many GPUs there are (all_gpus: in line 1); --ranks tells");
  CHECK(refused(kHead + "3 all_gpus: 8\n1\n" + kLayer) ==
        "x: 8 ranks can't be divided by 3 of model_parallel_NPU_group, pp 1 and ep 1");
  CHECK(refused(kHead + "1 checkpoints: 0 checkpoint_initiates: 1 0\n1\n" + kLayer) ==
        "x:1:100: no layer before this one is a checkpoint");
  CHECK(refused("HYBRID_DLRM 1\n1\n" + kLayer, {.ranks = 2}) ==
        "x: the last bottom layer is 1, and there are 1 layers");
}

TEST_CASE("simai: a line cut anywhere is refused, and so is one with any word damaged") {
  const std::string head = kHead + "2 all_gpus: 4\n1\n";
  const std::string line = "layer -1 10 ALLREDUCE 1000 20 ALLREDUCE 2000 30 ALLREDUCE 4000 7";
  CHECK(refused(head + line) == "");
  std::size_t words = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != ' ') continue;
    ++words;
    INFO(at);
    CHECK(refused(head + line.substr(0, at)).starts_with("x:3:"));
    CHECK(refused(head + line.substr(0, at + 1) + "?" + line.substr(at + 1)).starts_with("x:3:"));
  }
  CHECK(words == 11);
}

}  // namespace weft::goal
