// Profiles of PyTorch's profiler: a small one worked out by hand, real ones, and what is refused.
#include "goal/import/kineto/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "goal/check/check.h"
#include "goal/import/json/byte_stream.h"
#include "goal/import/kineto/execution_trace.h"
#include "goal/import/kineto/partners.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/import/kineto/profiles.h"

namespace weft::goal {
namespace {

using Catch::Contains;

std::string message(const fs::path& path, const KinetoOptions& options = {}) {
  try {
    import_kineto(path, options, nullptr);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("kineto: kernels, a collective and waits, worked out by hand") {
  const fs::path at = folder("hand");
  for (int rank = 0; rank < 2; ++rank) {
    write(at / fmt::format("rank{}.json", rank), rank, 2,
          {event("cuda_runtime", "cudaLaunchKernel", 1, 10, 5, "\"correlation\": 1"),
           event("kernel", "a", 7, 20, 30, "\"stream\": 7, \"correlation\": 1"),
           event("cpu_op", "record_param_comms", 1, 30, 10, comm("allreduce", 1000)),
           event("cuda_runtime", "cudaLaunchKernel", 1, 35, 3, "\"correlation\": 2"),
           event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 9, 55, 100,
                 "\"stream\": 9, \"correlation\": 2"),
           event("cuda_runtime", "cudaStreamWaitEvent", 1, 45, 1, "\"correlation\": 3"),
           event("cuda_runtime", "cudaLaunchKernel", 1, 50, 2, "\"correlation\": 4"),
           event("kernel", "b", 7, 160, 20, "\"stream\": 7, \"correlation\": 4"),
           event("cuda_runtime", "cudaDeviceSynchronize", 1, 60, 125, "\"correlation\": 5"),
           event("cpu_op", "aten::add", 1, 185, 15)});
  }
  PackInfo info;
  const Graph graph = import_kineto(at, {}, &info);
  // Kernel a: idle 10 us from its launch, 30 us. The collective: behind a (until 50) and its launch (35),
  // idle 5. Kernel b: behind the collective (155), idle 5, 20 us. The host: 25 + 15 + 10 us, waits until b
  // ends (180), 5 us until the call returns, 15 us.
  const std::string rank = R"(l1: calc 40000 cpu 1
l2: calc 25000
l3: calc 15000
l3 requires l2
l4: calc 5000 cpu 2
l4 requires l1
l4 requires l2
l5: allreduce 4000b elem 4 cpu 2
l5 requires l4
l6: calc 25000 cpu 1
l6 requires l1
l6 requires l3
l6 requires l5
l7: calc 10000
l7 requires l3
l8: calc 5000
l8 requires l5
l8 requires l6
l8 requires l7
l9: calc 15000
l9 requires l8
)";
  CHECK(to_text(graph) == "num_ranks 2\n\nrank 0 {\n" + rank + "}\n\nrank 1 {\n" + rank + "}\n");
  CHECK(anomalies(info, "unexplained_gpu_idle_ns") == 2 * 20'000);
  CHECK(anomalies(info, "inferred_stream_waits") == 2 * 2);
  CHECK(info.metadata.at("traced_elapsed_ns") == "190000");
}

TEST_CASE("kineto: sizes that are null are not known, and a size without a type is told") {
  const auto imported = [](const std::string& sizes) {
    const fs::path at = folder("sizes");
    const std::string args = "\"Collective name\": \"allreduce\", " + sizes + "\"Group size\": 2";
    for (int rank = 0; rank < 2; ++rank)
      write(at / fmt::format("rank{}.json", rank), rank, 2, call(args, 0, 1));
    PackInfo info;
    const Graph graph = import_kineto(at, {}, &info);
    return std::pair(collectives(graph), info);
  };
  const auto [none, null] =
      imported("\"In msg nelems\": null, \"Out msg nelems\": null, \"dtype\": \"Float\", ");
  CHECK(none.empty());
  CHECK(anomalies(null, "communication_of_unknown_size") == 2);
  const auto [some, untyped] = imported("\"In msg nelems\": 1000, \"Out msg nelems\": 1000, ");
  CHECK(some == std::map<std::string, int>{{"allreduce 4000", 2}});
  CHECK(anomalies(untyped, "unknown_types") == 2);
}

TEST_CASE("kineto: Gloo, 4 ranks, as recorded") {
  PackInfo info;
  const Graph graph = import_kineto("tests/data/kineto/gloo", {}, &info);
  // The gradients of 256x256 + 256 + 256x64 + 64 floats, once a step, on every rank.
  CHECK(collectives(graph) == std::map<std::string, int>{{"allreduce 328960", 3 * 4}});
  CHECK(check(graph).clean());
  CHECK(anomalies(info, "communication_of_unknown_size") == 0);
  CHECK(anomalies(info, "thread_waits") > 0);
}

TEST_CASE("kineto: NCCL on 2 GPUs, one rank at hand") {
  const fs::path path = "tests/data/kineto/nccl_step.json.gz";
  CHECK_THAT(message(path), Contains("the profile of rank 1 is missing (1 of 2 ranks have one); --alike"));
  PackInfo info;
  const Graph graph = import_kineto(path, {.alike = true}, &info);
  CHECK(graph.ranks() == 2);
  // Elements that the kernels' arguments tell, of 4 bytes, and of 8 for the counters of batch norm.
  CHECK(collectives(graph) == std::map<std::string, int>{{"allreduce 26550272", 2},
                                                         {"allreduce 9724160", 2},
                                                         {"allreduce 8196000", 2},
                                                         {"allreduce 31502336", 2},
                                                         {"allreduce 26255360", 2},
                                                         {"bcast 212480", 2},
                                                         {"bcast 424", 2}});
  CHECK(check(graph).clean());
  CHECK(anomalies(info, "copied_ranks") == 1);
}

TEST_CASE("kineto: joined with an execution trace") {
  // The profile without what its calls say of themselves: what the execution trace of the same program says.
  const fs::path at = folder("joined");
  ByteStream bytes("tests/data/kineto/nccl_step.json.gz");
  std::string text;
  while (!bytes.at_end()) text += bytes.take();
  for (std::size_t i = 0; (i = text.find("\"Collective name\"", i)) != text.npos;)
    text.replace(i, 12, "\"Without    ");
  std::ofstream(at / "rank0.json") << text;
  PackInfo info;
  KinetoOptions options{.alike = true};
  CHECK(collectives(import_kineto(at, options, &info)).empty());
  CHECK(anomalies(info, "communication_of_unknown_size") == 7);
  options.execution_traces = "tests/data/kineto/resnet_execution_trace.json.gz";
  PackInfo joined;
  const Graph graph = import_kineto(at, options, &joined);
  CHECK(collectives(graph) ==
        collectives(import_kineto("tests/data/kineto/nccl_step.json.gz", options, nullptr)));
  CHECK(anomalies(joined, "communication_of_unknown_size") == 0);
  CHECK(anomalies(joined, "calls_of_execution_trace") == 7);
  CHECK(anomalies(joined, "assumed_roots") == 0);  // the profiler of that time does not tell roots
  const ExecutionTrace trace = read_execution_trace(options.execution_traces);
  CHECK(trace.schema == "1.1.0-chakra.0.0.4");
  CHECK(trace.calls.size() == 27);
  REQUIRE(trace.groups.size() == 1);
  CHECK(trace.groups[0].size == 2);
}

TEST_CASE("kineto: an execution trace of schema 1.0, and what is none") {
  const fs::path at = folder("traces");
  std::ofstream(at / "et.json")
      << R"({"schema": "1.0.1", "nodes": [{"name": "record_param_comms", "id": 7, "rf_id": 9,
"inputs": [[3, 4, 0, 12, 4, "cuda:0"], 5, ["1", "tp"], 0, "all_to_allv", [4, 8], [6, 2], 0, 1, 2],
"outputs": [[5, 6, 0, 8, 4, "cuda:0"]]}]})";
  const ExecutionTrace trace = read_execution_trace((at / "et.json").string());
  const CommCall& call = trace.calls.at(9);
  CHECK(call.collective == CollectiveKind::kAlltoall);
  CHECK(call.in_bytes == 48);
  CHECK(call.out_bytes == 32);
  CHECK(call.in_split == std::vector<std::uint64_t>{4, 8});
  CHECK(call.group.name == "1");
  CHECK(call.group.size == 2);
  KinetoNotes notes;
  CHECK(collective_of(call, kWorld, 2, 0, notes).counts == std::vector<std::uint64_t>{16, 32});
  CHECK(collective_of(call, kWorld, 2, 0, notes).receive_counts == std::vector<std::uint64_t>{24, 8});
  std::ofstream(at / "new.json") << R"({"schema": "2.0.0", "nodes": []})";
  CHECK_THROWS_WITH(read_execution_trace((at / "new.json").string()),
                    Contains("schema '2.0.0'; expected 1.0 or 1.1"));
  write(at / "rank0.json", 0, 1, {event("cpu_op", "x", 1, 0, 1)});
  KinetoOptions options{.execution_traces = at.string()};
  fs::remove(at / "new.json");
  CHECK_THAT(message(at / "rank0.json", options), Contains("schema ''"));
}

