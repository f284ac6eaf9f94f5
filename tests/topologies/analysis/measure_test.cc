// Distances, shortest paths, disjoint paths, spectra and bisections against closed forms, published values
// and naive references.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/analysis/random_network.h"
#include "topologies/analysis/bisection.h"
#include "topologies/analysis/disjoint_paths.h"
#include "topologies/analysis/distances.h"
#include "topologies/analysis/multiplicity.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/analysis/spectrum.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

RouterGraph make_graph(const std::string& short_form) {
  return router_graph(build(parse_module_choice(short_form)));
}

// Two planes of two switches each; every host has a link into both planes.
Topology two_planes() {
  Topology topology("two planes");
  const Link link{Bandwidth::gbps(100), Time::ns(100)};
  std::vector<Vertex> switches;
  for (int s = 0; s < 4; ++s) switches.push_back(topology.add_switch(fmt::format("switch {}", s), 1));
  topology.add_link(switches[0], switches[1], link);
  topology.add_link(switches[2], switches[3], link);
  topology.add_link(switches[2], switches[3], link);
  for (int h = 0; h < 6; ++h) {
    const Vertex host = topology.add_host(fmt::format("host {}", h));
    topology.add_link(host, switches[h < 3 ? 0 : 1], link);
    topology.add_link(host, switches[h < 3 ? 2 : 3], link);
  }
  topology.finish();
  return topology;
}

// Hops between all routers by Floyd and Warshall's algorithm; kUnreachable where there is no path.
std::vector<std::vector<int>> all_hops(const RouterGraph& graph) {
  const std::uint32_t n = graph.routers();
  std::vector<std::vector<int>> hops(n, std::vector<int>(n, kUnreachable));
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t a = graph.begin[v]; a < graph.begin[v + 1]; ++a) hops[v][graph.to[a]] = 1;
    hops[v][v] = 0;
  }
  for (std::uint32_t k = 0; k < n; ++k) {
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) hops[i][j] = std::min(hops[i][j], hops[i][k] + hops[k][j]);
    }
  }
  return hops;
}

// Walks of exactly `left` hops from v to target, over parallel links one by one.
std::uint64_t walks(const RouterGraph& graph, std::uint32_t v, std::uint32_t target, int left) {
  if (left == 0) return v == target;
  std::uint64_t sum = 0;
  for (std::uint32_t a = graph.begin[v]; a < graph.begin[v + 1]; ++a) {
    sum += graph.links[a] * walks(graph, graph.to[a], target, left - 1);
  }
  return sum;
}

}  // namespace

TEST_CASE("router graph: parallel links are kept as their number, hosts by how they are attached") {
  const RouterGraph graph = router_graph(two_planes());
  CHECK(graph.routers() == 4);
  CHECK(graph.switches() == 4);
  CHECK(graph.endpoints() == 6);
  CHECK(graph.link_count() == 3);
  CHECK(graph.to == std::vector<std::uint32_t>{1, 0, 3, 2});
  CHECK(graph.links == std::vector<std::uint32_t>{1, 1, 2, 2});
  CHECK(graph.rate == std::vector<double>{1e11, 1e11, 2e11, 2e11});
  CHECK(graph.hosts == std::vector<std::uint32_t>{3, 3, 3, 3});
  REQUIRE(graph.terminals.size() == 2);
  CHECK(graph.terminals[1].hosts == 3);
  CHECK(graph.terminals[1].rate == 6e11);
  REQUIRE(graph.terminals[1].ports.size() == 2);
  CHECK(graph.terminals[1].ports[1].router == 3);
  CHECK(graph.terminals[1].ports[1].links == 3);

  const FlowNetwork network = flow_network(graph);
  CHECK(network.routers == 4);
  CHECK(network.vertices() == 6);
  CHECK(network.vertex_of == std::vector<std::uint32_t>{4, 5});
  CHECK(network.link_count() == 3 + 12);
  for (std::uint32_t v = 0; v < network.vertices(); ++v) {
    for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a) {
      const std::uint32_t back = network.reverse[a];
      CHECK(network.to[back] == v);
      CHECK(network.reverse[back] == a);
      CHECK(network.links[back] == network.links[a]);
    }
  }
}

