// In-band telemetry: what ports write, against closed forms and against what an observer sees.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/congestion/utilization_window.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

using congestion::HopTelemetry;

constexpr std::uint32_t kMtu = 4096, kWire = 4160;
const Bandwidth kRate = Bandwidth::gbps(400);
const Time kFrame = kRate.serialization(kWire);  // of a full packet
const Time kLatency = Time::ns(500), kPipeline = Time::ns(100);

// What one ACK told.
struct Told {
  Time now, sent;  // the packet that it answers
  std::uint32_t hops = 0;
  std::vector<HopTelemetry> telemetry;
};

// A window that binds nothing, and a list of all that came.
class Listening final : public congestion::Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters) : header_bytes(parameters.whole("bytes")) {}
    std::uint32_t header_bytes;
  };
  Listening(const congestion::FlowInfo&, const Settings&) { allowed_.window_bytes = 1 << 30; }
  void start(Time) override {}
  void on_ack(const congestion::Ack& ack) override {
    told.push_back({ack.now, ack.now - ack.rtt, ack.hops, {ack.telemetry.begin(), ack.telemetry.end()}});
  }
  void on_loss(const congestion::Loss&) override {}
  void on_timeout(const congestion::Loss&) override {}

  static inline std::vector<Told> told;  // of the test that runs
};

congestion::Control listening(const char* bytes = "0") {
  Listening::told.clear();
  return {.info = {.name = "listening",
                   .summary = "",
                   .source = "",
                   .parameters = {{"bytes", ParameterType::kInteger, bytes, ""}}},
          .needs = {.required = Capability::kTelemetry},
          .make_factory = congestion::SenderFactoryFor<Listening>::make};
}

using Stamp = std::tuple<std::int64_t, std::uint64_t, std::uint64_t>;  // at, queue, sent

std::vector<Stamp> all_stamps() {
  std::vector<Stamp> stamps;
  for (const Told& told : Listening::told) {
    for (const HopTelemetry& hop : told.telemetry) {
      stamps.emplace_back(hop.at.ps(), hop.queue_bytes, hop.sent_bytes);
    }
  }
  std::sort(stamps.begin(), stamps.end());
  return stamps;
}

const char* const kQueues[] = {"droptail:capacity=1GB", "ecn:capacity=1GB",       "shared:buffer=1GB,alpha=8",
                               "priority:capacity=1GB", "composite:capacity=1GB", "red:capacity=1GB",
                               "pfc:xoff=100MB",        "credit:buffer=100MB"};

TEST_CASE("two senders at full rate into one port: every packet carries the queue it leaves behind") {
  // Packet k of each is at the switch at first + k F, and the port sends packet j, from 0, at first + j F. 2
  // j have come before that moment, if there were as many, of which j + 1 don't wait; none when the first
  // starts.
  constexpr std::uint32_t kPackets = 50;
  const Time first = kFrame + kLatency + kPipeline;
  std::vector<Stamp> expected;
  for (std::int64_t j = 0; j < 2 * kPackets; ++j) {
    const std::int64_t come = std::min<std::int64_t>(2 * j, 2 * kPackets);
    expected.emplace_back((first + kFrame * j).ps(), std::max<std::int64_t>(come - j - 1, 0) * kWire,
                          (j + 1) * kWire);
  }
  const auto topology = star(3, kRate, kLatency, kPipeline);
  for (const char* queue : kQueues) {
    INFO(queue);
    Simulation simulation(topology, {.control = "listening", .queue = queue}, listening());
    simulation.send(0, 2, kPackets * kMtu);
    simulation.send(1, 2, kPackets * kMtu);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 2);
    REQUIRE(Listening::told.size() == 2 * kPackets);
    REQUIRE(all_stamps() == expected);
    for (const Told& told : Listening::told) {
      REQUIRE(told.hops == 2);
      REQUIRE(told.telemetry.front().rate == kRate);
    }
  }
}

