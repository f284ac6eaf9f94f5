#include "sim/run/routing_remarks.h"

#include <algorithm>
#include <utility>

#include "sim/core/link_change.h"
#include "sim/routing/policies/policies.h"
#include "sim/routing/run_remarks.h"

namespace weft::sim {

void add_routing_remarks(const ModelRun& run, bool has_packets, std::vector<std::string>& warnings) {
  const routing::Policy& policy = find_module(routing::policies(), run.scenario.routing, "routing policy");
  const Parameters parameters(policy.info, run.scenario.routing);
  const auto is_slower = [](const LinkChange& change) {
    return change.rate_share > 0 && change.rate_share < 1;
  };
  const routing::RunTraits traits{.has_packets = has_packets,
                                  .rates_change = std::ranges::any_of(run.fabric->link_changes, is_slower)};
  for (std::string& text : routing::run_remarks(
           policy.configured(parameters),
           {parameters, run.fabric->topology, run.fabric->table, run.scenario.seed}, traits)) {
    warnings.push_back(std::move(text));
  }
}

}  // namespace weft::sim