TEST_CASE("kineto: DLRM on 8 GPUs, whose profiler tells sizes in annotations only") {
  PackInfo info;
  const Graph graph = import_kineto(fs::path("tests/data/kineto/dlrm"), {}, &info);
  CHECK(graph.ranks() == 8);
  CHECK(anomalies(info, "assumed_splits") == 40);  // all the all-to-alls
  CHECK(collectives(graph) == std::map<std::string, int>{{"allreduce 1576964", 8},
                                                         {"allreduce 448", 8},
                                                         {"allreduce 907840", 8},
                                                         {"alltoall 3072", 16},
                                                         {"alltoall 24", 8},
                                                         {"alltoall 192", 8},
                                                         {"alltoall 1696", 8}});
  CHECK(check(graph).clean());
}

TEST_CASE("kineto: messages of a group are carried out by one kernel") {
  const fs::path at = folder("messages");
  for (int rank = 0; rank < 2; ++rank) {
    const std::string peer = std::to_string(1 - rank);
    std::vector<std::string> events = {
        event("cpu_op", "record_param_comms", 1, 1, 2, comm("send", 10, ", \"Dst Rank\": " + peer)),
        event("cpu_op", "record_param_comms", 1, 4, 2, comm("recv", 20 - 10, ", \"Src Rank\": " + peer))};
    events.push_back(event("cuda_runtime", "cudaLaunchKernel", 1, 8, 2, "\"correlation\": 1"));
    events.push_back(
        event("kernel", "ncclDevKernel_SendRecv(x)", 9, 12, 10, "\"stream\": 9, \"correlation\": 1"));
    write(at / fmt::format("rank{}.json", rank), rank, 2, events);
  }
  const Graph graph = import_kineto(at, {}, nullptr);
  const std::string text = to_text(graph);
  CHECK_THAT(text, Contains("send 40b to 1") && Contains("recv 40b from 1") && Contains("send 40b to 0"));
  CHECK(check(graph).clean());
  fs::remove(at / "rank1.json");
  CHECK_THAT(message(at, {.alike = true}), Contains("rank 0 sends messages to single ranks"));
}