TEST_CASE("a port that is not full: the packet that starts as another comes leaves nothing behind") {
  // The second sender is a half and a bit of a packet later: what it sends waits, and nobody behind it.
  const auto topology = star(3, kRate, kLatency, kPipeline);
  for (const char* queue : kQueues) {
    INFO(queue);
    Simulation simulation(topology, {.control = "listening", .queue = queue}, listening());
    simulation.send(0, 2, kMtu);
    simulation.send(1, 2, 100);
    simulation.run();
    const std::int64_t small = (kRate.serialization(164) + kLatency + kPipeline).ps();
    const std::int64_t large = (kFrame + kLatency + kPipeline).ps();
    REQUIRE(all_stamps() == std::vector<Stamp>{{small, 0, 164}, {large, 0, 164 + kWire}});
  }
}

TEST_CASE("hops are in their order, each with its own rate, over any number of switches") {
  // Rates fall along the way, so a lone flow has a queue at every switch: 2 packets, of which the second
  // waits.
  const int switches = GENERATE(1, 3, 4, 5, 11);
  topologies::Topology topology("falling rates");
  topologies::Vertex last = topology.add_host("a");
  std::vector<Bandwidth> rates;
  for (int s = 0; s <= switches; ++s) {
    rates.push_back(Bandwidth::gbps(400 - 20 * s));
    const auto next =
        s < switches ? topology.add_switch("s" + std::to_string(s), 1, 0, kPipeline) : topology.add_host("b");
    topology.add_link(last, next, {rates.back(), kLatency});
    last = next;
  }
  topology.finish();
  Simulation simulation(topology, {.control = "listening"}, listening());
  simulation.send(0, 1, 2 * kMtu);
  simulation.run();
  REQUIRE(Listening::told.size() == 2);
  std::vector<Time> came(2);  // at the next switch
  for (int p = 0; p < 2; ++p) {
    came[p] = rates[0].serialization(kWire) * (p + 1) + kLatency + kPipeline;
    const Told& told = Listening::told[p];
    REQUIRE(told.hops == static_cast<std::uint32_t>(switches) + 1);
    REQUIRE(told.telemetry.size() == static_cast<std::size_t>(switches));
  }
  for (int s = 0; s < switches; ++s) {
    const Bandwidth rate = rates[s + 1];
    const Time start[] = {came[0], std::max(came[1], came[0] + rate.serialization(kWire))};
    for (int p = 0; p < 2; ++p) {
      const HopTelemetry& hop = Listening::told[p].telemetry[s];
      REQUIRE(hop.at == start[p]);
      REQUIRE(hop.queue_bytes == 0);  // the second comes after the first has started
      REQUIRE(hop.sent_bytes == kWire * (p + 1));
      REQUIRE(hop.rate == rate);
      REQUIRE(hop.port == 2 * (static_cast<std::uint32_t>(s) + 1));  // links were added along the way
      came[p] = start[p] + rate.serialization(kWire) + kLatency + kPipeline;
    }
  }
}

TEST_CASE("cut-through: a packet starts as soon as its header is there") {
  constexpr int kSwitches = 3;
  const auto topology = chain(kSwitches, kRate, kLatency, kPipeline);
  Options options{.control = "listening"};
  options.config.cut_through = true;
  Simulation simulation(topology, options, listening());
  simulation.send(0, 1, kMtu);
  simulation.run();
  REQUIRE(Listening::told.size() == 1);
  REQUIRE(Listening::told[0].telemetry.size() == kSwitches);
  const Time header = kRate.serialization(options.config.ack_bytes);
  for (int s = 0; s < kSwitches; ++s) {
    REQUIRE(Listening::told[0].telemetry[s].at == (header + kLatency + kPipeline) * (s + 1));
    REQUIRE(Listening::told[0].telemetry[s].sent_bytes == kWire);
  }
}

TEST_CASE("an ACK for several packets brings the newest one's telemetry") {
  const auto topology = star(2, kRate, kLatency, kPipeline);
  Options options{.control = "listening"};
  options.config.ack_every = 4;
  Simulation simulation(topology, options, listening());
  simulation.send(0, 1, 40 * kMtu);
  simulation.run();
  REQUIRE(Listening::told.size() < 15);
  for (const Told& told : Listening::told) {
    REQUIRE(told.telemetry.size() == 1);
    REQUIRE(told.telemetry[0].at - told.sent == kFrame + kLatency + kPipeline);
  }
}

