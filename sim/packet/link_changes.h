// Makes the changes that faults planned for links, at their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/due_times.h"
#include "sim/core/link_change.h"
#include "sim/units/quantity.h"

namespace weft::sim::packet {

class Channels;
class SwitchPolicies;

// Makes the changes at their times, and new routes some time after links went down or came up.
class LinkSchedule {
 public:
  // `changes`: in the order of time. `reconvergence`: until routes everywhere know of a change.
  LinkSchedule(std::span<const LinkChange> changes, Time reconvergence);

  // When something is due next; Time::max() if nothing is left. No event at or after that may have been
  // executed before advance().
  Time next() const;
  // Does all that is due at or before `now`, in its order. True if routes or links have changed.
  bool advance(Time now, Channels& channels, SwitchPolicies& policies);

 private:
  std::vector<LinkChange> changes_;
  Time reconvergence_;
  std::size_t next_change_ = 0;
  DueTimes reroutes_;
};

}  // namespace weft::sim::packet
