// IRN: selective repeat by NACKs, with no more under way than the path holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "congestion/recoveries/scoreboard.h"

namespace weft::congestion {

// Source: Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018, §3. An answer to a packet that
// came before its turn is IRN's NACK: it says what is expected, and which packet came. The first opens a
// recovery, in which the expected packet and every one below the highest that came are lost, each once; it is
// over when all that was sent before it is acknowledged. Two timeouts, fixed: a short one while few packets
// are in flight, so that it is harmless if it is wrong. What differs: a timeout gives up everything that had
// its round trip, instead of one packet, and is doubled each time. Memory: as Scoreboard.
class Irn final : public Scoreboard {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters& parameters);
    std::uint32_t window = 0, tolerance = 0;  // packets; 0: what suits the network
    std::uint32_t few = 3;
    Time low, high;  // 0: likewise
  };

  Irn(const RecoverySetup& setup, const Settings& settings);

  Outcome on_ack(const Answer& ack) override;
  Outcome on_nack(const Answer& nack) override;
  Time deadline() const override;
  Outcome on_timer(Time now) override;

  Time timeout() const { return timer_.timeout(in_flight_packets_ <= few_ ? low_ps_ : high_ps_); }
  bool recovering() const { return recovering_; }

 private:
  void go_on(Outcome& outcome);

  std::int64_t low_ps_, high_ps_;
  std::uint32_t few_, tolerance_;
  bool recovering_ = false;
  std::uint32_t until_ = 0;         // a recovery ends when all below is acknowledged
  std::uint32_t looked_below_ = 0;  // what was missing there was given up in this recovery
  std::uint32_t highest_ = 0;       // number behind the highest that came
};

RecoveryKind irn();

}  // namespace weft::congestion
