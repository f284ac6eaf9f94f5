// The NCCL tracer before stand-ins for NCCL and CUDA's runtime (tests/tracer/standin): every call is in the
// trace with its arguments, and the program's results are right.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"
#include "tests/tracer/nccl_run.h"

namespace weft::trace::test {
namespace {

namespace fs = std::filesystem;
using goal::TraceReader;
using goal::TraceRecord;
using F = DeviceFunction;

struct File {
  goal::TraceHeader header;
  bool complete = false;
  std::vector<TraceRecord> records;
  std::vector<goal::TraceCounter> counters;

  std::vector<TraceRecord> of(F function) const {
    std::vector<TraceRecord> found;
    for (const TraceRecord& r : records) {
      if (r.function == Function::kDevice && r.device.function == function) found.push_back(r);
    }
    return found;
  }
  // Without definitions and measurements.
  std::vector<std::string> calls() const {
    std::vector<std::string> names;
    for (const TraceRecord& r : records) {
      if (r.function == Function::kDevice && static_cast<int>(r.device.function) < 100)
        names.push_back(device_function_info(r.device.function).name);
    }
    return names;
  }
};

// By rank.
std::map<std::uint32_t, File> files_of(const NcclRun& run) {
  std::map<std::uint32_t, File> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.directory)) {
    if (!entry.path().filename().string().starts_with("nccl-")) continue;
    TraceReader reader(entry.path().string());
    File file;
    for (TraceRecord record; reader.next(record);) {
      record.name = {};  // points into the reader
      file.records.push_back(record);
    }
    file.header = reader.header();
    file.complete = reader.complete();
    file.counters = reader.counters();
    CHECK(files.emplace(file.header.rank, file).second);
  }
  return files;
}

const NcclRun& calls_run() {
  static const NcclRun run = run_nccl("calls", "", "PROGRAMS/nccl_calls_program");
  INFO(run.output);
  REQUIRE(run.status == 0);
  return run;
}

std::vector<std::int64_t> fields(const TraceRecord& r) {
  const std::size_t n = device_field_count(device_function_info(r.device.function).shape);
  return {r.device.fields.begin(), r.device.fields.begin() + static_cast<std::ptrdiff_t>(n)};
}

}  // namespace

TEST_CASE("nccl: one file a process, each whole, with its rank") {
  const auto files = files_of(calls_run());
  REQUIRE(files.size() == 4);
  for (const auto& [rank, file] : files) {
    CHECK(file.header.size == 4);
    CHECK(file.header.mpi_library == "NCCL 2.23.4");
    CHECK(file.complete);
    CHECK(std::is_sorted(file.records.begin(), file.records.end(),
                         [](const auto& a, const auto& b) { return a.leave_ns < b.leave_ns; }));
  }
}

TEST_CASE("nccl: communicators have one key at all members, and NCCL's ranks") {
  const auto files = files_of(calls_run());
  std::map<std::int64_t, std::vector<std::uint32_t>> members;  // by key: processes, by rank in it
  for (const auto& [rank, file] : files) {
    const std::vector<TraceRecord> defined = file.of(F::define_communicator);
    REQUIRE(defined.size() == (rank == 0 ? 2 : 3));
    for (const TraceRecord& r : defined) {
      std::vector<std::uint32_t>& of_key = members[r.device.fields[1]];
      of_key.resize(static_cast<std::size_t>(r.device.fields[4]), 99);
      of_key.at(static_cast<std::size_t>(r.device.fields[3])) = rank;
    }
    CHECK(fields(defined[0])[2] == 0);
    CHECK(fields(defined[1])[2] == 1);  // split from the first
  }
  std::vector<std::vector<std::uint32_t>> lists;
  for (const auto& [key, list] : members) lists.push_back(list);
  std::sort(lists.begin(), lists.end());
  CHECK(lists == std::vector<std::vector<std::uint32_t>>{{0, 1, 2, 3}, {1, 2, 3}, {2, 0}, {3, 1}});
}

