// Priority flow control: when a pause is sent and obeyed, that nothing is lost, and deadlocks.
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/fake_node.h"
#include "tests/sim/packet/lossless.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kPacket = 4160;

TEST_CASE("a pause is sent once above xoff and ended once at xon, counting what is being sent") {
  FakeNode node;
  const auto queues = make_queues("pfc:xoff=10000,xon=4160,headroom=5000", 3);
  const auto arrive = [&](std::uint32_t number) {
    queues->arrive(PortId(0), PortId(1), node.data(number, kPacket), node);
  };
  arrive(0);
  REQUIRE(node.send(*queues, PortId(1)) != NodeQueues::kNone);
  arrive(1);
  REQUIRE(node.frames.empty());
  arrive(2);  // 12,480 bytes with the one on the wire
  REQUIRE(node.frames.size() == 1);
  REQUIRE(node.frames[0].first == 0);
  const std::uint32_t stop = node.frames[0].second;
  arrive(3);  // 16,640: more than xoff and headroom
  REQUIRE(node.dropped == std::vector<std::uint32_t>{3});
  REQUIRE(queues->backlog_bytes(PortId(1)) == 2 * kPacket);
  node.leave(*queues);  // 8,320
  REQUIRE(node.frames.size() == 1);
  REQUIRE(node.send(*queues, PortId(1)) != NodeQueues::kNone);
  node.leave(*queues);  // 4,160
  REQUIRE(node.frames.size() == 2);
  REQUIRE(node.frames[1].first == 0);
  const std::uint32_t go = node.frames[1].second;
  REQUIRE(go != stop);
  REQUIRE(queues->signals() ==
          std::vector<std::pair<std::string, std::uint64_t>>{
              {"pause", 1}, {"most_ingress_bytes", 12'480}, {"pause_ns", 0}, {"headroom_overflow", 1}});

  // The frames are those that these queues obey themselves: after the packet being sent.
  node.at(Time::ns(2100));
  queues->frame(PortId(1), stop, node);
  REQUIRE(node.send(*queues, PortId(1)) == NodeQueues::kNone);
  std::vector<NodeQueues::Lane> lanes;
  queues->held_back(node.now(), lanes);
  REQUIRE(lanes == std::vector<NodeQueues::Lane>{{.port = PortId(1), .lane = 0}});
  lanes.clear();
  queues->filled_by({.port = PortId(0), .lane = 0}, node.now(), Time::max(), lanes);
  REQUIRE(lanes == std::vector<NodeQueues::Lane>{{.port = PortId(1), .lane = 0}});
  lanes.clear();
  queues->filled_by({.port = PortId(2), .lane = 0}, node.now(), Time::max(), lanes);
  REQUIRE(lanes.empty());
  node.at(Time::ns(2350));
  queues->frame(PortId(1), go, node);
  REQUIRE(node.woken == std::vector<std::uint32_t>{1});
  const PacketHandle last = node.send(*queues, PortId(1));
  REQUIRE(node.pool[last].number == 2);
  // It leaves at 3.35 us. What else may leave before, as far as that, is not known by port.
  queues->filled_by({.port = PortId(2), .lane = 0}, node.now(), Time::ns(3350), lanes);
  REQUIRE(lanes.empty());
  queues->filled_by({.port = PortId(2), .lane = 0}, node.now(), Time::ns(3349), lanes);
  REQUIRE(lanes == std::vector<NodeQueues::Lane>{{.port = PortId(1), .lane = 0}});
  lanes.clear();
  queues->held_back(node.now(), lanes);
  REQUIRE(lanes.empty());
  REQUIRE(queues->signals()[2] == std::pair<std::string, std::uint64_t>{"pause_ns", 250});
}

TEST_CASE("ports and classes are counted and paused by themselves") {
  FakeNode node;
  const auto queues = make_queues("pfc:xoff=5000,classes=2", 3);
  queues->arrive(PortId(0), PortId(2), node.data(0, kPacket), node);
  queues->arrive(PortId(1), PortId(2), node.data(1, kPacket), node);
  for (std::uint32_t ack = 0; ack < 70; ++ack)
    queues->arrive(PortId(0), PortId(2), node.ack(100 + ack), node);
  REQUIRE(node.frames.empty());  // 4,160 bytes each, and 4,480 of ACKs
  queues->arrive(PortId(1), PortId(2), node.data(2, kPacket), node);
  REQUIRE(node.frames.size() == 1);
  REQUIRE(node.frames[0].first == 1);
  // The data class is paused at the other end: ACKs go on, and would go first anyway.
  queues->frame(PortId(2), node.frames[0].second, node);
  for (std::uint32_t ack = 0; ack < 70; ++ack) {
    const PacketHandle packet = node.send(*queues, PortId(2));
    REQUIRE(node.pool[packet].number == 100 + ack);
    node.leave(*queues);
  }
  REQUIRE(node.send(*queues, PortId(2)) == NodeQueues::kNone);
}

TEST_CASE("data is marked between the thresholds, ACKs are not") {
  FakeNode node;
  const auto queues = make_queues("pfc:xoff=1MB,kmin=8320,kmax=8320", 2);
  for (std::uint32_t number = 0; number < 5; ++number) {
    queues->arrive(PortId(0), PortId(1), node.data(number, kPacket), node);
    queues->arrive(PortId(0), PortId(1), node.ack(100 + number), node);
  }
  // Data 2 finds 2 packets and 2 ACKs, 8,448 bytes.
  REQUIRE(node.marked == std::vector<std::uint32_t>{2, 3, 4});
}

TEST_CASE("values that make no sense are refused") {
  for (const char* text : {"pfc:classes=0", "pfc:classes=3", "pfc:xoff=10KB,xon=11KB", "pfc:buffer=100KB",
                           "pfc:xoff=1MB,buffer=1MB", "pfc:kmin=2,kmax=1", "pfc:pmax=2"}) {
    INFO(text);
    REQUIRE_THROWS_AS(make_queues(text, 4), InputError);
  }
  // 4 ports of 400 Gb/s and 500 ns: a headroom of 50,000 + 8,320 + 480 bytes each; the rest is xoff.
  const auto queues = make_queues("pfc:buffer=400000", 4);
  REQUIRE(queues->capacity_bytes(PortId(0)) == 400'000);
}

TEST_CASE("an incast that is paused takes as long as one that fits into the buffer") {
  // Default xon: what leaves in a cable's round trip, so the bottleneck never rests.
  const auto topology = star(9, Bandwidth::gbps(400), Time::ns(500), Time::ns(150));
  const std::string queue = GENERATE("pfc:xoff=80KB", "pfc:xoff=80KB,classes=2", "pfc:xoff=80KB,xon=70KB");
  Options options{.queue = queue, .expected = held_back_in_one_lane()};
  if (queue == "pfc:xoff=80KB,classes=2") {
    options.expected.lane = [](std::uint32_t, const Sighting& packet) { return packet.ack ? 0 : 1; };
  }
  Simulation simulation(topology, options);
  constexpr int kSenders = 8, kPackets = 200;
  for (std::uint32_t host = 1; host <= kSenders; ++host) simulation.send(host, 0, kPackets * 4096);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("pause") >= kSenders);
  REQUIRE(simulation.signal("drop") == 0);
  const Time packet = Bandwidth::gbps(400).serialization(kPacket);
  Time last;
  for (const auto& [message, time] : simulation.client.delivered) last = std::max(last, time);
  REQUIRE(last == packet + Time::ns(650) + packet * (kSenders * kPackets) + Time::ns(500));
}

TEST_CASE("nothing is lost at any load where no circle is") {
  std::uint64_t pauses = 0;
  REQUIRE(rc::check([&](std::uint32_t seed) {
    RandomStream random(seed, 2);
    const auto topology = random_topology(random, false);
    const auto xoff = random.below(60'000);
    Options options;
    options.queue = "pfc:xoff=" + std::to_string(xoff);
    if (random.below(2) == 0) options.queue += ",xon=" + std::to_string(random.below(xoff + 1));
    options.expected = held_back_in_one_lane();
    if (random.below(2) == 0) {
      options.queue += ",classes=2";
      options.expected.lane = [](std::uint32_t, const Sighting& packet) { return packet.ack ? 0 : 1; };
    }
    if (random.below(2) == 0) options.policy = spray();
    options.seed = seed;
    Simulation simulation(topology, options);
    for (const Message& message : crowded_messages(topology, random)) {
      simulation.send(message.source, message.destination, message.bytes);
    }
    simulation.run();
    RC_ASSERT(simulation.verdict() == "");
    RC_ASSERT(simulation.signal("drop") == 0u);
    RC_ASSERT(simulation.network.deadlock().empty());
    pauses += simulation.signal("pause");
  }));
  REQUIRE(pauses > 1000);
}

TEST_CASE("a headroom that ignores the cable loses packets, and says so") {
  const auto topology = star(5, Bandwidth::gbps(400), Time::ns(500), Time());
  Simulation simulation(topology,
                        {.queue = "pfc:xoff=20KB,headroom=20KB", .expected = held_back_in_one_lane()});
  for (std::uint32_t host = 1; host <= 4; ++host) simulation.send(host, 0, 400'000);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("headroom_overflow") > 0);
  REQUIRE(simulation.signal("headroom_overflow") == simulation.signal("drop"));
}

TEST_CASE("a ring of full buffers is a deadlock, found alike in any division") {
  const auto topology = ring(5);
  const std::vector<Message> messages = ring_messages(topology);
  const Options options{.queue = "pfc:xoff=40KB"};
  Simulation simulation(topology, options);
  for (const Message& message : messages) {
    simulation.send(message.source, message.destination, message.bytes);
  }
  RunOn on;
  REQUIRE(simulation.network.run(on) == StopReason::kDeadlock);
  REQUIRE(simulation.network.deadlock().size() == 6);  // a heading and the five links of the ring
  REQUIRE(simulation.client.deliveries == 0);

  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == 0);
  RandomStream random(3, 3);
  for (const std::uint32_t parts : {2, 4}) {
    REQUIRE(run_divided(topology, options, messages, random_division(topology, parts, random), 2) == whole);
  }
}

TEST_CASE("pauses cross partitions: the same results for any number of them and of threads") {
  REQUIRE(rc::check([](std::uint32_t seed) {
    RandomStream random(seed, 4);
    const auto topology = random_topology(random, false);
    const auto messages = crowded_messages(topology, random);
    Options options{.control = random.below(2) == 0 ? "dctcp" : "fixed_window:packets=100",
                    .queue = random.below(2) == 0 ? "pfc:xoff=20KB" : "pfc:xoff=9KB,classes=2",
                    .policy = random.below(2) == 0 ? spray() : one_path(),
                    .seed = seed};
    check_divisions(topology, options, messages, random);
  }));
}

}  // namespace
}  // namespace weft::sim::packet