TEST_CASE(
    "router graph: routers inside hosts are routers, but no switches; hosts linked to hosts are refused") {
  Topology topology("pair");
  const Vertex a = topology.add_host_router("router a"), b = topology.add_switch("switch", 1);
  const Vertex host = topology.add_host("host"), other = topology.add_host("other");
  const Link link{Bandwidth::gbps(100), Time()};
  topology.add_link(host, a, link);
  topology.add_link(a, b, link);
  topology.add_link(other, b, link);
  topology.finish();
  CHECK(router_graph(topology).routers() == 2);
  CHECK(router_graph(topology).switches() == 1);

  Topology bad("bad");
  const Vertex one = bad.add_host("one"), two = bad.add_host("two");
  bad.add_link(one, two, link);
  bad.finish();
  CHECK_THROWS_WITH(router_graph(bad), Catch::Contains("one is linked to two, but hosts forward nothing"));
}

TEST_CASE("distances: closed forms and tabulated values") {
  struct Row {
    const char* choice;
    std::uint32_t diameter;
    double average;
  };
  // Torus, n dimensions of even k: (n·k/4)·N/(N-1). Mesh: per dimension (k²-1)/(3k). Fat tree: from edge
  // switch to edge switch.
  const Row rows[] = {{"torus:dims=8x8", 8, 4.0635},    {"torus:dims=5x5", 4, 2.4 * 25 / 24},
                      {"torus:dims=8x8x8", 12, 6.0117}, {"mesh:dims=8x8", 14, 5.3333},
                      {"hypercube:n=10", 10, 5.0049},   {"hyperx:dims=4x4x4", 3, 2.2857},
                      {"fat_tree:k=4", 4, 3.7143},      {"fat_tree:k=8", 4, 3.8065},
                      {"fat_tree:k=16", 4, 3.8898},     {"torus:dims=600", 300, 150.0 * 600 / 599}};
  for (const Row& row : rows) {
    INFO(row.choice);
    const RouterGraph graph = make_graph(row.choice);
    const DistanceSummary summary = distance_summary(graph, graph.endpoint_routers());
    CHECK(summary.diameter == row.diameter);
    CHECK(summary.average == Approx(row.average).margin(5e-5));
    CHECK(summary.unreachable == 0);
    CHECK_FALSE(summary.sampled);
  }
}

TEST_CASE("distances: one router, and planes that can't reach each other") {
  const RouterGraph star = make_graph("single_switch:hosts=4");
  CHECK(distance_summary(star, star.endpoint_routers()).diameter == 0);
  CHECK(distance_summary(star, star.endpoint_routers()).average == 0);
  const RouterGraph planes = router_graph(two_planes());
  const DistanceSummary summary = distance_summary(planes, planes.endpoint_routers());
  CHECK(summary.diameter == 1);
  CHECK(summary.unreachable == 8);
  CHECK(summary.histogram == std::vector<std::uint64_t>{0, 4});
}

TEST_CASE("distances: a sample of a vertex-transitive network has the same distances as all of it") {
  const RouterGraph graph = make_graph("torus:dims=20x20");
  const auto all = distance_summary(graph, graph.endpoint_routers());
  const auto some = distance_summary(graph, graph.endpoint_routers(), 7, 3);
  CHECK(some.sampled);
  CHECK(some.sources == 7);
  CHECK(some.average == Approx(all.average));
  CHECK(some.histogram[3] * 400 == all.histogram[3] * 7);
}

