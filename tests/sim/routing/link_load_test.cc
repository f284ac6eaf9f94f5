// Loads of links under a path model, against tables, closed forms and every way of every pair.
#include "sim/routing/paths/link_load.h"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/paths/path_graph.h"
#include "sim/units/module.h"
#include "tests/sim/routing/path_models.h"
#include "tests/topologies/analysis/random_network.h"
#include "tests/topologies/analysis/uniform_loads.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using topologies::HostTraffic;
using topologies::MatrixEntry;
using topologies::Topology;

struct Net {
  explicit Net(const std::string& choice) : Net(topologies::build(parse_module_choice(choice))) {}
  explicit Net(Topology built)
      : topology(std::move(built)), table(topology), graph(topologies::router_graph(topology)) {}
  Topology topology;
  RoutingTable table;
  topologies::RouterGraph graph;

  LinkLoad load(const PathModel& model, const HostTraffic& traffic) const {
    return link_load(topology, table, model, traffic);
  }
  LinkLoad minimal(const HostTraffic& traffic) const { return load(MinimalPaths(table), traffic); }
};

// The traffic of any kind as a list of pairs.
std::vector<MatrixEntry> pairs(const HostTraffic& traffic) {
  std::vector<MatrixEntry> list = traffic.entries;
  for (std::uint32_t s = 0; s < traffic.weight.size(); ++s) {
    for (std::uint32_t d = 0; d < traffic.weight.size(); ++d) {
      if (s != d) list.push_back({s, d, traffic.weight[s] * traffic.weight[d]});
    }
  }
  return list;
}

std::vector<double> plain_load(const Net& net, const PathModel& model, const HostTraffic& traffic) {
  std::vector<double> bps(net.topology.channels().size());
  for (const MatrixEntry& entry : pairs(traffic)) {
    each_way(net.topology, net.table, model, entry.from, entry.to,
             [&](const std::vector<PlainWalk::Hop>& way, double share) {
               for (const auto& [channel, lane] : way) bps[channel] += entry.weight * share;
             });
  }
  return bps;
}

HostTraffic tornado(const Net& net) {
  std::vector<MatrixEntry> entries;
  for (std::uint32_t i = 0; i < 64; ++i) entries.push_back({i, i / 8 * 8 + (i + 3) % 8, 1});
  return matrix_traffic(net.graph, "tornado", entries);
}

}  // namespace

TEST_CASE("link loads: uniform traffic on minimal paths, as tabulated") {
  for (const topologies::UniformLoad& row : topologies::kUniformLoads) {
    INFO(row.topology);
    const Net net(row.topology);
    const LinkLoad load = net.minimal(uniform_traffic(net.graph));
    CHECK(load.most == Approx(row.most).margin(5e-5));
    if (row.mean > 0) CHECK(load.mean == Approx(row.mean).margin(5e-5));
    CHECK(load.saturation() == Approx(row.most > 1 ? 1 / row.most : 1).epsilon(1e-4));
    CHECK(load.detoured == 0);
    CHECK(load.stranded == 0);
  }
}

TEST_CASE("link loads: tornado, transpose and bit-complement on an 8x8 torus, as tabulated") {
  const Net net("torus:dims=8x8");
  std::vector<MatrixEntry> transpose, complement;
  for (std::uint32_t i = 0; i < 64; ++i) {
    transpose.push_back({i, i % 8 * 8 + i / 8, 1});
    complement.push_back({i, 63 - i, 1});
  }
  CHECK(net.minimal(tornado(net)).most == Approx(3));
  CHECK(net.minimal(matrix_traffic(net.graph, "t", transpose)).most == Approx(1.6296).margin(5e-5));
  CHECK(net.minimal(matrix_traffic(net.graph, "c", complement)).most == Approx(2.8125));
}

TEST_CASE("link loads: by intermediate hosts, a permutation loads links as two uniform legs do") {
  // Hosts that send at their full rate to other switches, by any of N hosts: the sources' legs are uniform
  // traffic, N - 1 parts of N of it, and so are the destinations'. By a host of the pair's own switches, one
  // leg is no link long, and the way is the direct one.
  for (const char* choice : {"torus:dims=8x8", "slim_fly:q=5,hosts=4", "hyperx:dims=8x8,hosts=4",
                             "dragonfly:p=2", "fat_tree:k=4"}) {
    INFO(choice);
    const Net net(choice);
    const std::uint32_t hosts = net.topology.hosts();
    std::vector<MatrixEntry> half;  // half of the way round: no host of the same switch
    for (std::uint32_t h = 0; h < hosts; ++h) half.push_back({h, (h + hosts / 2) % hosts, 1});
    const LinkLoad uniform = net.minimal(uniform_traffic(net.graph));
    const LinkLoad load =
        net.load(DetourPaths(net.topology, net.table), matrix_traffic(net.graph, "half", half));
    const double legs = 2.0 * (hosts - 1) / hosts;
    for (std::uint32_t c = 0; c < load.bps.size(); ++c) {
      const topologies::Channel& channel = net.topology.channels()[c];
      const bool of_host = net.topology.node(channel.from).kind == topologies::NodeKind::kHost ||
                           net.topology.node(channel.to).kind == topologies::NodeKind::kHost;
      const double rate = static_cast<double>(channel.rate.bps());
      CHECK(load.bps[c] / rate == Approx(of_host ? 1 : legs * uniform.bps[c] / rate));
    }
    CHECK(load.most == Approx(legs * uniform.most));
    CHECK(load.stranded == 0);
  }
  const Net net("torus:dims=8x8");
  const LinkLoad load = net.load(DetourPaths(net.topology, net.table), tornado(net));
  CHECK(load.most == Approx(2));  // 3 on minimal paths
  CHECK(load.mean == Approx(2));
  CHECK(load.saturation() == Approx(0.5));
  CHECK(load.detoured == Approx(62.0 / 64));
}

