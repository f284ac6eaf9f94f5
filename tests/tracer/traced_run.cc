#include "tests/tracer/traced_run.h"

#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "goal/import/mpi/trace_summary.h"

namespace weft::trace::test {

namespace fs = std::filesystem;
using goal::TraceCompletion;
using goal::TraceCounter;
using goal::TraceReader;
using goal::TraceRecord;

std::vector<TraceRecord> Trace::of(Function function) const {
  std::vector<TraceRecord> found;
  for (const TraceRecord& r : records) {
    if (r.function == function) found.push_back(r);
  }
  return found;
}

TraceRecord Trace::only(Function function) const {
  std::vector<TraceRecord> found = of(function);
  std::erase_if(found, [](const TraceRecord& r) { return !r.flag; });
  INFO(weft::trace::function_info(function).name);
  REQUIRE(found.size() == 1);
  return found[0];
}

TraceRecord Trace::tagged(Function function, int tag) const {
  std::vector<TraceRecord> found = of(function);
  std::erase_if(found, [&](const TraceRecord& r) { return r.tag != tag; });
  INFO(weft::trace::function_info(function).name << " with tag " << tag);
  REQUIRE(found.size() == 1);
  return found[0];
}

const TraceCounter* Trace::counter(const std::string& name) const {
  for (const TraceCounter& c : counters) {
    if (c.name == name) return &c;
  }
  return nullptr;
}

std::vector<TraceCompletion> Trace::completions(std::uint64_t number) const {
  std::vector<TraceCompletion> found;
  for (const TraceRecord& r : records) {
    for (const TraceCompletion& c : r.completions) {
      if (c.request == number) found.push_back(c);
    }
  }
  return found;
}

namespace {

Trace read(const fs::path& path) {
  Trace trace;
  TraceReader reader(path.string());
  for (TraceRecord record; reader.next(record);) {
    trace.records.push_back(record);
    trace.records.back().name = {};  // points into the reader
  }
  trace.header = reader.header();
  trace.communicators = reader.communicators();
  trace.counters = reader.counters();
  trace.thread_ends = reader.take_thread_ends();
  trace.complete = reader.complete();
  trace.end = reader.end();
  trace.status = reader.status();
  trace.now_in = reader.now_in();
  for (goal::TraceNowIn& now : trace.now_in) {
    trace.now_in_names.emplace_back(now.name);
    now.name = {};
  }
  trace.used_bytes = reader.used_bytes();
  trace.file_bytes = fs::file_size(path);
  return trace;
}

}  // namespace

std::vector<Trace> read_ranks(const std::string& directory, int ranks, bool missing) {
  std::vector<Trace> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const fs::path path = fs::path(directory) / fmt::format("rank-{:06}.wtrc", rank);
    INFO(path.string());
    if (missing && !fs::exists(path)) continue;
    REQUIRE(fs::exists(path));
    all.push_back(read(path));
    CHECK(static_cast<int>(all.back().header.rank) == rank);
    CHECK(static_cast<int>(all.back().header.size) == ranks);
  }
  return all;
}

Run run(const std::string& mpi, int ranks, const std::string& program, const std::string& argument,
        const std::string& fault) {
  const fs::path directory =
      fs::path(std::getenv("TEST_TMPDIR") != nullptr ? std::getenv("TEST_TMPDIR") : "/tmp") /
      fmt::format("{}-{}-{}-{}", mpi, program, fs::path(argument).stem().string(), fault);
  fs::remove_all(directory);
  fs::create_directories(directory);
  const std::string name = fmt::format("{}_{}_program", program, mpi);
  std::string library = fs::absolute("tracer/mpi/libweft_trace_mpi.so").string(), faults;
  if (!fault.empty()) {
    library += ":" + fs::absolute("tests/e2e/failing_system/libfailing_system.so").string();
    faults = fmt::format("WEFT_FAULT={} WEFT_FAULT_FILE=.wtrc WEFT_FAULT_PROGRAM={} ", fault, name);
  }
  const std::string command = fmt::format(
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
      "{6}WEFT_TRACE_DIR='{0}' LD_PRELOAD={1} timeout 120 mpirun.{2} -n {3} {4} {5} > '{0}/output' 2>&1",
      directory.string(), library, mpi, ranks, fs::absolute("tests/tracer/" + name).string(), argument,
      faults);
  Run result;
  result.directory = directory.string();
  result.status = std::system(command.c_str());
  std::ostringstream output;
  output << std::ifstream(directory / "output").rdbuf();
  result.output = output.str();
  if (argument.empty() && result.status != 0) {
    std::cout << result.output;
  }
  result.ranks = read_ranks(result.directory, ranks, !fault.empty());
  return result;
}

std::uint64_t moved_bytes(const Run& run, Function function) {
  for (const goal::FunctionUse& use : goal::summarize_traces(run.directory).functions) {
    if (use.name == weft::trace::function_info(function).name) return use.bytes;
  }
  return 0;
}

std::vector<std::string> installed() {
  std::vector<std::string> found;
  for (const char* mpi : {"openmpi", "mpich"}) {
    if (std::system(fmt::format("command -v mpirun.{} > /dev/null", mpi).c_str()) == 0) {
      found.emplace_back(mpi);
    } else {
      std::cout << "skipped: mpirun." << mpi << " is not installed\n";
    }
  }
  return found;
}

}  // namespace weft::trace::test
