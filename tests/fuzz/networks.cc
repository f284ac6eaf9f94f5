#include "tests/fuzz/networks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "topologies/export/formats.h"
#include "topologies/graph/topology.h"
#include "topologies/import/build_network.h"
#include "topologies/import/graph_file.h"
#include "topologies/import/readers.h"

namespace weft::fuzz {
namespace {

using topologies::Topology;

// Trees of a few words may stand, rightly, for millions of nodes.
constexpr std::size_t kMostParts = 1 << 14;

Topology build(topologies::ImportedGraph graph) {
  static const topologies::Family family = topologies::graph_file_family();
  return topologies::build_network(std::move(graph), Parameters(family.info, {}), "network");
}

std::string written(const Topology& network, std::string_view format) {
  std::string text;
  topologies::TextSink sink([&](std::string_view piece) { text += piece; });
  topologies::find_format(format).write(network, sink);
  return text;
}

void check_same_links(const Topology& network, const Topology& again) {
  require(again.hosts() == network.hosts() && again.switches() == network.switches(),
          "other nodes from its own file");
  require(again.edges().size() == network.edges().size(), "other links from its own file");
  for (std::size_t i = 0; i < network.edges().size(); ++i) {
    const topologies::Edge &edge = network.edges()[i], &other = again.edges()[i];
    require(edge.link.rate == other.link.rate && edge.link.latency == other.link.latency &&
                edge.link.loss == other.link.loss,
            "a link with other figures from its own file");
    const auto same_end = [&](std::uint32_t end, std::uint32_t other_end) {
      return network.node(end).kind == again.node(other_end).kind &&
             network.node(end).index == again.node(other_end).index;
    };
    // Lists of links have two cables between the same nodes in one order: else they might be one listed
    // twice.
    require((same_end(edge.from, other.from) && same_end(edge.to, other.to)) ||
                (same_end(edge.from, other.to) && same_end(edge.to, other.from)),
            "a link with other ends from its own file");
  }
}

}  // namespace

void check_network(std::string_view text, std::string_view format) {
  const auto reader =
      std::ranges::find(topologies::import_formats(), format, &topologies::ImportFormat::name);
  require(reader != topologies::import_formats().end(), "no such format");
  auto graph = attempt([&] { return reader->read(text, "in.file", {}); });
  if (!graph || graph->nodes.size() > kMostParts || graph->links.size() > kMostParts) return;
  const auto network = attempt([&] { return build(std::move(*graph)); });
  if (!network) return;
  for (const topologies::Format& kind : topologies::formats()) {
    const auto file = attempt([&] { return written(*network, kind.name); });
    if (file && kind.name == "graphml") {
      check_same_links(*network, build(topologies::read_graphml(*file, "again", {})));
    } else if (file && kind.name == "edges") {
      check_same_links(*network, build(topologies::read_edges(*file, "again", {})));
    }
  }
}

}  // namespace weft::fuzz
