// Tables and source routes from a user's file.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "sim/routing/policies/policies.h"
#include "sim/routing/table/routing_table.h"
#include "tests/fuzz/fuzz.h"
#include "topologies/families.h"

using namespace weft;

namespace {

void require_shares(const topologies::Topology& topology, const routing::PathModel& model) {
  std::vector<routing::PathStart> starts;
  model.starts(0, 1, starts);
  double all = 0;
  for (const routing::PathStart& start : starts) all += start.share;
  fuzz::require(std::abs(all - 1) < 1e-9, "a pair's ways don't add up to all of its packets");
  std::vector<routing::PathStep> steps;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    steps.clear();
    model.steps(topology.switch_at(s), starts.front().state, 1, steps);
    double sum = 0;
    for (const routing::PathStep& step : steps) sum += step.share;
    fuzz::require(steps.empty() || std::abs(sum - 1) < 1e-9, "a switch's ways don't add up to all packets");
  }
}

}  // namespace

// The first byte says which of the two it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4"));
  static const routing::RoutingTable table(topology);
  static fuzz::MemoryFile file;
  file.fill(fuzz::text_of(data + 1, size - 1));
  const ModuleChoice choice{.name = data[0] % 2 == 0 ? "tables" : "routes", .given = {{"file", file.path()}}};
  const routing::Policy& policy = find_module(routing::policies(), choice, "routing policy");
  const Parameters parameters(policy.info, choice);
  const routing::PlanSetup setup{parameters, topology, table, 1};
  const auto model = fuzz::attempt([&] { return routing::paths_of(policy, setup); });
  if (model && choice.name == "tables") require_shares(topology, **model);
  if (policy.make_plan != nullptr) fuzz::attempt([&] { (void)policy.make_plan(setup); });
  if (policy.make_path_selectors != nullptr) fuzz::attempt([&] { (void)policy.make_path_selectors(setup); });
  return 0;
}
