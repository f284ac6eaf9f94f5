// Queues that fill: marks, drops, recovery, and what is conserved through all of it.
#include <catch2/catch.hpp>

#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

const Bandwidth kRate = Bandwidth::gbps(400);
constexpr std::uint32_t kMtu = 4096, kPacket = 4096 + 64;

// Every host sends `count` messages to hosts drawn at random, of sizes up to `most` bytes.
void random_traffic(Simulation& simulation, std::uint32_t hosts, int count, std::uint64_t most,
                    std::uint64_t seed) {
  RandomStream random(seed, 77);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    for (int i = 0; i < count; ++i) {
      simulation.send(host, static_cast<std::uint32_t>(random.below(hosts)), random.below(most));
    }
  }
}

TEST_CASE("whatever the queues drop, every message arrives once and all bytes are accounted for") {
  const std::string control = GENERATE("dctcp", "fixed_window:packets=30");
  const std::string queue = GENERATE("droptail:capacity=9KB", "ecn:capacity=20KB,kmin=5KB,kmax=15KB",
                                     "ecn:capacity=100KB,pmax=0.1");
  const auto policy = GENERATE(one_path(), spray());
  const auto seed = static_cast<std::uint64_t>(GENERATE(1, 2));
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=4,link=400Gbps,latency=500ns,switch_latency=100ns"));
  Simulation simulation(topology, {.control = control, .queue = queue, .policy = policy, .seed = seed});
  random_traffic(simulation, topology.hosts(), 4, 300'000, seed);
  simulation.run();
  INFO(control << " on " << queue);
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("ecn_mark") == simulation.checker.marks());
  if (queue.starts_with("droptail")) {
    REQUIRE(simulation.signal("drop") > 100);
    REQUIRE(simulation.signal("retransmit") > 0);
  }
}

TEST_CASE("n to 1: no faster than the last link, and not much slower with a good window") {
  const int senders = GENERATE(2, 8, 31);
  const std::string control = GENERATE("dctcp", "fixed_window:packets=28");
  constexpr std::uint64_t kPackets = 2000;
  const auto topology = star(senders + 1, kRate, Time::ns(500), Time::ns(200));
  Simulation simulation(topology, {.control = control, .queue = "ecn:capacity=6MB,kmin=40KB,kmax=40KB"});
  for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(senders); ++s) {
    simulation.send(s, static_cast<std::uint32_t>(senders), kPackets * kMtu);
  }
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") == 0);
  Time last;
  for (const auto& [message, time] : simulation.client.delivered) last = std::max(last, time);
  const Time busy = kRate.serialization(kPacket * kPackets * static_cast<std::uint64_t>(senders));
  const Time first =
      kRate.serialization(kPacket) + Time::ns(1200);  // until the last link has work, and its wire
  REQUIRE(last >= busy + first);
  REQUIRE(last.seconds() < (busy + first).seconds() * 1.05);
  REQUIRE(simulation.signal("ecn_mark") > 0);
}

TEST_CASE("DCTCP keeps the queue near the threshold where a fixed window fills it") {
  const auto topology = star(9, kRate, Time::ns(500), Time());
  std::map<std::string, std::uint64_t> longest;
  for (const std::string control : {"dctcp", "fixed_window:packets=100"}) {
    Simulation simulation(topology, {.control = control, .queue = "ecn:capacity=8MB,kmin=80KB,kmax=80KB"});
    for (std::uint32_t s = 0; s < 8; ++s) simulation.send(s, 8, 4000 * kMtu);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    // After the first windows have met; 8 × 26 packets of them are 900 KB.
    for (const auto& link : simulation.network.links())
      longest[control] = std::max(longest[control], link.max_queue_bytes);
  }
  // 8 × 100 packets in flight, but for those on the wires.
  REQUIRE(longest["fixed_window:packets=100"] > 700 * kPacket);
  REQUIRE(longest["dctcp"] < 8 * 28 * kPacket);
}

