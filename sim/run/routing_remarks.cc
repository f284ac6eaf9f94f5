#include "sim/run/routing_remarks.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/core/link_change.h"
#include "sim/fabrics/fabrics.h"
#include "sim/routing/policies/policies.h"
#include "sim/routing/run_remarks.h"

namespace weft::sim {

namespace {

// Who names a fabric expects what it does under load. A default's name is told with the run.
bool leaves_out_of_fabric(const Scenario& scenario) {
  return !scenario.fabric.empty() && scenario.fabric != fabrics::kNone && scenario.fabric_reason.empty();
}

}  // namespace

void add_routing_remarks(const ModelRun& run, bool has_packets, std::vector<std::string>& warnings) {
  if (!has_packets && leaves_out_of_fabric(run.scenario)) {
    warnings.push_back(fmt::format(
        "of fabric {} routing, headers and NICs count here; flows share links fairly at once and lose "
        "nothing, as with an ideal congestion control: its own, its queue and recovery need --network packet",
        run.scenario.fabric));
  }
  if (const std::string& policy = run.scenario.detours_left_out; !policy.empty()) {
    warnings.push_back(fmt::format(
        "messages take shortest ways alone, where {0} has detours: on links between switches that are full a "
        "run takes several times as long; routing {0} asks for them",
        policy));
  }
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
