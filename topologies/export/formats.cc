#include "topologies/export/formats.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/units/module.h"
#include "sim/units/xml_text.h"

namespace weft::topologies {
namespace {

// "h12", "s3" or "hr3": the short names of nodes in DOT files and edge lists.
std::string short_name(const Node& node) {
  return fmt::format("{}{}", node.kind == NodeKind::kHost ? "h" : node.in_host ? "hr" : "s", node.index);
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// What GraphML says of the whole network, by the names of its attributes.
std::vector<std::pair<std::string, std::string>> shape_values(const Topology& topology) {
  std::vector<std::pair<std::string, std::string>> values;
  if (topology.linked_groups()) values.emplace_back("linked_groups", "1");
  if (!topology.grid().empty())
    values.emplace_back("grid", fmt::format("{}", fmt::join(topology.grid(), "x")));
  if (const BoardGrid& b = topology.boards(); !b.empty()) {
    values.emplace_back("boards", fmt::format("{}x{}x{}x{}", b.x, b.y, b.a, b.b));
  }
  return values;
}

bool has_two_rates(const Link& link) { return link.back_rate > Bandwidth() && link.back_rate != link.rate; }

// Calls see(from, to, link) for every link in the order they were added.
template <typename See>
void each_link(const Topology& topology, See see) {
  for (const Edge& edge : topology.edges()) see(edge.from, edge.to, edge.link);
}

}  // namespace

std::string_view kind_name(NodeKind kind) { return kind == NodeKind::kHost ? "host" : "switch"; }

std::string_view cable_name(CableKind cable) {
  switch (cable) {
    case CableKind::kUnknown:
      return "unknown";
    case CableKind::kBackplane:
      return "backplane";
    case CableKind::kCopper:
      return "copper";
    case CableKind::kOptical:
      return "optical";
    case CableKind::kLongHaul:
      return "long_haul";
  }
  return "unknown";
}

CableKind parse_cable(std::string_view name) {
  std::string known;
  for (const CableKind cable : {CableKind::kUnknown, CableKind::kBackplane, CableKind::kCopper,
                                CableKind::kOptical, CableKind::kLongHaul}) {
    if (name == cable_name(cable)) return cable;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", cable_name(cable));
  }
  throw InputError(fmt::format("'{}' is not one of {}", name, known));
}

std::vector<std::string> shape_facts(const Topology& topology) {
  std::vector<std::string> facts;
  if (topology.linked_groups()) facts.emplace_back("that its groups are linked as in a dragonfly");
  if (!topology.grid().empty()) {
    facts.push_back(fmt::format("that its switches are a grid of {}", fmt::join(topology.grid(), "x")));
  }
  if (const BoardGrid& boards = topology.boards(); !boards.empty()) {
    facts.push_back(fmt::format("that its hosts are on {} by {} boards of {} by {} each", boards.x, boards.y,
                                boards.a, boards.b));
  }
  if (topology.has_domains()) facts.emplace_back("which of its hosts are inside of one machine");
  return facts;
}

namespace {

// What its price is reckoned from beside the links.
std::vector<std::string> cost_facts(const Topology& topology, const Format& format) {
  std::vector<std::string> facts;
  bool groups = false, racks = false;
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    groups = groups || topology.node(v).group != topology.node(0).group;
    racks = racks || topology.node(v).rack != kNoRack;
  }
  if (groups && format.loses_groups) facts.emplace_back("which groups its nodes are in");
  if (racks) facts.emplace_back("which racks its nodes stand in");
  const auto is_known = [](const Edge& edge) {
    return edge.link.cable != CableKind::kUnknown || edge.link.length_m > 0;
  };
  if (std::ranges::any_of(topology.edges(), is_known)) {
    facts.emplace_back("which cables it has, and how long");
  }
  return facts;
}

bool has_planes(const Topology& topology) {
  for (Vertex v = 1; v < topology.nodes(); ++v) {
    if (topology.node(v).plane != topology.node(0).plane) return true;
  }
  return false;
}

bool has_switch_latency(const Topology& topology) {
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    if (topology.node(v).switch_latency > Time()) return true;
  }
  return false;
}

}  // namespace

std::string lost_facts(const Topology& topology, const Format& format) {
  if (!format.loses_shape) return "";
  std::vector<std::string> shape = shape_facts(topology);
  const std::vector<std::string> cost = cost_facts(topology, format);
  if (has_planes(topology)) shape.emplace_back("which planes its nodes are in");
  std::vector<std::string> lost;
  if (!shape.empty()) {
    lost.push_back(fmt::format("{}: read back, the network may be routed otherwise", fmt::join(shape, ", ")));
  }
  if (format.loses_groups && has_switch_latency(topology)) {
    lost.emplace_back(
        "how long its switches take: read back, it is faster, unless switch_latency of graph_file says so");
  }
  if (!cost.empty()) {
    lost.push_back(fmt::format("{}: read back, it may be placed and cost otherwise", fmt::join(cost, ", ")));
  }
  return lost.empty() ? "" : fmt::format("{} (graphml holds all)", fmt::join(lost, "; "));
}

