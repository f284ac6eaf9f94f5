// How many virtual channels lossless queues have, and which of them a packet is in, where a user leaves that
// to the network: as few as keep packets from waiting for each other in a circle.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/packet/queues/queues.h"
#include "sim/routing/routing.h"
#include "sim/units/module.h"

namespace weft::sim::packet {

struct ChannelChoice {
  routing::ChannelRule rule;
  // "3 virtual channels, by_group: …", where it is proven that there is no circle; "": there is, or the
  // network is too large to tell within the work allowed.
  std::string reason;
  std::string proof = "";  // what DeadlockProof says of it; "": nothing, but a search may have proven it
};

// Chooses the one of these rules that does with the fewest channels on this network, the first of equal ones:
// by the search of deadlock_check.h, or where that takes long the fewest that deadlock_proof.h proves, often
// more.
//   routed    where the policy has channels of its own, such as the two of a ring with a dateline (W. J.
//             Dally, C. L. Seitz, 1987);
//   by_hop    with as many as the longest way has links there is no circle on any network (K. D. Günther,
//             1981), and often with fewer;
//   by_group  the same, where some links cross groups and some don't.
// `most_work` is for a search where no rule proves anything, and a quarter of it for the rules. Where the
// user gave the number, the first that does with it, `routed` last. Nothing: there is nothing to choose.
// Throws InputError for parameters that make no sense, and where the policy isn't defined for the network.
std::optional<ChannelChoice> choose_channels(const routing::Policy& policy, const routing::PlanSetup& setup,
                                             const Discipline& queue, const Parameters& parameters,
                                             std::uint64_t most_work = UINT64_MAX);

// The queue's parameters with what was chosen in the place of what was left open.
Parameters with_channels(const Discipline& queue, const Parameters& parameters, const ChannelChoice& choice);

}  // namespace weft::sim::packet