TEST_CASE("kineto: process groups of ranks without a profile") {
  const fs::path at = folder("groups");
  std::vector<std::string> events;
  append(events, call(comm("allreduce", 8, R"(, "Process Group Ranks": "[0, 1]")"), 0, 1));
  append(events, call(comm("_allgather_base", 16, R"(, "Process Group Ranks": "[0, 2, 4, 6]")", 4), 50, 2));
  write(at / "rank0.json", 0, 8, events);
  const Graph graph = import_kineto(at, {.alike = true}, nullptr);
  std::set<std::vector<Rank>> groups;
  for (const Communicator& communicator : graph.communicators()) groups.insert(communicator.ranks);
  CHECK(groups ==
        std::set<std::vector<Rank>>{{}, {0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2, 4, 6}, {1, 3, 5, 7}});
  CHECK(check(graph).clean());
  // Ranks 1 and 3 leave open which ranks the others' group has.
  append(events, call(comm("allreduce", 8, R"(, "Process Group Ranks": "[0, 3]")"), 90, 3));
  write(at / "rank0.json", 0, 8, events);
  CHECK_THAT(message(at, {.alike = true}), Contains("does not say what the group of rank 1"));
}

TEST_CASE("kineto: shares of an allgather and a reduce-scatter that differ") {
  // 1000 and 1500 floats in, 2500 out, and the reverse.
  const auto sizes = [](const char* name, int in, int out) {
    return fmt::format(R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, )"
                       R"("dtype": "Float", "Group size": 2)",
                       name, in, out);
  };
  const fs::path at = folder("uneven");
  for (int rank = 0; rank < 2; ++rank) {
    const int share = rank == 0 ? 1000 : 1500;
    std::vector<std::string> events;
    if (rank == 0) append(events, call(comm("allreduce", 3), 0, 1));  // the other's profile lacks it
    append(events, call(sizes("all_gather", share, 2500), 50, 2));
    append(events, call(sizes("reduce_scatter", 2500, share), 100, 3));
    append(events, call(sizes("_allgather_base", 7, 14), 150, 4));
    write(at / fmt::format("rank{}.json", rank), rank, 2, events);
  }
  const Graph graph = import_kineto(at, {}, nullptr);
  CHECK(check(graph).clean());
  for (Rank rank = 0; rank < 2; ++rank) {
    std::vector<std::string> found;
    const RankView view = graph.rank(rank);
    for (OpIndex i = 0; i < view.ops(); ++i) {
      if (view.kind(i) != OpKind::kCollective) continue;
      const Collective& made = view.collective(i);
      found.push_back(fmt::format("{} {} [{}]", name(made.kind), made.bytes, fmt::join(made.counts, " ")));
    }
    CHECK(found == std::vector<std::string>{"allgather 0 [4000 6000]", "reduce_scatter 0 [4000 6000]",
                                            "allgather 28 []"});
  }
  // Equal shares that don't add up are taken, and told.
  for (const int rank : {0, 1}) {
    write(at / fmt::format("rank{}.json", rank), rank, 2, call(sizes("all_gather", 1000, 2500), 0, 1));
  }
  PackInfo info;
  CHECK(collectives(import_kineto(at, {}, &info)) == std::map<std::string, int>{{"allgather 4000", 2}});
  CHECK(anomalies(info, "sizes_that_do_not_fit") == 2);
  // What both have in all does not fit their shares.
  write(at / "rank0.json", 0, 2, call(sizes("all_gather", 1000, 2500), 0, 1));
  write(at / "rank1.json", 1, 2, call(sizes("all_gather", 1600, 2500), 0, 1));
  CHECK_THAT(message(at), Contains("rank 0's collective 0 on a process group is 'all_gather' of 10000 bytes "
                                   "in all, but the shares of its 2 ranks, 4000 bytes here, have 10400"));
  write(at / "rank0.json", 0, 2, call(sizes("reduce_scatter", 2500, 1250), 0, 1));
  write(at / "rank1.json", 1, 2, call(sizes("reduce_scatter", 2400, 1200), 0, 1));
  CHECK_THAT(message(at),
             Contains("'reduce_scatter' of 9600 bytes, but rank 0's is 'reduce_scatter' of 10000"));
}

