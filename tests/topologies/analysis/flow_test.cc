// Demands, loads of links, throughput and resilience against closed forms, tabulated values and linear
// programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "sim/units/input_error.h"
#include "tests/topologies/analysis/random_network.h"
#include "tests/topologies/analysis/uniform_loads.h"
#include "topologies/analysis/assignment.h"
#include "topologies/analysis/demands.h"
#include "topologies/analysis/edge_load.h"
#include "topologies/analysis/resilience.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/analysis/throughput.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

struct Net {
  explicit Net(const std::string& choice) : Net(build(parse_module_choice(choice))) {}
  explicit Net(const Topology& topology) : graph(router_graph(topology)), network(flow_network(graph)) {}
  RouterGraph graph;
  FlowNetwork network;
};

double sum_from(const Demands& demands, std::uint32_t s) {
  std::vector<Demands::Entry> entries;
  demands.from(s, entries);
  double sum = 0;
  for (const Demands::Entry& entry : entries) sum += entry.rate;
  return sum;
}

std::string temporary_file(const std::string& name, const std::string& content) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
  std::ofstream(path) << content;
  return path;
}

}  // namespace

TEST_CASE("assignment: the best of all permutations") {
  CHECK(rc::check([] {
    const auto below = [](int n) { return *rc::gen::resize(100, rc::gen::inRange(0, n)); };
    const auto n = static_cast<std::uint32_t>(1 + below(6));
    std::vector<std::uint8_t> value;
    for (std::uint32_t i = 0; i < n * n; ++i) value.push_back(static_cast<std::uint8_t>(below(6)));
    const auto worth = [&](const std::vector<std::uint32_t>& column) {
      int sum = 0;
      for (std::uint32_t r = 0; r < n; ++r) sum += value[r * n + column[r]];
      return sum;
    };
    std::vector<std::uint32_t> permutation(n);
    std::iota(permutation.begin(), permutation.end(), 0u);
    int best = 0;
    do {
      best = std::max(best, worth(permutation));
    } while (std::next_permutation(permutation.begin(), permutation.end()));
    std::vector<std::uint32_t> found = best_assignment(value, n);
    RC_ASSERT(worth(found) == best);
    std::sort(found.begin(), found.end());
    for (std::uint32_t i = 0; i < n; ++i) RC_ASSERT(found[i] == i);
  }));
}

TEST_CASE("demands: at scale 1 every host just fills its link") {
  const Net net("fat_tree:k=4");  // 2 hosts of 400 Gbit/s on each of 8 edge switches
  const Demands uniform = uniform_demands(net.graph);
  CHECK(sum_from(uniform, 3) == Approx(8e11 * 14 / 15));  // 1 of the 15 others is on the same switch
  const Demands permutation = permutation_demands(net.graph, 1);
  double sum = 0;
  for (std::uint32_t s = 0; s < 8; ++s) {
    CHECK(sum_from(permutation, s) <= 8e11);
    sum += sum_from(permutation, s);
  }
  CHECK(sum >= 14 * 4e11);
  CHECK(sum_from(permutation_demands(net.graph, 1), 0) == sum_from(permutation, 0));

  // Host 0 sends most: 3 of the matrix is its link's rate. What stays on a switch is in no row.
  const Demands matrix = matrix_demands(net.graph, "m", {{0, 5, 2}, {0, 1, 1}, {7, 2, 1}, {4, 4, 9}});
  CHECK(sum_from(matrix, 0) == Approx(4e11 * 2 / 3));
  CHECK(sum_from(matrix, 3) == Approx(4e11 / 3));
  std::vector<Demands::Entry> to;
  matrix.to(2, to);
  REQUIRE(to.size() == 1);
  CHECK(to[0].terminal == 0);
  CHECK_THROWS_WITH(matrix_demands(net.graph, "m", {{0, 16, 1}}),
                    Catch::Contains("m: endpoint 16, but the network has 16 (0 to 15)"));
  CHECK_THROWS_WITH(matrix_demands(net.graph, "m", {{3, 3, 1}}), Catch::Contains("nothing is sent"));
}

TEST_CASE("matrices are read from lines of three values and from weft goal stats") {
  const auto plain = read_matrix(temporary_file("plain", "# who whom\n0 5 2.5\n\n7,2, 1e3 # more\n"));
  REQUIRE(plain.size() == 2);
  CHECK(plain[1].from == 7);
  CHECK(plain[1].to == 2);
  CHECK(plain[1].weight == 1000);
  const auto csv = read_matrix(temporary_file("csv", "from,to,messages,bytes\n0,1,3,4096\n"));
  REQUIRE(csv.size() == 1);
  CHECK(csv[0].weight == 4096);
  const std::string bad = temporary_file("bad", "0 1 2\n0 x 2\n");
  CHECK_THROWS_WITH(read_matrix(bad),
                    bad + ":2: '0 x 2', but expected src dst weight, with a weight of 0 or more");
  CHECK_THROWS_AS(read_matrix(temporary_file("minus", "0 1 -2\n")), InputError);
  CHECK_THROWS_AS(read_matrix(temporary_file("four", "0 1 2 3\n")), InputError);
  CHECK_THROWS_AS(read_matrix("/does/not/exist"), InputError);
}

