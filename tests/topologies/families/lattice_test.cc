// Tori, meshes, hypercubes and HyperX networks against closed forms and published figures.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {
namespace {

struct Shape {
  std::string choice;
  std::uint32_t routers;
  std::size_t links;
  int diameter;
  double average;  // over ordered pairs of distinct routers
};

void check_shape(const Shape& shape) {
  INFO(shape.choice);
  const Topology topology = make(shape.choice);
  CHECK(topology.switches() == shape.routers);
  CHECK(topology.hosts() == shape.routers);  // one on each, unless told otherwise
  CHECK(links_between_switches(topology) == shape.links);
  const std::vector<Vertex> routers = switches_of_tier(topology, 1);
  REQUIRE(routers.size() == shape.routers);
  int diameter = 0;
  double sum = 0;
  for (const Vertex from : routers) {
    const std::vector<int> distance = distances(topology, from);
    for (const Vertex to : routers) {
      diameter = std::max(diameter, distance[to]);
      sum += distance[to];
    }
  }
  CHECK(diameter == shape.diameter);
  CHECK(sum / (static_cast<double>(shape.routers) * (shape.routers - 1)) ==
        Approx(shape.average).margin(5e-5));
}

// How many routers have how many links to other routers.
std::map<std::size_t, std::uint32_t> degrees(const Topology& topology, std::size_t hosts_per_router = 1) {
  std::map<std::size_t, std::uint32_t> count;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    ++count[topology.out_channels(topology.switch_at(s)).size() - hosts_per_router];
  }
  return count;
}

Vertex router_of(const Topology& topology, std::uint32_t host) {
  return topology.channels()[topology.out_channels(topology.host(host))[0]].to;
}

// Links between the first `routers` routers and the others.
std::size_t cut(const Topology& topology, std::uint32_t routers) {
  std::size_t crossing = 0;
  for (const Channel& channel : topology.channels()) {
    const Node &from = topology.node(channel.from), &to = topology.node(channel.to);
    if (from.kind != NodeKind::kSwitch || to.kind != NodeKind::kSwitch) continue;
    crossing += from.index < routers && to.index >= routers;
  }
  return crossing;
}

}  // namespace

TEST_CASE("lattices: routers, links, diameter and average path length as tabulated") {
  const Shape shapes[] = {
      {"hyperx:dims=8x8", 64, 448, 2, 1.7778},       {"hyperx:dims=4x4x4", 64, 288, 3, 2.2857},
      {"hyperx:dims=16x16", 256, 3840, 2, 1.8824},   {"hyperx:dims=32x32", 1024, 31744, 2, 1.9394},
      {"torus:dims=8x8", 64, 128, 8, 4.0635},        {"torus:dims=4x4x4", 64, 192, 6, 3.0476},
      {"torus:dims=[8,8,8]", 512, 1536, 12, 6.0117}, {"torus:dims=16x16", 256, 512, 16, 8.0314},
      {"torus:dims=32x32", 1024, 2048, 32, 16.0156}, {"mesh:dims=8x8", 64, 112, 14, 5.3333},
      {"hypercube:n=10", 1024, 5120, 10, 5.0049},
  };
  for (const Shape& shape : shapes) check_shape(shape);
}

// Mean distance between two points of one line, drawn independently. Those of all dimensions add up to that
// of two routers drawn independently; n / (n - 1) takes out the pairs of one router.
double ring_mean(double k) { return static_cast<int>(k) % 2 == 0 ? k / 4 : (k * k - 1) / (4 * k); }
double path_mean(double k) { return (k * k - 1) / (3 * k); }
double complete_mean(double k) { return 1 - 1 / k; }

TEST_CASE("lattices: closed forms for any sizes, equal or not") {
  const std::vector<std::vector<std::uint32_t>> shapes = {{2},    {3},       {7},       {2, 2},      {5, 4},
                                                          {1, 6}, {5, 7, 3}, {4, 1, 2}, {3, 2, 4, 5}};
  for (const std::vector<std::uint32_t>& dims : shapes) {
    std::string text;
    double n = 1;
    for (const std::uint32_t k : dims) {
      text += (text.empty() ? "" : "x") + std::to_string(k);
      n *= k;
    }
    const auto routers = static_cast<std::uint32_t>(n);
    Shape torus{"torus:dims=" + text, routers, 0, 0, 0};
    Shape mesh{"mesh:dims=" + text, routers, 0, 0, 0};
    Shape hyperx{"hyperx:dims=" + text, routers, 0, 0, 0};
    for (const std::uint32_t k : dims) {
      const std::uint32_t lines = routers / k;
      torus.links += lines * (k > 2 ? k : k - 1);
      torus.diameter += static_cast<int>(k / 2);
      torus.average += ring_mean(k) * n / (n - 1);
      mesh.links += lines * (k - 1);
      mesh.diameter += static_cast<int>(k - 1);
      mesh.average += path_mean(k) * n / (n - 1);
      hyperx.links += lines * (k * (k - 1) / 2);
      hyperx.diameter += k > 1;
      hyperx.average += complete_mean(k) * n / (n - 1);
    }
    check_shape(torus);
    check_shape(mesh);
    check_shape(hyperx);
  }
  for (std::uint32_t n = 1; n <= 8; ++n) {
    const double routers = 1 << n;
    check_shape({"hypercube:n=" + std::to_string(n), 1u << n, n << (n - 1), static_cast<int>(n),
                 n / 2.0 * routers / (routers - 1)});
  }
}

