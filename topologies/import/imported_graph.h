// A network as a file tells it, before it is known to be one: what the readers of all formats make.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Empty: the file doesn't say. Lines count from 1.
struct ImportedNode {
  std::string name;
  std::int64_t line = 0;
  std::optional<NodeKind> kind = std::nullopt;
  std::optional<std::uint8_t> tier = std::nullopt;
  std::optional<std::uint32_t> group = std::nullopt;
  std::optional<Time> switch_latency = std::nullopt;
  std::uint32_t rack = kNoRack;
  std::uint16_t plane = 0, site = 0;
  std::uint32_t domain = kNoDomain;
  bool in_host = false, relays = true;
};

struct ImportedLink {
  std::uint32_t from = 0, to = 0;  // places in ImportedGraph::nodes
  std::int64_t line = 0;
  std::optional<Bandwidth> rate = std::nullopt;
  std::optional<Bandwidth> back_rate = std::nullopt;  // from `to` to `from`, where it is another
  std::optional<Time> latency = std::nullopt;
  CableKind cable = CableKind::kUnknown;
  float length_m = 0;
  double loss = 0;
};

struct ImportedGraph {
  std::string file;  // its path, for messages
  std::vector<ImportedNode> nodes;
  std::vector<ImportedLink> links;
  // What the file says of the whole network, as Topology::set_grid and the like have it.
  std::vector<std::uint32_t> grid;
  BoardGrid boards;
  bool linked_groups = false;
  // What the file doesn't say and was guessed, and what it says and was not read: sentences for users.
  std::vector<std::string> assumed, unread;
};

// What a file may hold, so that a slip of one digit ends in a message and not in a machine without memory.
inline constexpr std::uint64_t kMostImportedNodes = std::uint64_t{1} << 23;
inline constexpr std::uint64_t kMostImportedLinks = std::uint64_t{1} << 26;

}  // namespace weft::topologies
