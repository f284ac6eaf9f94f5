// The list of network models: what each entry says holds for its runs.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "sim/run/network_models.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

using Catch::Contains;

class NoControl final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

Scenario scenario_of(const NetworkModel& model, std::vector<Setting> settings) {
  settings.push_back({"", "network", model.info.name});
  settings.push_back({"", "job.traffic", "shift:size=100KB,ranks=8"});
  if (model.has_fabric) settings.push_back({"", "topology", "fat_tree:k=4"});
  const Registries registries = builtin_registries();
  return resolve(read_scenario(registries, "", "", settings), registries);
}

results::Report run(const Scenario& scenario) {
  const Simulation simulation(scenario);
  NoControl control;
  return simulation.run(simulation.workload(), control);
}

}  // namespace

TEST_CASE("network models: every entry is complete, has a name of its own, and is documented") {
  std::ifstream file("sim/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string> names;
  for (const NetworkModel& model : network_models()) {
    INFO(model.info.name);
    CHECK(names.insert(model.info.name).second);
    CHECK(model.run != nullptr);
    CHECK(model.check != nullptr);
    CHECK_THAT(readme, Contains("\n| `" + model.info.name + "/` |"));
  }
}

TEST_CASE("network models: runs report what the model has") {
  for (const NetworkModel& model : network_models()) {
    INFO(model.info.name);
    const results::Report report = run(scenario_of(model, {}));
    CHECK(report.outcome == results::Outcome::kComplete);
    CHECK(report.network.starts_with(model.info.name + ":"));
    // One message of each of the 8 ranks, between different hosts.
    CHECK(report.messages == 8);
    CHECK(report.network_totals.bytes == 8 * 100'000);
    CHECK(report.flows.size() == 8);
    CHECK(report.ranks.size() == 8);
    CHECK(report.events > 0);
    // Both directions of 3 · 4³ / 4 cables.
    CHECK(report.links.size() == (model.has_fabric ? 96 : 0));
    CHECK((report.network_totals.packet_hops > 0) == model.has_packets);
  }
}

TEST_CASE("network models: threads never decide, and are refused in words where they can't act") {
  for (const NetworkModel& model : network_models()) {
    INFO(model.info.name);
    const results::Report one = run(scenario_of(model, {}));
    const results::Report three = run(scenario_of(model, {{"", "threads", "3"}}));
    CHECK(one.digest == three.digest);
    CHECK(one.makespan == three.makespan);
    // Only LogGOPS has values of its own for what no topology tells.
    CHECK(one.warnings.size() == (model.has_fabric ? 0 : 1));
    CHECK(three.warnings.size() == one.warnings.size() + (model.has_partitions ? 0 : 1));
  }
}

TEST_CASE("network models: parameters are checked before anything is built") {
  const auto refused = [](const char* network, const char* topology) {
    const Registries registries = builtin_registries();
    std::vector<Setting> settings = {{"", "network", network}, {"", "job.goal", "no_such_file"}};
    if (*topology != 0) settings.push_back({"", "topology", topology});
    Simulation{resolve(read_scenario(registries, "", "", settings), registries)};
  };
  CHECK_THROWS_WITH(refused("packet:mtu=0", "fat_tree:k=4"),
                    Contains("mtu is '0', but it must be from 1B to 1MiB"));
  CHECK_THROWS_WITH(refused("packet:partitions=-1", "fat_tree:k=4"), Contains("partitions is '-1', but"));
  CHECK_THROWS_WITH(refused("flow:fairness=some", "fat_tree:k=4"), Contains("it must be equal or rtt"));
  CHECK_THROWS_WITH(refused("loggops:semantics=new", ""), Contains("it must be weft, classic or atlahs"));
  CHECK_THROWS_WITH(refused("loggops:semantics=classic,G=0.5", ""), Contains("classic takes whole"));
  CHECK_THROWS_WITH(refused("loggops:G=-1", ""), Contains("it must be from 0 to 1000000"));
}

}  // namespace weft::sim
