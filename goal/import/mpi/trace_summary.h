// What a folder of MPI traces holds, and where each rank is: read from the files alone, also while the
// program runs or hangs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/mpi/host_clocks.h"
#include "goal/import/mpi/trace_reader.h"
#include "goal/transform/statistics.h"

namespace weft::goal {

// How far the tracer knows a function.
enum class Coverage : std::uint8_t {
  kDecoded,  // a record with all that a replay needs
  kTimed,    // on the timeline by name: moves data or synchronizes, and is not decoded
  kCounted,  // local: its number only
};
std::string_view name(Coverage coverage);  // "decoded"

// All calls of one function.
struct FunctionUse {
  std::string name;
  Coverage coverage = Coverage::kDecoded;
  std::uint64_t calls = 0;
  // Counts the bytes of its calls' messages, sent (by all sending calls, Sendrecv too) or received, and what
  // a rank hands in to a collective.
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;  // inside, over all ranks; 0 where not timed, and of MPI_Init and MPI_Finalize
};

struct CommunicatorUse {
  std::string name;  // "MPI_COMM_WORLD", "MPI_COMM_SELF", "communicator 3"
  std::uint64_t ranks = 0;
  bool inter = false;
  std::uint64_t calls = 0, bytes = 0;  // as of FunctionUse
};

// A part of the program that it names itself.
struct RegionUse {
  std::string name;
  std::uint64_t ranks = 0, entries = 0;  // that were in it; how often, over all ranks
  std::uint64_t ns = 0;                  // over all ranks
};

// A call of a rank, without names of its own.
struct CallState {
  std::string function;
  std::int32_t peer = trace::kUndefined, to = trace::kUndefined, tag = trace::kUndefined;
  std::string communicator;  // empty: none, or not known
  std::uint32_t requests = 0, thread = 0;
  std::uint64_t enter_ns = 0,
                leave_ns = 0;           // since the rank's MPI_Init returned; leave_ns not of one it is in
  std::optional<std::uint64_t> for_ns;  // in it now, while the program runs
};

// A message that was posted and has not been waited for.
struct OpenRequest {
  std::string function;
  std::int32_t peer = trace::kUndefined, tag = trace::kUndefined;
  std::string communicator;
  std::uint64_t bytes = 0;  // as posted
};

enum class RankEnd : std::uint8_t {
  kFinished,
  kAborted,  // it called MPI_Abort
  kExited,   // without MPI_Finalize
  kStopped,  // the tracer could not write on
  kCut,      // the process is gone: it crashed or was killed
  kRunning,
  kOpen,  // one of the last two: another machine's process
};
std::string_view name(RankEnd end);  // "finished"

struct RankState {
  std::uint32_t rank = 0, size = 0;
  std::string host, program, library, file;
  std::uint64_t process = 0;
  RankEnd end = RankEnd::kFinished;
  std::string status;  // TraceReader::status()
  std::uint64_t calls = 0, file_bytes = 0;
  std::uint64_t elapsed_ns =
      0;  // from the end of MPI_Init to the begin of MPI_Finalize, or the last call's end
  // All its threads' time: of the first as above, of the others from the first call to the end of the last.
  std::uint64_t threads_ns = 0;
  std::uint64_t threads = 0;  // that made calls
  std::uint64_t mpi_ns = 0;   // inside MPI calls in that time
  // For how long they did not run, between calls and inside them; nothing is known without facts.
  trace::OffCore off_between, off_inside;
  std::map<std::string, std::string> facts;  // TraceReader::facts()
  std::optional<CallState> last;
  std::vector<CallState> now_in;
  std::vector<OpenRequest> open;  // the first kMostOpen
  std::uint64_t open_requests = 0;
};
inline constexpr std::size_t kMostOpen = 8;

struct TraceSummary {
  std::vector<RankState> ranks;                // by rank, then file
  std::vector<FunctionUse> functions;          // most time first
  std::vector<CommunicatorUse> communicators;  // most calls first
  std::vector<RegionUse> regions;              // by name
  std::vector<Exchange> exchanges;             // messages sent from point to point, by sender and receiver
  std::uint64_t any_source = 0, any_tag = 0;   // receives and probes posted so
  std::uint64_t world_size = 0;                // the largest that a file tells
  std::uint64_t calls = 0, sent_bytes = 0, file_bytes = 0, elapsed_ns = 0;  // elapsed: the longest rank
  double mpi_share = 0;                                                     // of all threads' time
  std::set<std::string> hosts, libraries, programs;
  HostClocks clocks;
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;  // world size and rank of each file
  // Counts the ranks of programs that another one in the folder has started (MPI_Comm_spawn): they are in no
  // `places`. Where all files are such, the folder has but one of those programs, and they count as any.
  std::uint64_t spawned = 0;
  std::set<std::string> unseen_callers;  // libraries whose calls of MPI are not in the traces

  // Says what `elapsed_ns` is the time of.
  std::string_view span() const;
  bool one_run() const {
    const std::uint64_t first = ranks.size() - spawned;
    return places.size() == first && places.begin()->first == first;
  }
};

// The traces in `directory`, rank-*.wtrc. `now_ns`: this machine's CLOCK_MONOTONIC, for how long the ranks of
// a program that runs have been in their calls. Throws InputError where there are none, or one can't be read.
TraceSummary summarize_traces(const std::filesystem::path& directory, std::uint64_t now_ns = 0);

}  // namespace weft::goal