TEST_CASE("lattices: degrees") {
  using Degrees = std::map<std::size_t, std::uint32_t>;
  CHECK(degrees(make("torus:dims=4x5x3")) == Degrees{{6, 60}});
  CHECK(degrees(make("torus:dims=2x2x2")) == Degrees{{3, 8}});  // one link where both ways round are the same
  CHECK(degrees(make("hypercube:n=6")) == Degrees{{6, 64}});
  CHECK(degrees(make("hyperx:dims=5x7x3")) == Degrees{{12, 105}});
  CHECK(degrees(make("mesh:dims=4x5")) == Degrees{{2, 4}, {3, 2 * 2 + 2 * 3}, {4, 2 * 3}});
}

TEST_CASE("lattices: links across the middle") {
  // 2k^(n-1) for a torus of even k, k^(n-1) for a mesh, N/2 for a hypercube, N·S/4 for a HyperX.
  CHECK(cut(make("torus:dims=8x8x8"), 256) == 2 * 64);
  CHECK(cut(make("mesh:dims=8x8x8"), 256) == 64);
  CHECK(cut(make("hypercube:n=7"), 64) == 64);
  CHECK(cut(make("hyperx:dims=8x8"), 32) == 64 * 8 / 4);
}

TEST_CASE("lattices: shortest paths are the orders in which the steps can be taken") {
  const Topology hyperx = make("hyperx:dims=8x8");
  const std::vector<Vertex> routers = switches_of_tier(hyperx, 1);
  const std::vector<int> distance = distances(hyperx, routers[0]);
  const std::vector<std::uint64_t> paths = path_counts(hyperx, routers[0]);
  for (const Vertex to : routers) CHECK(paths[to] == (distance[to] == 2 ? 2 : 1));
  // Across a 4-cube: 4! orders.
  const Topology cube = make("hypercube:n=4");
  CHECK(path_counts(cube, cube.switch_at(0))[cube.switch_at(15)] == 24);
  // From corner to corner of a 3×4 mesh: 5 steps, 2 of them in the first dimension. Half around an 8×8 torus
  // in both dimensions: 8 steps, 4 in each, in two directions each.
  const Topology mesh = make("mesh:dims=3x4"), torus = make("torus:dims=8x8");
  CHECK(path_counts(mesh, mesh.switch_at(0))[mesh.switch_at(11)] == 10);
  CHECK(path_counts(torus, torus.switch_at(0))[torus.switch_at(4 * 8 + 4)] == 70 * 4);
}

TEST_CASE("lattices: numbers and names follow the coordinates, the last fastest") {
  const Topology topology = make("mesh:dims=3x4,hosts=2");
  REQUIRE(topology.hosts() == 24);
  CHECK(topology.node(topology.switch_at(0)).name == "router 0.0");
  CHECK(topology.node(topology.switch_at(1 * 4 + 3)).name == "router 1.3");
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    CHECK(router_of(topology, h) == topology.switch_at(h / 2));
    CHECK(topology.node(topology.host(h)).group == h / 2);
  }
  // Distance is the difference of coordinates.
  const std::vector<int> distance = distances(topology, topology.switch_at(5));  // (1, 1)
  for (int x = 0; x < 3; ++x) {
    for (int y = 0; y < 4; ++y) {
      CHECK(distance[topology.switch_at(static_cast<std::uint32_t>(x * 4 + y))] ==
            std::abs(x - 1) + std::abs(y - 1));
    }
  }
  // In a hypercube it is the number of bits that differ.
  const Topology cube = make("hypercube:n=5");
  const std::vector<int> bits = distances(cube, cube.switch_at(0b10110));
  for (std::uint32_t s = 0; s < 32; ++s) CHECK(bits[cube.switch_at(s)] == __builtin_popcount(s ^ 0b10110u));
}

TEST_CASE("lattices: hosts have links of their own rate") {
  const Topology topology =
      make("hyperx:dims=3x3,hosts=4,link=200Gbps,host_link=100Gbps,switch_latency=90ns");
  CHECK(topology.hosts() == 36);
  CHECK(degrees(topology, 4) == std::map<std::size_t, std::uint32_t>{{4, 9}});
  for (const Channel& channel : topology.channels()) {
    const bool fabric = topology.node(channel.from).kind == topology.node(channel.to).kind;
    CHECK(channel.rate == Bandwidth::gbps(fabric ? 200 : 100));
  }
  CHECK(topology.node(topology.switch_at(8)).switch_latency == Time::ns(90));
}

TEST_CASE("lattices: what can't be built") {
  const auto check = [](const std::string& short_form, const std::string& message) {
    CHECK_THROWS_WITH(make(short_form), message);
  };
  for (const std::string bad : {"", "x", "8x", "x8", "8xx8", "8x0", "-8", "8 x8", "8*8", "[8x8]"}) {
    check("torus:dims=" + bad,
          "torus: dims is '" + bad + "', but it must be sizes of 1 or more, written like 8x8x4 or [8,8,4]");
  }
  check("torus", "torus: dims is '', but it must be sizes of 1 or more, written like 8x8x4 or [8,8,4]");
  check("mesh:dims=2048x2049",
        "mesh: dims is '2048x2049', but the sizes must multiply to 4194304 routers or fewer");
  check("mesh:dims=99999999999999999999",
        "mesh: dims is '99999999999999999999', but the sizes must multiply to 4194304 routers or fewer");
  check("hyperx:dims=65536x2",
        "hyperx: dims is '65536x2', but that makes 4294967296 links; at most 33554432 can be had");
  check("hypercube:n=23", "hypercube: n is '23', but it must be from 1 to 22; the nearest is 22");
  check("hypercube", "hypercube needs a value for 'n': Dimensions, 1 to 22: 2^n routers.");
  check("torus:dims=8x8,hosts=65537",
        "torus: hosts is '65537', but it must be from 1 to 65536; the nearest is 65536");
  check(
      "mesh:dims=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1",
      "mesh: dims is '1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1', but there can be 24 dimensions at "
      "most");
}

}  // namespace weft::topologies
