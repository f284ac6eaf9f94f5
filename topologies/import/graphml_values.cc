#include "topologies/import/graphml_values.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/units/input_error.h"
#include "topologies/export/formats.h"
#include "topologies/import/attributes.h"
#include "topologies/import/lines.h"
#include "topologies/import/meanings.h"
#include "topologies/import/node_kinds.h"

namespace weft::topologies {
namespace {

bool boolean_attribute(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "1" || word == "true") return true;
  if (word == "0" || word == "false") return false;
  throw InputError(fmt::format("'{}' is not true or false", text));
}

NodeKind kind_attribute(std::string_view text) {
  for (const NodeKind kind : {NodeKind::kHost, NodeKind::kSwitch}) {
    if (text == kind_name(kind)) return kind;
  }
  if (const auto kind = foreign_kind("type", text)) return *kind;
  throw InputError(fmt::format("'{}' is not host or switch", text));
}

float length_attribute(std::string_view text) {
  const std::optional<double> length = finite_number(text);
  if (!length || *length < 0 || *length > 1e9) {
    throw InputError(fmt::format("'{}' is not a length in metres from 0 to 1e9", text));
  }
  return static_cast<float>(*length);
}

// "4x4x2": whole numbers of 1 and more, whose product is no more than nodes may be.
std::vector<std::uint32_t> sizes_attribute(const std::string& text) {
  std::vector<std::uint32_t> sizes;
  std::uint64_t product = 1;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('x', from), text.size());
    const std::optional<std::uint64_t> size = whole_number(text.substr(from, end - from));
    if (!size || *size < 1 || *size > kMostImportedNodes || (product *= *size) > kMostImportedNodes) {
      throw InputError(fmt::format("'{}' is not sizes like 4x4x2, of {} nodes at most", shortened(text),
                                   kMostImportedNodes));
    }
    sizes.push_back(static_cast<std::uint32_t>(*size));
    from = end + 1;
  }
  return sizes;
}

BoardGrid boards_attribute(const std::string& text) {
  const std::vector<std::uint32_t> sizes = sizes_attribute(text);
  if (sizes.size() != 4) {
    throw InputError(
        fmt::format("'{}' is not four sizes like 8x4x2x2: 8 by 4 boards, of 2 by 2 accelerators each", text));
  }
  return {.x = sizes[0], .y = sizes[1], .a = sizes[2], .b = sizes[3]};
}

// Bare numbers are picoseconds, as Weft writes them; no other program does.
void check_bare_latency(std::string_view text) {
  const std::optional<double> number = finite_number(text);
  if (!number || *number <= 0 || (*number >= 100 && text.find_first_of(".eE") == text.npos)) return;
  throw InputError(fmt::format(
      "'{}' would be picoseconds, in which light goes {:.2g} mm; write it with its unit, like 5us", text,
      *number * 0.2));
}

}  // namespace

std::optional<NodeKind> foreign_kind(std::string_view name, std::string_view text) {
  constexpr std::array<std::string_view, 7> kNames = {"type",        "role",       "node_type", "nodetype",
                                                      "device_type", "devicetype", "class"};
  const std::string of = lower_case(name);
  if (std::find(kNames.begin(), kNames.end(), of) == kNames.end()) return std::nullopt;
  // "compute node", "ToR switch": where two words tell, they have to tell the same.
  std::optional<NodeKind> kind;
  for (const std::string& word : words_of(text)) {
    if (word.size() < 2 || (!is_host_word(word) && !is_switch_word(word))) continue;
    const NodeKind told = is_host_word(word) ? NodeKind::kHost : NodeKind::kSwitch;
    if (kind && *kind != told) return std::nullopt;
    kind = told;
  }
  return kind;
}

std::optional<GraphField> graph_field(std::string_view name) {
  if (name == "grid") return GraphField::kGrid;
  if (name == "boards") return GraphField::kBoards;
  if (name == "linked_groups") return GraphField::kLinkedGroups;
  return std::nullopt;
}

void set_graph(ImportedGraph& graph, GraphField field, const std::string& text) {
  switch (field) {
    case GraphField::kGrid:
      graph.grid = sizes_attribute(text);
      return;
    case GraphField::kBoards:
      graph.boards = boards_attribute(text);
      return;
    case GraphField::kLinkedGroups:
      graph.linked_groups = boolean_attribute(text);
      return;
  }
}

void set_node(ImportedNode& node, Field field, const std::string& text) {
  switch (field) {
    case kKind:
      node.kind = kind_attribute(text);
      return;
    case kTier:
      node.tier = static_cast<std::uint8_t>(number_attribute(text, UINT8_MAX));
      return;
    case kPlane:
      node.plane = static_cast<std::uint16_t>(number_attribute(text, UINT16_MAX));
      return;
    case kSite:
      node.site = static_cast<std::uint16_t>(number_attribute(text, UINT16_MAX));
      return;
    case kGroup:
      node.group = number_attribute(text, kMostImportedNodes);
      return;
    case kRack:
      node.rack = number_attribute(text, kMostImportedNodes);
      return;
    case kDomain:
      node.domain = number_attribute(text, kMostImportedNodes);
      return;
    case kRelays:
      node.relays = boolean_attribute(text);
      return;
    case kInHost:
      node.in_host = boolean_attribute(text);
      return;
    case kSwitchLatency:
      node.switch_latency = time_attribute(text, Time::ps(1));
      return;
    default:  // names are kept elsewhere until all are known
      return;
  }
}

void set_link(ImportedLink& link, Field field, const std::string& text) {
  switch (field) {
    case kRate:
      link.rate = rate_attribute(text);
      return;
    case kBackRate:
      link.back_rate = rate_attribute(text);
      return;
    case kLatency:
      check_bare_latency(text);
      link.latency = time_attribute(text, Time::ps(1));
      return;
    case kCable:
      link.cable = parse_cable(text);
      return;
    case kLength:
      link.length_m = length_attribute(text);
      return;
    case kLoss:
      link.loss = loss_attribute(text);
      return;
    default:
      return;
  }
}

}  // namespace weft::topologies
