// Packets are sent again when a switch has cut their payload off, and told so.
#pragma once

#include "congestion/recoveries/scoreboard.h"

namespace weft::congestion {

// Sources: Handley et al., Re-architecting datacenter networks and stacks for low latency and high
// performance (NDP), SIGCOMM 2017, §3. The header of a trimmed packet reaches the receiver, or comes back,
// and its payload is sent again at once; nothing is concluded from gaps. A timeout is for what was lost with
// its header, on a broken link say. Memory: as Scoreboard.
class TrimNack final : public Scoreboard {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters&) {}
  };
  TrimNack(const RecoverySetup& setup, const Settings&) : Scoreboard(setup) {}
};

RecoveryKind trim_nack();

}  // namespace weft::congestion