TEST_CASE("kineto: profiles that begin and end at different calls") {
  const fs::path at = folder("ends");
  std::vector<std::string> events;
  append(events, call(comm("allreduce", 1), 0, 1));
  append(events, call(comm("broadcast", 2), 50, 2));
  write(at / "rank0.json", 0, 2, events);
  append(events, call(comm("allreduce", 3), 100, 3));
  write(at / "rank1.json", 1, 2, events);
  PackInfo info;
  CHECK(check(import_kineto(at, {}, &info)).clean());
  CHECK(anomalies(info, "communication_without_partner") == 1);
  write(at / "rank0.json", 0, 2, call(comm("allreduce", 5), 0, 1));
  CHECK_THAT(message(at),
             Contains("rank 1's collective 0 on a process group is 'allreduce' of 4 bytes, but rank "
                      "0's is 'allreduce' of 20"));
}

TEST_CASE("kineto: a folder of folders with profiles says which") {
  const fs::path at = folder("steps_of_a_run");
  fs::create_directories(at / "iteration_10");
  write(at / "iteration_10" / "rank0_trace.json", 0, 1, {event("cpu_op", "aten::mm", 1, 0, 5)});
  CHECK_THAT(message(at), Contains("no profiles here, but in its folder 'iteration_10'"));
  CHECK(message(at / "iteration_10").empty());
}

