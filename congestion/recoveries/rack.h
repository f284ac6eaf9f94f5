// Loss found by time: today's TCP, on packets that are acknowledged one by one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "congestion/recoveries/scoreboard.h"
#include "congestion/recovery.h"

namespace weft::congestion {

// Sources: RFC 8985 (RACK-TLP: loss found by time, not by counting), RFC 6298 (retransmission timeout).
// What differs from TCP: packets are numbered, and an ACK names the packets it covers and echoes when the
// newest was sent, so there is no ambiguity about which transmission it answers; there is no tail loss probe,
// as the reordering timer and the timeout are short in a data center.
//
// Where packets may overtake each other, one is given up only a whole smoothed round trip after one sent
// later was acknowledged, instead of a quarter of the least.
class Rack : public Scoreboard {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters&) {}
  };

  explicit Rack(const RecoverySetup& setup, const Settings& = {})
      : Scoreboard(setup), reordering_(setup.config.reordering) {}

  Time reordering_window() const;

  Outcome on_ack(const Answer& ack) override;
  Time deadline() const override {
    if (in_flight_packets_ == 0 || gave_up()) return Time::max();
    if (oldest_ps_ >= newest_acked_ps_) return Time::ps(timer_.due_ps());
    return Time::ps(std::min(timer_.due_ps(), reordering_deadline_ps()));
  }
  // Looks for losses by time. Harmless before the deadline.
  Outcome on_timer(Time now) override;

 private:
  std::int64_t patience_ps() const { return newest_rtt_ps_ + reordering_window().ps(); }
  std::int64_t reordering_deadline_ps() const { return oldest_ps_ + patience_ps(); }
  void find_lost(Time now, Outcome& outcome);
  void widen(Time now);

  std::int64_t newest_acked_ps_ = -1;  // RACK.xmit_ts: the latest sending time among those acknowledged
  std::int64_t newest_rtt_ps_ = 0;     // RACK.rtt: its round trip
  std::int64_t widened_ps_ = 0;
  std::uint8_t widening_ = 1;  // RACK.reo_wnd_mult
  bool reordering_;
};

RecoveryKind rack();

}  // namespace weft::congestion
