#include "topologies/graph/topology.h"

#include <catch2/catch.hpp>

namespace weft::topologies {
namespace {
const Link kLink{Bandwidth::gbps(100), Time::ns(500)};
}  // namespace

TEST_CASE("topology: hosts and switches are numbered apart, links in the order added") {
  Topology topology("t");
  const Vertex s = topology.add_switch("s", 1), a = topology.add_host("a"), b = topology.add_host("b");
  topology.add_link(b, s, {Bandwidth::gbps(10), Time::ns(1)});
  topology.add_link(s, a, {Bandwidth::gbps(20), Time::ns(2)});
  topology.add_link(a, s, {Bandwidth::gbps(30), Time::ns(3)});
  topology.finish();
  CHECK(topology.host(0) == a);
  CHECK(topology.host(1) == b);
  CHECK(topology.node(b).index == 1);
  CHECK(topology.node(s).index == 0);
  REQUIRE(topology.channels().size() == 6);
  // Channel 2e leaves the node that link e was added from.
  CHECK(topology.channels()[0].from == b);
  CHECK(topology.channels()[2].from == s);
  CHECK(topology.channels()[4].from == a);
  CHECK(topology.channels()[3].rate == Bandwidth::gbps(20));
  CHECK(topology.channels()[5].latency == Time::ns(3));
  const auto out = topology.out_channels(s);
  CHECK(std::vector<std::uint32_t>(out.begin(), out.end()) == std::vector<std::uint32_t>{1, 2, 5});
}

TEST_CASE("topology: what can't be a network is refused by name") {
  Topology empty("empty");
  empty.add_switch("s", 1);
  CHECK_THROWS_WITH(empty.finish(), "empty: the network has no host");

  Topology loose("loose");
  loose.add_host("host 0");
  CHECK_THROWS_WITH(loose.finish(), "loose: 'host 0' has no link");

  Topology still("still");
  still.add_link(still.add_host("host 0"), still.add_switch("hub", 1), {Bandwidth(), Time::ns(1)});
  CHECK_THROWS_WITH(still.finish(), "still: the link between 'host 0' and 'hub' has rate 0");

  Topology loop("loop");
  const Vertex s = loop.add_switch("hub", 1);
  loop.add_link(loop.add_host("host 0"), s, kLink);
  loop.add_link(s, s, kLink);
  CHECK_THROWS_WITH(loop.finish(), "loop: a link joins 'hub' to itself");

  // Joined through a host only: hosts do not forward.
  Topology split("split");
  const Vertex left = split.add_switch("left", 1), right = split.add_switch("right", 1);
  const Vertex first = split.add_host("host 0"), middle = split.add_host("host 1"),
               last = split.add_host("host 2");
  split.add_link(first, left, kLink);
  split.add_link(middle, left, kLink);
  split.add_link(middle, right, kLink);
  split.add_link(last, right, kLink);
  CHECK_THROWS_WITH(split.finish(), "split: 'host 2' cannot be reached from 'host 0'");
}

}  // namespace weft::topologies