std::span<const Format> formats() {
  static const std::vector<Format> list = {
      {"graphml", "every attribute; weft reads it back", write_graphml},
      {"dot", "for Graphviz", write_dot},
      {"edges", "one link a line", write_edges, true, true},
      {"json", "every attribute, for scripts", write_json},
      {"topo", "htsim's, for trees of two or three tiers", write_htsim_topo, true},
  };
  return list;
}

const Format& find_format(std::string_view name) {
  std::vector<std::string> known;
  for (const Format& format : formats()) {
    if (format.name == name) return format;
    known.push_back(format.name);
  }
  fail_unknown_name("format", name, known);
}

const Format& format_of_file(const std::string& path) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".graphml", "graphml"}, {".xml", "graphml"}, {".dot", "dot"},   {".gv", "dot"},    {".edges", "edges"},
      {".csv", "edges"},       {".txt", "edges"},   {".json", "json"}, {".topo", "topo"},
  };
  const std::string ending = std::filesystem::path(path).extension().string();
  std::string known;
  for (const auto& [text, format] : kEndings) {
    if (ending == text) return find_format(format);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", text);
  }
  throw InputError(fmt::format(
      "{}: the name tells no format; it must end in one of {}, or --format must be given", path, known));
}

void write_graphml(const Topology& topology, TextSink& out) {
  // Names tell nodes apart: none may change.
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    const std::string& name = topology.node(v).name;
    if (fits_xml(name)) continue;
    throw InputError(fmt::format("a node is called '{}', which is no text in UTF-8 that XML can hold", name));
  }
  out.print(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
  struct Key {
    const char *id, *scope, *name, *type;
  };
  // Ids that say what they are: files are read by people and by readers that look at ids only.
  constexpr Key kKeys[] = {
      {"kind", "node", "kind", "string"},        {"name", "node", "name", "string"},
      {"tier", "node", "tier", "int"},           {"plane", "node", "plane", "int"},
      {"group", "node", "group", "long"},        {"rack", "node", "rack", "long"},
      {"in_host", "node", "in_host", "boolean"}, {"switch_latency", "node", "switch_latency", "long"},
      {"rate", "edge", "rate", "long"},          {"latency", "edge", "latency", "long"},
      {"cable", "edge", "cable", "string"},      {"length", "edge", "length", "double"},
      {"site", "node", "site", "int"},           {"loss", "edge", "loss", "double"},
      {"domain", "node", "domain", "long"},      {"relays", "node", "relays", "boolean"},
  };
  for (const Key& key : kKeys) {
    out.print("  <key id=\"{}\" for=\"{}\" attr.name=\"{}\" attr.type=\"{}\"/>\n", key.id, key.scope,
              key.name, key.type);
  }
  if (std::any_of(topology.edges().begin(), topology.edges().end(),
                  [](const Edge& edge) { return has_two_rates(edge.link); })) {
    out.print("  <key id=\"back_rate\" for=\"edge\" attr.name=\"back_rate\" attr.type=\"long\"/>\n");
  }
  const std::vector<std::pair<std::string, std::string>> shape = shape_values(topology);
  for (const auto& [name, value] : shape) {
    out.print("  <key id=\"{0}\" for=\"graph\" attr.name=\"{0}\" attr.type=\"{1}\"/>\n", name,
              name == "linked_groups" ? "boolean" : "string");
  }
  out.print("  <graph id=\"{}\" edgedefault=\"undirected\">\n", xml_text(topology.name()));
  for (const auto& [name, value] : shape) out.print("    <data key=\"{}\">{}</data>\n", name, value);
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    const Node& node = topology.node(v);
    out.print("    <node id=\"n{}\"><data key=\"kind\">{}</data><data key=\"name\">{}</data>", v,
              kind_name(node.kind), xml_text(node.name));
    out.print("<data key=\"tier\">{}</data><data key=\"plane\">{}</data><data key=\"group\">{}</data>",
              node.tier, node.plane, node.group);
    if (node.rack != kNoRack) out.print("<data key=\"rack\">{}</data>", node.rack);
    if (node.site != 0) out.print("<data key=\"site\">{}</data>", node.site);
    if (node.domain != kNoDomain) out.print("<data key=\"domain\">{}</data>", node.domain);
    if (!node.relays) out.print("<data key=\"relays\">0</data>");
    if (node.kind == NodeKind::kSwitch) {
      out.print("<data key=\"in_host\">{}</data><data key=\"switch_latency\">{}</data>", node.in_host ? 1 : 0,
                node.switch_latency.ps());
    }
    out.print("</node>\n");
  }
  std::size_t number = 0;
  each_link(topology, [&](Vertex from, Vertex to, const Link& link) {
    out.print("    <edge id=\"e{}\" source=\"n{}\" target=\"n{}\">", number++, from, to);
    out.print("<data key=\"rate\">{}</data><data key=\"latency\">{}</data>", link.rate.bps(),
              link.latency.ps());
    out.print("<data key=\"cable\">{}</data><data key=\"length\">{}</data>", cable_name(link.cable),
              link.length_m);
    if (link.loss != 0) out.print("<data key=\"loss\">{}</data>", link.loss);
    if (has_two_rates(link)) out.print("<data key=\"back_rate\">{}</data>", link.back_rate.bps());
    out.print("</edge>\n");
  });
  out.print("  </graph>\n</graphml>\n");
  out.finish();
}

