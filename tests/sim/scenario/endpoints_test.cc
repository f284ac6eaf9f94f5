// `endpoints` in scenario files and single settings, against what --topology makes of it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"
#include "tests/sim/scenario/fixture.h"
#include "topologies/families.h"

namespace weft::sim {
namespace {

using Catch::Contains;

Registries with_families() {
  Registries registries = test_registries();
  registries.topologies.clear();
  for (const topologies::Family& family : topologies::families()) {
    registries.topologies.push_back({.info = family.info, .sized = topologies::sized});
  }
  return registries;
}

ModuleChoice topology(const std::string& file, const std::vector<Setting>& settings = {}) {
  return read_scenario(with_families(), file, "f.txtpb", settings).topology;
}

Setting flag(const std::string& value) { return {"--topology", "topology", value}; }
Setting set(const std::string& text) { return parse_setting(text); }

}  // namespace

TEST_CASE("endpoints: sizes take its place, in every family that has sizes") {
  for (const topologies::Family& family : topologies::families()) {
    if (family.size_for == nullptr) continue;
    const std::string& name = family.info.name;
    INFO(name);
    const auto sizes = family.size_for(300);
    CHECK(topology("topology { " + name + " { endpoints: 300 } }").given == sizes);
    CHECK(topology("", {flag(name + ":endpoints=300")}).given == sizes);
    CHECK(topology("", {set("topology." + name + ".endpoints=300")}).given == sizes);
  }
}

TEST_CASE("endpoints: what is given beside it stays") {
  const ModuleChoice choice = topology("topology { fat_tree { endpoints: 1024 link: \"100Gbps\" } }");
  CHECK(choice.given == std::map<std::string, std::string>{{"k", "16"}, {"link", "100Gbps"}});
  // Where what it stands for was given, for messages.
  CHECK(choice.locations.at("k").line == 1);
  CHECK(choice.locations.at("k").column == 23);
  CHECK(choice.locations.at("link").column == 39);
}

TEST_CASE("endpoints: later settings win, in both directions") {
  const std::string eight = "topology { fat_tree { k: 8 } }";
  const std::string many = "topology { fat_tree { endpoints: 1024 } }";
  CHECK(topology(eight, {flag("fat_tree:endpoints=1024")}).given.at("k") == "16");
  CHECK(topology(eight, {set("topology.fat_tree.endpoints=1024")}).given.at("k") == "16");
  CHECK(topology(many, {flag("fat_tree:k=8")}).given.at("k") == "8");
  CHECK(topology(many, {set("topology.fat_tree.k=8")}).given.at("k") == "8");
  CHECK(topology(many, {set("topology.fat_tree.endpoints=100")}).given.at("k") == "8");
  // Another family replaces it all.
  CHECK(topology(many, {flag("single_switch:hosts=5")}).given ==
        std::map<std::string, std::string>{{"hosts", "5"}});
}

TEST_CASE("endpoints: a resolved scenario has the sizes and repeats the run") {
  const Registries registries = with_families();
  const std::string file =
      "job { goal: \"a.goal\" } network { wires {} } topology { slim_fly { endpoints: 100 } }";
  const Scenario scenario = resolve(read_scenario(registries, file, "f.txtpb"), registries);
  const std::string text = to_text(scenario, registries);
  CHECK_THAT(text, Contains("slim_fly"));
  CHECK_THAT(text, !Contains("endpoints"));
  const Scenario again = resolve(read_scenario(registries, text, "r.txtpb"), registries);
  CHECK(again.topology.given == scenario.topology.given);
  CHECK(to_text(again, registries) == text);
}

TEST_CASE("endpoints: refused in the same words wherever it is given") {
  const struct {
    std::string name, file, short_form, message;
  } cases[] = {
      {"fat_tree", "k: 8 endpoints: 64", "k=8,endpoints=64",
       "fat_tree: endpoints sets 'k', which is given too; leave one of them out"},
      {"fat_tree", "endpoints: 0", "endpoints=0",
       "fat_tree: endpoints is '0', but it must be a whole number above 0"},
      {"graph_file", "file: \"x\" endpoints: 64", "file=x,endpoints=64",
       "graph_file takes no endpoints: its size is that of its file"},
      {"random_equivalent", "endpoints: 64", "endpoints=64",
       "like random_equivalent:of=[slim_fly:endpoints=64]"},
  };
  for (const auto& c : cases) {
    INFO(c.message);
    CHECK_THROWS_WITH(topology("topology { " + c.name + " { " + c.file + " } }"),
                      Contains(c.message) && Contains("f.txtpb:1:"));
    CHECK_THROWS_WITH(topology("", {flag(c.name + ":" + c.short_form)}),
                      Contains(c.message) && Contains("--topology: "));
  }
  CHECK_THROWS_WITH(
      topology("", {set("topology.graph_file.endpoints=64")}),
      "--set topology.graph_file.endpoints=64: graph_file takes no endpoints: its size is that of "
      "its file");
  CHECK_THROWS_WITH(topology("", {set("topology.fat_tree.endpoints=many")}),
                    Contains("endpoints is 'many', but it must be a whole number above 0"));
  CHECK_THROWS_WITH(topology("", {set("topology.fat_tree.endpoint=64")}),
                    Contains("did you mean 'endpoints'?"));
  // Only topologies know it.
  CHECK_THROWS_WITH(read_scenario(with_families(), "routing { hash { endpoints: 4 } }", "f.txtpb"),
                    Contains("'endpoints' is not a parameter of hash"));
}

}  // namespace weft::sim
