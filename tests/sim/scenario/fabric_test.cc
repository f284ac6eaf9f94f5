// What a fabric fills in, and what wins over it. Modules are made up, so each rule can be read from the
// lists.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "tests/sim/scenario/fixture.h"

namespace weft::sim {
namespace {

Registries with_fabrics() {
  Registries registries = test_registries();
  registries.recoveries = {{.info = {"repeat", "s", "s", {}}},
                           {.info = {"cut", "s", "s", {}}, .needs = {.required = Capability::kTrim}}};
  registries.queues.push_back({.info = {"trimming", "s", "s", {{"cap", ParameterType::kBytes, "1MB", "h"}}},
                               .offers = {.always = Capability::kMark | Capability::kTrim}});
  registries.topologies[1].fabric = "first";
  registries.topologies[1].fabric_reason = "by default for tree";
  registries.fabrics = {{.info = {.name = "first", .summary = "s", .source = "s", .parameters = {}},
                         .routing = {{.families = {"hub"}, .policy = "hash", .why = "as it has one way"},
                                     {.policy = "spread:paths=16"}},
                         .congestion = "marked:gain=0.5",
                         .recovery = "cut",
                         .queue = "trimming:cap=200KB",
                         .network = "mtu=2048,o=1us"},
                        {.info = {.name = "second", .summary = "s", .source = "s", .parameters = {}},
                         .routing = {{.policy = "hash"}},
                         .congestion = "fixed",
                         .recovery = "repeat",
                         .queue = "tail"}};
  return registries;
}

const std::string kTree = "job { traffic { shift {} } }\ntopology { tree {} }\n";

Scenario resolved(const std::string& text) {
  const Registries registries = with_fabrics();
  return resolve(read_scenario(registries, text, "s.txtpb"), registries);
}

}  // namespace

TEST_CASE("fabric: fills in what is open, and the topology's own is taken where none is named") {
  for (const std::string& fabric : {std::string("fabric: \"first\"\n"), std::string()}) {
    const Scenario scenario = resolved(kTree + fabric);
    CHECK(scenario.fabric == "first");
    CHECK(scenario.fabric_reason == (fabric.empty() ? "by default for tree" : ""));
    CHECK(scenario.fabric_changes.empty());
    CHECK(scenario.warnings.empty());
    CHECK(scenario.routing.name == "spread");
    CHECK(scenario.routing.given.at("paths") == "16");
    CHECK(scenario.routing_reason == "of fabric first");
    CHECK(scenario.congestion.given.at("gain") == "0.5");
    CHECK(scenario.recovery.name == "cut");
    CHECK(scenario.queue.name == "trimming");
    CHECK(scenario.queue.given.at("cap") == "200KB");
    CHECK(scenario.network.given.at("mtu") == "2048");
  }
}

TEST_CASE("fabric: none leaves all to the settings' own defaults") {
  const Scenario none = resolved(kTree + "fabric: \"none\"\n");
  CHECK(none.fabric == "none");
  CHECK(none.routing.name == "hash");
  CHECK(none.network.given.at("mtu") == "4096");
  CHECK(none.queue_choice == "the first that suits marked and the others");
  // A topology without one.
  CHECK(resolved("job { traffic { shift {} } }\ntopology { hub { hosts: 4 } }\n").fabric == "none");
}

TEST_CASE("fabric: what is given wins and is told, value for value") {
  const Scenario scenario =
      resolved(kTree +
               "fabric: \"first\"\nrouting { hash {} }\nqueue { trimming { cap: \"0.2MB\" } }\n"
               "congestion { marked { gain: 0.25 } }\nnetwork { wires { mtu: \"2KiB\" } }\n");
  CHECK(scenario.fabric_changes ==
        std::vector<std::string>{"routing hash instead of spread", "congestion gain 0.25 instead of 0.5"});
  CHECK(scenario.routing.name == "hash");
  CHECK(scenario.routing_reason.empty());
  CHECK(scenario.queue.given.at("cap") == "0.2MB");
}

TEST_CASE("fabric: a part that does not go with what was given is left open") {
  const Scenario scenario = resolved(kTree + "fabric: \"first\"\nqueue { marking {} }\n");
  CHECK(scenario.recovery.name == "repeat");
  CHECK(scenario.fabric_changes ==
        std::vector<std::string>{"queue marking instead of trimming",
                                 "not recovery cut, which does not go with marking"});
  const Scenario other = resolved(kTree + "fabric: \"second\"\ncongestion { marked {} }\n");
  CHECK(other.queue.name == "marking");
  CHECK(other.queue_choice == "the first that suits marked and the others");
  CHECK(other.fabric_changes == std::vector<std::string>{"congestion marked instead of fixed",
                                                         "not queue tail, which does not go with marked"});
}

TEST_CASE("fabric: the default steps back where another control, recovery or queue is chosen") {
  for (const char* given : {"congestion { fixed {} }", "recovery { repeat {} }", "queue { marking {} }"}) {
    const Scenario scenario = resolved(kTree + given);
    INFO(given);
    CHECK(scenario.fabric == "none");
    CHECK(scenario.routing.name == "hash");
    CHECK_THAT(scenario.fabric_reason, Catch::StartsWith("first has "));
  }
  CHECK(resolved(kTree + "congestion { marked {} }").fabric == "first");
}

TEST_CASE("fabric: by family, and on networks without packets") {
  const std::string hub = "job { traffic { shift {} } }\ntopology { hub { hosts: 4 } }\nfabric: \"first\"\n";
  CHECK(resolved(hub).routing.name == "hash");
  CHECK(resolved(hub).routing_reason == "of fabric first, as it has one way");
  const Scenario fluid = resolved(hub + "network { fluid {} }\n");
  CHECK(fluid.fabric == "first");
  CHECK(fluid.routing.name == "hash");
  CHECK(fluid.congestion.empty());
  CHECK(fluid.queue.empty());
  CHECK(fluid.warnings.empty());
}

TEST_CASE("fabric: where it can't act it is told") {
  const std::string file = "job { traffic { shift {} } }\nnetwork { message {} }\nfabric: \"first\"\n";
  const Scenario scenario = resolved(file);
  CHECK(scenario.fabric.empty());
  CHECK(scenario.warnings ==
        std::vector<std::string>{"s.txtpb:3:1: fabric has no effect: network model message has no topology"});
  const Registries registries = with_fabrics();
  const std::vector<Setting> flag = {{"--fabric", "fabric", "first"}};
  CHECK_THROWS_WITH(
      resolve(read_scenario(registries, "job { goal: \"a\" }\nnetwork { message {} }\n", "s.txtpb", flag),
              registries),
      "--fabric: fabric has no effect: network model message has no topology");
  CHECK_THROWS_WITH(resolved(kTree + "fabric: \"frist\"\n"),
                    Catch::Contains("'frist' is not a fabric; did you mean 'first'?"));
}

TEST_CASE("fabric: a resolved scenario gives the same when it is read again") {
  const Registries registries = with_fabrics();
  for (const char* given : {"fabric: \"first\"\n", "", "fabric: \"first\"\nqueue { marking {} }\n",
                            "fabric: \"none\"\n", "congestion { fixed {} }\n"}) {
    INFO(given);
    const Scenario first = resolved(kTree + given);
    const std::string text = to_text(first, registries);
    const Scenario again = resolved(text);
    CHECK(to_text(again, registries) == text);
    CHECK(again.warnings == first.warnings);
    CHECK(to_text(resolve(draft_of(first), registries), registries) == text);
  }
}

}  // namespace weft::sim