TEST_CASE("kineto: steps") {
  const fs::path at = folder("steps");
  std::vector<std::string> events = {event("user_annotation", "ProfilerStep#3", 1, 0, 40),
                                     event("user_annotation", "ProfilerStep#4", 1, 40, 100)};
  append(events, call(comm("allreduce", 1, "", 1), 0, 1));
  append(events, call(comm("allreduce", 2, "", 1), 50, 2));
  write(at / "rank0.json", 0, 1, events);
  CHECK(collectives(import_kineto(at, {.first_step = 4, .last_step = 4}, nullptr)) ==
        std::map<std::string, int>{{"allreduce 8", 1}});
  CHECK_THAT(message(at, {.first_step = 4, .last_step = 5}),
             Contains("has 1 of steps 4 to 5; its ProfilerStep ranges are: 3, 4"));
}

TEST_CASE("kineto: what can't be read") {
  const fs::path at = folder("wrong");
  std::ofstream(at / "rank0.json") << "{\"traceEvents\": [\n{\"ph\": \"X\",}]}";
  CHECK_THAT(message(at), Contains("rank0.json:2: byte 29: not JSON"));
  std::ofstream(at / "rank0.json") << "{\"traceEvents\": [3]}";
  CHECK_THAT(message(at), Contains("expected an event in braces"));
  std::ofstream(at / "rank0.json") << "{\"traceEvents\": []}";
  CHECK_THAT(message(at), Contains("no events with a duration"));
  fs::remove(at / "rank0.json");
  CHECK_THAT(message(at), Contains("no file here is a profile") && Contains("it holds no files"));
  write(at / "rank0.json", 3, 2, {event("cpu_op", "x", 1, 0, 1)});
  CHECK_THAT(message(at), Contains("rank 3 of 2 ranks"));
  write(at / "rank0.json", 0, 1, {event("cpu_op", "x", 1, 0, 1)});
  write(at / "rank1.json", 0, 1, {event("cpu_op", "x", 1, 0, 1)});
  CHECK_THAT(message(at), Contains("is of rank 0, as another one here is"));
}

