// Traces of NCCL calls, written by hand, and the graphs that the rules of goal/import/nccl/README.md make of
// them.
#include "goal/import/nccl/importer.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "goal/import/nccl/choices.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/import/nccl/nccl_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using F = trace::DeviceFunction;
using trace::StreamKind;

constexpr std::int64_t kKey = 77, kFloat = 7;

fs::path folder(const std::string& name) {
  const fs::path path = fs::path(std::getenv("TEST_TMPDIR")) / name;
  fs::remove_all(path);
  return path;
}

// A process whose communicator 1 is that of all, and whose stream 1 is a nonblocking one.
NcclTraceFile process(int rank, int ranks) {
  NcclTraceFile file(100 - rank);
  file.comm(1, kKey, rank, ranks)
      .call(F::ncclCommInitRank, 0, 50, {1, 0})
      .stream(1, StreamKind::kNonBlocking);
  return file;
}

// What the rank whose file this is becomes, where another does the same.
Graph both(const std::string& name, const std::function<void(NcclTraceFile&)>& calls,
           PackInfo* info = nullptr, const NcclImportOptions& options = {}) {
  const fs::path path = folder(name);
  for (int rank = 0; rank < 2; ++rank) {
    NcclTraceFile file = process(rank, 2);
    calls(file);
    file.end().write(path);
  }
  return import_nccl(path, options, info);
}

void check(const Graph& graph, const std::string& text) {
  INFO(to_text(graph));
  CHECK(graph == parse_text(text, "expected"));
}

std::string twice(const std::string& header, const std::string& rank) {
  return "num_ranks 2\n" + header + "rank 0 {\n" + rank + "}\nrank 1 {\n" + rank + "}\n";
}

