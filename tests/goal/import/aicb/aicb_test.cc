// AICB's tables: what rows say, whom collectives are over, and messages between stages.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "goal/import/aicb/steps.h"
#include "goal/import/aicb/trace.h"
#include "goal/text/text.h"
#include "goal/workload/compute/device.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

const std::string kHead =
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,"
    "count\n";

std::string collective(const std::string& type, const std::string& group, const std::string& size,
                       std::uint64_t bytes) {
  return "CommType." + type + ",CommGroup." + group + "," + size + "," + std::to_string(bytes) +
         ",step,None,0,,None,None,None,1\n";
}
std::string message(const std::string& way, std::uint64_t bytes) {
  return (way.starts_with("send") ? "CommType.isend" : "CommType.irecv") +
         std::string(",CommGroup.pp_group,1,") + std::to_string(bytes) + ",step,None,None," + way +
         ",None,None,None,1\n";
}
std::string computation(const std::string& shapes, const std::string& elapsed) {
  return "CommType.computation,CommGroup.all,None," + shapes + ",forward.l,None,None,None," + elapsed +
         ",None,None,1\n";
}
const std::string kEpochEnd = "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n";

Graph made(const std::string& text, const AicbOptions& options = {}) {
  std::vector<Anomaly> anomalies;
  return aicb_graph(parse_aicb(text, "x"), options, "x", anomalies);
}

