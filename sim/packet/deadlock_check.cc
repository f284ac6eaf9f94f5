#include "sim/packet/deadlock_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/routing/checked_paths.h"

namespace weft::sim::packet {

LosslessTraffic::LosslessTraffic(const routing::Policy& policy, const routing::PlanSetup& setup)
    : paths_(routing::checked_paths_of(policy, setup)), minimal_(setup.table) {
  const bool asked = policy.make_plan != nullptr && policy.asks.control;
  // One by one, named ways take long to follow.
  const routing::PathModel* const ways = paths_->names_ways() && paths_->all_minimal()
                                             ? static_cast<const routing::PathModel*>(&minimal_)
                                             : paths_.get();
  travellers_ = {{.paths = ways},
                 // Pauses go by these even where ACKs retrace their way.
                 {.paths = asked || policy.make_paths == nullptr ? ways : &minimal_, .control = true}};
  if (policy.asks.acks_retrace) travellers_.push_back({.paths = ways, .control = true, .reversed = true});
}

std::optional<DeadlockCheck> check_deadlocks(const routing::Policy& policy, const routing::PlanSetup& setup,
                                             const Discipline& queue, const Parameters& parameters,
                                             std::uint64_t most_work) {
  if (queue.channels == nullptr) return std::nullopt;
  DeadlockCheck check{.rule = queue.channels(parameters), .found = {}};
  const LosslessTraffic traffic(policy, setup);
  check.found =
      routing::find_dependencies(setup.topology, setup.table, traffic.travellers(), check.rule, most_work);
  return check;
}

std::string deadlock_warning(const DeadlockCheck& check, const topologies::Topology& topology,
                             const std::string& queue, const std::string& policy) {
  if (check.found.acyclic()) return "";
  const std::string both = fmt::format("queue {} with routing {}", queue, policy);
  if (!check.found.finished) {
    return both +
           ": whether packets can wait for each other in a circle was not looked into, as the network is too "
           "large to do it within a second or so; weft route check does";
  }
  constexpr std::size_t kMostNamed = 4;
  const std::size_t count = check.found.cycle.size();
  std::string text =
      both + ": packets can come to wait for each other in a circle, which ends the run if it happens: ";
  for (std::size_t i = 0; i < std::min(count, kMostNamed); ++i) {
    text += (i > 0 ? ", then " : "") + routing::name_of(topology, check.found.cycle[i], check.rule);
  }
  if (count > kMostNamed) text += fmt::format(" … ({} in all)", count);
  return text;
}

}  // namespace weft::sim::packet