std::uint64_t count(const PackInfo& info, const std::string& name) {
  for (const Anomaly& anomaly : info.anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

std::string message_of(const fs::path& path, const NcclImportOptions& options = {}) {
  try {
    import_nccl(path, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a stream runs beside its thread: in its order, behind the calls that put work on it") {
  PackInfo info;
  const Graph graph = both(
      "order",
      [](NcclTraceFile& file) {
        file.call(F::ncclAllReduce, 100, 10, {1, 1, 25, kFloat, 0, -1})
            .call(F::ncclBroadcast, 20, 5, {1, 1, 8, kFloat, -1, 1})
            .call(F::cudaStreamSynchronize, 30, 900, {1})
            .call(F::ncclAllGather, 40, 0, {1, 1, 2, kFloat, -1, -1});
      },
      &info);
  // Time inside a call that enqueues is the CPU's; inside one that waits it is not.
  check(graph, twice("",
                     "a: calc 110\nr: allreduce 100b elem 4 cpu 1\nr requires a\n"
                     "b: calc 25\nb requires a\ns: bcast 32b root 1 cpu 1\ns requires b\ns requires r\n"
                     "c: calc 30\nc requires b\n"
                     "d: calc 40\nd requires c\nd requires s\n"
                     "t: allgather 8b cpu 1\nt requires d\nt requires s\n"));
  CHECK(count(info, "synchronize_ns") == 1800);
  CHECK(count(info, "enqueue_ns") == 30);
  CHECK(count(info, "nccl_creation_ns") == 100);
  CHECK(info.metadata.at("nccl_library") == "NCCL 2.23.4");
  CHECK(info.metadata.at("traced_elapsed_ns") == "1105");
}

TEST_CASE("a kernel takes the time that the GPU measured; without one, none, and the import says so") {
  PackInfo info;
  const Graph graph = both(
      "kernels",
      [](NcclTraceFile& file) {
        file.stream(2, StreamKind::kNonBlocking)
            .call(F::cudaLaunchKernel, 10, 0, {1})
            .call(F::cudaLaunchKernel, 5, 0, {2})
            .call(F::cudaEventRecord, 0, 0, {1, 1})
            .call(F::cudaStreamWaitEvent, 0, 0, {2, 1})
            .call(F::ncclAllReduce, 0, 0, {1, 2, 25, kFloat, 0, -1})
            .note(F::gpu_time, {1, 5000})
            .note(F::gpu_time, {3, 777});
      },
      &info);
  check(graph, twice("",
                     "a: calc 10\nk: calc 5000 cpu 1\nk requires a\n"
                     "b: calc 5\nb requires a\nl: calc 0 cpu 2\nl requires b\n"
                     "r: allreduce 100b elem 4 cpu 2\nr requires b\nr requires l\nr requires k\n"));
  CHECK(count(info, "timed_kernels") == 2);
  CHECK(count(info, "untimed_kernels") == 2);
  CHECK(count(info, "measured_nccl_ns") == 2 * 777);
}

TEST_CASE("messages of a group run side by side, and the stream goes on when all are done") {
  const Graph graph = both("group", [](NcclTraceFile& file) {
    file.call(F::ncclGroupStart, 10, 0, {})
        .call(F::ncclSend, 0, 0, {1, 1, 1, kFloat, 1})
        .call(F::ncclSend, 0, 0, {1, 1, 2, kFloat, 0})
        .call(F::ncclGroupStart, 0, 0, {})
        .call(F::ncclRecv, 0, 0, {1, 1, 1, kFloat, 0})
        .call(F::ncclGroupEnd, 0, 0, {})
        .call(F::ncclRecv, 7, 0, {1, 1, 2, kFloat, 1})
        .call(F::ncclGroupEnd, 0, 0, {})
        .call(F::ncclSend, 0, 0, {1, 1, 3, kFloat, 1});
  });
  // Nothing starts before the group's end. The second message to rank 1 has the second tag.
  check(graph, twice("",
                     "a: calc 17\ns: send 4b to 1 cpu 1\ns requires a\nt: send 8b to 0 cpu 1\nt requires a\n"
                     "r: recv 4b from 0 cpu 1\nr requires a\nq: recv 8b from 1 cpu 1\nq requires a\n"
                     "e: calc 0 cpu 1\ne requires a\ne requires s\ne requires t\ne requires r\ne requires q\n"
                     "u: send 12b to 1 tag 1 cpu 1\nu requires a\nu requires e\n"));
}

TEST_CASE("a group over two streams of a communicator: collectives in order, both streams wait for it") {
  const Graph graph = both("two_streams", [](NcclTraceFile& file) {
    file.stream(2, StreamKind::kNonBlocking)
        .call(F::ncclGroupStart, 10, 0, {})
        .call(F::ncclAllReduce, 0, 0, {1, 1, 1, kFloat, 0, -1})
        .call(F::ncclReduceScatter, 0, 0, {1, 2, 2, kFloat, 0, -1})
        .call(F::ncclGroupEnd, 0, 0, {})
        .call(F::ncclAlltoAll, 0, 0, {1, 1, 3, kFloat, -1, -1});
  });
  check(graph, twice("",
                     "a: calc 10\nr: allreduce 4b elem 4 cpu 1\nr requires a\n"
                     "s: reduce_scatter 8b elem 4 cpu 2\ns requires a\ns requires r\n"
                     "t: alltoall 12b cpu 1\nt requires a\nt requires s\n"));
}

TEST_CASE("the default stream and blocking streams wait for each other, nonblocking ones do not") {
  const Graph graph = both("default_stream", [](NcclTraceFile& file) {
    file.stream(2, StreamKind::kBlocking)
        .stream(3, StreamKind::kLegacyDefault)
        .call(F::cudaLaunchKernel, 10, 0, {1})
        .call(F::cudaLaunchKernel, 0, 0, {2})
        .call(F::cudaLaunchKernel, 0, 0, {3})
        .call(F::cudaLaunchKernel, 0, 0, {2})
        .call(F::cudaLaunchKernel, 0, 0, {1})
        .call(F::cudaMemcpy, 0, 60, {3, 64})
        .call(F::ncclAllReduce, 5, 0, {1, 1, 1, kFloat, 0, -1});
  });
  check(graph, twice("",
                     "a: calc 10\nn: calc 0 cpu 1\nn requires a\nb: calc 0 cpu 2\nb requires a\n"
                     "d: calc 0 cpu 3\nd requires a\nd requires b\n"
                     "c: calc 0 cpu 2\nc requires a\nc requires b\nc requires d\n"
                     "m: calc 0 cpu 1\nm requires a\nm requires n\n"
                     "y: calc 0 cpu 3\ny requires a\ny requires d\ny requires c\n"
                     "e: calc 5\ne requires a\ne requires y\n"
                     "r: allreduce 4b elem 4 cpu 1\nr requires e\nr requires m\n"));
}

TEST_CASE("what is captured runs when the graph is launched, each time") {
  PackInfo info;
  const Graph graph = both(
      "capture",
      [](NcclTraceFile& file) {
        file.stream(2, StreamKind::kNonBlocking)
            .call(F::cudaStreamBeginCapture, 10, 0, {1})
            .call(F::cudaLaunchKernel, 0, 0, {1})
            .call(F::cudaEventRecord, 0, 0, {1, 1})
            .call(F::cudaStreamWaitEvent, 0, 0, {2, 1})
            .call(F::ncclAllReduce, 0, 0, {1, 2, 1, kFloat, 0, -1})
            .call(F::cudaEventRecord, 0, 0, {2, 2})
            .call(F::cudaStreamWaitEvent, 0, 0, {1, 2})
            .call(F::cudaStreamEndCapture, 0, 0, {1, 1})
            .call(F::cudaGraphInstantiate, 0, 0, {2, 1})
            .call(F::cudaGraphLaunch, 0, 0, {1, 2})
            .call(F::cudaGraphLaunch, 20, 0, {1, 2})
            .call(F::ncclBroadcast, 0, 0, {1, 2, 1, kFloat, -1, 0});
      },
      &info);
  check(graph, twice("",
                     "a: calc 10\nk: calc 0 cpu 1\nk requires a\n"
                     "r: allreduce 4b elem 4 cpu 2\nr requires a\nr requires k\n"
                     "b: calc 20\nb requires a\nl: calc 0 cpu 1\nl requires b\nl requires r\n"
                     "s: allreduce 4b elem 4 cpu 2\ns requires b\ns requires l\n"
                     "t: bcast 4b root 0 cpu 2\nt requires b\n"));
  CHECK(count(info, "untimed_kernels") == 4);
}

TEST_CASE("ranks are in the order of the communicator of all; others have their own order") {
  const fs::path path = folder("ranks");
  // Processes 98, 99, 100 are ranks 2, 1, 0 of the world, and the outer two a communicator the other way
  // round.
  for (int rank = 0; rank < 3; ++rank) {
    NcclTraceFile file = process(rank, 3);
    if (rank != 1) {
      file.comm(2, 5, rank == 0 ? 1 : 0, 2).call(F::ncclSend, 10, 0, {2, 1, 1, kFloat, rank == 0 ? 0 : 1});
    }
    file.end().write(path);
  }
  check(import_nccl(path),
        "num_ranks 3\ncomm 1 { 2 0 }\n"
        "rank 0 {\na: calc 10\ns: send 4b to 2 cpu 1 comm 1\ns requires a\n}\n"
        "rank 1 {\n}\n"
        "rank 2 {\na: calc 10\ns: send 4b to 0 cpu 1 comm 1\ns requires a\n}\n");
}

TEST_CASE("a process with two GPUs is two ranks, and its thread's time is both's") {
  PackInfo info;
  const fs::path path = folder("two_gpus");
  NcclTraceFile file(1);
  file.comm(1, kKey, 0, 2, 0).comm(2, kKey, 1, 2, 1).call(F::ncclCommInitAll, 0, 50, {});
  file.stream(1, StreamKind::kNonBlocking, 0).stream(2, StreamKind::kNonBlocking, 1);
  file.call(F::ncclGroupStart, 10, 0, {})
      .call(F::ncclAllReduce, 0, 0, {1, 1, 1, kFloat, 0, -1})
      .call(F::ncclAllReduce, 5, 0, {2, 2, 1, kFloat, 0, -1})
      .call(F::ncclGroupEnd, 0, 0, {})
      .end()
      .write(path);
  check(import_nccl(path, {}, &info),
        "num_ranks 2\n"
        "rank 0 {\na: calc 15\nr: allreduce 4b elem 4 cpu 1\nr requires a\n}\n"
        "rank 1 {\na: calc 15\nr: allreduce 4b elem 4 cpu 2\nr requires a\n}\n");
  CHECK(count(info, "shared_threads") == 2);
}

TEST_CASE("the algorithm that NCCL chose stays with the operation") {
  const auto calls = [](NcclTraceFile& file) {
    // The profiler is told when the call, or its group's end, launches it.
    file.note(F::profiler_operation, {1, static_cast<int>(F::ncclAllReduce), 0, 25, -1, 0, 1, 1, 8, 16, 0})
        .call(F::ncclAllReduce, 10, 0, {1, 1, 25, kFloat, 0, -1})
        .note(F::profiler_operation, {1, static_cast<int>(F::ncclAllReduce), 1, 99, -1, 0, 0, 0, 2, 16, 0})
        .call(F::ncclAllReduce, 0, 0, {1, 1, 1, kFloat, 0, -1})
        .call(F::ncclGroupStart, 0, 0, {})
        .call(F::ncclAllGather, 0, 0, {1, 1, 3, kFloat, -1, -1})
        .note(F::profiler_operation, {1, static_cast<int>(F::ncclAllGather), 0, 3, -1, 0, 2, 2, 4, 16, 0})
        .call(F::ncclGroupEnd, 0, 0, {});
  };
  const fs::path path = folder("choices");
  for (int rank = 0; rank < 2; ++rank) {
    NcclTraceFile file(rank);
    file.note(F::profiler_communicator, {1, 4711, rank, 2, 1})
        .comm(1, kKey, rank, 2)
        .stream(1, StreamKind::kNonBlocking);
    calls(file);
    file.end().write(path);
  }
  PackInfo info;
  const Graph graph = import_nccl(path, {}, &info);
  CHECK(graph.rank(0).collective(0).algorithm == "nccl_ring:protocol=ll128,channels=8");
  CHECK(graph.rank(1).collective(1).algorithm.empty());
  CHECK(count(info, "recorded_choices") == 2);
  CHECK(count(info, "unmatched_choices") == 2);      // another count than the call's
  CHECK(count(info, "choices_without_model") == 2);  // CollNet
  const Graph ignored = import_nccl(path, {.ignore_choices = true});
  CHECK(ignored.rank(0).collective(0).algorithm.empty());
}

TEST_CASE("of a program that has NCCL linked statically, the profiler's view makes the graph") {
  const fs::path path = folder("profiled_only");
  const auto told = [](F function, std::int64_t peer, std::int64_t group) {
    return std::array<std::int64_t, 5>{static_cast<std::int64_t>(function), 0, peer, group, 0};
  };
  for (int rank = 0; rank < 2; ++rank) {
    NcclTraceFile file(rank);
    file.note(F::profiler_communicator, {1, 4711, rank, 2, 1});
    const auto operation = [&](const auto& what, std::uint64_t gap) {
      file.call(F::profiler_operation, gap, 0, {1, what[0], 0, 25, kFloat, what[2], -1, -1, 0, 0, what[3]});
    };
    operation(told(F::ncclAllReduce, 0, 1), 10);
    operation(told(F::ncclSend, 1 - rank, 2), 20);  // launched together with the next
    operation(told(F::ncclRecv, 1 - rank, 2), 5);
    operation(told(F::ncclBroadcast, 1, 0), 40);
    file.end().write(path);
  }
  PackInfo info;
  const auto rank = [](int peer) {
    const std::string other = std::to_string(peer);
    return "r: allreduce 100b elem 4 cpu 1\na: calc 25\ns: send 100b to " + other +
           " cpu 1\ns requires r\ns requires a\nt: recv 100b from " + other +
           " cpu 1\nt requires r\nt requires a\nj: calc 0 cpu 1\nj requires a\nj requires s\nj requires t\n"
           "b: calc 40\nb requires a\nc: bcast 100b root 1 cpu 1\nc requires b\nc requires j\n";
  };
  check(import_nccl(path, {}, &info),
        "num_ranks 2\nrank 0 {\n" + rank(1) + "}\nrank 1 {\n" + rank(0) + "}\n");
  CHECK(count(info, "profiled_only") == 8);
  // Before version 4 the sizes are not told.
  NcclTraceFile old(1);
  old.note(F::profiler_communicator, {1, 4711, 1, 0, 0}).end().write(path);
  CHECK_THAT(message_of(path), Contains("does not tell the sizes"));
}

TEST_CASE("words for what NCCL chose") {
  CHECK(algorithm_text({.algorithm = 0, .protocol = 0, .channels = 2}, CollectiveKind::kAllreduce) ==
        "nccl_tree:protocol=ll,channels=2");
  CHECK(algorithm_text({.algorithm = 6, .protocol = 2, .channels = 24}, CollectiveKind::kAllgather) ==
        "nccl_pat:protocol=simple,channels=24");
  CHECK(algorithm_text({.algorithm = 4, .protocol = 2, .channels = 16}, CollectiveKind::kAllreduce) ==
        "nccl_nvls:protocol=simple,channels=16");
  CHECK(algorithm_text({.algorithm = 5, .protocol = 2, .channels = 16}, CollectiveKind::kAllreduce) ==
        "nccl_nvls_tree:protocol=simple,channels=16");
  CHECK(algorithm_text({.algorithm = 2, .protocol = 2, .channels = 8}, CollectiveKind::kAllreduce).empty());
  CHECK(algorithm_text({.algorithm = -1, .protocol = 2, .channels = 8}, CollectiveKind::kAllreduce).empty());
  CHECK(algorithm_text({.algorithm = 1, .protocol = 2, .channels = 0}, CollectiveKind::kAllreduce).empty());
  // A tree is of allreduces only; a ring is of no alltoall.
  CHECK(algorithm_text({.algorithm = 0, .protocol = 0, .channels = 2}, CollectiveKind::kAllgather).empty());
  CHECK(algorithm_text({.algorithm = 1, .protocol = 2, .channels = 8}, CollectiveKind::kAlltoall).empty());
}

TEST_CASE("what is left out is counted") {
  PackInfo info;
  const Graph graph = both(
      "left_out",
      [](NcclTraceFile& file) {
        file.comm(2, 0, 0, 8)  // made before the trace began
            .call(F::ncclAllReduce, 10, 0, {2, 1, 1, kFloat, 0, -1})
            .call(F::ncclAllReduce, 0, 0, {1, 1, 1, kFloat, 0, -1}, 5)
            .call(F::ncclGroupStart, 0, 0, {})
            .call(F::ncclSend, 0, 0, {1, 1, 1, kFloat, 1});
      },
      &info);
  CHECK(graph.ops() == 2);
  CHECK(count(info, "unknown_communicator") == 2);
  CHECK(count(info, "failed_nccl_calls") == 2);
  CHECK(count(info, "unclosed_groups") == 2);
}

TEST_CASE("traces that are not those of one whole run are refused") {
  const fs::path path = folder("refused");
  process(0, 2).end().write(path);
  CHECK_THAT(message_of(path), Contains("a communicator of 2 ranks, but 1 GPUs have a trace here"));
  process(1, 2).write(path);  // without its end
  CHECK_THAT(message_of(path), Contains("truncated after 3 records") && Contains("--partial"));
  CHECK(message_of(path, {.partial = true}) == "no error");
  NcclTraceFile doubled(7);
  doubled.comm(1, kKey, 1, 2).end().write(path);
  process(1, 2).end().write(path);
  CHECK_THAT(message_of(path), Contains("says it is rank 1 of a communicator that has one already"));
  const fs::path empty = folder("nothing");
  fs::create_directories(empty);
  CHECK_THAT(message_of(empty), Contains("no NCCL traces here"));
}

TEST_CASE("calls that no program can make are refused, with their place") {
  const auto refused = [](const std::function<void(NcclTraceFile&)>& calls) {
    const fs::path path = folder("senseless");
    NcclTraceFile file(1);
    file.comm(1, kKey, 0, 1);
    calls(file);
    file.end().write(path);
    return message_of(path);
  };
  CHECK_THAT(refused([](auto& f) {
               f.call(F::ncclAllReduce, 0, 0, {2, 0, 1, kFloat, 0, -1});
             }),
             Contains("a call with communicator 2, of which 1 are defined"));
  CHECK_THAT(refused([](auto& f) {
               f.call(F::ncclAllReduce, 0, 0, {1, 9, 1, kFloat, 0, -1});
             }),
             Contains("a call with stream 9, of which 0 are defined"));
  CHECK_THAT(refused([](auto& f) {
               f.call(F::ncclAllReduce, 0, 0, {1, 0, 1, 40, 0, -1});
             }),
             Contains("call 2, ncclAllReduce: datatype 40"));
  CHECK_THAT(refused([](auto& f) {
               f.call(F::ncclSend, 0, 0, {1, 0, -1, kFloat, 0});
             }),
             Contains("a count of -1"));
  CHECK_THAT(refused([](auto& f) {
               f.call(F::ncclSend, 0, 0, {1, 0, 1, kFloat, 1});
             }),
             Contains("peer 1 in a communicator of 1 ranks"));
  CHECK_THAT(refused([](auto& f) { f.comm(7, 1, 0, 1); }),
             Contains("communicator 7 defined where 2 comes next"));
  CHECK_THAT(refused([](auto& f) { f.comm(2, 1, 3, 2); }), Contains("rank 3 in a communicator of 2 ranks"));
  CHECK_THAT(refused([](auto& f) { f.note(F::gpu_time, {1, 5}); }), Contains("operation 1 of 0"));
  CHECK_THAT(refused([](auto& f) {
               f.note(F::profiler_operation, {1, 20, 0, 1, 0, 0, 0, 0, 0, 0, 0});
             }),
             Contains("profiler's communicator 1, of which 0 are defined"));
}

}  // namespace weft::goal
