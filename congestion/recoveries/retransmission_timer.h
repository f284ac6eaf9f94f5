// The retransmission timeout that recoveries share: from round trips, doubled while nothing is heard.
#pragma once

#include <algorithm>
#include <cstdint>

#include "congestion/recovery.h"
#include "sim/units/quantity.h"
#include "sim/units/random.h"

namespace weft::congestion {

// RFC 6298, with a random share on top (RecoveryConfig::jitter). The first round trip is taken to be the
// longest that the network has without queueing. 64 bytes a connection.
class RetransmissionTimer {
 public:
  // After so many timeouts in a row the next one gives up (RFC 9293 §3.8.3, R2, counts a time instead): else
  // a flow whose way is cut for good would try to the end of time.
  static constexpr std::uint8_t kMostTimeouts = 16;

  explicit RetransmissionTimer(const RecoverySetup& setup)
      : srtt_ps_(std::max(setup.base_rtt, setup.longest_rtt).ps()),
        min_timeout_ps_(setup.config.min_timeout.ps()),
        max_timeout_ps_(setup.config.max_timeout.ps()),
        most_jitter_(static_cast<std::uint16_t>(std::min(setup.config.jitter, 1.0) * UINT16_MAX)),
        random_(setup.random) {
    draw_jitter();
  }

  std::int64_t smoothed_ps() const { return srtt_ps_; }
  std::int64_t least_ps() const { return min_rtt_ps_; }  // INT64_MAX: none was seen
  Time timeout() const {
    return timeout(std::max(min_timeout_ps_, srtt_ps_ + 4 * std::min(rttvar_ps_, kEndOfTime.ps() / 8)));
  }
  // Takes the first timeout from a recovery that knows better how long it is.
  Time timeout(std::int64_t once_ps) const {
    constexpr std::int64_t kMost = kEndOfTime.ps() - 1;  // added to any moment, it is still a moment
    once_ps = std::min(once_ps, kMost);
    if (jitter_ != 0) [[unlikely]]
      once_ps += std::min(once_ps / 65'536 * jitter_, kMost - once_ps);
    if (once_ps <= max_timeout_ps_ >> backoff_) [[likely]]
      return Time::ps(once_ps << backoff_);
    return Time::ps(std::max(once_ps, max_timeout_ps_));
  }
  std::int64_t due_ps() const { return since_ps_ + timeout().ps(); }
  std::int64_t since_ps() const { return since_ps_; }
  bool gave_up() const { return backoff_ > kMostTimeouts; }

  // Begins anew: the first packet is in flight, or a timeout is over.
  void begin(Time now) { since_ps_ = now.ps(); }
  // A sign of life: begins anew, without back-off.
  void progress(Time now) {
    backoff_ = 0;
    since_ps_ = now.ps();
  }
  // It is over. False: once too often.
  bool expire(Time now) {
    if (backoff_++ == kMostTimeouts) return false;
    since_ps_ = now.ps();
    draw_jitter();
    return true;
  }
  // RFC 6298 §2.2–2.3 in integers: alpha = 1/8, beta = 1/4.
  void sample(std::int64_t rtt_ps) {
    if (min_rtt_ps_ == INT64_MAX) [[unlikely]] {
      srtt_ps_ = rtt_ps;
      rttvar_ps_ = rtt_ps / 2;
    } else {
      const std::int64_t error = rtt_ps - srtt_ps_;
      rttvar_ps_ += ((error < 0 ? -error : error) - rttvar_ps_) / 4;
      srtt_ps_ += error / 8;
    }
    min_rtt_ps_ = std::min(min_rtt_ps_, rtt_ps);
  }

 private:
  // A new share, from 0 to most_jitter_.
  void draw_jitter() {
    if (most_jitter_ == 0) return;
    random_ = static_cast<std::uint32_t>(mix64(random_ + std::uint64_t{1}));
    jitter_ = static_cast<std::uint16_t>(std::uint64_t{random_} * most_jitter_ >> 32);
  }

  std::int64_t srtt_ps_, rttvar_ps_ = 0, min_rtt_ps_ = INT64_MAX;
  std::int64_t since_ps_ = 0;
  std::int64_t min_timeout_ps_, max_timeout_ps_;
  std::uint8_t backoff_ = 0;   // the timeout is doubled so often
  std::uint16_t most_jitter_;  // these two in 1/65,536 of the timeout
  std::uint16_t jitter_ = 0;
  std::uint32_t random_;
};

}  // namespace weft::congestion
