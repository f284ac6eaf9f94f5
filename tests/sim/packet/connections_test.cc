// Messages that share connections: their order, their times alone and together, send buffers, rest and new
// start.
#include "sim/packet/connections.h"

#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "sim/packet/connection_table.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096;
const Bandwidth kRate = Bandwidth::gbps(400);
const Time kLatency = Time::ns(500);
const Time kFull = kRate.serialization(4160);
const Time kAck = kRate.serialization(64);

Options shared(const std::string& control = "fixed_window:packets=1000") {
  Options options;
  options.control = control;
  options.config.connections.per_message = false;
  return options;
}
// Tells how long so many full packets in a row take over a chain with one switch, from the first bit to the
// last.
Time one_way(std::int64_t packets) { return kFull * (packets + 1) + kLatency * 2; }

TEST_CASE("messages of one connection go one behind the other, those of others beside them") {
  const auto topology = chain(1, kRate, kLatency, Time());
  const bool is_shared = GENERATE(true, false);
  Options options = shared();
  options.config.connections.per_message = !is_shared;
  Simulation simulation(topology, options);
  const auto first = simulation.send(0, 1, 100 * kMtu), second = simulation.send(0, 1, 100 * kMtu);
  const auto third = simulation.send(0, 1, 100 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const auto& delivered = simulation.client.delivered;
  REQUIRE(delivered.at(third) == one_way(300));
  // One behind the other; or packet by packet in turn, but for the first one's second packet, which is before
  // the others' first.
  REQUIRE(delivered.at(first) == one_way(is_shared ? 100 : 296));
  REQUIRE(delivered.at(second) == one_way(is_shared ? 200 : 299));
}

TEST_CASE("what waits behind data on its connection does not pass it on another channel's turn") {
  const auto topology = chain(1, kRate, kLatency, Time());
  Simulation simulation(topology, shared());
  simulation.network.inject({.source = 0, .destination = 1, .bytes = 100 * kMtu, .client = {0}});
  simulation.network.inject({.source = 0, .destination = 1, .bytes = 0, .client = {1}});
  simulation.network.inject({.source = 0, .destination = 1, .channel = 1, .bytes = 0, .client = {2}});
  simulation.run();
  const auto& delivered = simulation.client.delivered;
  const Time header = kRate.serialization(64);
  REQUIRE(delivered.at(0) == one_way(100) + header);  // the header of another channel took its turn
  REQUIRE(delivered.at(1) == delivered.at(0) + header);
  REQUIRE(delivered.at(2) == kFull * 3 + header + kLatency * 2);  // behind two packets, at the switch too
}

TEST_CASE("windows, round trips and paths belong to the connection") {
  // A window of 4 packets, each message one packet: four are under way at once, as if they were one message.
  const auto topology = chain(1, kRate, kLatency, Time());
  Simulation many(topology, shared("fixed_window:packets=4")),
      one(topology, shared("fixed_window:packets=4"));
  std::uint32_t last = 0;
  for (int i = 0; i < 20; ++i) last = many.send(0, 1, kMtu);
  many.run();
  REQUIRE(many.verdict() == "");
  one.send(0, 1, 20 * kMtu);
  one.run();
  REQUIRE(many.client.delivered.at(last) == one.client.delivered.at(0));
  REQUIRE(many.signal("connection") == 1);
}

TEST_CASE("a send buffer takes the last bytes before they are acknowledged") {
  const auto topology = chain(1, kRate, kLatency, Time());
  const std::uint64_t buffered = GENERATE(0u, 1u, 10u, 99u, 100u, 1000u);
  Options options = shared();
  options.config.connections.send_buffer_bytes = buffered * kMtu;
  Simulation simulation(topology, options);
  const auto message = simulation.send(0, 1, 100 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  // The ACK of the k-th packet is there one round trip after the first, and k - 1 packets' times.
  const auto ack_of = [&](std::int64_t k) { return one_way(k) + kAck * 2 + kLatency * 2; };
  const Time expected = buffered >= 100 ? Time() : ack_of(static_cast<std::int64_t>(100 - buffered));
  REQUIRE(simulation.client.sent.at(message) == expected);
  REQUIRE(simulation.client.delivered.at(message) == one_way(100));
}

TEST_CASE("a handshake rides with the last packet of what waits before it in a send buffer") {
  const auto topology = chain(1, kRate, kLatency, Time());
  const bool buffered = GENERATE(false, true);
  Options options = shared();
  options.config.connections.send_buffer_bytes = buffered ? 1 : 0;
  Simulation simulation(topology, options);
  simulation.network.inject({.source = 0, .destination = 1, .bytes = 100 * kMtu, .client = {0}});
  for (std::uint32_t i = 1; i <= 3; ++i) {
    simulation.network.inject({.source = 0, .destination = 1, .control = i < 3, .bytes = 0, .client = {i}});
  }
  simulation.network.inject({.source = 0, .destination = 1, .bytes = kMtu, .client = {4}});
  simulation.run();
  const auto& delivered = simulation.client.delivered;
  const Time header = kRate.serialization(64);
  REQUIRE(delivered.at(0) == one_way(100));
  REQUIRE(delivered.at(1) == one_way(100) + (buffered ? Time() : header));
  REQUIRE(delivered.at(2) == one_way(100) + (buffered ? Time() : header * 2));
  // A message of the user's has its own packet, and so has what nothing waits before.
  REQUIRE(delivered.at(3) == delivered.at(2) + header);
  REQUIRE(simulation.network.totals().packets_injected == 2 * (buffered ? 102 : 104));
  const Time now = simulation.engine.now();
  simulation.network.inject({.source = 0, .destination = 1, .control = true, .bytes = 0, .client = {5}});
  simulation.run();
  REQUIRE(delivered.at(5) == now + (header + kLatency) * 2);
}

struct Notes {
  int starts = 0;
  std::vector<Time> idle;
};

// Notes when it is made and woken.
class Noting final : public congestion::Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters&) {}
  };
  static inline thread_local Notes notes;
  Noting(const congestion::FlowInfo&, const Settings&) {}
  void start(Time) override {
    ++notes.starts;
    allowed_.window_bytes = 1 << 30;
  }
  void on_ack(const congestion::Ack&) override {}
  void on_loss(const congestion::Loss&) override {}
  void on_timeout(const congestion::Loss&) override {}
  void on_idle(Time, Time idle) override { notes.idle.push_back(idle); }
};

