// SLEEK: loss recovery by the number of packets that came out of order, for spraying without trimming.
#pragma once

#include <algorithm>
#include <cstdint>

#include "congestion/recoveries/scoreboard.h"

namespace weft::congestion {

// Source: the Ultra Ethernet model of htsim (spcl/HTSIM): when more packets have come beyond a missing one
// than max(min(1.5 W, most), 5), W being the congestion window, a recovery opens: packets that were sent
// before it and weren't acknowledged are sent again, each once; it closes when all of them are acknowledged.
// When nothing was heard for three round trips a probe asks, up to five times in a row. What differs: only
// what is below the highest packet that came is sent again, as the rest may be just under way; and the probe
// is the oldest packet in flight itself. Memory: as Scoreboard.
class Sleek final : public Scoreboard {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters& parameters);
    double windows = 1.5;
    std::uint32_t least = 5, most = 0;  // packets; most 0: what suits the network
    double probe_rtts = 3;
    std::uint32_t probes = 5;
  };

  Sleek(const RecoverySetup& setup, const Settings& settings);

  Outcome on_ack(const Answer& ack) override;
  Time deadline() const override;
  Outcome on_timer(Time now) override;

  bool recovering() const { return recovering_; }
  // Packets beyond a missing one.
  std::uint32_t threshold(std::uint64_t window_bytes) const;

 private:
  bool probes() const { return probes_sent_ < most_probes_; }
  Time probe_at() const { return Time::ps(heard_ps_) + probe_rtts(); }
  Time probe_rtts() const { return Time::ps(static_cast<std::int64_t>(timer_.smoothed_ps() * probe_rtts_)); }

  double windows_, probe_rtts_;
  std::uint32_t least_, most_;
  std::uint32_t most_probes_, probes_sent_ = 0;
  bool recovering_ = false;
  std::uint32_t until_ = 0;         // a recovery ends when all below is acknowledged
  std::uint32_t looked_below_ = 0;  // what was missing there was given up in this recovery
  std::uint32_t highest_ = 0;       // number behind the highest that came
  std::int64_t heard_ps_ = 0;       // an answer, or the last probe
  std::uint64_t* probe_count_;
};

RecoveryKind sleek();

}  // namespace weft::congestion
