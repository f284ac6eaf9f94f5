// Whether lossless queues and a routing policy together allow that packets wait for each other in a circle:
// told before a run. (deadlock.h finds circles that have come about.)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/packet/queues/queues.h"
#include "sim/routing/paths/dependencies.h"
#include "sim/routing/routing.h"
#include "sim/units/module.h"

namespace weft::sim::packet {

// What uses a lossless network: data by the policy's paths, and ACKs by those, by the built-in rule's, or
// back by their data's, as the policy asks for.
class LosslessTraffic {
 public:
  // Throws InputError where the policy isn't defined for the network.
  LosslessTraffic(const routing::Policy& policy, const routing::PlanSetup& setup);
  LosslessTraffic(const LosslessTraffic&) = delete;
  LosslessTraffic& operator=(const LosslessTraffic&) = delete;

  const routing::PathModel& data() const { return *paths_; }
  const std::vector<routing::Travellers>& travellers() const { return travellers_; }

 private:
  const std::unique_ptr<routing::PathModel> paths_;
  const routing::MinimalPaths minimal_;
  std::vector<routing::Travellers> travellers_;
};

struct DeadlockCheck {
  routing::ChannelRule rule;
  routing::Dependencies found;
};

// Checks all of LosslessTraffic. Returns nothing for a discipline that isn't lossless. Throws InputError for
// parameters that make no sense, and where the policy isn't defined for the network.
std::optional<DeadlockCheck> check_deadlocks(const routing::Policy& policy, const routing::PlanSetup& setup,
                                             const Discipline& queue, const Parameters& parameters,
                                             std::uint64_t most_work = UINT64_MAX);

// What a run's results say of it; "": nothing, it can't happen.
std::string deadlock_warning(const DeadlockCheck& check, const topologies::Topology& topology,
                             const std::string& queue, const std::string& policy);

}  // namespace weft::sim::packet
