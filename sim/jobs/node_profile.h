// How many nodes of a machine will be free when.
#pragma once

#include <cstdint>
#include <map>

#include "sim/units/quantity.h"

namespace weft::jobs {

// A step function of time, from `now` on.
class NodeProfile {
 public:
  NodeProfile(Time now, std::uint32_t free) : steps_{{now, free}} {}

  // Takes nodes from `from` up to `until`. REQUIRES: they are free then; now <= from < until.
  void take(Time from, Time until, std::uint32_t nodes);
  // The earliest moment from `from` on at which so many nodes are free for so long. REQUIRES: at some moment
  // all that was taken is free again, and `nodes` are no more than the machine has.
  Time earliest(Time from, Time duration, std::uint32_t nodes) const;

 private:
  std::map<Time, std::uint32_t>::iterator split(Time at);

  std::map<Time, std::uint32_t> steps_;  // free nodes from this moment on
};

}  // namespace weft::jobs