TEST_CASE("link loads: aggregated detours are what all pairs by all intermediate hosts add up to") {
  rc::check("single-homed hosts", [] {
    const auto below = [](std::size_t n) {
      return *rc::gen::resize(100, rc::gen::inRange<std::size_t>(0, n));
    };
    Topology topology("random");
    std::vector<topologies::Vertex> switches;
    const topologies::Link link{Bandwidth::gbps(100), Time()};
    const std::size_t count = 2 + below(5), across = below(5);
    for (std::size_t s = 0; s < count; ++s) {
      switches.push_back(topology.add_switch("switch " + std::to_string(s), 1));
      if (s > 0) topology.add_link(switches[s], switches[below(s)], link);
    }
    for (std::size_t i = 0; i < across; ++i) {
      const std::size_t a = below(count);
      topology.add_link(switches[a], switches[(a + 1 + below(count - 1)) % count], link);
    }
    for (std::size_t h = 0; h < 2 + below(6); ++h) {
      topology.add_link(topology.add_host("host " + std::to_string(h)), switches[below(count)], link);
    }
    topology.finish();
    const Net net(std::move(topology));
    HostTraffic traffic = uniform_traffic(net.graph);
    if (below(2) == 1) {
      std::vector<MatrixEntry> entries;
      const auto hosts = net.topology.hosts();
      for (std::size_t i = 0; i < 1 + below(6); ++i) {
        const auto from = static_cast<std::uint32_t>(below(hosts));
        entries.push_back({from, static_cast<std::uint32_t>((from + 1 + below(hosts - 1)) % hosts),
                           static_cast<double>(1 + below(5))});
      }
      traffic = matrix_traffic(net.graph, "random", entries);
    }
    const DetourPaths model(net.topology, net.table, static_cast<double>(below(5)) / 4);
    const std::vector<double> expected = plain_load(net, model, traffic);
    const LinkLoad load = net.load(model, traffic);
    for (std::size_t c = 0; c < expected.size(); ++c) {
      RC_ASSERT(std::abs(load.bps[c] - expected[c]) <= 1e-9 * 100e9);
    }
    RC_ASSERT(load.stranded == 0);
  });
}

TEST_CASE("link loads: hosts with several links, and models that tell hosts apart") {
  rc::check("direct ways", [] {
    const Net net(topologies::random_network());
    if (net.topology.hosts() < 2) return;
    const HostTraffic traffic =
        *rc::gen::arbitrary<bool>() ? uniform_traffic(net.graph) : permutation_traffic(net.graph, 7);
    const NumberedPaths numbered(net.table);
    const MinimalPaths minimal(net.table);
    for (const PathModel* model :
         {static_cast<const PathModel*>(&numbered), static_cast<const PathModel*>(&minimal)}) {
      const std::vector<double> expected = plain_load(net, *model, traffic);
      const LinkLoad load = net.load(*model, traffic);
      for (std::size_t c = 0; c < expected.size(); ++c) {
        RC_ASSERT(std::abs(load.bps[c] - expected[c]) <= 1e-9 * 100e9);
      }
    }
  });
}

TEST_CASE("path graphs: a model that leads in a circle is noticed, and its traffic still arrives") {
  // From each switch of a ring half goes on, whichever way, and half back: a random walk.
  class Wandering : public PathModel {
   public:
    explicit Wandering(const Topology& topology) : topology_(topology) {}
    void starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const override {
      starts.push_back({});
    }
    void steps(topologies::Vertex at, PathState, std::uint32_t host,
               std::vector<PathStep>& steps) const override {
      const std::uint32_t cable = topology_.out_channels(topology_.host(host))[0] ^ 1;
      if (topology_.channels()[cable].from == at) return steps.push_back({.channel = cable});
      for (const std::uint32_t c : topology_.out_channels(at)) {
        if (topology_.node(topology_.channels()[c].to).kind == topologies::NodeKind::kHost) continue;
        steps.push_back({.channel = c, .share = 0.5});
      }
    }

   private:
    const Topology& topology_;
  };
  const Net net("torus:dims=4");
  const Wandering model(net.topology);
  PathGraph graph(net.topology, model);
  graph.begin(0, PathGraph::End::kHost);
  graph.add(net.topology.switch_at(2), 0);
  CHECK(graph.has_circle());
  const LinkLoad load = net.load(model, matrix_traffic(net.graph, "m", {{2, 0, 1}}));
  // A walk on a ring of 4 from the opposite switch takes 4 steps: it is 2 away on either side, 2 · 2.
  double crossed = 0;
  for (std::uint32_t c = 0; c < load.bps.size(); ++c) crossed += load.bps[c];
  const double rate = static_cast<double>(net.topology.channels()[0].rate.bps());
  CHECK(crossed / rate == Approx(4 + 2));
}

}  // namespace weft::routing
