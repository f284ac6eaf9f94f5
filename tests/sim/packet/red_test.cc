// Marks decided when a packet leaves, by what it leaves behind.
#include <catch2/catch.hpp>

#include "tests/sim/packet/fake_node.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kPacket = 4160, kMtu = 4096;
constexpr PortId kIn{1}, kPort{0};

std::string packets(int count) { return std::to_string(count * kPacket); }

TEST_CASE("a packet is marked that leaves more than kmax behind, or finds more, as told") {
  const auto marked = [](const std::string& moment) {
    FakeNode node;
    const auto queues =
        make_queues("red:capacity=1MB,kmin=" + packets(4) + ",kmax=" + packets(4) + ",mark_at=" + moment);
    for (std::uint32_t number = 0; number < 10; ++number) {
      queues->arrive(kIn, kPort, node.data(number, kPacket), node);
    }
    for (std::uint32_t number = 0; number < 10; ++number) {
      REQUIRE(node.pool[node.send(*queues, kPort)].number == number);
    }
    REQUIRE(node.send(*queues, kPort) == NodeQueues::kNone);
    return node.marked;
  };
  REQUIRE(marked("dequeue") == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  REQUIRE(marked("enqueue") == std::vector<std::uint32_t>{5, 6, 7, 8, 9});
}

TEST_CASE("between kmin and kmax the marked share is that of the ramp") {
  // 50 packets are always left behind: halfway from kmin to kmax, so half of pmax.
  FakeNode node;
  const auto queues =
      make_queues("red:capacity=1MB,kmin=" + packets(25) + ",kmax=" + packets(75) + ",pmax=0.4");
  constexpr std::uint32_t kDraws = 100'000;
  for (std::uint32_t number = 0; number < kDraws; ++number) {
    queues->arrive(kIn, kPort, node.data(number, kPacket), node);
    if (number >= 50) node.pool.release(node.send(*queues, kPort));
  }
  // Five standard deviations.
  REQUIRE(static_cast<double>(node.marked.size()) / kDraws == Approx(0.2).margin(0.0064));
}

TEST_CASE("drops begin when a packet does not fit with those that wait; ACKs are not marked") {
  FakeNode node;
  const auto queues = make_queues("red:capacity=" + packets(3) + ",kmin=0,kmax=0");
  for (std::uint32_t number = 0; number < 5; ++number) {
    queues->arrive(kIn, kPort, node.data(number, kPacket), node);
  }
  REQUIRE(node.dropped == std::vector<std::uint32_t>{3, 4});
  node.send(*queues, kPort);
  queues->arrive(kIn, kPort, node.ack(9), node);
  for (int i = 0; i < 3; ++i) node.send(*queues, kPort);
  REQUIRE(node.marked == std::vector<std::uint32_t>{0, 1, 2});
  for (const char* bad : {"red:mark_at=noon", "red:kmin=20KB,kmax=10KB", "red:capacity=100"}) {
    INFO(bad);
    REQUIRE_THROWS_AS(make_queues(bad), InputError);
  }
}

// When the first echo of a mark reaches a sender.
class FirstEcho final : public Observer {
 public:
  void on_inject(Time, const Sighting&) override {}
  void on_enqueue(Time, std::uint32_t, const Sighting&, Time) override {}
  void on_drop(Time, std::uint32_t, const Sighting&) override {}
  void on_arrive(Time, std::uint32_t, const Sighting&) override {}
  void on_deliver(Time now, const Sighting& packet) override {
    if (packet.ack && packet.marked) first = std::min(first, now);
  }

  Time first = Time::max();
};

TEST_CASE("senders hear of a long queue one queueing delay earlier than if marked on arrival") {
  // Two senders at the link's rate: the queue grows by a packet in the time of one, to K packets, when the
  // packets that arrive are marked. They leave K packet times later; those that leave now are marked now.
  const Bandwidth rate = Bandwidth::gbps(400);
  const auto topology = star(3, rate, Time::us(5), Time());
  const int threshold = GENERATE(10, 40);
  std::map<std::string, Time> echo;
  for (const std::string queue : {"ecn:", "red:mark_at=enqueue,", "red:mark_at=dequeue,"}) {
    Simulation simulation(topology, {.control = "dctcp",
                                     .queue = queue + "capacity=8MB,kmin=" + packets(threshold) +
                                              ",kmax=" + packets(threshold)});
    FirstEcho observer;
    simulation.network.set_observer(&observer);
    for (const std::uint32_t sender : {0u, 1u}) simulation.send(sender, 2, 3000 * kMtu);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 2);
    REQUIRE(simulation.signal("drop") == 0);
    echo[queue] = observer.first;
  }
  const double packet = rate.serialization(kPacket).seconds();
  const double earlier = (echo["ecn:"] - echo["red:mark_at=dequeue,"]).seconds() / packet;
  REQUIRE(earlier == Approx(threshold).margin(2));
  REQUIRE((echo["ecn:"] - echo["red:mark_at=enqueue,"]).seconds() / packet == Approx(0).margin(2));
}

TEST_CASE("windows that double stop sooner if marks are decided at the end of the wait") {
  const auto longest = [](const std::string& queue) {
    const auto topology = star(5, Bandwidth::gbps(400), Time::ns(500), Time());
    Simulation simulation(topology,
                          {.control = "dctcp:initial_window=4,slow_start=true",
                           .queue = queue + ":capacity=8MB,kmin=" + packets(60) + ",kmax=" + packets(60)});
    for (std::uint32_t sender = 0; sender < 4; ++sender) simulation.send(sender, 4, 3000 * kMtu);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    std::uint64_t bytes = 0;
    for (const auto& link : simulation.network.links()) bytes = std::max(bytes, link.max_queue_bytes);
    return bytes;
  };
  REQUIRE(longest("red") > 60 * kPacket);
  REQUIRE(longest("red") < longest("ecn"));
}

TEST_CASE("in a network: nothing is lost or out of order, links never rest, marks are counted") {
  const std::string moment = GENERATE("dequeue", "enqueue");
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=4,link=400Gbps,latency=500ns,switch_latency=100ns"));
  Simulation simulation(topology, {.control = "fixed_window:packets=30",
                                   .queue = "red:capacity=30KB,kmin=5KB,kmax=25KB,mark_at=" + moment,
                                   .policy = spray(),
                                   .expected = {.lane = [](std::uint32_t, const Sighting&) { return 0; },
                                                .most_bytes = [](std::uint32_t, int) { return 30'000; }}});
  simulation.send_at_random(topology.hosts());
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") > 0);
  REQUIRE(simulation.signal("ecn_mark") == simulation.scheduled.marks());
  REQUIRE(simulation.signal("ecn_mark") > 100);
}

}  // namespace
}  // namespace weft::sim::packet
