// HammingMesh networks against tabulated path lengths, switches and cables.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {
namespace {

std::vector<Vertex> accelerators(const Topology& topology) {
  std::vector<Vertex> found;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (topology.node(topology.switch_at(s)).in_host) found.push_back(topology.switch_at(s));
  }
  return found;
}

// Switches that are not inside accelerators, and cables: what is neither on a board nor in an accelerator.
struct Bill {
  std::uint32_t switches;
  std::size_t cables;
  bool operator==(const Bill&) const = default;
};
Bill bill(const Topology& topology) {
  Bill result{0, 0};
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    result.switches += !topology.node(topology.switch_at(s)).in_host;
  }
  for (const Edge& edge : topology.edges()) {
    const bool inside =
        topology.node(edge.from).kind == NodeKind::kHost || topology.node(edge.to).kind == NodeKind::kHost;
    result.cables += !inside && edge.link.cable != CableKind::kBackplane;
  }
  return result;
}

}  // namespace

TEST_CASE("HammingMesh: diameter and average path length between accelerators as tabulated") {
  struct Row {
    std::string choice;
    int diameter;
    double average;
  };
  for (const Row& row :
       {Row{"hammingmesh:a=2,b=2,x=16,y=16", 4, 3.8162}, Row{"hammingmesh:a=4,b=4,x=8,y=8", 8, 5.5367},
        Row{"hammingmesh:a=1,b=1,x=32,y=32", 4, 3.8788}}) {
    INFO(row.choice);
    const Topology topology = make(row.choice);
    CHECK(topology.hosts() == 1024);
    const PathLengths paths = path_lengths(topology, accelerators(topology));
    CHECK(paths.diameter == row.diameter);
    CHECK(paths.average == Approx(row.average).margin(5e-5));
  }
  // Lines of two levels make 4×4 boards with 2 switches more on each of the two lines.
  const Topology two_levels = make("hammingmesh:a=2,b=2,x=8,y=8,radix=8");
  CHECK(path_lengths(two_levels, accelerators(two_levels)).diameter == 8);
}

TEST_CASE("HammingMesh: switches and cables of a plane as in the paper's systems") {
  // Lines of 32 and of 16 ports: two and four of them share a switch of 64 ports, which makes 32 and 16.
  CHECK(bill(make("hammingmesh:a=2,b=2,x=16,y=16")) == Bill{32 * 2, 1024 + 1024});
  CHECK(bill(make("hammingmesh:a=4,b=4,x=8,y=8")) == Bill{16 * 4, 512 + 512});
  CHECK(bill(make("hammingmesh:a=1,b=1,x=32,y=32")) == Bill{64, 2048 + 2048});
  CHECK(bill(make("hammingmesh:a=4,b=4,x=32,y=32")) == Bill{256, 8192 + 8192});
  // 256 lines of (4 + 2) switches, of (8 + 4) for 2-D HyperX.
  CHECK(bill(make("hammingmesh:a=2,b=2,x=64,y=64")) == Bill{1536, 16384 + 49152});
  CHECK(bill(make("hammingmesh:a=1,b=1,x=128,y=128")) == Bill{3072, 32768 + 98304});
}

TEST_CASE("HammingMesh: every accelerator has 4 ports in each plane") {
  for (const std::string choice :
       {"hammingmesh:a=2,b=2,x=4,y=3", "hammingmesh:a=1,b=1,x=3,y=2", "hammingmesh:a=3,b=4,x=2,y=2,planes=3",
        "hammingmesh:a=1,b=5,x=9,y=2,radix=8"}) {
    INFO(choice);
    const Topology topology = make(choice);
    for (const Vertex v : accelerators(topology)) CHECK(topology.out_channels(v).size() == 1 + 4);
    for (const Channel& channel : topology.channels()) {
      if (topology.node(channel.from).kind != NodeKind::kHost) continue;
      CHECK(channel.rate == Bandwidth::gbps(4 * 400));
      CHECK(channel.latency == Time());
    }
  }
  const Topology planes = make("hammingmesh:a=3,b=4,x=2,y=2,planes=3");
  CHECK(planes.hosts() == 48);
  for (std::uint32_t h = 0; h < 48; ++h) {
    const auto nics = planes.out_channels(planes.host(h));
    REQUIRE(nics.size() == 3);
    for (std::uint16_t plane = 0; plane < 3; ++plane) {
      const Node& router = planes.node(planes.channels()[nics[plane]].to);
      CHECK(router.plane == plane);
      CHECK(router.group == h / 12);
    }
  }
}

TEST_CASE("HammingMesh: accelerators are numbered by board, and lines join what stands in line") {
  const Topology topology = make("hammingmesh:a=2,b=3,x=4,y=5");
  // Accelerator (1, 2) of board (3, 4).
  const std::uint32_t number = ((3 * 5 + 4) * 2 + 1) * 3 + 2;
  CHECK(topology.node(topology.switch_at(number)).name == "accelerator 3.4.1.2");
  const std::vector<int> distance = distances(topology, topology.switch_at(number));
  // The other end of the board's row is next to it; (0, 2) and (1, 2) of any board in the row are 2 away.
  for (std::uint32_t board = 0; board < 3; ++board) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      CHECK(distance[topology.switch_at(((board * 5 + 4) * 2 + i) * 3 + 2)] == 2);
    }
  }
  // In its column, (1, 0) and (1, 2) of any board are 2 away, (1, 1) is 3.
  for (std::uint32_t board = 0; board < 4; ++board) {
    for (std::uint32_t j = 0; j < 3; ++j) {
      CHECK(distance[topology.switch_at(((3 * 5 + board) * 2 + 1) * 3 + j)] == (j == 1 ? 3 : 2));
    }
  }
}

TEST_CASE("HammingMesh: what can't be built") {
  const auto check = [](const std::string& short_form, const std::string& message) {
    CHECK_THROWS_WITH(make(short_form), message);
  };
  check("hammingmesh:a=2,b=2,x=0,y=4",
        "hammingmesh: x is '0', but it must be from 1 to 1048576; the nearest is 1");
  check("hammingmesh:a=2,b=2,x=20,y=4,radix=8",
        "hammingmesh: x is '20', but two levels of 8-port switches join 16 boards at most");
  check("hammingmesh:a=2,b=2,x=4,y=4,radix=7",
        "hammingmesh: radix is '7', but it must be even: each switch has k/2 ports up and k/2 down; the "
        "nearest "
        "are 6 and 8");
  CHECK(make("hammingmesh:endpoints=1024").name() == make("hammingmesh:a=2,b=2,x=16,y=16").name());
}

}  // namespace weft::topologies
