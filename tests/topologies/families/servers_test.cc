// Server-centric networks against published counts and path lengths.
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/topologies/families/measures.h"

namespace weft::topologies {
namespace {

std::vector<Vertex> servers(const Topology& topology) {
  std::vector<Vertex> found;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) found.push_back(topology.switch_at(h));
  return found;
}

// Links of servers to each other and to switches, and those of switches: all alike.
void check_ports(const Topology& topology, std::size_t of_server, std::size_t of_switch) {
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    CHECK(topology.node(v).in_host == (s < topology.hosts()));
    CHECK(topology.out_channels(v).size() == (topology.node(v).in_host ? of_server + 1 : of_switch));
  }
}

}  // namespace

TEST_CASE("BCube: servers, switches, ports, and path lengths between servers as tabulated") {
  struct Row {
    std::uint32_t n, k;
    int diameter;
    double average;
  };
  for (const Row& row : {Row{4, 1, 4, 3.2}, Row{8, 1, 4, 3.5556}, Row{4, 2, 6, 4.5714}}) {
    const Topology topology = make("bcube:n=" + std::to_string(row.n) + ",k=" + std::to_string(row.k));
    INFO(topology.name());
    std::uint32_t power = 1;
    for (std::uint32_t i = 0; i < row.k; ++i) power *= row.n;
    CHECK(topology.hosts() == power * row.n);
    CHECK(topology.switches() == power * row.n + (row.k + 1) * power);
    CHECK(links_between_switches(topology) == (row.k + 1) * power * row.n);
    check_ports(topology, row.k + 1, row.n);
    const PathLengths paths = path_lengths(topology, servers(topology));
    CHECK(paths.diameter == row.diameter);
    CHECK(paths.average == Approx(row.average).margin(5e-5));
  }
}

TEST_CASE("BCube: two links for each digit that differs") {
  const Topology topology = make("bcube:n=3,k=2");
  const std::uint32_t from = 2 * 9 + 0 * 3 + 1;
  const std::vector<int> distance = distances(topology, topology.switch_at(from));
  for (std::uint32_t to = 0; to < 27; ++to) {
    const int differ = (to / 9 != 2) + (to / 3 % 3 != 0) + (to % 3 != 1);
    CHECK(distance[topology.switch_at(to)] == 2 * differ);
  }
}

TEST_CASE("DCell: servers, ports and diameter as published") {
  struct Row {
    std::uint32_t n, k, servers;
  };
  for (const Row& row : {Row{4, 0, 4}, Row{4, 1, 20}, Row{4, 2, 420}, Row{2, 2, 42}, Row{3, 2, 156}}) {
    const Topology topology = make("dcell:n=" + std::to_string(row.n) + ",k=" + std::to_string(row.k));
    INFO(topology.name());
    CHECK(topology.hosts() == row.servers);
    CHECK(topology.switches() == row.servers + row.servers / row.n);
    CHECK(links_between_switches(topology) == row.servers + row.servers * row.k / 2);
    check_ports(topology, row.k + 1, row.n);
    // A path through a switch has two links; the published bound counts it as one hop. At most every other
    // hop is one, as switches are never next to each other.
    const int hops = (1 << (row.k + 1)) - 1;
    CHECK(path_lengths(topology, servers(topology)).diameter <= hops + (hops + 1) / 2);
  }
  // 41·42 and 1806·1807 servers.
  CHECK_THROWS_WITH(make("dcell:n=7,k=3"),
                    "dcell: k is '3', but that makes 10192056 servers; there can be 4194304");
  CHECK(make("dcell:n=6,k=2").hosts() == 1806);
}

TEST_CASE("DCell(4, 1): which servers are linked, as the paper draws it") {
  // Five cells of four: server j - 1 of cell i with server i of cell j.
  const Topology topology = make("dcell:n=4,k=1");
  for (std::uint32_t i = 0; i < 5; ++i) {
    for (std::uint32_t j = i + 1; j < 5; ++j) {
      const std::vector<int> distance = distances(topology, topology.switch_at(i * 4 + j - 1));
      CHECK(distance[topology.switch_at(j * 4 + i)] == 1);
    }
  }
}

TEST_CASE("servers: sizes, and what can't be built") {
  CHECK(make("bcube:endpoints=1024").name() == make("bcube:n=32,k=1").name());
  CHECK(make("bcube:endpoints=5000").name() == make("bcube:n=18,k=2").name());
  CHECK(make("dcell:endpoints=1024").name() == make("dcell:n=32,k=1").name());
  CHECK(make("dcell:endpoints=5000").name() == make("dcell:n=8,k=2").name());
  CHECK_THROWS_WITH(make("bcube:n=1,k=1"),
                    "bcube: n is '1', but it must be from 2 to 2048; the nearest is 2");
  CHECK_THROWS_WITH(make("bcube:n=64,k=4"), "bcube: k is '4', but n^(k+1) must be at most 4194304 servers");
  CHECK_THROWS_WITH(make("bcube:n=2,k=-1"),
                    "bcube: k is '-1', but it must be from 0 to 20; the nearest is 0");
  CHECK_THROWS_WITH(make("dcell:n=2,k=5"), "dcell: k is '5', but it must be from 0 to 4; the nearest is 4");
}

}  // namespace weft::topologies
