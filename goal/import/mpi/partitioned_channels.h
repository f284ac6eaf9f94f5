// Which partitioned send (MPI 4.0, section 4.2) meets which receive, and how its sender divides and gives it.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

// One MPI_Psend_init.
struct PartitionedChannel {
  std::int32_t tag = 0;
  std::uint32_t partitions = 0;
  std::uint64_t bytes = 0;                       // of a partition
  std::uint64_t first = 0;                       // partitions of the channels before it between the two ranks
  std::map<std::uint32_t, std::uint64_t> ready;  // how often each partition was given
};

// Channels are matched by communicator, ranks and tag in the order in which they were made.
class PartitionedChannels {
 public:
  // Calls of one rank in program order; rank by rank. `known` are the communicators of that rank's file.
  void add(std::uint32_t rank, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  // The next channel with this tag that a side has not asked for; null if there are no more.
  const PartitionedChannel* next(bool sends, std::uint64_t comm_key, std::uint32_t from, std::uint32_t to,
                                 std::int32_t tag);

 private:
  using Pair = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;  // key, from, to
  struct Between {
    std::vector<PartitionedChannel> channels;
    std::map<std::int32_t, std::vector<std::size_t>> of_tag;
    std::map<std::int32_t, std::size_t> asked[2];  // by receivers, by senders
  };
  struct Place {
    Pair pair;
    std::size_t channel;
  };
  std::map<Pair, Between> pairs_;
  std::uint32_t rank_ = 0;
  std::unordered_map<std::uint64_t, Place> sends_;  // of rank_, by request
};

}  // namespace weft::goal
