// That packets of a lossless network can't wait for each other in a circle, by rules that take one walk over
// the ways at most (sim/routing/paths/ascent.h). Where no rule holds there may be none all the same:
// deadlock_check.h looks for circles, which takes far longer on large networks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/packet/deadlock_check.h"
#include "sim/routing/channel_rule.h"
#include "sim/routing/paths/ascent.h"
#include "sim/routing/routing.h"

namespace weft::sim::packet {

class DeadlockProof {
 public:
  // Both must outlive it. Walks that would take more work aren't finished, and prove nothing.
  DeadlockProof(const LosslessTraffic& traffic, const routing::PlanSetup& setup, std::uint64_t most_work);

  // Why there is no circle with this rule; "": not proven.
  std::string of(const routing::ChannelRule& rule);
  // Finds among what the rule leaves open that with the fewest channels which is proven, the first of equal
  // ones, in the order of choose_channels().
  std::optional<routing::ChannelRule> least(const routing::ChannelRule& open, bool has_both_links);
  // Is the network so small that a search is quick?
  bool search_is_quick();

 private:
  bool is_routed(const routing::ChannelRule& rule) const;
  const std::optional<routing::Ascent>& ascent();
  // The most links of all ways, where the data's model knows; 0: it doesn't.
  std::uint32_t most_links() const;

  const LosslessTraffic& traffic_;
  const routing::PlanSetup& setup_;
  const std::uint64_t most_work_;
  const std::string own_;  // of the policy's channels, for all traffic; "": none
  bool has_walked_ = false;
  std::optional<routing::Ascent> ascent_;
  std::uint32_t most_links_ = 0;  // where the walk gave up
};

// Gives DeadlockProof::of() for the queue's parameters; "" also for a discipline that isn't lossless. Throws
// InputError as check_deadlocks() does.
std::string deadlock_proof(const routing::Policy& policy, const routing::PlanSetup& setup,
                           const Discipline& queue, const Parameters& parameters,
                           std::uint64_t most_work = UINT64_MAX);

}  // namespace weft::sim::packet
