// The attributes of GraphML that are ours, and their values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "topologies/import/imported_graph.h"

namespace weft::topologies {

// The attributes that are ours. Others are read by what their names mean (named_values.h).
enum Field : std::uint8_t {
  kKind,
  kName,
  kLabel,
  kTier,
  kPlane,
  kSite,
  kGroup,
  kRack,
  kDomain,
  kRelays,
  kInHost,
  kSwitchLatency,
  kRate,
  kBackRate,
  kLatency,
  kCable,
  kLength,
  kLoss,
  kFields,
};

struct FieldName {
  const char* name;
  bool of_node;
};

inline constexpr std::array<FieldName, kFields> kFieldNames = {{
    {"kind", true},
    {"name", true},
    {"label", true},  // of the Internet Topology Zoo and others
    {"tier", true},
    {"plane", true},
    {"site", true},
    {"group", true},
    {"rack", true},
    {"domain", true},
    {"relays", true},
    {"in_host", true},
    {"switch_latency", true},
    {"rate", false},
    {"back_rate", false},
    {"latency", false},
    {"cable", false},
    {"length", false},
    {"loss", false},
}};

// Ours of the graph.
enum class GraphField : std::uint8_t { kGrid, kBoards, kLinkedGroups };
std::optional<GraphField> graph_field(std::string_view name);
// Throws InputError without a place.
void set_graph(ImportedGraph& graph, GraphField field, const std::string& text);

// Puts the value where it belongs; that of a name or label is left to the reader. Throws InputError without a
// place.
void set_node(ImportedNode& node, Field field, const std::string& text);
void set_link(ImportedLink& link, Field field, const std::string& text);
// What a node is, as other programs have it: {"type", "server"}. Nothing if that says nothing.
std::optional<NodeKind> foreign_kind(std::string_view name, std::string_view text);

}  // namespace weft::topologies