TEST_CASE("samples are sorted, without repetition, and follow the seed") {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < 100; ++i) all.push_back(2 * i);
  const auto one = sample(all, 10, 1, 0);
  REQUIRE(one.size() == 10);
  for (std::size_t i = 1; i < one.size(); ++i) CHECK(one[i - 1] < one[i]);
  CHECK(one == sample(all, 10, 1, 0));
  CHECK(one != sample(all, 10, 2, 0));
  CHECK(sample(all, 1000, 1, 0) == all);
}

TEST_CASE("random networks: distances and numbers of shortest paths as naive algorithms find them") {
  CHECK(rc::check([] {
    const RouterGraph graph = router_graph(random_network());
    const auto hops = all_hops(graph);
    std::vector<std::uint32_t> sources;
    for (std::uint32_t v = 0; v < graph.routers(); ++v) sources.push_back(v);
    std::size_t rows = 0;
    visit_distances(graph, sources, [&](std::uint32_t source, std::span<const std::uint8_t> row) {
      RC_ASSERT(source == rows++);
      for (std::uint32_t v = 0; v < graph.routers(); ++v) RC_ASSERT(int{row[v]} == hops[source][v]);
    });
    RC_ASSERT(rows == graph.routers());

    std::map<std::uint64_t, std::uint64_t> pairs;
    std::uint64_t reachable = 0, sum = 0;
    for (const std::uint32_t a : graph.endpoint_routers()) {
      for (const std::uint32_t b : graph.endpoint_routers()) {
        if (a == b || hops[a][b] == kUnreachable) continue;
        ++reachable;
        sum += static_cast<std::uint64_t>(hops[a][b]);
        ++pairs[walks(graph, a, b, hops[a][b])];
      }
    }
    RC_ASSERT(multiplicity(graph).pairs == pairs);
    const DistanceSummary summary = distance_summary(graph, graph.endpoint_routers());
    RC_ASSERT(static_cast<std::uint64_t>(std::llround(summary.average * static_cast<double>(reachable))) ==
              sum);
  }));
}

TEST_CASE("multiplicity: fat trees and lattices") {
  // k = 8: 32 edge switches; 3 others of the pod over 4 aggregation switches, 28 others over 16 paths.
  CHECK(multiplicity(make_graph("fat_tree:k=8")).pairs ==
        std::map<std::uint64_t, std::uint64_t>{{4, 32 * 3}, {16, 32 * 28}});
  // HyperX 8x8: at distance 2 exactly two shortest paths.
  CHECK(multiplicity(make_graph("hyperx:dims=8x8")).pairs ==
        std::map<std::uint64_t, std::uint64_t>{{1, 64 * 14}, {2, 64 * 49}});
  // Hypercube: d! at distance d, to C(n, d) routers each.
  CHECK(multiplicity(make_graph("hypercube:n=4")).pairs ==
        std::map<std::uint64_t, std::uint64_t>{{1, 16 * 4}, {2, 16 * 6}, {6, 16 * 4}, {24, 16}});
  CHECK(multiplicity(make_graph("hypercube:n=4"), 3, 1).mean == Approx((4 + 2 * 6 + 6 * 4 + 24) / 15.0));
  CHECK(multiplicity(make_graph("leaf_spine:leaves=2,spines=3,hosts_per_leaf=1,links_per_pair=2")).mean ==
        12);
}

TEST_CASE("disjoint paths: as many as a router has links where length has no bound") {
  const std::array<std::uint32_t, 1> first = {0};
  for (const std::uint32_t n : {2u, 4u, 6u}) {
    const RouterGraph cube = make_graph(fmt::format("hypercube:n={}", n));
    DisjointPaths paths(cube);
    for (std::uint32_t v = 1; v < cube.routers(); ++v) {
      CHECK(paths.count(first, {&v, 1}, kAnyLength) == n);
      CHECK(paths.count(first, {&v, 1}, kAnyLength) == n);  // nothing is left behind
    }
    // Between neighbours: the link itself, and one path of three hops in each other dimension.
    const std::array<std::uint32_t, 1> neighbour = {1};
    CHECK(paths.count(first, neighbour, 1) == 1);
    CHECK(paths.count(first, neighbour, 2) == 1);
    CHECK(paths.count(first, neighbour, 3) == n);
  }
}