void write_dot(const Topology& topology, TextSink& out) {
  out.print("graph {} {{\n  node [shape=box];\n", json_text(topology.name()));
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    const Node& node = topology.node(v);
    out.print("  {} [label={}, kind={}, tier={}, plane={}, group={}", short_name(node), json_text(node.name),
              kind_name(node.kind), node.tier, node.plane, node.group);
    if (node.rack != kNoRack) out.print(", rack={}", node.rack);
    if (node.site != 0) out.print(", site={}", node.site);
    out.print("{}];\n", node.kind == NodeKind::kHost ? ", shape=point" : "");
  }
  each_link(topology, [&](Vertex from, Vertex to, const Link& link) {
    out.print("  {} -- {} [rate={}, latency={}", short_name(topology.node(from)),
              short_name(topology.node(to)), link.rate.bps(), link.latency.ps());
    if (link.loss != 0) out.print(", loss={}", link.loss);
    if (has_two_rates(link)) out.print(", back_rate={}", link.back_rate.bps());
    out.print("];\n");
  });
  out.print("}}\n");
  out.finish();
}

void write_edges(const Topology& topology, TextSink& out) {
  out.print("# {}\n# {} hosts h0 h1 …, {} switches s0 s1 …, hr0 hr1 … inside hosts\n", topology.name(),
            topology.hosts(), topology.switches());
  out.print("# from to rate latency, of each direction; the probability of loss if there is one\n");
  // Two cables between the same nodes are written in the same order: else they might be one listed twice.
  std::unordered_set<std::uint64_t> seen;
  each_link(topology, [&](Vertex from, Vertex to, const Link& link) {
    std::string rates = to_string(link.rate);
    if (has_two_rates(link)) rates += "/" + to_string(link.back_rate);
    const bool turned = seen.contains(std::uint64_t{to} << 32 | from);
    if (!turned) seen.insert(std::uint64_t{from} << 32 | to);
    if (turned && has_two_rates(link)) rates = to_string(link.back_rate) + "/" + to_string(link.rate);
    if (turned) std::swap(from, to);
    out.print("{} {} {} {}", short_name(topology.node(from)), short_name(topology.node(to)), rates,
              to_string(link.latency));
    if (link.loss != 0) out.print(" {}", link.loss);
    out.print("\n");
  });
  out.finish();
}

void write_json(const Topology& topology, TextSink& out) {
  out.print("{{\n  \"name\": {},\n  \"hosts\": {},\n  \"switches\": {},\n", json_text(topology.name()),
            topology.hosts(), topology.switches());
  if (topology.linked_groups()) out.print("  \"linked_groups\": true,\n");
  if (!topology.grid().empty()) out.print("  \"grid\": [{}],\n", fmt::join(topology.grid(), ", "));
  if (const BoardGrid& boards = topology.boards(); !boards.empty()) {
    out.print("  \"boards\": {{\"x\": {}, \"y\": {}, \"a\": {}, \"b\": {}}},\n", boards.x, boards.y, boards.a,
              boards.b);
  }
  out.print("  \"nodes\": [");
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    const Node& node = topology.node(v);
    out.print("{}\n    {{\"id\": {}, \"kind\": \"{}\", \"index\": {}, \"name\": {}, \"tier\": {}, ",
              v == 0 ? "" : ",", v, kind_name(node.kind), node.index, json_text(node.name), node.tier);
    out.print("\"plane\": {}, \"site\": {}, \"group\": {}, \"rack\": {}", node.plane, node.site, node.group,
              node.rack == kNoRack ? "null" : fmt::format("{}", node.rack));
    if (node.domain != kNoDomain) {
      out.print(", \"domain\": {}, \"relays\": {}", node.domain, node.relays);
    }
    if (node.kind == NodeKind::kSwitch) {
      out.print(", \"in_host\": {}, \"switch_latency_ps\": {}", node.in_host, node.switch_latency.ps());
    }
    out.print("}}");
  }
  out.print("\n  ],\n  \"links\": [");
  bool first = true;
  each_link(topology, [&](Vertex from, Vertex to, const Link& link) {
    out.print("{}\n    {{\"from\": {}, \"to\": {}, \"rate_bps\": {}, \"latency_ps\": {}, ", first ? "" : ",",
              from, to, link.rate.bps(), link.latency.ps());
    out.print("\"cable\": \"{}\", \"length_m\": {}, \"loss\": {}", cable_name(link.cable), link.length_m,
              link.loss);
    if (has_two_rates(link)) out.print(", \"back_rate_bps\": {}", link.back_rate.bps());
    out.print("}}");
    first = false;
  });
  out.print("\n  ]\n}}\n");
  out.finish();
}

}  // namespace weft::topologies