TEST_CASE("a connection that rested for long enough starts anew, else its control hears for how long") {
  Noting::notes = {};
  const congestion::Control control{.info = {.name = "noting"},
                                    .make_factory = congestion::SenderFactoryFor<Noting>::make};
  const auto topology = chain(1, kRate, kLatency, Time());
  Options options = shared("noting");
  options.config.connections.idle = Time::us(50);
  Simulation simulation(topology, options, control);
  const Time round_trip = one_way(1) + kAck * 2 + kLatency * 2;
  simulation.send(0, 1, kMtu);
  simulation.run();
  // Nothing else happens until the client's own event at the time of the next message.
  const auto send_at = [&](Time at) {
    simulation.engine.schedule(at, 0, kClientKinds, 0);
    simulation.run();
    simulation.send(0, 1, kMtu);
    simulation.run();
  };
  send_at(round_trip + Time::us(49));
  REQUIRE(Noting::notes.starts == 1);
  REQUIRE(Noting::notes.idle == std::vector<Time>{Time::us(49)});
  send_at(round_trip * 2 + Time::us(49 + 50));
  REQUIRE(Noting::notes.starts == 2);
  REQUIRE(Noting::notes.idle.size() == 1);
  REQUIRE(simulation.signal("connection") == 2);
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("order is kept on a connection, whatever is lost and however paths differ; all arrives once") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 9)));
  RandomStream random(seed, 5);
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=4,spines=4,hosts_per_leaf=2"));
  Options options = shared("dctcp");
  options.seed = seed;
  options.queue = "ecn:capacity=60KB";
  options.policy = random.below(2) == 0 ? one_path() : spray();
  options.config.ack_every = random.below(2) == 0 ? 1 : 4;
  options.config.connections.send_buffer_bytes = random.below(2) * 20'000;
  if (random.below(2) == 0) options.config.nic_choice = NicChoice::kSpray;
  Simulation simulation(topology, options);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> given;
  for (int i = 0; i < 300; ++i) {
    const auto from = static_cast<std::uint32_t>(random.below(8)),
               to = static_cast<std::uint32_t>(random.below(4));
    if (from == to) continue;
    given[{from, to}].push_back(simulation.send(from, to, random.below(60'000)));
  }
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") > 0);
  for (const auto& [pair, messages] : given) {
    for (std::size_t i = 1; i < messages.size(); ++i) {
      CHECK(simulation.client.delivered.at(messages[i - 1]) <= simulation.client.delivered.at(messages[i]));
      CHECK(simulation.client.sent.at(messages[i - 1]) <= simulation.client.sent.at(messages[i]));
    }
  }
}

TEST_CASE("shared connections: one account for any division and number of threads") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 7)));
  RandomStream random(seed, 6);
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=4,spines=3,hosts_per_leaf=2"));
  Options options = shared("dctcp");
  options.seed = seed;
  options.queue = random.below(2) == 0 ? "ecn:capacity=40KB" : "composite:capacity=40KB";
  options.policy = random.below(2) == 0 ? one_path() : spray();
  options.config.ack_every = random.below(2) == 0 ? 1 : 3;
  options.config.connections.idle = Time::us(static_cast<std::int64_t>(5 + random.below(40)));
  options.config.connections.send_buffer_bytes = random.below(2) * 10'000;
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const bool control = random.below(4) == 0;
    messages.push_back({.source = static_cast<std::uint32_t>(random.below(8)),
                        .destination = static_cast<std::uint32_t>(random.below(8)),
                        .notify_sent = !control,
                        .control = control,
                        .channel = static_cast<std::uint32_t>(random.below(2)),
                        .bytes = control ? 0 : random.below(40'000),
                        .client = {i}});
  }
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == messages.size());
  for (std::uint32_t parts : {2u, 5u}) {
    const Account divided =
        run_divided(topology, options, messages, random_division(topology, parts, random), 2);
    REQUIRE(divided == whole);
  }
}