TEST_CASE("nccl: every call in order") {
  const auto files = files_of(calls_run());
  const std::vector<std::string> expected = {"ncclCommInitRank",
                                             "cudaLaunchKernel",
                                             "cudaEventRecord",
                                             "cudaStreamWaitEvent",
                                             "ncclAllReduce",
                                             "cudaLaunchKernel",
                                             "cudaStreamSynchronize",
                                             "ncclAllReduce",
                                             "cudaDeviceSynchronize",
                                             "ncclReduceScatter",
                                             "cudaStreamSynchronize",
                                             "ncclAllGather",
                                             "cudaStreamSynchronize",
                                             "ncclBroadcast",
                                             "cudaStreamSynchronize",
                                             "ncclReduce",
                                             "cudaStreamSynchronize",
                                             "ncclAlltoAll",
                                             "cudaStreamSynchronize",
                                             "ncclGather",
                                             "ncclScatter",
                                             "cudaStreamSynchronize",
                                             "ncclGroupStart",
                                             "ncclSend",
                                             "ncclGroupStart",
                                             "ncclSend",
                                             "ncclGroupEnd",
                                             "ncclRecv",
                                             "ncclRecv",
                                             "ncclGroupEnd",
                                             "cudaStreamSynchronize",
                                             "ncclCommSplit",
                                             "ncclAllGather",
                                             "cudaStreamSynchronize",
                                             "ncclCommSplit",
                                             "ncclGroupStart",
                                             "ncclAllReduce",
                                             "ncclAllReduce",
                                             "ncclGroupEnd",
                                             "cudaDeviceSynchronize",
                                             "ncclCommDestroy",
                                             "cudaStreamBeginCapture",
                                             "cudaLaunchKernel",
                                             "ncclAllReduce",
                                             "cudaMemcpyAsync",
                                             "cudaStreamEndCapture",
                                             "cudaGraphInstantiate",
                                             "cudaGraphLaunch",
                                             "cudaGraphLaunch",
                                             "cudaStreamSynchronize",
                                             "cudaMemsetAsync",
                                             "cudaDeviceSynchronize",
                                             "cudaMemcpyAsync",
                                             "cudaMemcpyAsync",
                                             "cudaStreamSynchronize",
                                             "cudaStreamBeginCapture",
                                             "cudaLaunchKernel",
                                             "cudaStreamEndCapture",
                                             "cudaGraphInstantiate",
                                             "cudaGraphLaunch",
                                             "cudaDeviceSynchronize",
                                             "ncclCommFinalize",
                                             "ncclCommDestroy"};
  for (const auto& [rank, file] : files) CHECK(file.calls() == expected);
}

TEST_CASE("nccl: arguments are in the record") {
  const File file = files_of(calls_run()).at(1);
  const std::vector<TraceRecord> sums = file.of(F::ncclAllReduce);
  // communicator, stream, count, datatype, reduction, root
  CHECK(fields(sums.at(0)) == std::vector<std::int64_t>{1, 2, 100000, 7, 0, -1});
  CHECK(fields(sums.at(1)) == std::vector<std::int64_t>{1, 1, 16, 7, 2, -1});
  CHECK(fields(sums.at(3)) == std::vector<std::int64_t>{2, 4, 100000, 7, 0, -1});
  CHECK(fields(file.of(F::ncclReduce).at(0)) == std::vector<std::int64_t>{1, 3, 100000, 7, 0, 1});
  CHECK(fields(file.of(F::ncclBroadcast).at(0)) == std::vector<std::int64_t>{1, 3, 100000, 7, -1, 2});
  CHECK(fields(file.of(F::ncclGather).at(0))[5] == 3);
  const std::vector<TraceRecord> sends = file.of(F::ncclSend), receives = file.of(F::ncclRecv);
  CHECK(fields(sends.at(0)) == std::vector<std::int64_t>{1, 3, 100000, 7, 2});
  CHECK(fields(sends.at(1)) == std::vector<std::int64_t>{1, 3, 50000, 7, 0});
  CHECK(fields(receives.at(0)) == std::vector<std::int64_t>{1, 3, 100000, 7, 0});
  // The event that the kernel's stream records is the one the other stream waits for.
  CHECK(fields(file.of(F::cudaEventRecord).at(0)) == std::vector<std::int64_t>{1, 1});
  CHECK(fields(file.of(F::cudaStreamWaitEvent).at(0)) == std::vector<std::int64_t>{2, 1});
  // The fifth is the null stream, of a copy that names none.
  for (const TraceRecord& r : file.of(F::define_stream)) {
    const StreamKind kind = r.device.fields[0] == 5 ? StreamKind::kLegacyDefault : StreamKind::kNonBlocking;
    CHECK(r.device.fields[2] == static_cast<std::int64_t>(kind));
  }
  // The graph that was launched is the one made of what was captured.
  const auto made = fields(file.of(F::cudaGraphInstantiate).at(0));
  CHECK(fields(file.of(F::cudaStreamEndCapture).at(0))[1] == made[1]);
  CHECK(fields(file.of(F::cudaGraphLaunch).at(1)) == std::vector<std::int64_t>{3, made[0]});
  const auto made_with_parameters = fields(file.of(F::cudaGraphInstantiate).at(1));
  CHECK(fields(file.of(F::cudaGraphLaunch).at(2)) == std::vector<std::int64_t>{3, made_with_parameters[0]});
  // Other forms of copies are copies: on the null stream 100 bytes set; 200 from a peer, and 3 rows of 10.
  CHECK(fields(file.of(F::cudaMemsetAsync).at(0))[1] == 100);
  const std::vector<TraceRecord> copies = file.of(F::cudaMemcpyAsync);
  CHECK(fields(copies.at(1)) == std::vector<std::int64_t>{3, 200});
  CHECK(fields(copies.at(2)) == std::vector<std::int64_t>{3, 30});
  // What no record stands for is counted.
  std::map<std::string, std::uint64_t> counted;
  for (const auto& counter : file.counters) counted[counter.name] = counter.calls;
  CHECK(counted == std::map<std::string, std::uint64_t>{{"cudaLaunchHostFunc", 2}, {"ncclCommRegister", 1}});
}

