// FatPaths' layers: against a plain search in the links that each has; and what packets do in them.
#include "sim/routing/parts/layers.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/reference.h"
#include "tests/sim/routing/registered.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;

struct Net {
  explicit Net(const std::string& choice)
      : topology(topologies::build(parse_module_choice(choice))),
        table(topology),
        policy(registered("fatpaths")) {}
  Layers layers(std::uint32_t count, double share, std::uint64_t seed = 1) const {
    return Layers({parameters, topology, table, seed}, count, share);
  }
  bool between_switches(std::uint32_t link) const {
    const topologies::Edge& edge = topology.edges()[link];
    return topology.node(edge.from).kind == NodeKind::kSwitch &&
           topology.node(edge.to).kind == NodeKind::kSwitch;
  }
  std::vector<std::uint32_t> links_of(const Layers& layers, std::uint32_t layer) const {
    std::vector<std::uint32_t> links;
    for (std::uint32_t link = 0; link < topology.edges().size(); ++link) {
      if (between_switches(link) && layers.has_link(layer, link)) links.push_back(link);
    }
    return links;
  }
  std::size_t all_links() const {
    std::size_t count = 0;
    for (std::uint32_t link = 0; link < topology.edges().size(); ++link) count += between_switches(link);
    return count;
  }

  Topology topology;
  RoutingTable table;
  Policy policy;
  Parameters parameters = Parameters(policy.info, std::map<std::string, std::string>());
};

// Its next channels are those of a plain search in the links of the layer that are up.
void require_shortest(const Net& net, const Layers& layers, const std::vector<bool>& down) {
  for (std::uint32_t layer = 0; layer < layers.count(); ++layer) {
    std::vector<bool> without(net.topology.edges().size());
    for (std::uint32_t link = 0; link < without.size(); ++link) {
      without[link] = !layers.has_link(layer, link) || (layer > 0 && !down.empty() && down[link]);
    }
    for (std::uint32_t d = 0; d < net.topology.hosts(); ++d) {
      const std::vector<int> distance = routing_reference::distances_to(net.topology, without, d);
      for (std::uint32_t s = 0; s < net.topology.switches(); ++s) {
        const topologies::Vertex at = net.topology.switch_at(s);
        const Candidates found = layers.table(layer).candidates(at, d);
        REQUIRE(std::vector<std::uint32_t>(found.begin(), found.end()) ==
                routing_reference::next_channels(net.topology, without, distance, at, d));
      }
    }
  }
}

}  // namespace

TEST_CASE("layers: ways are the shortest in the layer's links, also after failures and recovery") {
  for (const char* choice : {"slim_fly:q=5,hosts=1", "jellyfish:n=20,r=4,hosts=2", "fat_tree:k=4",
                             "torus:dims=5x5", "bcube:n=3,k=1", "dragonfly:p=2", "single_switch:hosts=3"}) {
    INFO(choice);
    const Net net(choice);
    Layers layers = net.layers(4, 0.6);
    require_shortest(net, layers, {});
    std::vector<bool> down(net.topology.edges().size());
    for (std::size_t link = 0; link < down.size(); link += 7) {
      down[link] = net.between_switches(static_cast<std::uint32_t>(link));
    }
    layers.rebuild(down);
    require_shortest(net, layers, down);
    layers.rebuild({});
    require_shortest(net, layers, {});
  }
}

TEST_CASE("layers: each has its share of links, drawn evenly, others in every layer") {
  const Net net("jellyfish:n=30,r=12,hosts=1");
  const std::size_t all = net.all_links();
  REQUIRE(all == 180);
  std::map<std::uint32_t, int> drawn;
  constexpr int kSeeds = 200;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Layers layers = net.layers(3, 0.6, static_cast<std::uint64_t>(seed));
    REQUIRE(net.links_of(layers, 0).size() == all);
    for (const std::uint32_t layer : {1u, 2u}) {
      const std::vector<std::uint32_t> links = net.links_of(layers, layer);
      REQUIRE(links.size() == 108);
      for (const std::uint32_t link : links) ++drawn[link];
    }
    REQUIRE(net.links_of(layers, 1) != net.links_of(layers, 2));
    REQUIRE(net.links_of(layers, 1) == net.links_of(net.layers(2, 0.6, static_cast<std::uint64_t>(seed)), 1));
  }
  // A link is in 240 of 400 draws in the mean, with a deviation of 9.8: five of these are passed by one link
  // in millions.
  REQUIRE(drawn.size() == all);
  for (const auto& [link, times] : drawn) REQUIRE(std::abs(times - 240) < 49);
}

TEST_CASE("layers: ways are at most twice as long as the longest of the network") {
  // Half of the links of a torus leave long ways, or none.
  const Net net("torus:dims=6x6");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Layers layers = net.layers(5, 0.5, seed);
    for (std::uint32_t layer = 1; layer < layers.count(); ++layer) {
      std::vector<bool> without(net.topology.edges().size());
      for (std::uint32_t link = 0; link < without.size(); ++link)
        without[link] = !layers.has_link(layer, link);
      for (std::uint32_t d = 0; d < net.topology.hosts(); ++d) {
        for (std::uint32_t s = 0; s < net.topology.switches(); ++s) {
          const int links =
              routing_reference::distances_to(net.topology, without, d)[net.topology.switch_at(s)];
          REQUIRE((links == routing_reference::kFar || links - 1 <= 2 * 6 + 1));
        }
        if (d == 3) break;
      }
    }
  }
}

