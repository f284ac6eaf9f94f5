// Credits and virtual channels: what may be sent, what full rate needs, and when packets wait in a circle.
#include "sim/packet/queues/credit.h"

#include <rapidcheck.h>

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/fake_node.h"
#include "tests/sim/packet/lossless.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kPacket = 4160;

TEST_CASE("a packet is sent only with credits for all of it, and its own go back when it has left") {
  FakeNode node;
  const auto queues = make_queues("credit:vcs=2,buffer=10000,selection=by_flow", 3);
  const auto arrive = [&](std::uint32_t number, std::uint8_t channel) {
    const PacketHandle packet = node.data(number, kPacket);
    node.pool[packet].channel = channel;
    queues->arrive(PortId(0), PortId(1), packet, node);
  };
  for (std::uint32_t number = 0; number < 8; ++number) arrive(number, number < 4 ? 0 : 1);
  // 10,000 bytes of credits have room for two packets in each channel; who came first goes first.
  std::vector<std::uint32_t> sent;
  for (PacketHandle packet; (packet = node.send(*queues, PortId(1))) != NodeQueues::kNone;) {
    sent.push_back(node.pool[packet].number);
    node.leave(*queues);
  }
  REQUIRE(sent == std::vector<std::uint32_t>{0, 1, 4, 5});
  // All to where the packets came from, when they have left.
  REQUIRE(node.rooms.size() == 4);
  for (std::int64_t n = 0; n < 4; ++n) {
    REQUIRE(node.rooms[n].port == 0);
    REQUIRE(node.rooms[n].when == Time::us(n + 1));
  }
  std::vector<NodeQueues::Lane> lanes;
  queues->held_back(node.now(), lanes);
  REQUIRE(lanes == std::vector<NodeQueues::Lane>{{PortId(1), 0}, {PortId(1), 1}});
  lanes.clear();
  queues->filled_by({PortId(0), 1}, node.now(), Time::max(), lanes);
  REQUIRE(lanes == std::vector<NodeQueues::Lane>{{PortId(1), 1}});

  // What such a frame says, the other end understands: 4,160 bytes of channel 1.
  queues->frame(PortId(1), node.rooms[2].content, node);
  REQUIRE(node.woken == std::vector<std::uint32_t>{1});
  const PacketHandle packet = node.send(*queues, PortId(1));
  REQUIRE(node.pool[packet].number == 6);
  REQUIRE(node.send(*queues, PortId(1)) == NodeQueues::kNone);
}

