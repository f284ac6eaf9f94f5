// How many of a connection's packets were marked, by round trips, and the path it keeps or leaves for that:
// what `plb` and `flowbender` share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/random.h"
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

 private:
  Time begin_ = Time::ps(-1);  // not yet
  std::uint32_t acks_ = 0, marks_ = 0;
};

// A flow's entropy, and how many round trips in a row were congested on the path it stands for.
class MarkedPath {
 public:
  enum Signal : std::uint8_t { kRepath, kTimeoutRepath };
  // What Policy::path_signals is to name.
  static std::vector<std::string> signals() { return {"repath", "timeout_repath"}; }

  explicit MarkedPath(const PathSetup& setup) : random_(setup.random), signals_(setup.signals) {
    entropy_ = static_cast<std::uint32_t>(random_.next());
  }
  std::uint32_t entropy() const { return entropy_; }
  sim::RandomStream& random() { return random_; }
  // So many round trips, 1 or more, were congested in a row, up to now.
  bool is_due(std::uint32_t rounds) const { return congested_ >= rounds; }
  // is_congested(share of marks) is asked at the end of a round trip; true: this ACK was one's.
  template <typename IsCongested>
  bool on_ack(const PathNews& news, IsCongested&& is_congested) {
    // An ACK of an earlier path says nothing of this one.
    if (news.path.entropy != entropy_) return false;
    const std::optional<double> share = marks_.on_ack(news);
    if (!share) return false;
    constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;
    congested_ = is_congested(*share) ? std::min(congested_ + 1, kMost) : 0;
    return true;
  }
  // Takes another one.
  void change(Time now, Signal why) {
    entropy_ = static_cast<std::uint32_t>(random_.next());
    ++signals_[why];
    marks_.restart(now);
    congested_ = 0;
  }

 private:
  sim::RandomStream random_;
  std::uint64_t* signals_;
  MarkShare marks_;
  std::uint32_t congested_ = 0;  // round trips in a row
  std::uint32_t entropy_ = 0;
};

}  // namespace weft::routing
