// Times at which something is to be done once, however often that was asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::sim {

class DueTimes {
 public:
  // Not before what has been taken.
  void add(Time at) {
    const auto place = std::ranges::lower_bound(times_, at);
    if (place == times_.end() || *place != at) times_.insert(place, at);
  }
  // Time::max() if nothing is left.
  Time next() const { return taken_ < times_.size() ? times_[taken_] : Time::max(); }
  // Is it due now? Then it is taken.
  bool take(Time now) {
    const bool is_due = taken_ < times_.size() && times_[taken_] == now;
    taken_ += is_due;
    return is_due;
  }

 private:
  std::vector<Time> times_;  // in order
  std::size_t taken_ = 0;
};

}  // namespace weft::sim