TEST_CASE("loads with minimal paths split equally: tabulated for uniform traffic") {
  for (const UniformLoad& row : kUniformLoads) {
    INFO(row.topology);
    const Net net(row.topology);
    const EdgeLoad load = edge_load(net.network, uniform_demands(net.graph));
    CHECK(load.most == Approx(row.most).margin(5e-5));
    if (row.mean > 0) CHECK(load.mean == Approx(row.mean).margin(5e-5));
    CHECK(load.saturation == Approx(row.most > 1 ? 1 / row.most : 1).epsilon(1e-4));
    CHECK(load.imbalance == Approx(row.most / load.mean).epsilon(1e-3));
  }
}

TEST_CASE("loads: tornado, transpose and bit-complement on an 8x8 torus, as tabulated") {
  const Net net("torus:dims=8x8");
  std::vector<MatrixEntry> tornado, transpose, complement;
  for (std::uint32_t x = 0; x < 8; ++x) {
    for (std::uint32_t y = 0; y < 8; ++y) {
      tornado.push_back({8 * x + y, 8 * x + (y + 3) % 8, 1});
      transpose.push_back({8 * x + y, 8 * y + x, 1});
      complement.push_back({8 * x + y, 63 - (8 * x + y), 1});
    }
  }
  CHECK(edge_load(net.network, matrix_demands(net.graph, "t", tornado)).most == Approx(3));
  CHECK(edge_load(net.network, matrix_demands(net.graph, "t", transpose)).most ==
        Approx(1.6296).margin(5e-5));
  CHECK(edge_load(net.network, matrix_demands(net.graph, "c", complement)).most == Approx(2.8125));
}

TEST_CASE("loads: some destinations of a vertex-transitive network stand for all in the mean") {
  const Net net("torus:dims=8x8");
  const EdgeLoad load = edge_load(net.network, uniform_demands(net.graph), 5, 1);
  CHECK(load.sampled);
  CHECK(load.destinations == 5);
  CHECK(load.mean == Approx(1.0159).margin(5e-5));
}

TEST_CASE("throughput: closed forms by linear program") {
  const auto theta = [](const std::string& choice) {
    const Net net(choice);
    return exact_throughput(net.network, uniform_demands(net.graph));
  };
  // A full fat tree carries everything; its edge links would do for the share that leaves the switch.
  CHECK(theta("fat_tree:k=4").theta == 1);
  CHECK(theta("fat_tree:k=4").fabric == Approx(15.0 / 14));
  CHECK(theta("fat_tree:k=4,oversubscription=2").theta == Approx(31.0 / 28 / 2));
  CHECK(theta("single_switch:hosts=4").theta == 1);
  // Edge-transitive networks: the rate of all arcs over demand times distance.
  CHECK(theta("torus:dims=4x4").fabric == Approx(64 / (16 * 32.0 / 15)));
  CHECK(theta("torus:dims=7").theta == Approx(14 / (7 * 2.0)));
  CHECK(theta("hyperx:dims=6").fabric == Approx(30 / (6 * 1.0)));  // complete graph
  // A path of 4 with 2 hosts on each router: 16 of 7 pairs a host cross the middle.
  CHECK(theta("mesh:dims=4,hosts=2").theta == Approx(7.0 / 16));
}

TEST_CASE("throughput: the two methods agree within the gap that the approximation states") {
  for (const char* choice : {"torus:dims=5x3", "mesh:dims=4x3,hosts=2", "fat_tree:k=4,oversubscription=2",
                             "hyperx:dims=4x3,hosts=5", "leaf_spine:leaves=5,spines=2,hosts_per_leaf=3"}) {
    const Net net(choice);
    for (const Demands& demands : {uniform_demands(net.graph), permutation_demands(net.graph, 4),
                                   longest_matching(net.graph, 1).demands}) {
      INFO(choice << " " << demands.name());
      const Throughput exact = exact_throughput(net.network, demands);
      const Throughput near = approximate_throughput(net.network, demands, {0.02, 100'000'000});
      CHECK(near.theta <= exact.theta * (1 + 1e-9));
      CHECK(near.theta_upper >= exact.theta * (1 - 1e-9));
      CHECK(near.fabric <= exact.fabric * (1 + 1e-9));
      CHECK(near.fabric_upper >= exact.fabric * (1 - 1e-9));
      CHECK(near.gap() <= 0.02);
      CHECK(exact.exact);
      CHECK_FALSE(near.exact);
    }
  }
}

