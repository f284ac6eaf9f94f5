// The rate at which a receiver grants credit where the network, not its own link, is the bottleneck.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "congestion/receiver.h"
#include "sim/units/random.h"

namespace weft::congestion {

// Ultra Ethernet's control for oversubscribed networks. Source: Ultra Ethernet Specification 1.0,
// section 3.6.14, with the constants of ultraethernet/uet-htsim. Of the packets that came in each
// interval, 1.5 network RTTs give or take a quarter: those cut off elsewhere than at the last hop take their
// share from the rate; the marked share F is averaged, g = (1 − w) g + w F, and above a target takes rate ·
// decrease · (g − target). Without either the rate grows by `increase`, twice as much each time where no
// packet was marked.
class NetworkRate {
 public:
  struct Settings {
    double target = 0.3, increase = 0.01, growth = 2, decrease = 0.5, weight = 0.5, least = 0.01;
    Time interval;  // 0: 1.5 network RTTs
    bool trims_count = true;
  };

  NetworkRate(const Settings& settings, Time network_rtt, std::uint32_t random)
      : settings_(settings),
        mean_interval_(settings.interval > Time() ? settings.interval
                                                  : network_rtt + Time::ps(network_rtt.ps() / 2)),
        random_(random, 0),
        next_(interval()) {}

  double rate() const { return rate_; }
  // All intervals that have ended by now. Returns how often the rate was cut.
  std::uint32_t advance(Time now) {
    std::uint32_t cuts = 0;
    while (now >= next_) {
      if (packets_ == 0 && rate_ == 1 && share_ < 1e-3) {  // nothing changes any more
        next_ = now + interval();
        steps_ = 0;
        break;
      }
      cuts += step();
      next_ = next_ + interval();
    }
    return cuts;
  }
  // REQUIRES: advance() was called for this moment.
  void arrive(const Arrival& arrival) {
    ++packets_;
    if (arrival.trimmed) {
      ++(arrival.at_last_hop ? cut_last_ : cut_);
    } else if (arrival.ecn_marked) {
      ++marked_;
    }
  }
  bool step() {
    const std::uint32_t whole = packets_ - cut_ - cut_last_;
    const double marked = whole == 0 ? 0 : static_cast<double>(marked_) / whole;
    bool cut = cut_ > 0 && settings_.trims_count;
    if (cut) rate_ -= static_cast<double>(cut_) / packets_;
    share_ += settings_.weight * (marked - share_);
    if (share_ > settings_.target && settings_.decrease > 0) {
      rate_ *= 1 - (share_ - settings_.target) * settings_.decrease;
      cut = true;
    }
    if (cut) {
      steps_ = 0;
    } else {
      rate_ += marked_ == 0 ? settings_.increase * std::pow(settings_.growth, steps_) : settings_.increase;
      steps_ = std::min(steps_ + 1, 30);
    }
    rate_ = std::clamp(rate_, settings_.least, 1.0);
    packets_ = marked_ = cut_ = cut_last_ = 0;
    return cut;
  }

 private:
  // Drawn anew each time, so that receivers don't act together.
  Time interval() {
    const double share = 0.75 + static_cast<double>(random_.next() >> 11) * 0x1p-54;
    return Time::ps(std::max<std::int64_t>(
        1, static_cast<std::int64_t>(share * static_cast<double>(mean_interval_.ps()))));
  }

  Settings settings_;
  Time mean_interval_;
  RandomStream random_;
  Time next_;
  double rate_ = 1, share_ = 0;
  std::uint32_t packets_ = 0, marked_ = 0, cut_ = 0, cut_last_ = 0;
  int steps_ = 0;  // on end without a cut
};

}  // namespace weft::congestion