TEST_CASE("disjoint paths: interference in complete graphs, trees and on a ring") {
  // Complete graph of 8: the direct link and 6 paths of two hops.
  const PathDiversity complete = path_diversity(make_graph("hyperx:dims=8"), 2, 50, 1);
  CHECK(complete.mean == 7);
  CHECK(complete.three_or_more == 1);
  CHECK(complete.pairs == 50);
  const PathDiversity direct = path_diversity(make_graph("hyperx:dims=8"), 1, 50, 1);
  CHECK(direct.mean == 1);
  // a-d and c-b are links of the set of pairs only: four links instead of two.
  CHECK(direct.interference == -2);
  // A ring has two paths for each pair, and no more for two pairs.
  const PathDiversity ring = path_diversity(make_graph("torus:dims=9"), kAnyLength, 200, 1);
  CHECK(ring.mean == 2);
  CHECK(ring.most_interference == 2);
  CHECK(ring.interference > 0);
  CHECK(ring.interference < 2);
}

TEST_CASE("spectra: closed forms") {
  const auto check = [](const std::string& choice, double connectivity, double largest, double second,
                        double smallest) {
    INFO(choice);
    const Spectrum s = spectrum(make_graph(choice));
    CHECK(s.algebraic_connectivity == Approx(connectivity).epsilon(1e-6));
    CHECK(s.largest == Approx(largest).epsilon(1e-6));
    CHECK(s.second == Approx(second).epsilon(1e-6));
    CHECK(s.smallest == Approx(smallest).epsilon(1e-6));
    CHECK(s.gap == Approx(largest - second).epsilon(1e-6));
  };
  const double pi = std::acos(-1.0);
  const auto cosine = [&](double part) { return 2 * std::cos(2 * pi * part); };
  check("hypercube:n=6", 2, 6, 4, -6);  // dense
  check("hypercube:n=9", 2, 9, 7, -9);  // iterated
  check("hyperx:dims=12", 12, 11, -1, -1);
  check("hyperx:dims=8x8", 8, 14, 6, -2);
  check("hyperx:dims=16x16", 16, 30, 14, -2);
  check("torus:dims=11", 2 - cosine(1.0 / 11), 2, cosine(1.0 / 11), cosine(5.0 / 11));
  check("torus:dims=20x15", 2 - cosine(1.0 / 20), 4, 2 + cosine(1.0 / 20), -2 + cosine(7.0 / 15));
  // A path of k: λ2 of the Laplacian is 2 - 2·cos(π/k); of A: 2·cos(π·i/(k + 1)).
  check("mesh:dims=10", 2 - cosine(1.0 / 20), cosine(1.0 / 22), cosine(2.0 / 22), cosine(10.0 / 22));
}

TEST_CASE("spectra: expanders are told from the rest") {
  CHECK(spectrum(make_graph("hyperx:dims=12")).ramanujan);
  CHECK(spectrum(make_graph("hyperx:dims=8x8")).ramanujan);          // 6 <= 2·sqrt(13) = 7.2
  CHECK_FALSE(spectrum(make_graph("hyperx:dims=32x32")).ramanujan);  // 30 > 2·sqrt(61) = 15.6
  CHECK_FALSE(spectrum(make_graph("hypercube:n=9")).ramanujan);      // 7 > 2·sqrt(8) = 5.7
  CHECK_FALSE(spectrum(make_graph("mesh:dims=3x3")).regular);
  CHECK(spectrum(router_graph(two_planes())).algebraic_connectivity == 0);
}

