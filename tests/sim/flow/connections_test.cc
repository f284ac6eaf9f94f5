// Messages that share connections.
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "sim/routing/policies/ecmp.h"
#include "tests/sim/flow/support.h"

namespace weft::sim::flow {
namespace {

using packet::star;

// 10 bytes a nanosecond, no headers and no latency beyond a packet's: sums are easy to follow.
FlowConfig plain(std::uint64_t send_buffer = 0, bool per_message = false) {
  FlowConfig config;
  config.header_bytes = 0;
  config.mtu_bytes = 1000;
  config.connections = {.per_message = per_message, .send_buffer_bytes = send_buffer, .idle = {}};
  return config;
}
topologies::Topology hub(std::size_t hosts) { return star(hosts, Bandwidth::gbps(80), Time(), Time()); }
constexpr Time kPacket = Time::ns(100);

Message message(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes, std::uint32_t number,
                std::uint32_t channel = 0) {
  return {.source = source,
          .destination = destination,
          .notify_sent = true,
          .channel = channel,
          .bytes = bytes,
          .client = {number}};
}

// Within the picoseconds that rounded rates cost.
bool near(Time found, Time expected) { return found >= expected && found <= expected + Time::ps(20); }

}  // namespace

TEST_CASE("messages of a connection follow each other") {
  const topologies::Topology topology = hub(2);
  Run run(topology, routing::ecmp(), plain());
  for (std::uint32_t i = 0; i < 4; ++i) run.send(0, 1, 100'000);
  run.run();
  for (std::uint32_t i = 0; i < 4; ++i) {
    CHECK(near(run.client.sent.at(i), Time::us(10 * (i + 1)) + kPacket));  // acknowledged without a byte
    CHECK(near(run.client.delivered.at(i), Time::us(10 * (i + 1)) + kPacket));
  }
  CHECK(run.network.delivers_in_order());
  CHECK(run.verdict() == "");
}

TEST_CASE("a connection has one share of a link, however much waits in it; its channels have theirs") {
  const topologies::Topology topology = hub(3);
  Run run(topology, routing::ecmp(), plain());
  // Three of 100 kB in one connection, one of 150 kB in another; and then a second channel of the first pair.
  for (std::uint32_t i = 0; i < 3; ++i) run.network.inject(message(0, 2, 100'000, i));
  run.network.inject(message(1, 2, 150'000, 3));
  run.run();
  // At 5 bytes a ns each: 20 us the first, 30 us the other host's; then the rest alone.
  CHECK(near(run.client.delivered.at(0), Time::us(20) + kPacket));
  CHECK(near(run.client.delivered.at(3), Time::us(30) + kPacket));
  CHECK(near(run.client.delivered.at(1), Time::us(35) + kPacket));
  CHECK(near(run.client.delivered.at(2), Time::us(45) + kPacket));

  Run channels(topology, routing::ecmp(), plain());
  channels.network.inject(message(0, 2, 100'000, 0, 0));
  channels.network.inject(message(0, 2, 100'000, 1, 1));
  channels.network.inject(message(0, 2, 100'000, 2, 0));
  channels.run();
  CHECK(near(channels.client.delivered.at(0), Time::us(20) + kPacket));
  CHECK(near(channels.client.delivered.at(1), Time::us(20) + kPacket));
  CHECK(near(channels.client.delivered.at(2), Time::us(30) + kPacket));
}

TEST_CASE("a handshake waits behind the data of its connection, and of no other") {
  const topologies::Topology topology = hub(3);
  Run run(topology, routing::ecmp(), plain());
  Message handshake = message(0, 2, 0, 1);
  handshake.control = true;
  run.network.inject(message(0, 2, 100'000, 0));
  run.network.inject(handshake);
  run.network.inject(message(0, 2, 50'000, 2));
  handshake.channel = 1;
  handshake.client[0] = 3;
  run.network.inject(handshake);
  run.run();
  CHECK(near(run.client.delivered.at(0), Time::us(10) + kPacket));
  CHECK(run.client.delivered.at(1) >= run.client.delivered.at(0));
  CHECK(near(run.client.delivered.at(1), Time::us(10) + kPacket));
  CHECK(near(run.client.delivered.at(2), Time::us(15) + kPacket));
  CHECK(run.client.delivered.at(3) == Time());  // no bytes, no latency
}

TEST_CASE("a sender is told when no more than the send buffer holds is left") {
  const topologies::Topology topology = hub(2);
  const bool per_message = GENERATE(false, true);
  Run run(topology, routing::ecmp(), plain(40'000, per_message));
  run.send(0, 1, 100'000);  // has 40 kB left after 6 us
  run.send(0, 1, 30'000);
  run.send(0, 1, 20'000);
  run.run();
  if (per_message) {
    CHECK(run.client.sent.at(1) == Time());
    CHECK(run.client.sent.at(2) == Time());
    return;
  }
  CHECK(near(run.client.sent.at(0), Time::us(6)));
  CHECK(near(run.client.sent.at(1), Time::us(9)));
  CHECK(near(run.client.sent.at(2), Time::us(11)));
  CHECK(near(run.client.delivered.at(2), Time::us(15) + kPacket));

  Run small(topology, routing::ecmp(), plain(40'000));
  small.send(0, 1, 30'000);  // all in the buffer at once
  small.send(0, 1, 30'000);  // when 20 kB are gone
  small.run();
  CHECK(small.client.sent.at(0) == Time());
  CHECK(near(small.client.sent.at(1), Time::us(2)));
  CHECK(small.verdict() == "");
}

TEST_CASE("one message in each connection: the times of messages without connections") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4"));
  const auto run = [&](bool per_message) {
    FlowConfig config;
    config.connections.per_message = per_message;
    Run run(topology, routing::spray(), config);
    for (std::uint32_t from = 0; from < 16; ++from) {
      for (std::uint32_t to = 0; to < 16; ++to) run.send(from, to, 1000 * (from * 7 + to * 3 + 1));
    }
    run.run();
    CHECK(run.verdict() == "");
    return std::pair(run.client.delivered, run.client.sent);
  };
  CHECK(run(true) == run(false));
}

TEST_CASE("random messages come in the order given, all of them, while links fail and come back") {
  const char* const shape = GENERATE("fat_tree:k=4", "torus:dims=3x4,hosts=2");
  const bool spray = GENERATE(false, true);
  const std::uint64_t send_buffer = GENERATE(0, 1, 200'000, 5'000'000);
  const bool fails = GENERATE(false, true);
  CAPTURE(shape, spray, send_buffer, fails);
  const topologies::Topology topology = topologies::build(parse_module_choice(shape));
  std::vector<LinkShare> changes;
  if (fails) {
    for (std::uint32_t link = 0; link < 8; ++link) changes.push_back({Time::us(50 + link), link, 0});
    for (std::uint32_t link = 0; link < 8; ++link)
      changes.push_back({Time::us(300 + link), link, link % 2 ? 1 : 0.5});
  }
  FlowConfig config;
  config.reconvergence = Time::us(100);
  config.connections = {.per_message = false, .send_buffer_bytes = send_buffer, .idle = {}};
  Run run(topology, spray ? routing::spray() : routing::ecmp(), config, changes);
  RandomStream random(1, 5);
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> connections;
  std::map<std::uint32_t, bool> is_control;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const auto from = static_cast<std::uint32_t>(random.below(4));
    const auto to = static_cast<std::uint32_t>(4 + random.below(3));
    const auto channel = static_cast<std::uint32_t>(random.below(2));
    Message next = message(from, to, random.below(4) == 0 ? 0 : random.below(1'000'000), i, channel);
    is_control[i] = next.control = next.bytes == 0 && random.below(2) == 0;
    connections[{from, to, channel}].push_back(i);
    run.network.inject(next);
  }
  run.run();
  REQUIRE(run.client.deliveries == 300);
  CHECK(run.client.sent.size() == 300);
  CHECK(run.network.open_flows() == 0);
  for (const auto& [between, messages] : connections) {
    Time delivered, sent;
    for (const std::uint32_t i : messages) {
      CHECK(run.client.delivered.at(i) >= delivered);
      delivered = run.client.delivered.at(i);
      // Without a buffer a message has been sent when its acknowledgement is back.
      const bool is_acknowledged = send_buffer == 0 && !is_control.at(i);
      CHECK((run.client.sent.at(i) > delivered) == is_acknowledged);
      if (is_control.at(i)) continue;
      CHECK(run.client.sent.at(i) >= sent);
      sent = run.client.sent.at(i);
    }
  }
}

}  // namespace weft::sim::flow
