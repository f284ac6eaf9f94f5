// Retransmission timeouts, end to end: as long as was asked for, or as round trips make them; and how long is
// too long.
#include <catch2/catch.hpp>
#include <string>

#include "sim/units/input_error.h"
#include "tests/sim/packet/support.h"

namespace weft::sim::packet {
namespace {

topologies::Topology pair_of_hosts(Bandwidth rate, Time latency) {
  topologies::Topology topology("test");
  const auto hub = topology.add_switch("s", 1, 0, Time());
  for (const char* name : {"h0", "h1"}) topology.add_link(topology.add_host(name), hub, {rate, latency});
  topology.finish();
  return topology;
}

TEST_CASE("a least timeout of ten seconds is one of ten seconds") {
  const auto topology = pair_of_hosts(Bandwidth::gbps(1), Time::us(1));
  Options options{.queue = "droptail:capacity=100KB"};  // which is no reason for a longer one
  options.config.min_timeout = Time::us(10'000'000);
  options.config.timeout_jitter = 0;
  // The cable loses the first transmission.
  options.changes = {{.at = Time(), .link = 0, .rate_share = 0},
                     {.at = Time::us(1), .link = 0, .rate_share = 1}};
  Simulation simulation(topology, options);
  simulation.send(0, 1, 4096);
  simulation.run();
  REQUIRE(simulation.client.deliveries == 1);
  CHECK(simulation.signal("timeout") == 1);
  // 4,160 bytes over two links of 1 Gb/s, and two cables.
  CHECK(simulation.client.delivered.at(0).ps() == Time::us(10'000'068).ps() + 560'000);
}

// A packet of 1 MiB takes 8.39 s on a link of 1 Mb/s; with four in flight round trips take half a minute.
TEST_CASE("round trips of half a minute lead to no timeout") {
  const auto topology = pair_of_hosts(Bandwidth::bps(1'000'000), Time::us(1));
  Options options{.control = "fixed_window:packets=4"};
  options.config.mtu_bytes = 1 << 20;
  Simulation simulation(topology, options);
  constexpr std::uint64_t kPackets = 50;
  simulation.send(0, 1, kPackets << 20);
  simulation.run();
  CHECK(simulation.verdict() == "");
  CHECK(simulation.signal("timeout") == 0);
  CHECK(simulation.signal("retransmit") == 0);
  // The link's time for all packets, and for the last one again on the other link.
  const double packet_s = 8.0 * ((1 << 20) + 64) / 1e6;
  CHECK(simulation.client.delivered.at(0).seconds() == Approx((kPackets + 1) * packet_s).epsilon(1e-6));
}

TEST_CASE("links too slow for simulated time are refused, by name") {
  for (const std::int64_t seconds : {80'000, 2'000'000, 5'000'000, 9'000'000}) {
    const auto topology = pair_of_hosts(Bandwidth::gbps(1), Time::us(seconds * 1'000'000));
    REQUIRE_THROWS_WITH(Simulation(topology, {}),
                        Catch::Contains("h0 -> s takes") && Catch::Contains("after 53 days"));
  }
  const auto topology = pair_of_hosts(Bandwidth::gbps(1), Time::us(20'000'000'000));
  REQUIRE_THROWS_WITH(Simulation(topology, {}), Catch::Contains("the longest round trip takes"));
}

TEST_CASE("round trips of nearly 20 hours, with their timeouts, don't run over") {
  const auto topology = pair_of_hosts(Bandwidth::gbps(1), Time::us(17'000'000'000));
  Simulation simulation(topology, {.control = "newreno"});
  simulation.send(0, 1, 100'000);
  simulation.run();
  CHECK(simulation.verdict() == "");
  // Ten packets in the first round trip, the others in the second.
  CHECK(simulation.client.delivered.at(0).seconds() == Approx(6 * 17'000).epsilon(1e-4));
}

}  // namespace
}  // namespace weft::sim::packet