TEST_CASE("bisection: closed forms lie between the bounds, and the cut found reaches them") {
  struct Row {
    const char* choice;
    double links;
  };
  const Row rows[] = {
      {"fat_tree:k=4", 8},       // hosts / 2
      {"fat_tree:k=8", 64},      //
      {"torus:dims=8x8", 16},    // 2·k^(n-1)
      {"torus:dims=4x4x4", 32},  //
      {"mesh:dims=8x8", 8},      // k^(n-1)
      {"hypercube:n=7", 64},     // routers / 2
      {"hyperx:dims=8x8", 128},  // routers · size / 4
      {"hyperx:dims=16x4", 64},  // the least of both dimensions
      {"leaf_spine:leaves=8,spines=4,hosts_per_leaf=4", 16},
  };
  for (const Row& row : rows) {
    INFO(row.choice);
    const Bisection cut = bisection(make_graph(row.choice), 4, 1);
    CHECK(cut.links == row.links);
    CHECK(cut.rate == Approx(4e11 * row.links));
    CHECK(cut.side[0] == cut.side[1]);
    CHECK(cut.least_links <= row.links * (1 + 1e-9));
    CHECK(cut.least_rate == Approx(4e11 * cut.least_links));
  }
  // λ2·N/4 is the truth for these.
  CHECK(bisection(make_graph("hypercube:n=7"), 1, 1).least_links == Approx(64));
  CHECK(bisection(make_graph("hyperx:dims=8x8,hosts=7"), 1, 1).least_links == Approx(128));
  const Bisection full = bisection(make_graph("fat_tree:k=8"), 4, 1);
  CHECK(full.rate / full.full == Approx(1));
  // Nodes of several accelerators are measured against what these can send each other.
  const Bisection nodes = bisection(make_graph("scale_up:of=[fat_tree:k=4],node=dgx_h100"), 4, 1);
  CHECK(nodes.full == Approx(16 * 8 * 400e9 / 2));
  CHECK(bisection(make_graph("fat_tree:k=8,oversubscription=2"), 4, 1).rate / (2 * full.full) == Approx(0.5));
  CHECK(full.even_rate() == full.rate);
}

TEST_CASE("bisection: non-blocking networks are full, whatever the number of their leaves") {
  struct Row {
    const char* choice;
    std::uint32_t most, least;  // endpoints on either side
    double share;
    int links = 1;  // of an endpoint
  };
  const Row rows[] = {
      {"leaf_spine:leaves=3,spines=8,hosts_per_leaf=8", 16, 8, 1},
      {"leaf_spine:leaves=5,spines=8,hosts_per_leaf=8", 24, 16, 1},
      {"leaf_spine:leaves=3,spines=4,hosts_per_leaf=8", 16, 8, 0.5},
      {"leaf_spine:leaves=4,spines=4,hosts_per_leaf=8", 16, 16, 0.5},
      {"rail_optimized:units=3,nodes=8", 16, 8, 1, 8},
  };
  for (const Row& row : rows) {
    INFO(row.choice);
    const RouterGraph graph = make_graph(row.choice);
    const Bisection cut = bisection(graph);
    CHECK(std::max(cut.side[0], cut.side[1]) == row.most);
    CHECK(std::min(cut.side[0], cut.side[1]) == row.least);
    CHECK(cut.share_of_full() == Approx(row.share));
    CHECK(cut.rate == Approx(row.share * row.links * 4e11 * row.least));
    CHECK(cut.even_rate() == Approx(row.share * row.links * 4e11 * graph.endpoints() / 2));
  }
}

TEST_CASE("bisection: where all endpoints are on the same switches, there is none") {
  CHECK(bisection(make_graph("single_switch:hosts=4")).switches == 1);
  CHECK(bisection(make_graph("leaf_spine:leaves=1,spines=4,hosts_per_leaf=4")).switches == 1);
  for (const char* choice : {"single_switch:hosts=4", "leaf_spine:leaves=1,spines=4,hosts_per_leaf=4"}) {
    const Bisection cut = bisection(make_graph(choice));
    CHECK(cut.undivided());
    CHECK(cut.even_rate() == 0);
  }
  CHECK_FALSE(bisection(make_graph("leaf_spine:leaves=2,spines=4,hosts_per_leaf=4")).undivided());
}