TEST_CASE("fatpaths: what its parameters must be") {
  const Net net("torus:dims=4");
  const auto refusal = [&](const std::string& name, const std::string& value) {
    try {
      const Parameters parameters(net.policy.info, std::map<std::string, std::string>{{name, value}});
      const PlanSetup setup{parameters, net.topology, net.table, 1};
      (void)net.policy.make_plan(setup);
      (void)net.policy.make_path_selectors(setup);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(refusal("layers", "0") == "fatpaths: layers is '0', but it must be from 1 to 16");
  CHECK(refusal("layers", "17") == "fatpaths: layers is '17', but it must be from 1 to 16");
  CHECK(refusal("rho", "0") == "fatpaths: rho is '0', but it must be above 0 and at most 1");
  CHECK(refusal("rho", "1.5") == "fatpaths: rho is '1.5', but it must be above 0 and at most 1");
  CHECK(refusal("gap", "7200s") == "fatpaths: gap is '7200s', but it must be from 0 to 3600s");
  CHECK(refusal("rho", "1") == "none");
}

}  // namespace weft::routing

namespace weft::sim::packet {
namespace {

using topologies::Topology;

Account run(const Topology& topology, const std::string& policy, const std::vector<Message>& messages,
            std::vector<LinkChange> changes = {}) {
  const Options options{.control = "fixed_window:packets=64",
                        .policy = routing::registered(policy),
                        .changes = std::move(changes)};
  return run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
}

std::uint64_t signal(const Account& account, const std::string& name) {
  for (const auto& [each, count] : account.signals) {
    if (each == name) return count;
  }
  return UINT64_MAX;
}

std::int64_t end_of(const Account& account) {
  std::int64_t last = 0;
  for (const auto& [message, at, kind] : account.calls) last = std::max(last, at);
  return last;
}

}  // namespace

TEST_CASE("fatpaths: layers with all links are ecmp by flowlets, and one flow is one flowlet without gaps") {
  const Topology topology = topologies::build(parse_module_choice("slim_fly:q=5,hosts=2"));
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    messages.push_back({.source = host,
                        .destination = (host + 31) % topology.hosts(),
                        .notify_sent = true,
                        .bytes = 40960,
                        .client = {host}});
  }
  const Account account = run(topology, "fatpaths:gap=1s", messages);
  REQUIRE(account.delivered == messages.size());
  REQUIRE(signal(account, "flowlet") == messages.size());
  REQUIRE(signal(run(topology, "fatpaths:gap=0us", messages), "flowlet") == 10 * messages.size());
  REQUIRE(signal(account, "left_layer") == 0);
}

TEST_CASE("fatpaths: where shortest ways are one link, layers that lack it go round it") {
  // All four hosts of a router send to those of the next one, packet by packet in another layer. Their one
  // link carries four messages with ecmp, and else what goes in layers that have it.
  const Topology topology = topologies::build(parse_module_choice("slim_fly:q=5,hosts=4,latency=100ns"));
  const topologies::Vertex a = topology.switch_at(0);
  topologies::Vertex b = a;
  std::vector<std::uint32_t> from, to;
  const auto hosts_of = [&](topologies::Vertex v, std::vector<std::uint32_t>& hosts) {
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Node& node = topology.node(topology.channels()[c].to);
      if (node.kind == topologies::NodeKind::kHost) {
        hosts.push_back(node.index);
      } else {
        b = v == a ? topology.channels()[c].to : b;
      }
    }
  };
  hosts_of(a, from);
  hosts_of(b, to);
  REQUIRE(from.size() == 4);
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 4; ++i) {
    messages.push_back(
        {.source = from[i], .destination = to[i], .notify_sent = true, .bytes = 2'000'000, .client = {i}});
  }
  const double minimal = static_cast<double>(end_of(run(topology, "ecmp", messages)));
  const double layered = static_cast<double>(end_of(run(topology, "fatpaths:gap=0us,rho=0.5", messages)));
  INFO(minimal << " " << layered);
  REQUIRE(minimal > 4 * 2e6 * 8 / 400e9 * 1e12);
  const routing::Net net("slim_fly:q=5,hosts=4,latency=100ns");
  const routing::Layers layers = net.layers(9, 0.5);
  int with_link = 0;
  for (const std::uint32_t c : topology.out_channels(a)) {
    for (std::uint32_t layer = 0; layer < 9 && topology.channels()[c].to == b; ++layer) {
      with_link += layers.has_link(layer, c / 2);
    }
  }
  REQUIRE(with_link < 9);
  REQUIRE(layered / minimal == Approx(with_link / 9.0).epsilon(0.03));
}

TEST_CASE("fatpaths: layers are left where their links have failed, and all arrives") {
  const Topology topology = topologies::build(parse_module_choice("jellyfish:n=16,r=5,hosts=2"));
  std::vector<LinkChange> changes;
  for (std::uint32_t link = 0; link < topology.edges().size(); link += 5) {
    const topologies::Edge& edge = topology.edges()[link];
    if (topology.node(edge.from).kind == topologies::NodeKind::kHost ||
        topology.node(edge.to).kind == topologies::NodeKind::kHost)
      continue;
    changes.push_back({.at = Time::us(2), .link = link, .rate_share = 0});
    changes.push_back({.at = Time::us(60), .link = link, .rate_share = 1});
  }
  REQUIRE(changes.size() >= 10);
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    messages.push_back({.source = host,
                        .destination = (host + 11) % topology.hosts(),
                        .notify_sent = true,
                        .bytes = 500'000,
                        .client = {host}});
  }
  const Account account = run(topology, "fatpaths:gap=0us", messages, changes);
  REQUIRE(account.delivered == messages.size());
  REQUIRE(signal(account, "left_layer") > 0);
}

}  // namespace weft::sim::packet
