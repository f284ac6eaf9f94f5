// Whether the members of a communicator agree on its collective operations. Not for other folders.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/check/recorder.h"

namespace weft::goal::checks {

// Fed with all ranks, one after the other.
class CollectiveCheck {
 public:
  CollectiveCheck(Recorder& recorder, const CommunicatorPlaces& members);
  // REQUIRES: ops of kind kCollective, each rank's in its order, ranks in ascending order.
  void add(Rank rank, OpIndex index, const Op& op);
  void end_rank(Rank rank);
  void finish();

 private:
  struct Seen {
    OpIndex op;
    std::uint32_t collective;
    std::uint32_t member;  // the rank's place in the communicator
  };
  // What the first rank seen on a communicator does there; the others are compared with it.
  struct Comm {
    Rank reference = kAny;
    std::vector<Seen> ops;
    std::vector<Rank> participants;  // ascending
    // While one rank is read: how many of its collectives were seen, and whether one was reported.
    std::uint32_t position = 0;
    bool reported = false;
  };
  // Calls whose sizes are checked pair by pair: alltoall with counts, and the neighbor kinds.
  struct Paired {
    std::uint32_t comm, position;
    Rank rank;
    Seen seen;
  };

  bool is_sound(Rank rank, OpIndex index, const Op& op);
  void compare(Comm& comm, std::uint32_t comm_index, Rank rank, const Seen& seen);
  void missing(std::uint32_t comm_index, Rank rank, std::uint32_t has);
  void find_absent(std::uint32_t comm_index);
  void check_pairs();
  void check_alltoall(const Paired* all, std::size_t size);
  void check_neighbors(const Paired* all, std::size_t size);

  Recorder& recorder_;
  OpSource& source_;
  const CommunicatorPlaces& members_;
  std::vector<bool> has_partial_elements_;  // by entry of the table of collectives
  std::vector<Comm> comms_;
  std::vector<std::uint32_t> touched_;  // communicators that the rank at hand has used
  std::vector<Paired> paired_;
};

}  // namespace weft::goal::checks
