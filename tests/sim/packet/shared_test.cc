// A buffer shared by all ports, with dynamic thresholds.
#include <catch2/catch.hpp>
#include <deque>

#include "tests/sim/packet/fake_node.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kPacket = 4160, kIn = 0;

TEST_CASE("k ports with more than they can send share the buffer as Choudhury and Hahne say") {
  // q = alpha (B - k q), so q = alpha B / (1 + k alpha), and B / (1 + k alpha) stays free.
  constexpr double kBuffer = 10e6;
  const auto alpha = GENERATE(0.125, 0.5, 1.0, 4.0);
  const auto busy = static_cast<std::uint32_t>(GENERATE(1, 2, 7, 30));
  FakeNode node;
  const auto queues = make_queues("shared:buffer=10MB,reserve=0,alpha=" + std::to_string(alpha), 32);
  for (std::uint32_t packet = 0; packet < 3 * kBuffer / kPacket; ++packet) {
    queues->arrive(kIn, packet % busy, node.data(packet, kPacket), node);
  }
  REQUIRE(node.dropped.size() > kBuffer / kPacket);
  const double expected = alpha * kBuffer / (1 + busy * alpha);
  double sum = 0;
  for (std::uint32_t port = 0; port < busy; ++port) {
    // A packet is let in that finds the queue just below.
    const auto queued = static_cast<double>(queues->backlog_bytes(port));
    REQUIRE(queued == Approx(expected).margin(2 * kPacket));
    sum += queued;
  }
  REQUIRE(kBuffer - sum == Approx(kBuffer / (1 + busy * alpha)).margin((busy + 1) * kPacket));
  // A port that becomes busy finds room at once.
  const std::size_t dropped = node.dropped.size();
  queues->arrive(kIn, 31, node.data(0, kPacket), node);
  REQUIRE(node.dropped.size() == dropped);
  if (busy == 1) REQUIRE(queues->capacity_bytes(0) == Approx(expected).margin(1));
}

TEST_CASE("a port's reserve is its own, however full the rest is") {
  FakeNode node;
  const auto queues = make_queues("shared:buffer=100KB,alpha=1000,reserve=8320", 4);
  for (std::uint32_t packet = 0; packet < 100; ++packet) {
    queues->arrive(kIn, 0, node.data(packet, kPacket), node);
  }
  // 100,000 - 4 * 8,320 = 66,720 are shared: 16 packets, beside the two of the reserve.
  REQUIRE(queues->backlog_bytes(0) == 18 * kPacket);
  REQUIRE(queues->signals().front() == std::pair<std::string, std::uint64_t>{"most_shared_bytes", 66'560});
  for (const std::uint32_t port : {1u, 2u, 3u}) {
    for (std::uint32_t packet = 0; packet < 3; ++packet) {
      queues->arrive(kIn, port, node.data(packet, kPacket), node);
    }
    REQUIRE(queues->backlog_bytes(port) == 2 * kPacket);
  }
}

TEST_CASE("random arrivals and departures, against sums taken anew each time") {
  constexpr std::uint32_t kPorts = 5;
  constexpr std::uint64_t kBuffer = 200'000, kReserve = 6'000;
  constexpr double kAlpha = 0.5;
  FakeNode node;
  const auto queues = make_queues("shared:buffer=200000,alpha=0.5,reserve=6000", kPorts);
  std::vector<std::deque<std::pair<std::uint32_t, std::uint32_t>>> expected(kPorts);  // number, bytes
  std::vector<std::uint32_t> sending(kPorts);                                         // bytes; 0: nothing
  const auto used = [&](std::uint32_t port) {
    std::uint64_t bytes = sending[port];
    for (const auto& [number, size] : expected[port]) bytes += size;
    return bytes;
  };
  const auto beyond = [](std::uint64_t bytes) { return bytes > kReserve ? bytes - kReserve : 0; };
  RandomStream random(9, 9);
  std::uint64_t drops = 0, refused_with_room = 0;
  for (std::uint32_t step = 0; step < 50'000; ++step) {
    const auto port = static_cast<std::uint32_t>(random.below(kPorts));
    if (random.below(100) < 60) {
      const auto size = static_cast<std::uint32_t>(64 + random.below(4096));
      std::uint64_t taken = 0;
      for (std::uint32_t each = 0; each < kPorts; ++each) taken += beyond(used(each));
      const std::uint64_t free = kBuffer - kPorts * kReserve - taken;
      const std::uint64_t more = beyond(used(port) + size) - beyond(used(port));
      const bool fits = more == 0 || (more <= free && static_cast<double>(beyond(used(port))) <
                                                          kAlpha * static_cast<double>(free));
      if (!fits && more <= free) ++refused_with_room;
      queues->arrive(kIn, port, node.data(step, size), node);
      if (fits) {
        expected[port].emplace_back(step, size);
      } else {
        REQUIRE(node.dropped.size() == ++drops);
        REQUIRE(node.dropped.back() == step);
      }
    } else if (sending[port] != 0) {
      queues->departed(port, node);
      sending[port] = 0;
    } else {
      const std::uint32_t packet = queues->next(port, node);
      if (expected[port].empty()) {
        REQUIRE(packet == NodeQueues::kNone);
        continue;
      }
      REQUIRE(node.pool[packet].number == expected[port].front().first);
      sending[port] = expected[port].front().second;
      expected[port].pop_front();
      node.pool.release(packet);
    }
    REQUIRE(queues->backlog_bytes(port) == used(port) - sending[port]);
  }
  REQUIRE(drops > 5000);
  REQUIRE(refused_with_room > 5000);
}

TEST_CASE("data is marked by what its port holds, the packet being sent included") {
  FakeNode node;
  const auto queues = make_queues("shared:buffer=1MB,alpha=1,kmin=8320,kmax=8320", 2);
  for (std::uint32_t number = 0; number < 4; ++number) {
    queues->arrive(kIn, 0, node.data(number, kPacket), node);
    queues->arrive(kIn, 1, node.ack(100 + number), node);
    if (number == 0) queues->next(0, node);
  }
  REQUIRE(node.marked == std::vector<std::uint32_t>{3});
}

TEST_CASE("in a network: nothing is lost or out of order, and links never rest") {
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=4,link=400Gbps,latency=500ns,switch_latency=100ns"));
  Simulation simulation(topology, {.control = "fixed_window:packets=30",
                                   .queue = "shared:buffer=100KB,alpha=0.5",
                                   .policy = spray(),
                                   .expected = {.lane = [](std::uint32_t, const Sighting&) { return 0; }}});
  simulation.send_at_random(topology.hosts());
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") > 0);
  REQUIRE(simulation.signal("most_shared_bytes") <= 100'000 - 4 * kPacket);
}

TEST_CASE("defaults, and values that make no sense") {
  // 51.2 Tb/s: 163.84 MB, of which 128 ports have a packet each; a lone port gets a ninth of the rest.
  const double shared = 163.84e6 - 128 * kPacket;
  REQUIRE(make_queues("shared", 128)->capacity_bytes(0) == Approx(kPacket + shared / 9).margin(1));
  for (const char* bad : {"shared:alpha=0", "shared:alpha=-1", "shared:alpha=2000", "shared:buffer=8KB",
                          "shared:buffer=1MB,reserve=600KB", "shared:kmin=20KB,kmax=10KB"}) {
    INFO(bad);
    REQUIRE_THROWS_AS(make_queues(bad, 2), InputError);
  }
}

}  // namespace
}  // namespace weft::sim::packet
