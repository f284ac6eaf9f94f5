// Ways through machines of several accelerators: against costs compared one after the other, and as NCCL
// goes.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/core/random.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/families.h"
#include "topologies/graph/topology.h"

namespace weft {
namespace {

using topologies::kNoDomain;
using topologies::Link;
using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

const Link kLink{Bandwidth::gbps(100), Time::ns(500)};

// What counts most comes first.
using Cost = std::array<int, 3>;
constexpr int kFar = 1 << 29;
constexpr Cost kNowhere = {kFar, kFar, kFar};

// In the plainest way: relaxed until nothing changes.
class Reference {
 public:
  Reference(const Topology& topology, const std::vector<bool>& down, std::uint32_t destination, bool relays)
      : topology_(topology),
        down_(down),
        to_(topology.host(destination)),
        relays_(relays),
        hops_(topology.nodes(), kFar),
        cost_(topology.nodes(), kNowhere) {
    hops_[to_] = 0;
    cost_[to_] = {};
    relax([&](Vertex v, Vertex next, std::uint32_t) {
      if (!topology_.is_inside(v, to_) || !topology_.is_inside(next, to_) || hops_[v] <= hops_[next] + 1)
        return false;
      hops_[v] = hops_[next] + 1;
      return true;
    });
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      if (is_fixed(v)) cost_[v] = relays_ ? Cost{0, hops_[v], 0} : Cost{hops_[v], 0, 0};
    }
    relax([&](Vertex v, Vertex next, std::uint32_t) {
      const Cost over = plus(cost_[next], of_link(v, next));
      if (v == to_ || is_fixed(v) || over >= cost_[v]) return false;
      cost_[v] = over;
      return true;
    });
  }

  std::vector<std::uint32_t> next_channels(Vertex v) const {
    std::vector<std::uint32_t> channels;
    for (const std::uint32_t c : topology_.out_channels(v)) {
      const Vertex next = topology_.channels()[c].to;
      if (!is_up(c) || !forwards(next) || cost_[next][0] >= kFar) continue;
      const bool on_way = is_fixed(v) ? topology_.is_inside(v, next) && hops_[next] + 1 == hops_[v]
                                      : plus(cost_[next], of_link(v, next)) == cost_[v];
      if (on_way) channels.push_back(c);
    }
    return channels;
  }

 private:
  // Within the destination's domain, with a way inside.
  bool is_fixed(Vertex v) const { return v != to_ && hops_[v] < kFar; }
  bool is_up(std::uint32_t c) const { return down_.empty() || !down_[c / 2]; }
  bool forwards(Vertex v) const { return v == to_ || topology_.node(v).kind == NodeKind::kSwitch; }
  static Cost plus(Cost a, const Cost& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::min(a[i] + b[i], kFar);
    return a;
  }
  Cost of_link(Vertex a, Vertex b) const {
    if (!topology_.is_inside(a, b)) return relays_ ? Cost{1, 0, 0} : Cost{0, 1, 0};
    if (!relays_) return {1, 0, 0};
    return topology_.is_inside(a, to_) ? Cost{0, 1, 0} : Cost{0, 0, 1};
  }
  template <typename Improve>
  void relax(Improve&& improve) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t c = 0; c < topology_.channels().size(); ++c) {
        const topologies::Channel& channel = topology_.channels()[c];
        if (is_up(c) && forwards(channel.to)) changed |= improve(channel.from, channel.to, c);
      }
    }
  }

  const Topology& topology_;
  const std::vector<bool>& down_;
  const Vertex to_;
  const bool relays_;
  std::vector<int> hops_;  // inside the destination's domain
  std::vector<Cost> cost_;
};

void check_all(const Topology& topology, const routing::RoutingTable& table, const std::vector<bool>& down,
               bool relays) {
  std::uint64_t differences = 0;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const Reference reference(topology, down, h, relays);
    for (Vertex v = 0; v < topology.nodes(); ++v) {
      if (v == topology.host(h)) continue;
      const std::vector<std::uint32_t> expected = reference.next_channels(v);
      const auto found = table.candidates(v, h);
      if (std::equal(found.begin(), found.end(), expected.begin(), expected.end())) continue;
      CAPTURE(topology.name(), topology.node(v).name, h, expected);
      CHECK(std::vector<std::uint32_t>(found.begin(), found.end()) == expected);
      if (++differences == 5) FAIL("and so on");
    }
  }
  CHECK(differences == 0);
}

// A connected network of random switches and hosts, in up to four domains or in none, as a file might have.
Topology random_topology(std::uint64_t seed, bool relays) {
  sim::RandomStream random(seed, 1);
  Topology topology("random " + std::to_string(seed));
  const auto switches = static_cast<std::uint32_t>(2 + random.below(12));
  std::vector<Vertex> at, hosts;
  const auto mark = [&](Vertex v) {
    const auto domain = static_cast<std::uint32_t>(random.below(6));
    if (domain < 4) topology.set_domain(v, domain, relays);
  };
  for (std::uint32_t i = 0; i < switches; ++i) {
    at.push_back(topology.add_switch("switch " + std::to_string(i), 1));
    mark(at.back());
    if (i > 0) topology.add_link(at[i], at[random.below(i)], kLink);
  }
  topology.set_domain(at[0], 0, relays);
  for (std::uint64_t extra = random.below(2 * switches); extra > 0; --extra) {
    const std::uint64_t a = random.below(switches), b = (a + 1 + random.below(switches - 1)) % switches;
    topology.add_link(at[a], at[b], kLink);
  }
  for (std::uint64_t i = 0; i <= random.below(14); ++i) {
    hosts.push_back(topology.add_host("host " + std::to_string(i)));
    mark(hosts.back());
    for (std::uint64_t nic = 0; nic <= random.below(3); ++nic) {
      topology.add_link(hosts.back(), at[random.below(switches)], kLink);
    }
    if (i > 0 && random.below(6) == 0) topology.add_link(hosts.back(), hosts[random.below(i)], kLink);
  }
  topology.finish();
  return topology;
}

