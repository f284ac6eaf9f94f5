#include "sim/scenario/connections.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

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

ConnectionChoice parse_connections(const std::string& text, const SourceLocation& location) {
  constexpr std::string_view kPerPair = "per_pair";
  if (text == "per_message") return {};
  if (text == kPerPair) return {.per_message = false};
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool is_number = error == std::errc() && rest != text.data();
  if (!is_number || std::string_view(rest, static_cast<std::size_t>(end - rest)) != " per_pair") {
    throw InputError(location,
                     fmt::format("connections: '{}' is not per_pair, per_message, a number of connections "
                                 "like '4 per_pair', or auto",
                                 text));
  }
  if (number < 1 || number > UINT16_MAX) {
    throw InputError(location,
                     fmt::format("connections: '{}', but the number must be from 1 to 65535", text));
  }
  return {.per_message = false, .per_pair = number};
}

std::uint32_t connections_per_pair(const Scenario& scenario) {
  if (scenario.connections.empty()) return 1;
  const ConnectionChoice choice = parse_connections(scenario.connections, scenario.connections_location);
  if (choice.per_message) return 1;
  if (choice.per_pair > 0) return choice.per_pair;
  return static_cast<std::uint32_t>(std::stoul(protocol_parameter(scenario, "connections", "1")));
}

ConnectionRules connection_rules(const Scenario& scenario) {
  ConnectionRules rules;
  if (scenario.connections.empty()) return rules;
  rules.per_message = parse_connections(scenario.connections, scenario.connections_location).per_message;
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

}  // namespace weft::sim
