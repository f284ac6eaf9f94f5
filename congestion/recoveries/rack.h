// Loss found by time: today's TCP, on packets that are acknowledged one by one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "congestion/recovery.h"

namespace weft::congestion {

// Sources: RFC 8985 (RACK-TLP: loss found by time, not by counting), RFC 6298 (retransmission timeout).
// What differs from TCP: packets are numbered, and an ACK names the packets it covers and echoes when the
// newest was sent, so there is no ambiguity about which transmission it answers; there is no tail loss probe,
// as the reordering timer and the timeout are short in a data center.
//
// Where packets may overtake each other, one is given up only a whole smoothed round trip after one sent
// later was acknowledged, instead of a quarter of the least. Memory: 8 bytes per packet between the oldest
// unacknowledged and the newest sent, rounded up to a power of two.
class Rack : public Recovery {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters&) {}
  };
  // After so many timeouts in a row the next one gives up (RFC 9293 §3.8.3, R2, counts a time instead): else
  // a flow whose way is cut for good would try to the end of time.
  static constexpr std::uint8_t kMostTimeouts = 16;

  explicit Rack(const RecoverySetup& setup, const Settings& settings = {});

  Time smoothed_rtt() const { return Time::ps(srtt_ps_); }
  Time least_rtt() const { return Time::ps(min_rtt_ps_); }
  Time timeout() const;
  Time reordering_window() const;

  // The lowest-numbered lost one, else the next new one.
  std::uint32_t next_to_send() override;
  void on_send(std::uint32_t number, Time at) override;
  Outcome on_ack(const Answer& ack) override;
  // The transmission is lost, without waiting, unless the packet was sent again or acknowledged since. The
  // answer is a sign of life: the timeout begins anew.
  Outcome on_nack(const Answer& nack) override;
  Time deadline() const override {
    if (in_flight_packets_ == 0 || gave_up()) return Time::max();
    const std::int64_t timeout_ps = last_progress_ps_ + this->timeout().ps();
    if (oldest_ps_ >= newest_acked_ps_) return Time::ps(timeout_ps);
    return Time::ps(std::min(timeout_ps, reordering_deadline_ps()));
  }
  // Looks for losses by time. Harmless before the deadline.
  Outcome on_timer(Time now) override;
  bool gave_up() const override { return backoff_ > kMostTimeouts; }

 private:
  enum State : std::uint64_t { kInFlight = 0, kAcked = 1, kLost = 2 };
  // One word per packet: the time it was last sent, in picoseconds (good for 26 days), and its state.
  static std::uint64_t encode(std::int64_t sent_ps, State state) {
    return static_cast<std::uint64_t>(sent_ps) << 2 | state;
  }
  static State state(std::uint64_t word) { return static_cast<State>(word & 3); }
  static std::int64_t sent_ps(std::uint64_t word) { return static_cast<std::int64_t>(word >> 2); }
  std::uint64_t& slot(std::uint32_t number) { return ring_[number & (ring_.size() - 1)]; }

  void settle(std::uint32_t number, Outcome& outcome) {
    std::uint64_t& word = slot(number);
    const State was = state(word);
    if (was == kAcked) return;
    word |= kAcked;
    word &= ~std::uint64_t{kLost};
    const std::uint32_t bytes = payload(number);
    ++outcome.acked_packets;
    outcome.acked_bytes += bytes;
    if (was == kInFlight) [[likely]] {
      --in_flight_packets_;
      in_flight_bytes_ -= bytes;
    } else {
      --lost_;
    }
  }
  void settle(std::uint32_t base, std::uint64_t sack, Outcome& outcome);
  // All below have arrived.
  void settle_below(std::uint32_t cumulative, Outcome& outcome) {
    for (std::uint32_t n = first_; n < cumulative; ++n) settle(n, outcome);
    while (first_ < next_ && state(slot(first_)) == kAcked) ++first_;
    sizes_.forget_below(first_);
  }
  void draw_jitter();
  // RFC 6298 §2.2–2.3 in integers: alpha = 1/8, beta = 1/4.
  void sample_rtt(std::int64_t rtt_ps) {
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
  std::int64_t reordering_deadline_ps() const {
    return oldest_ps_ + newest_rtt_ps_ + reordering_window().ps();
  }
  void widen(Time now);
  void declare_lost(std::uint32_t number, Outcome& outcome);
  void find_lost(Time now, Outcome& outcome);

  std::uint32_t lost_from_ = 0;  // no lost packet has a number below
  std::int64_t srtt_ps_ = 0, rttvar_ps_ = 0, min_rtt_ps_ = INT64_MAX;
  std::int64_t oldest_ps_ = 0;         // no packet in flight was sent before this
  std::int64_t newest_acked_ps_ = -1;  // RACK.xmit_ts: the latest sending time among those acknowledged
  std::int64_t newest_rtt_ps_ = 0;     // RACK.rtt: its round trip
  std::int64_t last_progress_ps_ = 0;  // when something new was last acknowledged
  std::int64_t widened_ps_ = 0;
  std::int64_t min_timeout_ps_, max_timeout_ps_;
  std::uint8_t backoff_ = 0;   // the timeout is doubled so often
  std::uint8_t widening_ = 1;  // RACK.reo_wnd_mult
  bool reordering_;
  std::uint16_t most_jitter_;  // these two in 1/65,536 of the timeout
  std::uint16_t jitter_ = 0;
  std::uint32_t random_;
};

RecoveryKind rack();

}  // namespace weft::congestion
