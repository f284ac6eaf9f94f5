// Packets are sent again when a switch has cut their payload off, and told so.
#pragma once

#include "congestion/recoveries/scoreboard.h"

namespace weft::congestion {

// Sources: Handley et al., Re-architecting datacenter networks and stacks for low latency and high
// performance (NDP), SIGCOMM 2017, §3. The header of a trimmed packet reaches the receiver, or comes back,
// and its payload is sent again at once; nothing is concluded from gaps. A timeout is for what was lost with
// its header, on a broken link say: each packet has its own, as answers to those that others took say nothing
// of its way. Memory: as Scoreboard.
class TrimNack final : public Scoreboard {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters&) {}
  };
  TrimNack(const RecoverySetup& setup, const Settings&) : Scoreboard(setup) {}

  // May be too early: on_timer() finds out which packet is the oldest.
  Time deadline() const override {
    if (in_flight_packets_ == 0 || gave_up()) return Time::max();
    return Time::ps(oldest_ps_ + timer_.timeout().ps());
  }
  Outcome on_timer(Time now) override;

 private:
  // Looks for the packet in flight that was sent first, and keeps when. INT64_MAX: there is none.
  std::int64_t find_oldest();
};

RecoveryKind trim_nack();

}  // namespace weft::congestion