TEST_CASE("throughput: what edge-transitive networks need is found at once, at any size") {
  const Net net("torus:dims=16x16");
  const Throughput t = approximate_throughput(net.network, uniform_demands(net.graph));
  CHECK(t.phases == 1);
  CHECK(t.theta == Approx(1 / 2.0078).epsilon(1e-4));
  CHECK(t.gap() < 1e-9);
}

TEST_CASE("throughput: random networks, parallel links and hosts in several places among them") {
  CHECK(rc::check([] {
    const Net net(random_network());
    const Demands demands = uniform_demands(net.graph);
    const Throughput exact = exact_throughput(net.network, demands);
    const Throughput near = approximate_throughput(net.network, demands, {0.05, 5'000'000});
    RC_ASSERT(near.theta <= exact.theta * (1 + 1e-6));
    RC_ASSERT(near.theta_upper >= exact.theta * (1 - 1e-6));
    RC_ASSERT(exact.theta <= 1);
    // ECMP is one of the ways to carry it.
    RC_ASSERT(edge_load(net.network, demands).most * exact.fabric >= 1 - 1e-6 || exact.theta == 1 ||
              net.network.vertices() > net.network.routers);
  }));
}

TEST_CASE("longest matching: antipodes on a torus and a hypercube, greedy above the limit") {
  for (const char* choice : {"torus:dims=6x4", "hypercube:n=5"}) {
    const Net net(choice);
    const Matching matching = longest_matching(net.graph, 1);
    CHECK(matching.exact);
    CHECK(matching.mean_distance == 5);
  }
  // All at distance n = 5: every link carries 5 demands of 5 links' worth.
  const Net cube("hypercube:n=5");
  CHECK(approximate_throughput(cube.network, longest_matching(cube.graph, 1).demands).theta == Approx(1));
  const Net large("torus:dims=40x40");
  const Matching greedy = longest_matching(large.graph, 1);
  CHECK_FALSE(greedy.exact);
  CHECK(greedy.mean_distance <= 40);
  CHECK(greedy.mean_distance >= 20);
}

TEST_CASE("resilience: a tree is parted by its first link, a single switch by nothing") {
  const Net path("mesh:dims=5");
  const Resilience of_path = resilience(path.graph);
  CHECK(of_path.links_least == Approx(0.25));  // 1 of 4 links
  CHECK(of_path.links_mean == Approx(0.25));
  CHECK(of_path.switches_least == Approx(0.2));  // an inner router; the ends part nobody
  const Net star("single_switch:hosts=4");
  CHECK(resilience(star.graph).links_mean == 1);
}

TEST_CASE("resilience: a ring is parted by its second link, a complete graph late") {
  const Net ring("torus:dims=10");
  ResilienceOptions options;
  options.shares = {0, 0.1, 0.2};
  const Resilience of_ring = resilience(ring.graph, options);
  CHECK(of_ring.links_least == Approx(0.2));
  CHECK(of_ring.links_mean == Approx(0.2));
  REQUIRE(of_ring.links.size() == 3);
  CHECK(of_ring.links[0].diameter == 5);
  CHECK(of_ring.links[0].connected == 1);
  CHECK(of_ring.links[1].diameter == 9);  // a path
  CHECK(of_ring.links[1].average == Approx(11.0 / 3));
  CHECK(of_ring.links[1].connected == 1);
  CHECK(of_ring.links[2].connected == 0);
  CHECK(of_ring.switches_least >= 0.2);

  const Net complete("hyperx:dims=12");
  const Resilience of_complete = resilience(complete.graph, options);
  CHECK(of_complete.links_least >= 11.0 / 66);  // a router's links, at the least
  CHECK(of_complete.switches_least == 1);       // what is left is complete
  CHECK(of_complete.links[2].diameter == 2);
}

TEST_CASE("resilience: the share that parts a network is the one at which a search finds it parted") {
  CHECK(rc::check([] {
    const Net net(random_network());
    if (net.graph.link_count() == 0) return;
    ResilienceOptions options;
    options.trials = 1;
    options.seed = *rc::gen::resize(100, rc::gen::inRange<std::uint64_t>(0, 1000));
    const auto count = static_cast<double>(net.graph.link_count());
    const double parted = resilience(net.graph, options).links_mean;
    // One link fewer leaves it whole.
    options.shares = {parted - 1 / count, parted};
    const Resilience around = resilience(net.graph, options);
    if (net.graph.endpoint_routers().size() < 2 || parted == 1) return;
    RC_ASSERT(around.links[0].connected == 1);
    RC_ASSERT(around.links[1].connected == 0);
  }));
}

}  // namespace weft::topologies
