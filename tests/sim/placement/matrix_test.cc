// Placements by communication matrix, against optima that are known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sim/placement/policies/mapping.h"
#include "sim/placement/policies/nodes.h"
#include "sim/placement/policies/policies.h"
#include "sim/units/input_error.h"
#include "sim/units/random.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

using List = std::vector<std::uint32_t>;

// A stencil with wrap-around on a grid of rows and columns, 1000 bytes to each neighbour; rank p(i) is point
// i, in an order drawn at random.
std::vector<Exchange> permuted_stencil(std::uint32_t rows, std::uint32_t columns, std::uint64_t seed) {
  List rank(rows * columns);
  std::iota(rank.begin(), rank.end(), 0U);
  RandomStream draw(seed, 5);
  shuffle(rank, draw);
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> bytes;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      const std::uint32_t at = rank[r * columns + c];
      bytes[{at, rank[(r + 1) % rows * columns + c]}] += 1000;
      bytes[{rank[(r + 1) % rows * columns + c], at}] += 1000;
      bytes[{at, rank[r * columns + (c + 1) % columns]}] += 1000;
      bytes[{rank[r * columns + (c + 1) % columns], at}] += 1000;
    }
  }
  std::vector<Exchange> list;
  for (const auto& [pair, sum] : bytes) list.push_back({pair.first, pair.second, sum});
  return list;
}

double total(const std::vector<Exchange>& exchanges) {
  double sum = 0;
  for (const Exchange& each : exchanges) sum += each.bytes;
  return sum;
}

// Bytes times links, over the hosts of an outcome.
double cost(const topologies::Topology& topology, const Outcome& outcome,
            const std::vector<Exchange>& exchanges) {
  const HostDistances distances(topology, outcome.hosts);
  double sum = 0;
  for (const Exchange& each : exchanges)
    sum += each.bytes * distances.hops(outcome.hosts[each.from], outcome.hosts[each.to]);
  return sum;
}

}  // namespace

TEST_CASE("matrix: a permuted stencil on a torus of its shape, near the optimum of one link each") {
  const auto relative = [](const char* network, std::uint32_t side, const char* choice, std::uint64_t seed) {
    const topologies::Topology topology = topologies::build(parse_module_choice(network));
    const auto exchanges = permuted_stencil(side, side, seed);
    Request request{.ranks = side * side, .seed = seed};
    request.exchanges = exchanges;
    const Outcome outcome = place(parse_module_choice(choice), request, idle_machine(topology));
    return cost(topology, outcome, exchanges) / total(exchanges);
  };
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    CHECK(relative("torus:dims=8x8", 8, "random", seed) > 3.5);
    CHECK(relative("torus:dims=8x8", 8, "packed", seed) > 3.5);
    CHECK(relative("torus:dims=8x8", 8, "matrix", seed) <= 1.13);
    CHECK(relative("torus:dims=8x8", 8, "matrix:start=bisection,steps=0", seed) < 2.3);
    CHECK(relative("torus:dims=8x8", 8, "matrix:start=greedy,steps=0", seed) < 2.5);
    CHECK(relative("torus:dims=8x8", 8, "matrix:on=random,start=given,steps=1000000", seed) < 1.8);
  }
  CHECK(relative("torus:dims=16x16", 16, "matrix:steps=10000000", 1) < 1.6);  // random: 8
  // A mesh of the same size: of each ring of 8 six links are 2 long at best, as when it is folded.
  CHECK(relative("mesh:dims=8x8", 8, "matrix", 1) <= 1.75 * 1.05);
  // On other networks: far better than at random.
  for (const char* network :
       {"dragonfly:p=2", "fat_tree:k=8", "hyperx:dims=8x8", "slim_fly:q=5",
        "leaf_spine:leaves=8,spines=2,hosts_per_leaf=8", "hammingmesh:a=2,b=2,x=4,y=4"}) {
    INFO(network);
    CHECK(relative(network, 8, "matrix:steps=200000", 1) < 0.7 * relative(network, 8, "random", 1));
  }
}

TEST_CASE("matrix: the least of all 720 mappings of six ranks") {
  const topologies::Topology topology = topologies::build(parse_module_choice("mesh:dims=2x3"));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream draw(seed, 6);
    std::vector<Exchange> exchanges;
    for (std::uint32_t from = 0; from < 6; ++from) {
      for (std::uint32_t to = 0; to < 6; ++to) {
        if (from != to && draw.below(3) != 0)
          exchanges.push_back({from, to, static_cast<double>(1 + draw.below(1000))});
      }
    }
    Request request{.ranks = 6, .seed = seed};
    request.exchanges = exchanges;
    Outcome each{{0, 1, 2, 3, 4, 5}};
    double least = cost(topology, each, exchanges);
    while (std::next_permutation(each.hosts.begin(), each.hosts.end()))
      least = std::min(least, cost(topology, each, exchanges));
    INFO("seed " << seed);
    CHECK(cost(topology, place(parse_module_choice("matrix:steps=20000"), request, idle_machine(topology)),
               exchanges) == Approx(least));
  }
}

TEST_CASE("matrix: ranks of a node are those that talk most") {
  // 8x8 points on 16 nodes: tiles of 2x2 keep half of the bytes inside, and the rest goes one link; METIS
  // finds no tiles, but parts nearly as good.
  const topologies::Topology topology = topologies::build(parse_module_choice("torus:dims=4x4"));
  const auto exchanges = permuted_stencil(8, 8, 9);
  Request request{.ranks = 64, .ranks_per_node = 4};
  request.exchanges = exchanges;
  const Outcome outcome = place(parse_module_choice("matrix"), request, idle_machine(topology));
  CHECK(cost(topology, outcome, exchanges) <= 0.75 * total(exchanges));
  CHECK(cost(topology, place(parse_module_choice("random"), request, idle_machine(topology)), exchanges) >
        1.5 * total(exchanges));
  // Parts have exactly the sizes asked for, also uneven ones.
  List own(64), sizes = {1, 30, 2, 7, 24};
  std::iota(own.begin(), own.end(), 0U);
  const List part = split_exactly(talk_graph(exchanges, own, 64), sizes, 1);
  for (std::uint32_t p = 0; p < sizes.size(); ++p) CHECK(std::count(part.begin(), part.end(), p) == sizes[p]);
}

TEST_CASE("matrix: jobs with nothing to go by, or little") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4"));
  const Machine machine = idle_machine(topology);
  CHECK_THROWS_WITH(place(parse_module_choice("matrix"), {.ranks = 4}, machine),
                    Catch::Contains("goes by what ranks send each other"));
  const std::vector<Exchange> one = {{0, 3, 1.0}};
  Request request{.ranks = 5};
  request.exchanges = one;
  const Outcome outcome = place(parse_module_choice("matrix"), request, machine);
  CHECK(outcome.hosts[0] / 2 == outcome.hosts[3] / 2);  // on one edge switch
  CHECK_THROWS_WITH(place(parse_module_choice("matrix:on=matrix"), request, machine),
                    Catch::Contains("another policy"));
  CHECK_THROWS_WITH(place(parse_module_choice("matrix:on=submesh"), request, machine),
                    Catch::Contains("submesh can't be had on fat_tree"));
  CHECK_THROWS_WITH(place(parse_module_choice("matrix:steps=-1"), request, machine),
                    Catch::Contains("from 0 to"));
  request = {.ranks = 1};
  const std::vector<Exchange> strange = {{0, 0, 5.0}};
  request.exchanges = strange;
  CHECK(place(parse_module_choice("matrix:on=[packed:fit=best]"), request, machine).hosts == List{0});
}

}  // namespace weft::placement
