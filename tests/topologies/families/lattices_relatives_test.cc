// Express meshes, flattened butterflies, Tofu and tori of cubes against tables, closed forms and relatives.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {

TEST_CASE("Tofu: routers, links, degree and path lengths as tabulated") {
  struct Row {
    std::string choice;
    std::uint32_t routers;
    std::size_t links, degree;
    double average;
  };
  for (const Row& row :
       {Row{"tofu:x=2,y=2,z=2", 96, 336, 7, 3.2}, Row{"tofu:x=3,y=3,z=3", 324, 1620, 10, 3.678}}) {
    const Topology topology = make(row.choice);
    CHECK(topology.switches() == row.routers);
    CHECK(topology.hosts() == row.routers);
    CHECK(links_between_switches(topology) == row.links);
    const std::vector<Vertex> routers = switches_of_tier(topology, 1);
    for (const Vertex v : routers) CHECK(topology.out_channels(v).size() == row.degree + 6);
    const PathLengths paths = path_lengths(topology, routers);
    CHECK(paths.diameter == 6);
    CHECK(paths.average == Approx(row.average).margin(5e-4));
  }
}

TEST_CASE("Tofu: a link has 6.8 GB/s, a host six interfaces on the chip of its router") {
  const auto check = [](const std::string& choice, std::int64_t host_bps, std::int64_t link_bps,
                        std::size_t interfaces = 6) {
    INFO(choice);
    const Topology topology = make(choice);
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
      REQUIRE(topology.out_channels(topology.host(h)).size() == interfaces);
    }
    for (const Edge& edge : topology.edges()) {
      const bool to_host = topology.node(edge.from).kind == NodeKind::kHost;
      REQUIRE(edge.link.rate.bps() == (to_host ? host_bps : link_bps));
      REQUIRE(edge.link.latency.ps() == (to_host ? 0 : 100'000));
    }
  };
  constexpr std::int64_t kLink = 54'400'000'000;
  check("tofu:x=2,y=2,z=2", kLink, kLink);
  check("tofu:x=2,y=2,z=2,link=40Gbps,interfaces=4", 40'000'000'000, 40'000'000'000, 4);  // the K computer's
  check("tofu:x=2,y=2,z=2,host_link=10Gbps", 10'000'000'000, kLink);
  check("fugaku:shape=4x4x4", kLink, kLink);
}

TEST_CASE("express mesh: links at distances 1 + m·gap") {
  const Topology line = make("express_mesh:dims=8,gap=3");
  for (const auto& [a, b] : joined_switches(line)) CHECK((b - a) % 3 == 1);
  CHECK(links_between_switches(line) == 7 + 4 + 1);
  // Gap 1 links all of a line, a gap as long as the line leaves the mesh.
  CHECK(joined_switches(make("express_mesh:dims=5x4,gap=1")) == joined_switches(make("hyperx:dims=5x4")));
  CHECK(joined_switches(make("express_mesh:dims=5x4,gap=5")) == joined_switches(make("mesh:dims=5x4")));
}

TEST_CASE("flattened butterfly: k^(n-1) routers of degree (n-1)(k-1), k^n hosts, diameter n - 1") {
  const Topology topology = make("flattened_butterfly:k=4,n=4");
  CHECK(topology.hosts() == 256);
  CHECK(topology.switches() == 64);
  CHECK(joined_switches(topology) == joined_switches(make("hyperx:dims=4x4x4")));
  for (std::uint32_t s = 0; s < 64; ++s) CHECK(topology.out_channels(topology.switch_at(s)).size() == 4 + 9);
  CHECK(path_lengths(topology, switches_of_tier(topology, 1)).diameter == 3);
  CHECK(make("flattened_butterfly:k=4,n=4,hosts=2").hosts() == 128);
}

TEST_CASE("TPU torus: 64 cubes are 4,096 chips, each cube with 96 optical links") {
  const Topology topology = make("tpu_torus:dims=16x16x16");
  CHECK(topology.hosts() == 4096);
  CHECK(joined_switches(topology) == joined_switches(make("torus:dims=16x16x16")));
  std::map<std::uint32_t, std::uint32_t> optical;
  for (const Edge& edge : topology.edges()) {
    if (edge.link.cable != CableKind::kOptical) continue;
    ++optical[topology.node(edge.from).group];
    ++optical[topology.node(edge.to).group];
  }
  CHECK(optical.size() == 64);
  for (const auto& [cube, links] : optical) CHECK(links == 96);
  // One cube: its faces are linked to each other.
  const Topology cube = make("tpu_torus:dims=4x4x4");
  CHECK(links_between_switches(cube) == 192);
  CHECK(path_lengths(cube, switches_of_tier(cube, 1)).average == Approx(3.0476).margin(5e-5));
  CHECK_THROWS_WITH(make("tpu_torus:dims=4x4x6"),
                    "tpu_torus: dims is '4x4x6', but each must be a multiple of 4; the nearest to 6 is 8");
}

TEST_CASE("lattices: sizes for a number of endpoints") {
  CHECK(make("torus:endpoints=1000").name() == make("torus:dims=10x10x10").name());
  // As many hosts on a router as it has links in one dimension, and 64 ports at most.
  CHECK(make("hyperx:endpoints=1024").name() == make("hyperx:dims=11x11,hosts=10").name());
  CHECK(make("hyperx:endpoints=16000").name() == make("hyperx:dims=12x12x12,hosts=11").name());
  CHECK(make("hypercube:endpoints=1025").hosts() == 2048);
  CHECK(make("flattened_butterfly:endpoints=4096").name() == make("flattened_butterfly:k=16,n=3").name());
  CHECK(make("tofu:endpoints=97").hosts() == 12 * 12);
  CHECK(make("tpu_torus:endpoints=4096").hosts() == 4096);
}

}  // namespace weft::topologies