TEST_CASE("kineto: names and types of communication") {
  const std::map<std::string, CollectiveKind> names = {
      {"_reduce_scatter_base", CollectiveKind::kReduceScatter},
      {"all_to_allv", CollectiveKind::kAlltoall},
      {"nccl:all_reduce", CollectiveKind::kAllreduce},
      {"c10d::broadcast_", CollectiveKind::kBcast},
      {"allgather_into_tensor_coalesced", CollectiveKind::kAllgather},
      {"reduce", CollectiveKind::kReduce},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", CollectiveKind::kReduceScatter}};
  for (const auto& [name, kind] : names) {
    CommCall call;
    read_comm_name(name, call);
    CHECK(call.kind == CommKind::kCollective);
    CHECK(call.collective == kind);
  }
  CHECK(bytes_of_type("BFloat16") == 2);
  CHECK(bytes_of_type("long int") == 8);
  const std::map<std::string, std::uint32_t> types = {{"Float8_e8m0fnu", 1},
                                                      {"Float8_e5m2", 1},
                                                      {"Float4_e2m1fn_x2", 1},
                                                      {"QInt8", 1},
                                                      {"QUInt8", 1},
                                                      {"QInt32", 4},
                                                      {"QUInt4x2", 1},
                                                      {"Int4", 1},
                                                      {"uint7", 1},
                                                      {"Bits16", 2},
                                                      {"bf16", 2},
                                                      {"fp16", 2},
                                                      {"fp8_e4m3", 1},
                                                      {"fp32", 4},
                                                      {"torch.bfloat16", 2},
                                                      {"Int", 4},
                                                      {"int64", 8},
                                                      {"c10::Half", 2},
                                                      {"UInt16", 2},
                                                      {"ComplexDouble", 16},
                                                      {"Long", 8}};
  for (const auto& [type, bytes] : types) {
    INFO(type);
    CHECK(bytes_of_type(type) == bytes);
  }
  CHECK_FALSE(bytes_of_type("Int9"));
  CHECK_FALSE(bytes_of_type("Quad"));
  bool cut = false;
  CHECK(read_list("[0, 1, 12]", cut) == std::vector<std::uint64_t>{0, 1, 12});
  CHECK_FALSE(cut);
  CHECK(read_list("[0, 1, ...]", cut)->size() == 2);
  CHECK(cut);
  CHECK_FALSE(read_list("[0, x]", cut));
  CHECK_FALSE(read_list("[0", cut));
}

TEST_CASE("kineto: ranks that only the order of files says, a warning where there are messages") {
  const auto anomaly = [](const PackInfo& info, const std::string& name) {
    for (const Anomaly& each : info.anomalies) {
      if (each.name == name) return each;
    }
    return Anomaly{};
  };
  const auto write_bare = [](const fs::path& path, const std::vector<std::string>& events) {
    std::ofstream file(path);
    file << "{\"traceEvents\": [";
    for (std::size_t i = 0; i < events.size(); ++i) file << (i == 0 ? "" : ",") << events[i];
    file << "]}";
  };
  for (const bool messages : {false, true}) {
    const fs::path at = folder("ordered");
    for (int rank = 0; rank < 6; ++rank) {
      std::vector<std::string> events = call(comm("allreduce", 1000, "", 6), 10, 1);
      if (messages && rank < 2) {
        append(events, call(comm(rank == 0 ? "send" : "recv", 10,
                                 rank == 0 ? R"(, "Dst Rank": 1)" : R"(, "Src Rank": 0)", 6),
                            40, 2));
      }
      write_bare(at / fmt::format("{}.json", static_cast<char>('a' + rank)), events);
    }
    PackInfo info;
    import_kineto(TracePaths(at), {}, &info);
    const Anomaly told = anomaly(info, "assumed_ranks");
    CHECK(told.count == 6);
    CHECK(told.severity == (messages ? Severity::kWarning : Severity::kInfo));
    CHECK_THAT(told.sentence,
               Contains("(a.json: rank 0, b.json: rank 1, c.json: rank 2, d.json: rank 3, …)."));
  }
  const fs::path at = folder("named");
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<std::string> events = call(comm("allreduce", 1000), 10, 1);
    for (std::string& event : events) {
      if (const auto type = event.find("Float"); type != event.npos) {
        event.replace(type, 5, rank == 0 ? "Quad" : "Octet");
      }
    }
    write_bare(at / fmt::format("rank{}.json", rank), events);
  }
  PackInfo info;
  import_kineto(TracePaths(at), {}, &info);
  CHECK(anomaly(info, "assumed_ranks").count == 0);
  CHECK_THAT(anomaly(info, "unknown_types").sentence,
             Contains("4 bytes an element were taken (Quad, Octet)."));
}

TEST_CASE("kineto: events that are pairs of a beginning and an end are told as not read") {
  const fs::path at = folder("pairs");
  std::vector<std::string> events = call(comm("allreduce", 1000), 10, 1);
  for (const char* phase : {"B", "E", "i", "M"}) {
    events.push_back(
        fmt::format(R"({{"ph": "{}", "cat": "cpu_op", "name": "x", "pid": 1, "tid": 1, "ts": 30}})", phase));
  }
  for (int rank = 0; rank < 2; ++rank) write(at / fmt::format("rank{}.json", rank), rank, 2, events);
  PackInfo info;
  import_kineto(TracePaths(at), {}, &info);
  std::string told;
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name == "unread_attributes") told = anomaly.sentence;
  }
  CHECK_THAT(told,
             Contains("events of phase B (2)") && Contains("events of phase E (2)") && !Contains("phase M"));
}

TEST_CASE("kineto: arguments that are not read are told, those that tell sizes first") {
  const fs::path at = folder("unread");
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<std::string> events = call(comm("allreduce", 1000, R"(, "Seq": 3)"), 10, 1);
    events.push_back(event("gpu_memcpy", "Memcpy HtoD", 7, 40, 5,
                           R"-("stream": 7, "bytes": 64, "memory bandwidth (GB/s)": 2)-"));
    events.push_back(event("gpu_memcpy", "Memcpy HtoD", 7, 50, 5, R"("stream": 7, "bytes": 64)"));
    write(at / fmt::format("rank{}.json", rank), rank, 2, events);
  }
  PackInfo info;
  import_kineto(TracePaths(at), {}, &info);
  CHECK(anomalies(info, "unread_attributes") == 8);
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name != "unread_attributes") continue;
    CHECK_THAT(anomaly.sentence, Contains("(sizes, rates and times first: 2): bytes (4), memory bandwidth "
                                          "(GB/s) (2), Seq (2)."));
  }
}

