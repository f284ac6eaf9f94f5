// What NCCL's profiler interface told of an operation: algorithm, protocol and channels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

struct NcclChoice {
  std::int64_t count = 0;
  std::int64_t algorithm = trace::kNotKnown, protocol = trace::kNotKnown;  // in NCCL's numbers
  std::int64_t channels = 0;
};

// The algorithm of goal/collectives that does what was recorded, as Collective::algorithm names it; empty if
// there is none for this kind of collective.
std::string algorithm_text(const NcclChoice& choice, CollectiveKind kind);

// The choices of one process. NCCL's profiler knows a communicator by another name than the calls do: the
// n-th that it was told of with a rank and size is the n-th that was made with them.
class NcclChoices {
 public:
  // A record of kProfilerComm or kProfilerOperation. Throws InputError for one that makes no sense.
  void add(const TraceDeviceCall& call);
  // What the calls call the next communicator of that rank and size.
  void define(std::uint32_t comm_of_file, std::uint32_t rank, std::uint32_t size);
  // That of the n-th operation (from 0) of a kind on that communicator; null if there is none.
  const NcclChoice* find(std::uint32_t comm_of_file, trace::DeviceFunction function, std::uint64_t n) const;
  bool empty() const { return operations_.empty(); }

 private:
  std::int64_t profiled_as(std::uint32_t comm_of_file) const;
  using Place = std::pair<std::int64_t, std::int64_t>;               // rank and size
  std::vector<Place> profiled_;                                      // by the profiler's number, less one
  std::map<std::uint32_t, std::pair<Place, std::uint32_t>> called_;  // and how many of that place were before
  std::map<Place, std::uint32_t> counts_;
  mutable std::map<std::uint32_t, std::int64_t> resolved_;  // what profiled_as() found
  std::map<std::pair<std::int64_t, trace::DeviceFunction>, std::vector<NcclChoice>> operations_;
};

}  // namespace weft::goal
