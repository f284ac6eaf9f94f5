// Runs a program under the tracer and reads what it left.
#pragma once

#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"

namespace weft::trace::test {

// One rank's file, read to its end.
struct Trace {
  goal::TraceHeader header;
  std::vector<goal::TraceRecord> records;
  std::vector<goal::TraceCommunicator> communicators;
  std::vector<goal::TraceCounter> counters;
  std::vector<goal::TraceThreadEnd> thread_ends;
  bool complete = false;
  End end = End::kNone;
  std::string status;
  std::vector<goal::TraceNowIn> now_in;
  std::vector<std::string> now_in_names;  // of these; their own point to nothing
  std::uint64_t used_bytes = 0, file_bytes = 0;

  std::vector<goal::TraceRecord> of(Function function) const;
  // The one record of this function; where a Test or Iprobe came too early, the one that found something.
  goal::TraceRecord only(Function function) const;
  // The only record of this function with this tag.
  goal::TraceRecord tagged(Function function, int tag) const;
  // Null if there is none.
  const goal::TraceCounter* counter(const std::string& name) const;
  // How often, and how, request `number` was found complete.
  std::vector<goal::TraceCompletion> completions(std::uint64_t number) const;
};

struct Run {
  int status = 0;      // of std::system
  std::string output;  // standard output and error
  std::string directory;
  std::vector<Trace> ranks;
};

// What `weft trace info` says that all calls of a function moved.
std::uint64_t moved_bytes(const Run& run, Function function);

// Runs a program of this folder with `ranks` ranks of one MPI under the tracer and reads all ranks' files.
// `fault`: what fails in each rank of calls on its trace file, see tests/e2e/failing_system/README.md; ranks
// without a file are then left out.
Run run(const std::string& mpi, int ranks, const std::string& program, const std::string& argument = "",
        const std::string& fault = "");

// Reads the files of that many ranks; of those without a file nothing, if they may be `missing`.
std::vector<Trace> read_ranks(const std::string& directory, int ranks, bool missing = false);

// The MPIs of this machine, by the endings of their commands; says which are missing.
std::vector<std::string> installed();

}  // namespace weft::trace::test