std::string sentence(const PackInfo& info, const std::string& name) {
  for (const Anomaly& each : info.anomalies) {
    if (each.name == name) return each.sentence;
  }
  return "";
}

// A profile with these members beside its events.
void write_profile(const fs::path& path, const std::string& members, const std::vector<std::string>& events) {
  std::ofstream file(path);
  file << fmt::format(R"({{{}, "traceEvents": [)", members);
  for (std::size_t i = 0; i < events.size(); ++i) file << (i == 0 ? "" : ", ") << events[i];
  file << "]}";
}

TEST_CASE("kineto: members of profiles, of distributedInfo and of events that are not read are told") {
  const fs::path at = folder("members");
  std::vector<std::string> events = call(comm("allreduce", 1000), 10, 1);
  events.push_back(
      R"({"ph": "X", "cat": "cpu_op", "name": "x", "pid": 1, "tid": 1, "ts": 30, "dur": 1, "tdur": 1})");
  events.push_back(R"({"cat": "cpu_op", "name": "x", "pid": 1, "tid": 1, "ts": 33, "dur": 1})");
  for (const char* name : {"rank0.json", "rank1.json"}) {
    write_profile(at / name,
                  R"("schemaVersion": 2, "baseTimeNanoseconds": 5, "distributedInfo": {"rank": null, )"
                  R"("world_size": 2, "nccl_version": "2.9", "pg_config": [{"pg_name": "7", "pg_desc": "d", )"
                  R"("pg_size": 2, "ranks": [0, 1]}]})",
                  events);
  }
  PackInfo info;
  import_kineto(TracePaths(at), {}, &info);
  CHECK(anomalies(info, "ranks_of_names") == 2);
  CHECK(anomalies(info, "other_schemas") == 2);
  CHECK_THAT(sentence(info, "other_schemas"), Contains("read as those of version 1 ('2')."));
  CHECK_THAT(
      sentence(info, "unread_attributes"),
      Contains("(sizes, rates and times first: 1): baseTimeNanoseconds (2), distributedInfo nccl_version "
               "(2), events without a phase (2), pg_config pg_desc (2), tdur (2)."));
}

TEST_CASE("kineto: sizes of groups that are not those of their ranks are told") {
  const fs::path at = folder("sizes_of_groups");
  for (const auto& [size, ranks, told] : {std::tuple{2, "[0, 1]", 0u}, {3, "[0, 1]", 2u}, {2, "[]", 0u}}) {
    const std::vector<std::string> events =
        call(comm("allreduce", 1000, fmt::format(R"(, "Process Group Ranks": "{}")", ranks), size), 10, 1);
    for (int rank = 0; rank < 2; ++rank) write(at / fmt::format("rank{}.json", rank), rank, 2, events);
    PackInfo info;
    import_kineto(TracePaths(at), {}, &info);
    CHECK(anomalies(info, "sizes_of_groups_that_do_not_fit") == told);
  }
}

TEST_CASE("kineto: what a profile says as it should is not told, a rank below 0 is refused") {
  const fs::path at = folder("as_it_should");
  const std::vector<std::string> events = call(comm("allreduce", 1000), 10, 1);
  const auto write_both = [&](const std::string& rank) {
    for (const char* place : {"0", "1"}) {
      write_profile(at / fmt::format("rank{}.json", place),
                    fmt::format(R"("schemaVersion": 1, "distributedInfo": {{"rank": {}, "world_size": 2}})",
                                rank.empty() ? place : rank),
                    events);
    }
  };
  write_both("");
  PackInfo info;
  import_kineto(TracePaths(at), {}, &info);
  for (const char* name : {"ranks_of_names", "other_schemas", "unread_attributes"})
    CHECK(anomalies(info, name) == 0);
  write_both("-5");
  CHECK_THROWS_WITH(import_kineto(TracePaths(at), {}, &info),
                    Contains("rank0.json:1: ") && Contains("'rank' is '-5', where a whole number from 0"));
}

}  // namespace weft::goal
