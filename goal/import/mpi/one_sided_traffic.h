// What calls of a rank mean for others: the one-sided ones of all ranks at their targets, which make no call
// of their own for it, and how senders divide what they send in partitions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "goal/import/mpi/access_epochs.h"
#include "goal/import/mpi/partitioned_channels.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

// One thing that reaches a target.
struct Arrival {
  enum class Kind : std::uint8_t {
    kPut,      // bytes for its memory
    kRequest,  // bytes for its memory, perhaps none, and some of it is wanted back
    kFlush,    // nothing: the origin waits until all that it has put there so far has arrived
  };
  std::uint64_t window = 0;  // its key
  std::uint64_t bytes = 0, wanted = 0;
  std::uint32_t origin = 0;
  Kind kind = Kind::kPut;
  bool passive = false;  // the target waits for it in no epoch of its own
};

class OneSidedTraffic {
 public:
  // What arrives at one target, by where it can first take it; then by origin, in the origin's order.
  struct AtTarget {
    std::map<MeetingPoint, std::vector<Arrival>> arrivals;
    std::uint16_t threads = 1;  // that make MPI calls in this rank
  };

  // `collect` calls add() with all calls of all ranks. It is called when a rank's first window or
  // partitioned request is met: what has none costs no second reading.
  OneSidedTraffic(std::uint32_t world_size, std::function<void(OneSidedTraffic&)> collect)
      : world_size_(world_size), collect_(std::move(collect)) {}

  // Calls of one rank in program order; rank by rank. `known` are the communicators of that rank's file.
  void add(std::uint32_t rank, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  // What arrives at a rank; to be taken out as it is replayed.
  AtTarget& at(std::uint32_t rank);
  // What all ranks make of partitioned sends.
  PartitionedChannels& partitioned();

 private:
  void collect();

  const std::uint32_t world_size_;
  std::function<void(OneSidedTraffic&)> collect_;
  bool collected_ = false;
  std::uint32_t rank_ = 0;
  std::optional<AccessEpochs> epochs_;  // of rank_
  std::vector<AtTarget> targets_;
  PartitionedChannels partitioned_;
};

}  // namespace weft::goal