// Works out from outside what each packet leaves behind at switches.
class Ports final : public Observer {
 public:
  explicit Ports(const topologies::Topology& topology)
      : topology_(topology), ports_(topology.channels().size()) {}

  void on_inject(Time, const Sighting&) override {}
  void on_enqueue(Time now, std::uint32_t c, const Sighting& packet, Time departure) override {
    Port& port = ports_[c];
    start_before(port, now + Time::ps(1));
    port.waiting += packet.bytes;
    bytes_[packet.handle] = packet.bytes;
    if (departure != Time::max()) {
      const Time wire = topology_.channels()[c].rate.serialization(packet.bytes);
      port.starts.push_back({departure - wire, packet});
      start_before(port, now + Time::ps(1));
    }
  }
  void on_transmit(Time now, std::uint32_t c, const Sighting& packet, Time) override {
    started(ports_[c], now, packet);
  }
  void on_trim(Time, std::uint32_t c, const Sighting& packet) override {
    ports_[c].waiting -= bytes_[packet.handle] - packet.bytes;
    bytes_[packet.handle] = packet.bytes;
  }
  void on_drop(Time, std::uint32_t c, const Sighting& packet) override {
    if (scheduled) ports_[c].waiting -= packet.bytes;  // else it was never let in
  }
  void on_arrive(Time, std::uint32_t, const Sighting&) override {}
  void on_deliver(Time, const Sighting&) override {}

  void finish() {
    for (Port& port : ports_) start_before(port, Time::max());
  }

  bool scheduled = false;
  std::set<Stamp> stamps;

 private:
  struct Starting {
    Time at;
    Sighting packet;
  };
  struct Port {
    std::deque<Starting> starts;
    std::uint64_t waiting = 0, sent = 0;
  };
  void start_before(Port& port, Time limit) {
    for (; !port.starts.empty() && port.starts.front().at < limit; port.starts.pop_front()) {
      started(port, port.starts.front().at, port.starts.front().packet);
    }
  }
  void started(Port& port, Time now, const Sighting& packet) {
    port.waiting -= packet.bytes;
    port.sent += packet.bytes;
    stamps.emplace(now.ps(), port.waiting, port.sent);
  }

  const topologies::Topology& topology_;
  std::vector<Port> ports_;
  std::map<std::uint32_t, std::uint32_t> bytes_;  // of packets in queues, by handle
};

TEST_CASE("random traffic: what packets carry is what an observer works out") {
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=3,spines=2,hosts_per_leaf=3"));
  for (const char* queue :
       {"droptail:capacity=60KB", "ecn:capacity=60KB", "shared:buffer=400KB", "priority:capacity=60KB",
        "composite:capacity=60KB", "red:capacity=60KB", "pfc:xoff=60KB", "credit:vcs=4"}) {
    INFO(queue);
    Options options{.control = "listening", .queue = queue};
    options.config.ack_every = 2;
    if (std::string(queue) != "red") options.policy = spray();
    Simulation simulation(topology, options, listening());
    Ports ports(topology);
    ports.scheduled = find_module(disciplines(), parse_module_choice(queue), "queue").make != nullptr;
    simulation.network.set_observer(&ports);
    simulation.send_at_random(topology.hosts());
    simulation.run();
    REQUIRE(simulation.client.deliveries == 4 * topology.hosts());
    ports.finish();
    int queued = 0, unknown = 0;
    for (const Stamp& stamp : all_stamps()) {
      queued += std::get<1>(stamp) > 0;
      unknown += !ports.stamps.contains(stamp);
    }
    REQUIRE(queued > 100);
    REQUIRE(unknown == 0);
  }
}

