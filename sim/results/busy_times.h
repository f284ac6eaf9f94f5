// How long wires were occupied whose rates change while a run goes on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::results {

// By number of a channel. What a rate is for is settled when the rate changes, so that what sends bytes has
// nothing to do for it. Memory: nothing as long as no rate changes, then 32 bytes for each channel.
class BusyTimes {
 public:
  // From `now` on a channel has another rate. It has put so many bytes on the wire since the start of the
  // run, all that weren't settled before at `rate`; they took this much less, as they were cut off.
  // `rate`: zero, if it was down.
  void settle(std::size_t channels, std::uint32_t channel, Time now, Bandwidth rate, std::uint64_t bytes,
              Time less = {}) {
    if (past_.empty()) past_.resize(channels);
    Past& past = past_[channel];
    past.busy = std::max(past.busy, busy(channel, rate, bytes) - less);
    past.bytes = std::max(past.bytes, bytes);
    if (now > past.until) past.highest = std::max(past.highest, rate);
    past.until = std::max(past.until, now);
  }

  // Gives the time for all bytes so far, of which those that aren't settled go at this rate.
  Time busy(std::uint32_t channel, Bandwidth rate, std::uint64_t bytes) const {
    if (past_.empty()) return rate.serialization(bytes);
    const Past& past = past_[channel];
    if (bytes <= past.bytes || rate == Bandwidth()) return past.busy;
    return past.busy + rate.serialization(bytes - past.bytes);
  }
  // The highest rate of the channel so far, if it has this one now.
  Bandwidth highest(std::uint32_t channel, Bandwidth rate) const {
    return past_.empty() ? rate : std::max(past_[channel].highest, rate);
  }
  bool any() const { return !past_.empty(); }  // has a rate changed?

 private:
  struct Past {
    Time busy, until;
    std::uint64_t bytes = 0;
    Bandwidth highest;
  };
  std::vector<Past> past_;
};

}  // namespace weft::results
