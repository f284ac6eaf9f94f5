// What happens to links while a run goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::sim::packet {

class Channels;

// From `at` on, until the link's next change, both directions of a cable are like this.
struct LinkChange {
  Time at;
  std::uint32_t link = 0;     // edge of the topology: channels 2 × link and 2 × link + 1
  double rate_share = 1;      // of the rate it was built with, above 0; 0: down, everything on it is lost
  double bit_error_rate = 0;  // probability that a bit is wrong, which loses its packet; below 1
};

// Makes the changes at their times, and new routes some time after links went down or came up.
class LinkSchedule {
 public:
  // `changes`: in the order of time. `reconvergence`: until routes everywhere know of a change.
  LinkSchedule(std::span<const LinkChange> changes, Time reconvergence);

  // When something is due next; Time::max() if nothing is left. No event at or after that may have been
  // executed before advance().
  Time next() const;
  // Does all that is due at or before `now`, in its order. True if routes or links have changed.
  bool advance(Time now, Channels& channels);
  std::uint64_t applied() const { return next_change_; }

 private:
  std::vector<LinkChange> changes_;
  Time reconvergence_;
  std::size_t next_change_ = 0;
  std::vector<Time> reroutes_;  // in the order of time
  std::size_t next_reroute_ = 0;
};

}  // namespace weft::sim::packet