// One input's packets are older than the other's, and came later.
TEST_CASE("by age, the packet that left its host first goes first, whatever its channel and when it came") {
  for (const bool by_age : {false, true}) {
    FakeNode node;
    const auto queues = make_queues(std::string("credit:vcs=2,buffer=100000,selection=by_flow,arbitration=") +
                                        (by_age ? "age" : "arrival"),
                                    4);
    const auto arrive = [&](std::uint32_t number, std::uint32_t in, std::uint8_t channel, Time sent) {
      const PacketHandle packet = node.data(number, kPacket);
      node.pool[packet].channel = channel;
      node.pool[packet].sent_ps = sent.ps();
      queues->arrive(PortId(in), PortId(3), packet, node);
    };
    // A network that has run for so long counts on.
    const Time start = Time::us(4'000'000) + Time::us(400'000) * GENERATE(0, 1, 2, 3);
    arrive(0, 0, 0, start + Time::us(5));
    arrive(1, 0, 1, start + Time::us(6));
    arrive(2, 0, 0, start + Time::us(7));
    arrive(3, 1, 0, start + Time::us(1));
    arrive(4, 1, 0, start + Time::us(2));
    arrive(5, 2, 1, start + Time::us(6));  // as old as another: behind it
    std::vector<std::uint32_t> sent;
    for (PacketHandle packet; (packet = node.send(*queues, PortId(3))) != NodeQueues::kNone;) {
      sent.push_back(node.pool[packet].number);
      node.leave(*queues);
    }
    REQUIRE(sent == (by_age ? std::vector<std::uint32_t>{3, 4, 0, 1, 5, 2}
                            : std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
    // Each has its room back where it came from.
    std::vector<std::uint32_t> from;
    for (const auto& room : node.rooms) from.push_back(room.port);
    REQUIRE(from == (by_age ? std::vector<std::uint32_t>{1, 1, 0, 0, 2, 0}
                            : std::vector<std::uint32_t>{0, 0, 0, 1, 1, 2}));
  }
}

TEST_CASE("by groups, a link out of a group is in the channel of one within it, and any other in the next") {
  FakeNode node;
  constexpr std::size_t kWithin = 0, kOut = 1, kHost = 2;
  std::vector<PortSite> ports(6, {.rate = Bandwidth::gbps(400), .latency = Time::ns(500)});
  for (const std::size_t port : {kOut, kOut + 3}) ports[port].crosses_groups = true;
  for (const std::size_t port : {kHost, kHost + 3}) ports[port].to_host = true;
  const Discipline discipline = credit();
  const ModuleChoice choice = parse_module_choice("credit:vcs=3,selection=by_group");
  const auto queues =
      discipline.make(Parameters(discipline.info, choice),
                      {.ports = ports, .packet_bytes = kPacket, .random = RandomStream(1, 2)});
  const auto channel = [&](std::size_t in, std::size_t out, std::uint8_t before) {
    const PacketHandle packet = node.data(0, kPacket);
    node.pool[packet].channel = before;
    queues->arrive(PortId(static_cast<std::uint32_t>(in)), PortId(static_cast<std::uint32_t>(out + 3)),
                   packet, node);
    return std::uint32_t{node.pool[packet].channel};
  };
  REQUIRE(channel(kHost, kWithin, 0) == 0);
  REQUIRE(channel(kHost, kOut, 0) == 0);
  for (std::uint8_t before = 0; before < 3; ++before) {
    const std::uint32_t next = std::min(before + 1u, 2u);
    REQUIRE(channel(kWithin, kOut, before) == before);
    REQUIRE(channel(kOut, kWithin, before) == next);
    REQUIRE(channel(kWithin, kWithin, before) == next);
    REQUIRE(channel(kOut, kOut, before) == next);
    REQUIRE(channel(kOut, kHost, before) == 0);
  }
}

TEST_CASE("values that make no sense are refused") {
  for (const char* text : {"credit:vcs=0", "credit:vcs=65", "credit:buffer=4159", "credit:selection=any"}) {
    INFO(text);
    REQUIRE_THROWS_AS(make_queues(text, 2), InputError);
  }
}

TEST_CASE("with room for n packets, n are sent in each credit loop") {
  const Time latency = Time::ns(500), pipeline = Time::ns(100);
  const Bandwidth rate = Bandwidth::gbps(400);
  const Time packet = rate.serialization(kPacket);
  // First bit, last bit, through the switch, on its next wire; then the frame.
  const Time loop = latency * 2 + pipeline + packet * 2 + rate.serialization(64);
  const auto topology = chain(2, rate, latency, pipeline);
  const int room = GENERATE(1, 2, 5, 15, 0);
  const std::string buffer = room == 0 ? "auto" : std::to_string(room * kPacket + 100);
  constexpr int kPackets = 300;
  Simulation simulation(topology, {.queue = "credit:buffer=" + buffer, .expected = held_back_in_one_lane()});
  simulation.send(0, 1, kPackets * 4096);
  simulation.run();
  INFO(room);
  REQUIRE(simulation.verdict() == "");
  const int last = kPackets - 1;
  const Time start = room == 0 ? packet * last : loop * (last / room) + packet * (last % room);
  REQUIRE(simulation.client.delivered.at(0) == start + (packet + latency) * 3 + pipeline * 2);
}

// Recomputes all credits from what is seen at links: never more bytes at the end of a cable, as far as its
// sender knows, than its buffer holds. Passes everything on to another checker.
class CreditChecker final : public Observer {
 public:
  CreditChecker(const topologies::Topology& topology, Observer& also, std::uint64_t buffer, int channels)
      : topology_(topology), also_(also), buffer_(buffer), channels_(channels) {}

  int lane(std::uint32_t channel, const Sighting& packet) const {
    if (is_host(topology_.channels()[channel].from) || is_host(topology_.channels()[channel].to)) return 0;
    return std::min(crossed_.at(packet.handle), channels_ - 1);
  }
  void on_inject(Time now, const Sighting& packet) override {
    crossed_[packet.handle] = 0;
    came_.erase(packet.handle);
    also_.on_inject(now, packet);
  }
  void on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override {
    also_.on_enqueue(now, channel, packet, departure);
  }
  void on_transmit(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override {
    const std::pair to(channel, lane(channel, packet));
    if (const auto came = came_.find(packet.handle); came != came_.end()) {
      const topologies::Channel& wire = topology_.channels()[came->second.first];
      const Time back = departure + wire.rate.serialization(64) + wire.latency;
      returning_[came->second].emplace(back, packet.bytes);
    }
    came_[packet.handle] = to;
    if (!is_host(topology_.channels()[channel].to)) {
      auto& returning = returning_[to];
      std::uint64_t& taken = taken_[to];
      taken += packet.bytes;
      while (!returning.empty() && returning.begin()->first <= now) {
        taken -= returning.begin()->second;
        returning.erase(returning.begin());
      }
      if (taken > buffer_) ++overdrawn;
      most_taken = std::max(most_taken, taken);
      if (!is_host(topology_.channels()[channel].from)) ++crossed_[packet.handle];
    }
    also_.on_transmit(now, channel, packet, departure);
  }
  void on_drop(Time now, std::uint32_t channel, const Sighting& packet) override {
    also_.on_drop(now, channel, packet);
  }
  void on_arrive(Time now, std::uint32_t channel, const Sighting& packet) override {
    also_.on_arrive(now, channel, packet);
  }
  void on_deliver(Time now, const Sighting& packet) override { also_.on_deliver(now, packet); }

  std::uint64_t overdrawn = 0, most_taken = 0;

 private:
  bool is_host(topologies::Vertex v) const { return topology_.node(v).kind == topologies::NodeKind::kHost; }

  const topologies::Topology& topology_;
  Observer& also_;
  const std::uint64_t buffer_;
  const int channels_;
  using Buffer = std::pair<std::uint32_t, int>;                     // channel and lane
  std::map<std::uint32_t, int> crossed_;                            // by handle: links between switches
  std::map<std::uint32_t, Buffer> came_;                            // by handle: the buffer it is in
  std::map<Buffer, std::uint64_t> taken_;                           // as the sender knows
  std::map<Buffer, std::multimap<Time, std::uint32_t>> returning_;  // when, bytes
};

TEST_CASE("no buffer overflows, nothing is lost and nothing stops, whatever the topology") {
  std::uint64_t stalls = 0;
  int filled = 0;
  REQUIRE(rc::check([&](std::uint32_t seed) {
    RandomStream random(seed, 2);
    const auto topology = random_topology(random, true);
    const std::uint64_t buffer = kPacket + random.below(30'000);
    constexpr int kChannels = 6;  // no shortest path between 6 switches has more than 5 links
    CreditChecker* credits = nullptr;
    Options options{
        .queue = "credit:vcs=6,buffer=" + std::to_string(buffer),
        .policy = random.below(2) == 0 ? spray() : one_path(),
        .seed = seed,
        .expected = {.work_conserving = false, .lane = [&](std::uint32_t channel, const Sighting& packet) {
                       return credits->lane(channel, packet);
                     }}};
    Simulation simulation(topology, options);
    CreditChecker checker(topology, simulation.scheduled, buffer, kChannels);
    credits = &checker;
    simulation.network.set_observer(&checker);
    for (const Message& message : crowded_messages(topology, random)) {
      simulation.send(message.source, message.destination, message.bytes);
    }
    simulation.run();
    RC_ASSERT(simulation.verdict() == "");
    RC_ASSERT(simulation.signal("drop") == 0u);
    RC_ASSERT(checker.overdrawn == 0u);
    if (checker.most_taken + kPacket > buffer) ++filled;  // a full packet did not fit any more
    stalls += simulation.signal("credit_stall");
  }));
  REQUIRE(stalls > 1000);
  CAPTURE(filled);
  REQUIRE(filled > 20);
}

TEST_CASE("one channel makes a ring of full buffers a deadlock, one for each hop does not") {
  const auto topology = ring(5);
  const std::vector<Message> messages = ring_messages(topology);
  const int channels = GENERATE(1, 2);
  const Options options{.queue = "credit:vcs=" + std::to_string(channels),
                        .expected = {.work_conserving = false}};
  Simulation simulation(topology, options);
  for (const Message& message : messages) {
    simulation.send(message.source, message.destination, message.bytes);
  }
  RunOn on;
  const StopReason reason = simulation.network.run(on);
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  RandomStream random(3, 3);
  REQUIRE(run_divided(topology, options, messages, random_division(topology, 3, random), 2) == whole);
  if (channels == 1) {
    REQUIRE(reason == StopReason::kDeadlock);
    REQUIRE(simulation.network.deadlock().size() == 6);  // a heading and the five links of the ring
    REQUIRE(simulation.client.deliveries < messages.size());
  } else {
    REQUIRE(reason == StopReason::kNone);
    REQUIRE(simulation.client.deliveries == messages.size());
    REQUIRE(simulation.signal("drop") == 0);
  }
}

TEST_CASE("credits of packets that links lose are not lost") {
  const auto topology = chain(2, Bandwidth::gbps(400), Time::ns(500), Time());
  // Wrong bits on the middle link, and short cuts of the first and the middle one with packets on them.
  Options options{.queue = "credit:buffer=20KB", .config = {.reconvergence = Time::us(10'000)}};
  options.changes.push_back({.at = Time(), .link = 1, .bit_error_rate = 1e-6});
  for (int i = 1; i <= 60; ++i) {
    const std::uint32_t link = static_cast<std::uint32_t>(i) % 2;
    options.changes.push_back({.at = Time::us(15 * i), .link = link, .rate_share = 0});
    options.changes.push_back(
        {.at = Time::us(15 * i + 1), .link = link, .bit_error_rate = link == 1 ? 1e-6 : 0});
  }
  const std::vector<Message> messages{{.source = 0, .destination = 1, .bytes = 4'000'000, .client = {0}}};
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == 1);
  // Had every lost packet kept its credits, the four packets' room would be gone long before.
  std::map<std::string, std::uint64_t> signals(whole.signals.begin(), whole.signals.end());
  REQUIRE(signals["corrupt"] > 10);
  REQUIRE(signals["link_down_loss"] > 20);
}

void check_random_divisions(std::uint32_t seed) {
  RandomStream random(seed, 4);
  constexpr std::array kQueues = {"credit:vcs=6,buffer=9KB", "credit:vcs=6",
                                  "credit:vcs=3,selection=by_flow,buffer=20KB"};
  const auto kind = random.below(kQueues.size());
  const auto topology = random_topology(random, kind < 2);
  const auto messages = crowded_messages(topology, random);
  Options options{
      .queue = kQueues[kind], .policy = random.below(2) == 0 ? spray() : one_path(), .seed = seed};
  if (random.below(2) == 0) {
    options.control = "dctcp";
    options.queue += ",kmin=10KB,kmax=30KB";
  }
  check_divisions(topology, options, messages, random);
}

TEST_CASE("credits cross partitions: the same results for any number of them and of threads") {
  REQUIRE(rc::check(check_random_divisions));
  // In one of a thousand nothing but room that comes back from another partition lets anything happen there.
  REQUIRE(rc::check("a window begins when room that was mailed may be used",
                    [] { check_random_divisions(674718112); }));
}

}  // namespace
}  // namespace weft::sim::packet
