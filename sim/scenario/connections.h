// What a scenario says of connections: how messages share them.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/network.h"
#include "sim/scenario/scenario.h"

namespace weft::sim {

struct ConnectionChoice {
  bool per_message = true;
  std::uint32_t per_pair = 0;  // so many between two ranks; 0: as the protocol says
};
// Reads "per_message", "per_pair" or "4 per_pair". Throws InputError at `location`.
ConnectionChoice parse_connections(const std::string& text, const SourceLocation& location);

// Reads a resolved scenario; gives 1 where each message has its own connection.
std::uint32_t connections_per_pair(const Scenario& scenario);
// For the network. Throws InputError for more than 2^31 connections between two hosts.
ConnectionRules connection_rules(const Scenario& scenario);

}  // namespace weft::sim