Topology network(const std::string& choice) { return topologies::build(parse_module_choice(choice)); }

void check_with_failures(const Topology& topology, bool relays, std::uint64_t seed, std::uint32_t steps) {
  sim::RandomStream random(seed, 2);
  // As quick and as small as it can be.
  routing::RoutingTable repaired(topology, seed % 2 == 0 ? routing::RoutingTable::kQuickBytes : 0);
  check_all(topology, repaired, {}, relays);
  std::vector<bool> down(topology.edges().size());
  for (std::uint32_t step = 0; step < steps; ++step) {
    if (step + 1 == steps) down.assign(down.size(), false);
    for (std::uint64_t change = random.below(4); step + 1 < steps && change > 0; --change) {
      const std::uint64_t link = random.below(down.size());
      down[link] = !down[link];
    }
    repaired.repair(topology, down);
    INFO("seed " << seed << ", step " << step);
    check_all(topology, repaired, down, relays);
  }
}

// The names on a way of first candidates from one host to another.
std::vector<std::string> way(const Topology& topology, const routing::RoutingTable& table, std::uint32_t from,
                             std::uint32_t to) {
  std::vector<std::string> names;
  Vertex v = topology.host(from);
  while (v != topology.host(to)) {
    const auto next = table.candidates(v, to);
    REQUIRE(!next.empty());
    v = topology.channels()[next.front()].to;
    if (topology.node(v).kind == NodeKind::kSwitch) names.push_back(topology.node(v).name);
  }
  return names;
}

// Links on it that leave machines.
std::size_t links_outside(const Topology& topology, const routing::RoutingTable& table, std::uint32_t from,
                          std::uint32_t to) {
  std::size_t outside = 0;
  for (Vertex v = topology.host(from); v != topology.host(to);) {
    const Vertex next = topology.channels()[table.candidates(v, to).front()].to;
    outside += topology.is_inside(v, next) ? 0 : 1;
    v = next;
  }
  return outside;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("domains: the table equals costs compared one after the other, also after failures") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const bool relays = seed % 3 != 0;
    check_with_failures(random_topology(seed, relays), relays, seed, 8);
  }
}

TEST_CASE("domains: clusters, striped or not, switched or in pairs, with and without relays") {
  std::uint64_t seed = 0;
  for (const std::string outer :
       {"fat_tree:k=4", "rail_optimized:units=1,nodes=4,rails=4,spines=2", "dragonfly:p=1,a=2,h=1",
        "multi_plane:k=4,planes=4", "jellyfish:n=8,r=3,hosts=1"}) {
    for (const std::string inside : {"switches=2", "switches=2,striping=false", "switches=0", "nics=4"}) {
      for (const bool relays : {true, false}) {
        check_with_failures(
            network("scale_up:of=[" + outer + "],accelerators=4," + inside + (relays ? "" : ",relay=false")),
            relays, ++seed, 5);
      }
    }
  }
}

TEST_CASE("domains: within a node all of a pair's traffic stays there while it can") {
  const Topology topology = network("scale_up:of=[fat_tree:k=8],accelerators=8,nics=8");
  routing::RoutingTable table(topology);
  CHECK(way(topology, table, 0, 1) == Names{"accelerator 0.0", "inner switch 0.0", "accelerator 0.1"});
  CHECK(table.candidates(topology.switch_at(0), 1).size() == 1);
  // Over the NICs when accelerator 1 is cut off inside.
  std::vector<bool> down(topology.edges().size());
  for (std::size_t e = 0; e < topology.edges().size(); ++e) {
    const topologies::Edge& edge = topology.edges()[e];
    const std::string names = topology.node(edge.from).name + topology.node(edge.to).name;
    down[e] = names == "accelerator 0.1inner switch 0.0";
  }
  REQUIRE(std::ranges::count(down, true) == 1);
  table.repair(topology, down);
  CHECK(way(topology, table, 0, 1) == Names{"accelerator 0.0", "edge 0.0", "accelerator 0.1"});
  table.repair(topology, {});
  CHECK(way(topology, table, 0, 1) == Names{"accelerator 0.0", "inner switch 0.0", "accelerator 0.1"});
}

TEST_CASE("domains: on rails a message crosses at the sender, as with PXN, or takes the spine") {
  const std::string choice = "scale_up:of=[rail_optimized:units=1,nodes=4,rails=8,spines=1],accelerators=8";
  const Topology relayed = network(choice), plain = network(choice + ",relay=false");
  const routing::RoutingTable with(relayed), without(plain);
  // From accelerator 0 of node 0 to accelerator 3 of node 1.
  CHECK(way(relayed, with, 0, 11) ==
        Names{"accelerator 0.0", "inner switch 0.0", "accelerator 0.3", "leaf 0.3", "accelerator 1.3"});
  CHECK(links_outside(relayed, with, 0, 11) == 2);
  CHECK(way(plain, without, 0, 11).size() == 5);  // two routers, two leaves, a spine
  CHECK(links_outside(plain, without, 0, 11) == 4);
  for (std::uint32_t to = 8; to < 32; ++to) {
    for (std::uint32_t from = 0; from < 8; ++from) CHECK(links_outside(relayed, with, from, to) == 2);
  }
  // A message that stays on one rail needs no relay.
  CHECK(way(relayed, with, 2, 10).size() == 3);
  CHECK(way(plain, without, 2, 10) == way(relayed, with, 2, 10));
}

}  // namespace weft
