// The communicators that a trace file has defined so far.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "goal/import/mpi/trace_chunks.h"
#include "goal/import/mpi/trace_records.h"
#include "tracer/format/format.h"

namespace weft::goal {

class TraceCommunicators {
 public:
  // The values must outlive it.
  explicit TraceCommunicators(TraceChunks& values) : values_(values) {}

  const std::vector<TraceCommunicator>& all() const { return communicators_; }
  // Reads a definition; which communicator has a handle of the library's; a reference to one that is defined,
  // or kNoComm.
  void define();
  void define_handle();
  std::uint32_t read_id();

  // The one that had it last; kNoComm where that isn't known.
  std::uint32_t of_handle(std::uint64_t handle) const;
  // `rank` is one of the remote group if `comm` is an intercommunicator. Constants of the format stay.
  std::int32_t world_rank(std::uint32_t comm, std::int32_t rank) const;

 private:
  void read_members(std::vector<std::int32_t>& ranks);

  TraceChunks& values_;
  std::vector<TraceCommunicator> communicators_;
  std::map<std::uint64_t, std::uint32_t> handles_;
};

}  // namespace weft::goal
