// How many of a connection's packets were marked, by round trips: what `plb` and `flowbender` decide by.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/routing/path_selector.h"
#include "sim/units/module.h"

namespace weft::routing {

// A round trip is over with the first ACK of a packet that was sent after it began; the next begins then.
class MarkShare {
 public:
  // The share of marked ACKs, from 0 to 1, if this one ends a round trip.
  std::optional<double> on_ack(const PathNews& news) {
    if (begin_ < Time()) begin_ = news.now;
    ++acks_;
    marks_ += news.ecn_marked;
    if (news.now - news.rtt < begin_) return std::nullopt;
    const double share = static_cast<double>(marks_) / acks_;
    restart(news.now);
    return share;
  }
  // What was counted so far is of another path.
  void restart(Time now) {
    begin_ = now;
    acks_ = marks_ = 0;
  }

  // The parameter with this name: a share of ACKs above 0 and up to 1. Throws InputError.
  static double threshold(const Parameters& parameters, const char* name) {
    const double share = parameters.real(name);
    if (!(share > 0 && share <= 1)) parameters.fail(name, "it must be above 0 and at most 1");
    return share;
  }

 private:
  Time begin_ = Time::ps(-1);  // not yet
  std::uint32_t acks_ = 0, marks_ = 0;
};

}  // namespace weft::routing
