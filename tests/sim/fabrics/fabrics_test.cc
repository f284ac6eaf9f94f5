// Every fabric that is built in, on networks of several kinds: its settings are of modules that there are,
// and go together.
#include "sim/fabrics/fabrics.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "topologies/recommended_routing.h"

namespace weft::fabrics {
namespace {

const std::vector<std::string> kNetworks = {"fat_tree:k=4",     "torus:dims=3x3",  "dragonfly:p=1",
                                            "slim_fly:q=5",     "multi_plane:k=4", "single_switch:hosts=4",
                                            "jellyfish:n=8,r=4"};

sim::Scenario settled(const std::string& fabric, const std::string& topology, const std::string& network) {
  const sim::Registries registries = sim::builtin_registries();
  std::vector<sim::Setting> settings = {{"--traffic", "job.traffic", "permutation"},
                                        {"--topology", "topology", topology},
                                        {"--network", "network", network}};
  if (!fabric.empty()) settings.push_back({"--fabric", "fabric", fabric});
  return sim::Simulation(sim::load_scenario(registries, "", settings)).scenario();
}

// What follows a separator in the short form, "dcqcn:variant=vendor,step=5Mbps".
void check_holds(const std::string& setting, const ModuleChoice& choice) {
  if (setting.empty()) return;
  const ModuleChoice wanted = parse_module_choice(setting);
  CHECK(choice.name == wanted.name);
  for (const auto& [name, value] : wanted.given) CHECK(choice.given.at(name) == value);
}

}  // namespace

TEST_CASE("fabrics: settings are those of modules, go together, and stay when read again") {
  const sim::Registries registries = sim::builtin_registries();
  for (const Fabric& fabric : fabrics()) {
    for (const std::string& topology : kNetworks) {
      INFO(fabric.info.name << " on " << topology);
      const sim::Scenario scenario = settled(fabric.info.name, topology, "packet");
      CHECK(scenario.fabric_changes.empty());
      CHECK(scenario.warnings.empty());
      check_holds(fabric.congestion, scenario.congestion);
      check_holds(fabric.queue, scenario.queue);
      check_holds("packet:" + fabric.network, scenario.network);
      const std::string text = sim::to_text(scenario, registries);
      const sim::Scenario again = sim::resolve(sim::read_scenario(registries, text, "again"), registries);
      CHECK(sim::to_text(again, registries) == text);
      CHECK(again.fabric_changes.empty());
      CHECK(again.warnings.empty());
      CHECK_NOTHROW(settled(fabric.info.name, topology, "flow"));
    }
  }
}

TEST_CASE("fabrics: routing by family, as told in the README") {
  CHECK(settled("uet", "fat_tree:k=4", "packet").routing.name == "reps");
  CHECK(settled("uet", "dragonfly:p=1", "packet").routing.name == "par");
  CHECK(settled("infiniband", "fat_tree:k=4", "packet").routing.name == "d_mod_k");
  CHECK(settled("infiniband", "fat_tree:k=4", "packet").recovery.name == "go_back_n");
  const sim::Scenario off_trees = settled("infiniband", "torus:dims=3x3", "packet");
  CHECK(off_trees.routing.name == "minimal_adaptive");
  CHECK(off_trees.recovery.name == "selective_repeat");
  CHECK(off_trees.routing_reason == "of fabric infiniband, which routes adaptively off trees");
  CHECK(settled("slingshot", "dragonfly:p=1", "packet").routing.name == "slingshot");
  CHECK(settled("slingshot", "fat_tree:k=4", "packet").routing.name == "minimal_adaptive");
  CHECK(settled("slingshot", "slim_fly:q=5", "packet").routing.name == "ugal");
  CHECK(settled("lossless_hpc", "torus:dims=3x3", "packet").routing.name == "dimension_order");
}

TEST_CASE("fabrics: names are unlike and every family has a default that is there") {
  std::set<std::string> names;
  for (const Fabric& fabric : fabrics()) CHECK(names.insert(fabric.info.name).second);
  for (const char* family :
       {"fat_tree", "dragonfly", "frontier", "leonardo", "torus", "tofu", "of_a_plug_in"}) {
    const DefaultFabric usual = default_fabric(family, topologies::recommended_routing(family).policy);
    INFO(family);
    CHECK(names.contains(usual.name));
    CHECK(usual.reason.find(family) != std::string::npos);
  }
  CHECK(default_fabric("fat_tree", "ecmp").name == "uet");
  CHECK(default_fabric("torus", "dimension_order").name == "lossless_hpc");
  CHECK(default_fabric("frontier", "slingshot").name == "slingshot");
  // By registries: reps under a control for many paths, never one path under it.
  CHECK(settled("", "fat_tree:k=4", "packet").fabric == "uet");
  CHECK(settled("", "fat_tree:k=4", "packet").routing.name == "reps");
  CHECK(settled("", "dragonfly:p=1", "packet").routing_reason ==
        "of fabric lossless_hpc, recommended for dragonfly");
}

TEST_CASE("fabrics: those of plug-ins are looked at") {
  CHECK_THROWS_WITH(add_fabric({.info = {.name = "none", .summary = "", .source = "", .parameters = {}}}),
                    Catch::Contains("it stands for no fabric"));
  CHECK_THROWS_WITH(add_fabric({.info = {.name = "uet", .summary = "", .source = "", .parameters = {}}}),
                    Catch::Contains("is there already"));
  CHECK_THROWS_WITH(add_fabric({.info = {.name = "odd", .summary = "", .source = "", .parameters = {}},
                                .routing = {{.families = {"torus"}}}}),
                    Catch::Contains("has no policy"));
}

}  // namespace weft::fabrics
