// How a scenario says that messages share connections, and how hosts send them.
#include "sim/scenario/connections.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/scenario/fixture.h"

namespace weft::sim {
namespace {

using Catch::Contains;

const std::string kReplay = "job { goal: \"a.weft\" }\ntopology { hub { hosts: 2 } }\n";
const std::string kFlows = "job { traffic { shift {} } }\ntopology { hub { hosts: 2 } }\n";
const std::string kSteps = "job { traffic { steps {} } }\ntopology { hub { hosts: 2 } }\n";
const std::string kMessages = "job { goal: \"a.weft\" }\n";  // a network without connections

Scenario resolved(const std::string& text, const std::vector<std::string>& settings = {}) {
  std::vector<Setting> parsed;
  for (const std::string& setting : settings) parsed.push_back(parse_setting(setting));
  return resolve(read_scenario(test_registries(), text, "s.txtpb", parsed), test_registries());
}

std::string connections(const std::string& text, const std::vector<std::string>& settings = {}) {
  return to_text(resolved(text, settings).connections.value());
}

std::string protocol(const Scenario& scenario) { return scenario.hosts.given.at("protocol"); }

}  // namespace

TEST_CASE("replays and programs share connections, independent flows don't, unless they are told to") {
  CHECK(connections(kReplay) == "per_pair");
  CHECK(connections(kSteps) == "per_pair");
  CHECK(connections(kFlows) == "per_message");
  CHECK(connections(kFlows + "connections: \"auto\"") == "per_message");
  CHECK(connections(kFlows + "connections: \"4 per_pair\"") == "4 per_pair");
  CHECK(connections(kReplay, {"connections=per_message"}) == "per_message");
  CHECK(connection_rules(resolved(kFlows)).per_message);
  CHECK_FALSE(connection_rules(resolved(kReplay)).per_message);
  CHECK(connection_rules(resolved(kReplay, {"connection_idle=3ms"})).idle == Time::us(3000));
}

TEST_CASE("so many connections as are asked for, or as the protocol has") {
  CHECK(connections_per_pair(resolved(kReplay)) == 1);
  CHECK(connections_per_pair(resolved(kReplay, {"connections=3 per_pair"})) == 3);
  CHECK(connections_per_pair(resolved(kReplay, {"hosts.protocol=library"})) == 2);
  CHECK(connections_per_pair(resolved(kReplay, {"hosts.protocol=library:connections=5"})) == 5);
  CHECK(connections_per_pair(resolved(kReplay, {"hosts.protocol=library", "connections=3 per_pair"})) == 3);
  CHECK(connections_per_pair(resolved(kFlows, {"hosts.protocol=library"})) == 1);
  CHECK(connection_rules(resolved(kReplay, {"hosts.protocol=library"})).send_buffer_bytes == 1'000'000);
  CHECK(connection_rules(resolved(kReplay)).send_buffer_bytes == 0);
  CHECK_THROWS_WITH(
      connection_rules(resolved(kReplay, {"hosts.ranks_per_host=65536", "connections=2 per_pair"})),
      Contains("more than 2^31"));
}

TEST_CASE("what is said of connections is read as it is written") {
  for (const std::string text : {"per_message", "per_pair", "1 per_pair", "65535 per_pair"}) {
    CHECK(to_text(parse_connections(text, {})) == text);
  }
}

TEST_CASE("what connections can't be is told with what they can") {
  for (const std::string bad :
       {"per_par", "0 per_pair", "-1 per_pair", "65536 per_pair", "2", "2per_pair", " per_pair"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH(resolved(kReplay, {"connections=" + bad}), Contains("connections: '" + bad + "'"));
  }
  CHECK_THROWS_WITH(resolved(kReplay + "connection_idle: \"3\\\"\""),
                    Contains("s.txtpb:3:1: connection_idle"));
}

TEST_CASE("a protocol is completed, left to the graph, or refused") {
  CHECK(protocol(resolved(kReplay)) == "auto");
  CHECK(protocol(resolved(kSteps)) == "plain:eager_limit=64KiB,send_buffer=0,connections=1");
  CHECK(protocol(resolved(kSteps, {"hosts.protocol=auto"})) == protocol(resolved(kSteps)));
  CHECK(protocol(resolved(kReplay, {"hosts.protocol=library:eager_limit=1KiB"})) ==
        "library:eager_limit=1KiB,send_buffer=1MB,connections=2");
  CHECK_THROWS_WITH(resolved(kReplay + "hosts { protocol: \"librari\" }"),
                    Contains("s.txtpb:3:9: ") && Contains("did you mean 'library'?"));
  CHECK_THROWS_WITH(resolved(kReplay, {"hosts.protocol=library:eager_limt=1"}), Contains("eager_limit"));
}

TEST_CASE("generated traffic is eager unless a protocol says otherwise") {
  const auto limit = [](const std::vector<std::string>& settings) {
    return resolved(kSteps, settings).hosts.given.at("S");
  };
  CHECK(limit({}) == "1000TB");
  CHECK(limit({"hosts.protocol=plain"}) == "1000TB");
  CHECK(limit({"hosts.protocol=plain:eager_limit=1KiB"}) == "auto");
  CHECK(limit({"hosts.protocol=library"}) == "auto");
  CHECK(limit({"hosts.protocol=library", "hosts.S=5KiB"}) == "5KiB");
  CHECK(resolved(kReplay).hosts.given.at("S") == "auto");
}

TEST_CASE("where a network has no connections, they and protocols can't act") {
  const std::string named = kMessages +
                            "connections: \"per_pair\"\nconnection_idle: \"1ms\"\n"
                            "hosts { protocol: \"library\" }\n";
  const Scenario scenario = resolved(named);
  CHECK(scenario.warnings.size() == 3);
  CHECK_FALSE(scenario.connections);
  CHECK_FALSE(scenario.hosts.given.contains("protocol"));
  CHECK(connection_rules(scenario).per_message);
  CHECK_THAT(to_text(scenario, test_registries()), !Contains("connection"));
  CHECK(resolved(kMessages).warnings.empty());
  for (const char* setting : {"connections=per_message", "connection_idle=1ms", "hosts.protocol=library"}) {
    CHECK_THROWS_WITH(resolved(kMessages, {setting}), Contains("has no effect"));
  }
  CHECK_THROWS_WITH(resolved(kFlows, {"connection_idle=1ms"}),
                    Contains("no effect where connections are per_message"));
  CHECK_THROWS_WITH(resolved(kReplay, {"network=fluid", "connection_idle=1ms"}), Contains("has no effect"));
}

TEST_CASE("what was resolved is read back as it is") {
  for (const std::string& text :
       {kReplay, kSteps, kFlows, kReplay + "connections: \"3 per_pair\" connection_idle: \"1ms\"",
        kSteps + "hosts { protocol: \"library\" }", kMessages}) {
    const std::string once = to_text(resolved(text), test_registries());
    const Scenario again = resolved(once);
    CHECK(to_text(again, test_registries()) == once);
    CHECK(again.warnings.empty());
    CHECK(to_text(resolve(draft_of(again), test_registries()), test_registries()) == once);
  }
}

}  // namespace weft::sim
