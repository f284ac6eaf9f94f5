// Fugaku against its published counts, and jobs' shapes against the tori that they are said to be.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "topologies/families.h"

namespace weft::topologies {
namespace {

Topology make(const std::string& short_form) { return build(parse_module_choice(short_form)); }

Vertex router_of(const Topology& topology, std::uint32_t host) {
  return topology.channels()[topology.out_channels(topology.host(host))[0]].to;
}

bool linked(const Topology& topology, Vertex a, Vertex b) {
  const auto out = topology.out_channels(a);
  return std::any_of(out.begin(), out.end(), [&](std::uint32_t c) { return topology.channels()[c].to == b; });
}

std::size_t links_between_routers(const Topology& topology) {
  return topology.edges().size() - 6 * topology.hosts();  // interfaces
}

}  // namespace

TEST_CASE("Fugaku: 158,976 nodes with ten links each") {
  const Topology topology = make("fugaku");
  CHECK(topology.hosts() == 158'976);
  CHECK(topology.switches() == 158'976);
  CHECK(links_between_routers(topology) == 158'976 * 10 / 2);
  // Six are of X, Y and Z, two of B, one each of A and C, and six the host's.
  for (std::uint32_t s = 0; s < topology.switches(); s += 997) {
    CHECK(topology.out_channels(topology.switch_at(s)).size() == 10 + 6);
  }
}

TEST_CASE("Fugaku: a job's shape is a torus in the order of its hosts") {
  using Shape = std::array<std::uint32_t, 3>;
  for (const Shape& shape :
       {Shape{2, 2, 2}, Shape{4, 4, 4}, Shape{8, 8, 8}, Shape{12, 3, 1}, Shape{48, 2, 6}}) {
    const std::string text =
        std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" + std::to_string(shape[2]);
    INFO(text);
    const Topology topology = make("fugaku:shape=" + text);
    REQUIRE(topology.hosts() == shape[0] * shape[1] * shape[2]);
    CHECK(topology.switches() == topology.hosts());
    for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
      std::uint32_t stride = 1;
      for (std::size_t axis = 3; axis-- > 0; stride *= shape[axis]) {
        const std::uint32_t at = host / stride % shape[axis];
        const std::uint32_t next = host + stride * ((at + 1) % shape[axis]) - stride * at;
        if (next != host) REQUIRE(linked(topology, router_of(topology, host), router_of(topology, next)));
      }
    }
  }
  // 4×4×4 units with 2×2×2 nodes each: lines of three links in X, Y and Z, single ones in A, B and C.
  CHECK(links_between_routers(make("fugaku:shape=8x8x8")) == 3 * (3 * 128 + 256));
  CHECK(make("fugaku:endpoints=500").name() == make("fugaku:shape=8x8x8").name());
}

TEST_CASE("Fugaku: shapes that no job has") {
  CHECK_THROWS_WITH(
      make("fugaku:shape=8x5x8"),
      "fugaku: shape is '8x5x8', but size 2 must be even and at most 46, or 1 or 3; the nearest "
      "to 5 is 6");
  CHECK_THROWS_WITH(make("fugaku:shape=50x2x2"),
                    Catch::Contains("at most 48, or 1; the nearest to 50 is 48"));
  CHECK_THROWS_WITH(make("fugaku:shape=8x8"), Catch::Contains("there must be three sizes, like 8x8x8"));
}

}  // namespace weft::topologies