std::string refused(const std::string& text, const AicbOptions& options = {}) {
  try {
    made(text, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::uint64_t told(const std::string& text, const std::string& name, const AicbOptions& options = {}) {
  std::vector<Anomaly> anomalies;
  aicb_graph(parse_aicb(text, "x"), options, "x", anomalies);
  for (const Anomaly& anomaly : anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

std::uint64_t computed(const Graph& graph) {
  std::uint64_t ns = 0;
  for (OpIndex i = 0; i < graph.rank(0).ops(); ++i) {
    if (graph.rank(0).kind(i) == OpKind::kCalc) ns += graph.rank(0).value(i);
  }
  return ns;
}

}  // namespace

TEST_CASE("aicb: rows follow each other, over the groups of Megatron's order") {
  const std::string text = "[rank0 ~ rank3],,,\n" + kHead + computation("1", "500") +
                           collective("all_reduce", "tp_group", "2", 1000) +
                           collective("all_gather", "dp_group", "2", 2001) + computation("1", "70.4");
  const std::string rank = R"({
a: calc 500
b: allreduce 1000b cpu 1 comm TP
b requires a
c: calc 0
c requires b
c requires a
d: allgather 1001b cpu 2 comm DP
d requires c
e: calc 70
e requires d
e requires c
}
)";
  std::string expected =
      "num_ranks 4\ncomm 1 \"tp 0\" { 0 1 }\ncomm 2 \"tp 1\" { 2 3 }\ncomm 3 \"dp 0\" { 0 2 }\n"
      "comm 4 \"dp 1\" { 1 3 }\n";
  for (int r = 0; r < 4; ++r) {
    std::string of = rank;
    of.replace(of.find("TP"), 2, std::to_string(1 + r / 2));
    of.replace(of.find("DP"), 2, std::to_string(3 + r % 2));
    expected += "rank " + std::to_string(r) + " " + of;
  }
  CHECK(made(text) == parse_text(expected, "y"));
}

TEST_CASE("aicb: bytes of each kind of collective are a rank's whole buffer") {
  const struct {
    const char* type;
    CollectiveKind kind;
    std::uint64_t bytes;
  } kinds[] = {
      {"all_reduce", CollectiveKind::kAllreduce, 802},
      {"all_gather_into_tensor", CollectiveKind::kAllgather, 201},
      {"reduce_scatter", CollectiveKind::kReduceScatter, 201},
      {"all_to_all", CollectiveKind::kAlltoall, 201},
      {"broadcast", CollectiveKind::kBcast, 802},
      {"reduce", CollectiveKind::kReduce, 802},
      {"barrier", CollectiveKind::kBarrier, 0},
  };
  for (const auto& [type, kind, bytes] : kinds) {
    INFO(type);
    const Graph graph = made(kHead + collective(type, "all", "4", 802));
    REQUIRE(graph.ranks() == 4);
    REQUIRE(graph.collectives().size() == 1);
    CHECK(graph.collectives()[0].kind == kind);
    CHECK(graph.collectives()[0].bytes == bytes);
  }
}

TEST_CASE("aicb: a column named twice is refused, by the place of the second") {
  CHECK(refused("comm_type,comm_group,comm_group_size,msg_size,msg_size\nall_reduce,tp_group,2,8,16\n") ==
        "x:1:47: found 'msg_size'; expected each column once: this one stands before too");
}

TEST_CASE("aicb: experts, and sizes that the file leaves out") {
  const std::string text =
      kHead + collective("all_reduce", "tp_group", "2", 8) + collective("all_reduce", "dp_group", "4", 8) +
      collective("all_to_all", "ep_group", "None", 8) + collective("all_reduce", "ep_dp_group", "None", 8);
  CHECK(refused(text) == "x: uses groups ep, and does not say how many ranks they have; --ep tells");
  const Graph graph = made(text, {.expert = 2});
  std::map<std::string, std::vector<Rank>> members;
  for (const Communicator& comm : graph.communicators()) members[comm.name] = comm.ranks;
  CHECK(members["ep 0"] == std::vector<Rank>{0, 2});
  CHECK(members["edp 1"] == std::vector<Rank>{1, 5});
  CHECK(members["dp 0"] == std::vector<Rank>{0, 2, 4, 6});
}

TEST_CASE("aicb: stages with rows of their own send to each other") {
  const std::string text = "[ pp_stage0: [rank0, rank1] ]\n" + kHead + computation("1", "10") +
                           message("send_next", 64) + message("recv_next", 32) + computation("1", "20") +
                           "[ pp_stage1: [rank2, rank3] ]\n" + kHead + message("recv_prev", 64) +
                           computation("1", "30") + message("send_prev", 32);
  CHECK(made(text) == parse_text(R"(num_ranks 4
rank 0 {
a: calc 10
b: send 64b to 2 cpu 1
b requires a
c: recv 32b from 2 cpu 2
c requires a
d: calc 20
d requires c
d requires a
}
rank 1 {
a: calc 10
b: send 64b to 3 cpu 1
b requires a
c: recv 32b from 3 cpu 2
c requires a
d: calc 20
d requires c
d requires a
}
rank 2 {
a: recv 64b from 0 cpu 1
b: calc 30
b requires a
c: send 32b to 0 cpu 2
c requires b
}
rank 3 {
a: recv 64b from 1 cpu 1
b: calc 30
b requires a
c: send 32b to 1 cpu 2
c requires b
}
)",
                                 "y"));
  CHECK(refused(text + message("recv_prev", 1)) ==
        "x: stage 0 sends 1 messages to the next, which receives 2, and receives 1 of 1");
  std::string swapped = text;
  swapped.replace(swapped.find("rank1"), 5, "rank2");
  CHECK(refused(swapped) == "x:1:1: expected the 2 ranks from 0 on, those of stage 0");
}

TEST_CASE("aicb: rows of one stage that don't fit its neighbors' are left out, and told") {
  const std::string text = kHead + collective("all_reduce", "pp_group", "2", 8) +
                           collective("all_reduce", "dp_group", "2", 8) + message("send_next", 64);
  CHECK(told(text, "messages_without_partner") == 1);
  const std::string both = text + message("recv_prev", 64);
  CHECK(told(both, "messages_without_partner") == 0);
  const Graph graph = made(both);  // the last stage only receives
  CHECK(graph.rank(0).kind(graph.rank(0).ops() - 1) == OpKind::kSend);
  CHECK(graph.rank(2).kind(graph.rank(2).ops() - 2) == OpKind::kRecv);
}

TEST_CASE("aicb: times in nanoseconds, in milliseconds in a log, by a device where there is none") {
  const std::string rows = kHead + computation("1", "2.5") + collective("barrier", "all", "2", 0);
  CHECK(computed(made(rows)) == 3);
  CHECK(computed(made(rows, {.time = AicbTime::kMilliseconds})) == 2'500'000);
  const std::string measured = rows + "CommType.all_reduce,CommGroup.all,2,8,s,None,None,,0.1,1.0,1.0,1\n";
  CHECK(computed(made(measured)) == 2'500'000);
  const std::string shapes =
      kHead + computation("((4096 2 5120) (5120 1920))", "None") + collective("barrier", "all", "2", 0);
  CHECK(computed(made(shapes)) == 0);
  CHECK(told(shapes, "compute_without_time") == 1);
  const Device& h100 = find_device("h100");
  const double ns = h100.gemm_ns({.m = 8192, .n = 1920, .k = 5120});
  CHECK(static_cast<double>(computed(made(shapes, {.device = &h100}))) == Approx(ns).margin(1));
  CHECK(told(shapes, "reckoned_computations", {.device = &h100}) == 1);
  const std::string quoted = kHead + computation("\"((4096, 2, 5120), (5120, 1920))\"", "None") +
                             collective("barrier", "all", "2", 0);
  CHECK(computed(made(quoted, {.device = &h100})) == computed(made(shapes, {.device = &h100})));
}

TEST_CASE("aicb: setting up may be left out") {
  const std::string text = kHead + collective("broadcast", "dp_group", "4", 1000) + kEpochEnd +
                           collective("all_reduce", "dp_group", "4", 8) + kEpochEnd;
  CHECK(told(text, "set_up") == 1);
  CHECK(told(text, "no_computations") == 1);
  CHECK(made(text).rank(0).ops() == 4);
  CHECK(told(text, "set_up_left_out", {.skip_init = true}) == 1);
  CHECK(made(text, {.skip_init = true}).rank(0).ops() == 2);
}

TEST_CASE("aicb: messages need the number of stages") {
  const std::string text = kHead + collective("all_reduce", "dp_group", "2", 8) + message("send_next", 64) +
                           message("recv_prev", 64);
  CHECK(refused(text) ==
        "x:3: is a message between stages of a pipeline, of which the file does not say how many there are; "
        "--pp tells");
  CHECK(made(text, {.pipeline = 3}).ranks() == 6);
  CHECK(told(text, "messages_without_partner", {.pipeline = 1}) == 2);
  // A column that says it holds.
  std::string sized = text;
  for (std::size_t at = 0; (at = sized.find("pp_group,1,", at)) != std::string::npos;) sized[at + 9] = '3';
  CHECK(made(sized) == made(text, {.pipeline = 3}));
}

TEST_CASE("aicb: errors say where and what was expected") {
  CHECK(refused("") == "x: the file has no rows");
  CHECK(refused("comm_type,comm_group,stage\n") == "x:1:1: there is no column msg_size");
  CHECK(refused(collective("all_reduce", "tp_group", "2", 8)) ==
        "x:1:1: expected the names of columns, like comm_type,comm_group,comm_group_size,msg_size,…");
  CHECK(refused(kHead + collective("all_reduce", "xp_group", "2", 8)) ==
        "x:2:21: found 'CommGroup.xp_group'; expected tp_group, dp_group, pp_group, ep_group, ep_dp_group, "
        "ep_tp_group, "
        "embedding_group or all");
  CHECK(refused(kHead + "CommType.all_reduce,CommGroup.all,2,many,s,None,None,,None,None,None,1\n") ==
        "x:2:37: found 'many'; expected bytes (msg_size), a whole number from 0 to 1e+18");
  CHECK(refused(kHead + collective("gossip", "all", "2", 8))
            .starts_with("x:2:1: found 'CommType.gossip'; expected all_reduce, "));
  CHECK(refused(kHead + collective("all_reduce", "all", "2", 8) + collective("all_reduce", "all", "3", 8)) ==
        "x:3:35: group world has 3 ranks, and had 2 before");
  CHECK(refused(kHead + message("send_up", 8))
            .starts_with("x:2:54: found 'send_up'; expected send_next or send_prev"));
  CHECK(refused(kHead + "CommType.all_reduce,CommGroup.all\n") ==
        "x:2:1: 2 fields, where there are 12 columns");
  CHECK(refused("[rank0 ~ rank5]\n" + kHead + collective("all_reduce", "dp_group", "4", 8)) ==
        "x: says that groups dp have 4 ranks; 6 ranks with tp 1, pp 1 and ep 1 make 6");
  CHECK(refused("[rank0 ~ rank9999999]\n[rank0 ~ rank9999999]\n") ==
        "x:2:1: more than 16777216 ranks are named");
  CHECK(refused(kHead + kEpochEnd) == "x: does not say how many ranks there are; --ranks tells");
}

TEST_CASE("aicb: a row cut at any field is refused") {
  const std::string row = collective("all_reduce", "all", "2", 8);
  for (std::size_t at = 0; at < row.size(); ++at) {
    if (row[at] != ',') continue;
    INFO(at);
    CHECK(refused(kHead + row.substr(0, at) + "\n").starts_with("x:2:1: "));
  }
}

}  // namespace weft::goal
