#include "sim/scenario/connections.h"

#include <fmt/core.h>

#include <string>

namespace weft::sim {
namespace {

// A parameter of the protocol, as the resolver has written it.
std::string protocol_parameter(const Scenario& scenario, const std::string& name, const char* otherwise) {
  const auto text = scenario.hosts.given.find("protocol");
  if (text == scenario.hosts.given.end() || text->second == kByRules) return otherwise;
  const ModuleChoice choice = parse_module_choice(text->second);
  const auto found = choice.given.find(name);
  return found == choice.given.end() ? otherwise : found->second;
}

}  // namespace

std::uint32_t connections_per_pair(const Scenario& scenario) {
  if (!scenario.connections || scenario.connections->per_message) return 1;
  if (scenario.connections->per_pair > 0) return scenario.connections->per_pair;
  return static_cast<std::uint32_t>(std::stoul(protocol_parameter(scenario, "connections", "1")));
}

ConnectionRules connection_rules(const Scenario& scenario) {
  ConnectionRules rules;
  if (!scenario.connections) return rules;
  rules.per_message = scenario.connections->per_message;
  rules.send_buffer_bytes = parse_bytes(protocol_parameter(scenario, "send_buffer", "0"));
  rules.idle = scenario.connection_idle;
  const unsigned __int128 ranks = Parameters(hosts_section(), scenario.hosts).integer("ranks_per_host");
  const std::uint32_t per_pair = connections_per_pair(scenario);
  if (!rules.per_message && ranks * ranks * per_pair > kAnswerChannels) {
    throw InputError(
        scenario.connections_location,
        fmt::format("{} ranks on each host with {} connections between any two are more than 2^31 "
                    "between two hosts; choose connections per_message",
                    static_cast<std::uint64_t>(ranks), per_pair));
  }
  return rules;
}

bool sends_by_one_nic(const Scenario& scenario) { return scenario.fabric == "slingshot"; }

}  // namespace weft::sim