TEST_CASE("nccl: CUDA's events say how long operations took") {
  for (const auto& [rank, file] : files_of(calls_run())) {
    std::map<std::int64_t, std::int64_t> ns;
    for (const TraceRecord& r : file.of(F::gpu_time)) {
      CHECK(ns.emplace(r.device.fields[0], r.device.fields[1]).second);
    }
    // Operation 1 is a kernel of 3 ms and operation 3 one of 1 ms; a float of milliseconds is good for 1 us.
    CHECK(ns.at(1) >= 2'999'000);
    CHECK(ns.at(3) >= 999'000);
    // The two kernels, the collectives but for those in the group, which share two measurements, the
    // messages, which share one, the launches of graphs, and copies; nothing that was captured.
    CHECK(ns.size() == 2 + 10 + 1 + 2 + 3 + 3);
  }
}

TEST_CASE("nccl: without CUDA times on request") {
  const NcclRun run = run_nccl("untimed", "WEFT_TRACE_GPU_TIMES=0", "PROGRAMS/nccl_calls_program");
  REQUIRE(run.status == 0);
  for (const auto& [rank, file] : files_of(run)) CHECK(file.of(F::gpu_time).empty());
}

TEST_CASE("nccl: without a folder for traces nothing is written, and the program is right") {
  const NcclRun run = run_nccl("none", "WEFT_TRACE_DIR=", "PROGRAMS/nccl_calls_program");
  CHECK(run.status == 0);
  CHECK(files_of(run).empty());
}

TEST_CASE("nccl: a stock NCCL's profiler interface tells its choices, in every version") {
  for (const int version : {1, 2, 3, 4, 5, 6}) {
    const NcclRun run = run_nccl("profiler", "WEFT_STANDIN_PROFILER=" + std::to_string(version),
                                 "env NCCL_PROFILER_PLUGIN=LIBRARY PROGRAMS/nccl_calls_program");
    INFO("version " << version << "\n" << run.output);
    REQUIRE(run.status == 0);
    for (const auto& [rank, file] : files_of(run)) {
      const std::vector<TraceRecord> comms = file.of(F::profiler_communicator);
      REQUIRE(comms.size() == (version <= 3 || rank == 0 ? 2 : 3));  // the third has no operations
      const std::int64_t of_rank = static_cast<std::int64_t>(rank);
      CHECK(comms[0].device.fields[2] == of_rank);
      CHECK(comms[0].device.fields[3] == (version <= 3 ? 0 : 4));
      const std::vector<TraceRecord> told = file.of(F::profiler_operation);
      REQUIRE(told.size() == 4 + 13);  // messages, collectives (the graph's when it is captured)
      // communicator, function, number, count, datatype, root, algorithm, protocol, channels, warps, group
      CHECK(fields(told[0]) == std::vector<std::int64_t>{1, 20, 0, 100000, 7, 0, 1, 2, 8, 16, 1});
      CHECK(fields(told[1]) == std::vector<std::int64_t>{1, 20, 1, 16, 7, 0, 0, 0, 2, 16, 2});
      CHECK(fields(told[4]) == std::vector<std::int64_t>{1, 22, 0, 100000, 7, 2, 1, 2, 8, 16, 5});
      CHECK(fields(told[9]) == std::vector<std::int64_t>{1, 29, 0, 100000, 7, (of_rank + 1) % 4, -1, -1,
                                                         version <= 3 ? 0 : 8, 0, 10});
      for (const int i : {10, 11, 12}) CHECK(told[static_cast<std::size_t>(i)].device.fields[10] == 10);
    }
  }
}

TEST_CASE("nccl: a process that is killed has every call it returned from in its file") {
  const NcclRun run = run_nccl("killed", "", "PROGRAMS/nccl_calls_program die");
  CHECK(run.status != 0);
  const auto files = files_of(run);
  REQUIRE(files.size() == 4);
  for (const auto& [rank, file] : files) {
    CHECK_FALSE(file.complete);
    CHECK(file.calls() == std::vector<std::string>{"ncclCommInitRank", "cudaLaunchKernel", "cudaEventRecord",
                                                   "cudaStreamWaitEvent", "ncclAllReduce", "cudaLaunchKernel",
                                                   "cudaStreamSynchronize", "ncclAllReduce",
                                                   "cudaDeviceSynchronize"});
  }
}

TEST_CASE("nccl and MPI in one process: a file of each, with one rank") {
  for (const std::string mpi : {"openmpi", "mpich"}) {
    const NcclRun run =
        run_nccl("both-" + mpi, "", "mpirun." + mpi + " -n 3 PROGRAMS/mpi_nccl_" + mpi + "_program");
    INFO(run.output);
    REQUIRE(run.status == 0);
    const auto files = files_of(run);
    REQUIRE(files.size() == 3);
    for (const auto& [rank, file] : files) {
      CHECK(fs::exists(run.directory / ("rank-00000" + std::to_string(rank) + ".wtrc")));
      CHECK(file.header.size == 3);
      CHECK(file.of(F::define_communicator).at(0).device.fields[3] == 2 - static_cast<std::int64_t>(rank));
      CHECK(file.of(F::ncclSend).size() == 1);
    }
  }
}

}  // namespace weft::trace::test
