#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/units/input_error.h"
#include "tools/report/merged_network.h"
#include "tools/report/sections.h"
#include "topologies/draw/layout.h"

namespace weft::report {
namespace {

using topologies::Area;
using topologies::Edge;
using topologies::Layout;
using topologies::NodeKind;
using topologies::Point;
using topologies::Topology;

constexpr Area kArea{10, 10, 1190, 610};

double rounded(float place) { return std::round(place * 10.0) / 10; }

// What the links of one drawn line came to, each way.
struct Line {
  double busiest[2] = {0, 0}, sum = 0;
  std::uint64_t drops = 0, marks = 0, longest_queue = 0;
};

void check_same(const Database& database, const Topology& topology) {
  const std::uint64_t links = database.count("SELECT max(link) + 1 FROM links");
  if (links > topology.channels().size()) {
    throw InputError(fmt::format("the run has {} links, but {} has {}: it was on another network", links,
                                 topology.name(), topology.channels().size()));
  }
  const Json first = database.columns("SELECT \"from\", \"to\" FROM links WHERE link = 0");
  if (first["from"].empty() || topology.channels().empty()) throw InputError("the run has no links");
  const topologies::Channel& channel = topology.channels().front();
  if (first["from"][0] != topology.node(channel.from).name ||
      first["to"][0] != topology.node(channel.to).name) {
    throw InputError(fmt::format("the run's links are not those of {}", topology.name()));
  }
}

std::vector<Line> loads(const Database& database, const MergedNetwork& network) {
  std::vector<Line> lines(network.links.size());
  const Json all = database.columns("SELECT link, utilization, drops, ecn_marks, max_queue_bytes FROM links");
  for (std::size_t i = 0; i < all["link"].size(); ++i) {
    const std::uint64_t link = database.whole(all["link"][i]);
    if (link >= network.line.size()) throw InputError(fmt::format("the network has no link {}", link));
    const std::uint32_t number = network.line[link];
    if (number == kNotDrawn) continue;
    Line& line = lines[number];
    double& busiest = line.busiest[network.back[link] ? 1 : 0];
    const double utilization = database.real(all["utilization"][i]);
    busiest = std::max(busiest, utilization);
    line.sum += utilization;
    line.drops += database.whole(all["drops"][i]);
    line.marks += database.whole(all["ecn_marks"][i]);
    line.longest_queue = std::max(line.longest_queue, database.whole(all["max_queue_bytes"][i]));
  }
  return lines;
}

Json nodes(const Topology& topology, const Layout& layout) {
  Json json = {{"x", Json::array()}, {"y", Json::array()}, {"tier", Json::array()}, {"name", Json::array()}};
  for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
    const topologies::Node& node = topology.node(v);
    const bool host = node.kind == NodeKind::kHost;
    json["x"].push_back(rounded(layout.at[v].x));
    json["y"].push_back(rounded(layout.at[v].y));
    // -1: an endpoint that is drawn, -2: one that is not.
    json["tier"].push_back(!host ? static_cast<int>(node.tier) : layout.draws_hosts ? -1 : -2);
    json["name"].push_back(host && !layout.draws_hosts ? "" : node.name);
  }
  return json;
}

Json lines(const MergedNetwork& network, const Layout& layout, const std::vector<Line>& loads) {
  Json json;
  for (const char* name :
       {"a", "b", "cx", "cy", "there", "back", "mean", "drops", "marks", "queue", "links"}) {
    json[name] = Json::array();
  }
  const std::vector<Edge>& edges = network.topology.edges();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (layout.kind[i] == 0 && !layout.draws_hosts) continue;
    const Point bend = layout.control[i];
    const double links = 2.0 * network.links[i];
    json["a"].push_back(edges[i].from);
    json["b"].push_back(edges[i].to);
    json["cx"].push_back(rounded(bend.x));
    json["cy"].push_back(rounded(bend.y));
    json["there"].push_back(std::round(loads[i].busiest[0] * 1e5) / 1e5);
    json["back"].push_back(std::round(loads[i].busiest[1] * 1e5) / 1e5);
    json["mean"].push_back(std::round(loads[i].sum / links * 1e5) / 1e5);
    json["drops"].push_back(loads[i].drops);
    json["marks"].push_back(loads[i].marks);
    json["queue"].push_back(loads[i].longest_queue);
    json["links"].push_back(network.links[i]);
  }
  return json;
}

}  // namespace

Json drawing(const Database& database, const Topology& topology, const Budget& budget) {
  check_same(database, topology);
  const MergedNetwork network = merge(topology, budget.nodes, budget.lines);
  const Layout layout = topologies::lay_out(network.topology, kArea);
  Json json = {{"width", 1200}, {"height", 620}, {"merged", network.merged}, {"flat", layout.flat}};
  json["endpoints"] = topology.hosts();
  json["switches"] = topology.switches();
  json["cables"] = topology.edges().size();
  json["draws_endpoints"] = layout.draws_hosts;
  json["switch_radius"] = rounded(layout.switch_radius);
  json["endpoint_radius"] = rounded(layout.host_radius);
  json["nodes"] = nodes(network.topology, layout);
  json["lines"] = lines(network, layout, loads(database, network));
  json["boxes"] = Json::array();
  for (const topologies::Box& box : layout.boxes) {
    json["boxes"].push_back({{"x", rounded(box.area.left)},
                             {"y", rounded(box.area.top)},
                             {"width", rounded(box.area.width())},
                             {"height", rounded(box.area.height())},
                             {"round", box.round},
                             {"label", box.label},
                             {"label_x", rounded(box.label_at.x)},
                             {"label_y", rounded(box.label_at.y)}});
  }
  return json;
}

}  // namespace weft::report