TEST_CASE("marks begin above kmin: a queue that reaches it exactly is not marked") {
  // Two senders of w packets each, all sent at once: packet pairs arrive together at the shared link, which
  // sends one of each pair. When the second of pair i (from 0) arrives, i + 1 packets wait or are under way:
  // found occupancy is i full packets for the first and i + 1 for the second; the greatest is w - 1 + 1 = w.
  constexpr std::uint64_t kWindow = 10;
  const auto topology = star(3, kRate, Time::us(5), Time());
  for (const auto& [kmin, marks] : {std::pair<std::uint64_t, std::uint64_t>{kWindow, 0},
                                    {kWindow - 1, 1},
                                    {kWindow - 2, 3},
                                    {0, 2 * kWindow - 1}}) {
    const std::string bytes = std::to_string(kmin * kPacket);
    Simulation simulation(topology, {.control = "fixed_window:packets=10",
                                     .queue = "ecn:capacity=1MB,kmin=" + bytes + ",kmax=" + bytes});
    simulation.send(0, 2, kWindow * kMtu);
    simulation.send(1, 2, kWindow * kMtu);
    simulation.run();
    INFO("kmin " << kmin << " packets");
    REQUIRE(simulation.verdict() == "");
    REQUIRE(simulation.signal("ecn_mark") == marks);
    std::uint64_t arrived = 0;
    for (const auto& flow : simulation.network.flows()) arrived += flow.ecn_marked;
    REQUIRE(arrived == marks);
  }
}

TEST_CASE("between kmin and kmax the marked share follows the ramp") {
  // A standing queue: two fixed windows of 60 packets over a path that holds 26. From kmin = 0 to kmax = 1 MB
  // the probability at q bytes is q / 1 MB; the queue stands at 120 - 26 = 94 packets = 391 KB.
  const auto topology = star(3, kRate, Time::ns(500), Time());
  Simulation simulation(topology,
                        {.control = "fixed_window:packets=60", .queue = "ecn:capacity=2MB,kmin=0,kmax=1MB"});
  constexpr std::uint64_t kPackets = 20'000;
  simulation.send(0, 2, kPackets * kMtu);
  simulation.send(1, 2, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const double share = static_cast<double>(simulation.signal("ecn_mark")) / (2 * kPackets);
  REQUIRE(share == Approx(0.391).margin(0.01));  // 4 standard deviations of 40,000 draws
}

TEST_CASE("drops begin when the queue is full, and not before") {
  // As above: with w = 10 the queue never holds more than w + 1 packets, the one that arrives included. It
  // grows by one packet per pair, so with room for c of them the second of each of the last 11 - c pairs is
  // dropped.
  const auto topology = star(3, kRate, Time::us(5), Time());
  for (const auto& [capacity, drops] : {std::pair<std::uint64_t, std::uint64_t>{11, 0}, {10, 1}, {9, 2}}) {
    Simulation simulation(topology, {.control = "fixed_window:packets=10",
                                     .queue = "droptail:capacity=" + std::to_string(capacity * kPacket)});
    simulation.send(0, 2, 10 * kMtu);
    simulation.send(1, 2, 10 * kMtu);
    simulation.run();
    INFO("room for " << capacity);
    REQUIRE(simulation.verdict() == "");
    REQUIRE(simulation.signal("drop") == drops);
    REQUIRE(simulation.signal("retransmit") == drops);
    std::uint64_t longest = 0;
    for (const auto& link : simulation.network.links()) longest = std::max(longest, link.max_queue_bytes);
    REQUIRE(longest == std::min<std::uint64_t>(capacity, 11) * kPacket);
  }
}

TEST_CASE("a loss in the middle costs no timeout, and the retransmission is the only extra packet") {
  const auto topology = star(3, kRate, Time::ns(500), Time());
  Simulation simulation(topology, {.control = "fixed_window:packets=26", .queue = "droptail:capacity=60KB"});
  simulation.send(0, 2, 2000 * kMtu);
  simulation.send(1, 2, 2000 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") > 0);
  REQUIRE(simulation.signal("retransmit") == simulation.signal("drop"));
  REQUIRE(simulation.signal("duplicate") == 0);
  REQUIRE(simulation.signal("timeout") == 0);
}

TEST_CASE("spraying over many paths is not taken for loss") {
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=8,link=400Gbps,latency=500ns,switch_latency=0ns"));
  Simulation simulation(
      topology, {.control = "fixed_window:packets=160", .queue = "droptail:capacity=4MB", .policy = spray()});
  // A shift by half the network: every packet goes over the core.
  for (std::uint32_t h = 0; h < 128; ++h) simulation.send(h, (h + 64) % 128, 300 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("retransmit") == 0);
  // All in parallel: line rate but for what random spraying queues.
  Time last;
  for (const auto& [message, time] : simulation.client.delivered) last = std::max(last, time);
  const Time ideal = kRate.serialization(kPacket) * (300 + 5) + Time::ns(3000);
  REQUIRE(last >= ideal);
  REQUIRE(last.seconds() < ideal.seconds() * 1.3);
}

}  // namespace
}  // namespace weft::sim::packet