TEST_CASE("bisection: of links with two rates the narrower direction counts, and the search ends") {
  // Pairs of hosts on switches that are in a row, with more in one direction than back.
  const auto row = [](std::initializer_list<std::array<int, 2>> rates) {
    Topology topology("row");
    const auto add = [&topology] {
      const Vertex added = topology.add_switch(fmt::format("switch {}", topology.switches()), 1);
      for (int h = 0; h < 2; ++h) {
        const Vertex host = topology.add_host(fmt::format("host {}", topology.hosts()));
        topology.add_link(host, added, {Bandwidth::gbps(400), Time::ns(100)});
      }
      return added;
    };
    Vertex last = add();
    for (const auto& [forth, back] : rates) {
      const Vertex next = add();
      topology.add_link(last, next,
                        {.rate = Bandwidth::gbps(forth), .latency = {}, .back_rate = Bandwidth::gbps(back)});
      last = next;
    }
    topology.finish();
    return router_graph(topology);
  };
  for (const auto& rates : {std::array{100, 50}, std::array{50, 100}}) {
    const Bisection cut = bisection(row({rates}));
    CHECK(cut.links == 1);
    CHECK(cut.rate == 50e9);
    CHECK(cut.back_rate == 100e9);
    CHECK(cut.share_of_full() == Approx(50.0 / 800));
    // Two vertices of weight 2: L·x = μ·W·x has μ = 2·50/2 Gb/s, and μ/4 of the four is the cut itself.
    CHECK(cut.least_rate == Approx(50e9));
  }
  // In halves {0, 1} and {2, 3} 70 Gb/s or more cross, and in {0, 2} and {1, 3} three links. The outer
  // switches send the inner ones 10 + 5 Gb/s, and get 300 + 300.
  const Bisection four = bisection(row({{10, 300}, {200, 70}, {300, 5}}));
  CHECK(four.links == 2);
  CHECK(four.rate == 15e9);
  CHECK(four.back_rate == 600e9);
  CHECK(four.least_rate <= 15e9);
}

TEST_CASE(
    "random networks: no split into halves cuts less than the lower bound, and none found more than best") {
  CHECK(rc::check([] {
    const RouterGraph graph = router_graph(random_network());
    if (graph.terminals.size() < 2) return;
    const FlowNetwork network = flow_network(graph);
    if (network.vertices() > 14) return;
    std::uint32_t heaviest = 0;
    std::vector<std::uint32_t> weight(network.vertices(), 0);
    for (std::size_t t = 0; t < graph.terminals.size(); ++t) {
      weight[network.vertex_of[t]] = graph.terminals[t].hosts;
      heaviest = std::max(heaviest, graph.terminals[t].hosts);
    }
    // Every split whose sides differ by no more than the heaviest terminal.
    double best = 1e30;
    for (std::uint32_t bits = 0; bits < (1u << network.vertices()); ++bits) {
      int difference = 0;
      double rate = 0;
      for (std::uint32_t v = 0; v < network.vertices(); ++v) {
        difference += (bits >> v & 1) != 0 ? static_cast<int>(weight[v]) : -static_cast<int>(weight[v]);
        for (std::uint32_t a = network.begin[v]; a < network.begin[v + 1]; ++a) {
          if ((bits >> v & 1) == 0 && (bits >> network.to[a] & 1) == 1) rate += network.rate[a];
        }
      }
      if (std::abs(difference) <= static_cast<int>(heaviest)) best = std::min(best, rate);
    }
    const Bisection found = bisection(graph, 2, 1);
    RC_ASSERT(found.rate >= best * (1 - 1e-9));
    RC_ASSERT(found.least_rate <= best * (1 + 1e-6) + 1);
    RC_ASSERT(found.side[0] + found.side[1] == graph.endpoints());
  }));
}

}  // namespace weft::topologies