TEST_CASE("telemetry changes nothing but what is told, and is charged as its control says") {
  const auto topology = star(4, kRate, kLatency, kPipeline);
  const auto delivered = [&](const Options& options, const congestion::Control& control) {
    Simulation simulation(topology, options, control);
    for (std::uint32_t host = 0; host < 3; ++host) simulation.send(host, 3, 100'000 + host);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    return simulation.client.delivered;
  };
  const Options with{.control = "listening"};
  congestion::Control deaf = listening();
  deaf.needs = {};
  const auto plain = delivered(with, deaf);
  for (const Told& told : Listening::told) REQUIRE(told.telemetry.empty());
  REQUIRE(delivered(with, listening()) == plain);
  Options longer = with;
  longer.config.header_bytes += 42;
  longer.config.ack_bytes += 42;
  REQUIRE(delivered(with, listening("42")) == delivered(longer, deaf));
}

TEST_CASE("a header that no packet could have is refused") {
  const auto topology = star(2, kRate, kLatency, kPipeline);
  CHECK_THROWS_WITH(
      Simulation(topology, {.control = "listening"}, listening("4294967295")),
      "congestion control listening makes headers longer by 4294967295 bytes; expected at most 65536");
}

TEST_CASE("a control that keeps the fullest port at its target: short queues, and a link that is full") {
  constexpr std::uint32_t kSenders = 4, kPackets = 2000;
  const auto topology = star(kSenders + 1, kRate, kLatency, kPipeline);
  const congestion::Control control = congestion::utilization_window();
  Simulation simulation(topology, {.control = "utilization_window"}, control);
  Ports ports(topology);
  simulation.network.set_observer(&ports);
  for (std::uint32_t host = 0; host < kSenders; ++host) simulation.send(host, kSenders, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == kSenders);
  Time last;
  for (const auto& [message, at] : simulation.client.delivered) last = std::max(last, at);
  const double full = kRate.serialization(std::uint64_t{kSenders} * kPackets * (kWire + 42)).seconds();
  REQUIRE(last.seconds() > full);
  REQUIRE(last.seconds() < full / 0.95 * 1.03);
  // With windows of a bandwidth-delay product each, three of the four would stand in the queue.
  double sum = 0, packets = 0;
  for (const auto& [at, queue, sent] : ports.stamps) {
    if (at < last.ps() / 2) continue;
    sum += static_cast<double>(queue);
    ++packets;
  }
  REQUIRE(sum / packets <
          0.1 * static_cast<double>(bytes_in(kRate, simulation.network.longest_round_trip())));
  REQUIRE(simulation.signal("reference_window") > 10 * kSenders);
  REQUIRE(simulation.signal("new_path") == kSenders);  // with the first ACK of each
}

TEST_CASE("telemetry: one account, however the network is divided") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 9)));
  RandomStream random(seed, 21);
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=3,spines=2,hosts_per_leaf=3"));
  const congestion::Control control = congestion::utilization_window();
  const char* const queues[] = {"droptail:capacity=60KB", "shared:buffer=400KB", "composite:capacity=60KB",
                                "pfc:xoff=60KB",          "credit:vcs=4",        "red:capacity=60KB"};
  Options options{.control = "utilization_window"};
  options.seed = seed;
  options.queue = queues[random.below(6)];
  options.config.ack_every = random.below(2) == 0 ? 1 : 4;
  options.config.connections.per_message = random.below(2) == 0;
  options.config.cut_through = options.queue.starts_with("droptail") && random.below(2) == 0;
  if (random.below(2) == 0) options.policy = spray();
  if (random.below(3) == 0) {
    options.changes = {{.at = Time::us(5), .link = 9, .rate_share = 0},
                       {.at = Time::us(60), .link = 9, .rate_share = 1}};
    options.config.reconvergence = Time::us(10);
  }
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 60; ++i) {
    messages.push_back({.source = static_cast<std::uint32_t>(random.below(9)),
                        .destination = static_cast<std::uint32_t>(random.below(3)),
                        .bytes = random.below(200'000),
                        .client = {i}});
  }
  INFO(options.queue);
  const Account whole =
      run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1, StopEvery::kNever, &control);
  REQUIRE(whole.delivered == messages.size());
  for (const std::uint32_t parts : {2, 4}) {
    const auto division = random_division(topology, parts, random);
    for (const std::uint32_t threads : {1, 2}) {
      REQUIRE(run_divided(topology, options, messages, division, threads, StopEvery::kNever, &control) ==
              whole);
    }
  }
}

}  // namespace
}  // namespace weft::sim::packet