TEST_CASE("packets that come late are counted, and none on one path without loss") {
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=2,spines=4,hosts_per_leaf=4"));
  for (const bool sprayed : {false, true}) {
    Options options;
    options.policy = sprayed ? spray() : one_path();
    Simulation simulation(topology, options);
    for (std::uint32_t host = 0; host < 4; ++host) simulation.send(host, 4 + host, 500 * kMtu);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    const results::NetworkTotals totals = simulation.network.totals();
    std::uint64_t packets = 0, flows = 0, farthest = 0;
    for (const results::Flow& flow : simulation.network.flows()) {
      packets += flow.out_of_order;
      flows += flow.out_of_order > 0;
      farthest = std::max<std::uint64_t>(farthest, flow.reorder_distance);
    }
    REQUIRE((totals.out_of_order_packets > 0) == sprayed);
    REQUIRE(totals.out_of_order_packets == packets);
    REQUIRE(totals.out_of_order_flows == flows);
    REQUIRE(totals.max_reorder_distance == farthest);
  }
}

TEST_CASE("the table of connections against a map") {
  RandomStream random(3, 3);
  ConnectionTable table;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint16_t>, std::uint32_t> naive;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    const ConnectionKey key{HostId(random.below(6)), HostId(random.below(6)),
                            static_cast<std::uint32_t>(random.below(4)),
                            static_cast<std::uint16_t>(random.below(2) << 8 | random.below(2))};
    const auto [found, fresh] = naive.try_emplace({key.source, key.destination, key.channel, key.nics}, step);
    REQUIRE(table.find(key) == (fresh ? kNoSlot : found->second));
    if (fresh) {
      table.insert(key, SlotId{step});
    } else if (random.below(2) == 0) {
      table.erase(key);
      naive.erase(found);
    }
    REQUIRE(table.size() == naive.size());
  }
}

}  // namespace
}  // namespace weft::sim::packet
