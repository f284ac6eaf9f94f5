// What hosts do beyond one ACK per packet over one NIC: NACKs, ACKs for several packets, delays, planes.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

const Bandwidth kRate = Bandwidth::gbps(400);
constexpr std::uint32_t kMtu = 4096;
const Time kFull = Time::ps(4160 * 20), kAck = Time::ps(64 * 20);  // on the wire
const Time kLatency = Time::ns(500), kSwitch = Time::ns(200);

std::vector<std::int64_t> sorted_deliveries(const Simulation& simulation) {
  std::vector<std::int64_t> times;  // ps
  for (const auto& [message, time] : simulation.client.delivered) times.push_back(time.ps());
  std::sort(times.begin(), times.end());
  return times;
}

std::uint64_t signal_or_0(const Simulation& simulation, const std::string& name) {
  for (const auto& [signal, count] : simulation.network.totals().signals) {
    if (signal == name) return count;
  }
  return 0;
}

// One way of a packet through the switch of a star, without queueing.
Time one_way(Time wire) { return wire * 2 + kLatency * 2 + kSwitch; }

TEST_CASE("a payload that is cut off is asked for again at once") {
  // Three packets meet at the switch: one goes on, one waits, one is cut. Its header leaves behind the first
  // packet; the NACK follows the first packet's ACK; then the packet has the way for itself.
  const auto topology = star(4, kRate, kLatency, kSwitch);
  Simulation simulation(topology, {.queue = "composite:capacity=4160"});
  for (std::uint32_t host = 0; host < 3; ++host) simulation.send(host, 3, kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const Time first = one_way(kFull);
  const Time header = first + kAck;
  const Time told = header + one_way(kAck);
  const std::vector<std::int64_t> expected{first.ps(), (first + kAck + kFull).ps(),
                                           (told + one_way(kFull)).ps()};
  REQUIRE(sorted_deliveries(simulation) == expected);
  REQUIRE(signal_or_0(simulation, "trim") == 1);
  REQUIRE(signal_or_0(simulation, "nack") == 1);
  REQUIRE(simulation.signal("retransmit") == 1);
  REQUIRE(simulation.signal("timeout") == 0);
  REQUIRE(simulation.signal("duplicate") == 0);
}

TEST_CASE("a header that is sent back does the same, sooner") {
  // As above with a fourth packet, and room for one header: the other one turns round in the switch.
  const auto topology = star(5, kRate, kLatency, kSwitch);
  Simulation simulation(topology,
                        {.queue = "composite:capacity=4160,high_capacity=64,return_to_sender=true"});
  for (std::uint32_t host = 0; host < 4; ++host) simulation.send(host, 4, kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const Time first = one_way(kFull);
  const Time at_switch = kFull + kLatency + kSwitch;
  const Time back = at_switch + kAck + kLatency;
  const Time told = first + kAck + one_way(kAck);
  const std::vector<std::int64_t> expected{first.ps(), (first + kAck + kFull).ps(),
                                           (back + one_way(kFull)).ps(), (told + one_way(kFull)).ps()};
  REQUIRE(sorted_deliveries(simulation) == expected);
  REQUIRE(signal_or_0(simulation, "trim") == 2);
  REQUIRE(signal_or_0(simulation, "return") == 1);
  REQUIRE(signal_or_0(simulation, "nack") == 1);
  REQUIRE(simulation.signal("retransmit") == 2);
  REQUIRE(simulation.signal("timeout") == 0);
}

TEST_CASE("a control hears of cut payloads, by default as of losses") {
  struct Heard {
    std::uint64_t trimmed = 0, lost = 0;
  };
  static thread_local Heard heard;
  class Listening : public congestion::Sender {
   public:
    struct Settings {
      explicit Settings(const Parameters&) {}
    };
    Listening(const congestion::FlowInfo&, const Settings&) {}
    void start(Time) override { allowed_.window_bytes = 20 * kMtu; }
    void on_ack(const congestion::Ack&) override {}
    void on_loss(const congestion::Loss& loss) override { heard.lost += loss.bytes; }
    void on_timeout(const congestion::Loss&) override {}
  };
  class Distinguishing final : public Listening {
   public:
    using Listening::Listening;
    void on_trim(const congestion::Loss& loss) override { heard.trimmed += loss.bytes; }
  };
  const bool distinguishes = GENERATE(false, true);
  heard = {};
  const congestion::Control control{.info = {.name = "listening"},
                                    .make_factory = distinguishes
                                                        ? congestion::SenderFactoryFor<Distinguishing>::make
                                                        : congestion::SenderFactoryFor<Listening>::make};
  const auto topology = star(9, kRate, kLatency, kSwitch);
  Simulation simulation(topology, {.control = "listening", .queue = "composite:capacity=20KB"}, control);
  for (std::uint32_t host = 0; host < 8; ++host) simulation.send(host, 8, 100 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const std::uint64_t nacks = signal_or_0(simulation, "nack");
  REQUIRE(nacks > 100);
  REQUIRE(signal_or_0(simulation, "trim") == nacks);
  REQUIRE(simulation.signal("retransmit") == nacks);
  REQUIRE(heard.trimmed == (distinguishes ? nacks * kMtu : 0));
  REQUIRE(heard.lost == (distinguishes ? 0 : nacks * kMtu));
}

Options holding(std::uint32_t every, const std::string& control = "fixed_window:packets=1000") {
  Options options{.control = control};
  options.config.ack_every = every;
  return options;
}

TEST_CASE("one ACK for several packets: how many, and no packet is later for it") {
  const std::uint32_t every = GENERATE(1, 2, 3, 16, 64);
  const std::uint64_t packets = GENERATE(1, 2, 3, 50, 1000);
  const auto topology = star(2, kRate, kLatency, kSwitch);
  Options options = holding(every);
  options.config.ack_delay = Time::us(20);  // longer than 64 packets take
  Simulation simulation(topology, options);
  const auto message = simulation.send(0, 1, packets * kMtu);
  simulation.run();
  INFO(every << " of " << packets);
  REQUIRE(simulation.verdict() == "");
  const Time arrival = kFull * static_cast<std::int64_t>(packets - 1) + one_way(kFull);
  REQUIRE(simulation.client.delivered[message] == arrival);
  REQUIRE(simulation.client.sent[message] == arrival + one_way(kAck));
  // The first and the last packet have their own, those between one for each full group.
  std::uint64_t acks = 0;
  for (const auto& link : simulation.network.links()) acks += link.from == "h1" ? link.packets : 0;
  REQUIRE(acks == 1 + (packets - 1 + every - 1) / every);
  REQUIRE(simulation.signal("timeout") == 0);
  REQUIRE(simulation.signal("retransmit") == 0);
}

// A paced sender notes of each ACK the round trip, and how long its receiver had held it back.
struct HeardAck {
  Time rtt, held;
};
thread_local std::vector<HeardAck> heard_acks;

// A packet each 20 us, and a window that never fills: nothing but the clock ends what receivers hold back.
class Paced final : public congestion::Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters&) {}
  };
  Paced(const congestion::FlowInfo&, const Settings&) {}
  void start(Time) override {
    allowed_.window_bytes = 1000 * kMtu;
    allowed_.rate = Bandwidth::bps(1'664'000'000);  // of 4160 bytes
  }
  void on_ack(const congestion::Ack& ack) override { heard_acks.push_back({ack.rtt, ack.host_delay}); }
  void on_loss(const congestion::Loss&) override {}
  void on_timeout(const congestion::Loss&) override {}
};

congestion::Control paced() {
  heard_acks.clear();
  return {.info = {.name = "paced"}, .make_factory = congestion::SenderFactoryFor<Paced>::make};
}

TEST_CASE("a held ACK leaves after its delay, to the picosecond") {
  const Time delay = Time::ns(GENERATE(1, 700, 5000));
  constexpr std::size_t kPackets = 40;
  const auto topology = star(2, kRate, kLatency, kSwitch);
  const congestion::Control control = paced();
  Options options = holding(2, "paced");
  options.config.ack_delay = delay;
  Simulation simulation(topology, options, control);
  simulation.send(0, 1, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const Time round_trip = one_way(kFull) + one_way(kAck);
  REQUIRE(heard_acks.size() == kPackets);
  for (std::size_t i = 0; i < kPackets; ++i) {
    // All but the first and the last packet.
    const Time held = i == 0 || i + 1 == kPackets ? Time() : delay;
    REQUIRE(heard_acks[i].held == held);
    REQUIRE(heard_acks[i].rtt == round_trip + held);
  }
  REQUIRE(simulation.signal("timeout") == 0);
}

TEST_CASE("held ACKs of several flows each keep their own time") {
  // Messages that start one behind the other, all with their second packet held. Distances between starts
  // remain.
  const auto topology = star(6, kRate, kLatency, kSwitch);
  const congestion::Control control = paced();
  Options options = holding(4, "paced");
  options.config.ack_delay = Time::us(2);
  Simulation simulation(topology, options, control);
  for (std::uint32_t host = 0; host < 5; ++host) {
    simulation.send(host, 5, 1 + host * 400);  // its last bit comes 16 ns later than the one's before
  }
  for (std::uint32_t host = 0; host < 5; ++host) simulation.send(host, 5, 3 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("timeout") == 0);
  REQUIRE(simulation.signal("retransmit") == 0);
  // Each of the long ones: three packets, of which the middle one's ACK is late by the delay.
  REQUIRE(heard_acks.size() == 5 * (1 + 3));
  std::size_t held = 0;
  for (const HeardAck& ack : heard_acks) {
    held += ack.held == Time::us(2);
    REQUIRE((ack.held == Time() || ack.held == Time::us(2)));
    const Time wire = ack.rtt - ack.held;
    REQUIRE(wire < one_way(kFull) + one_way(kAck) + kFull * 16);  // what others ahead of it can cost
  }
  REQUIRE(held == 5);
}

TEST_CASE("a sender with a small window waits for no clock, and hears eight times a window") {
  // The receiver holds back ACKs for 64 packets, and for a second at most, yet the window has few.
  const std::int64_t window = GENERATE(1, 2, 3, 20);
  constexpr std::int64_t kPackets = 600;
  const auto topology = star(2, kRate, kLatency, kSwitch);
  const auto took = [&](std::uint32_t every) {
    Options options = holding(every, "fixed_window:packets=" + std::to_string(window));
    options.config.ack_delay = Time::us(1'000'000);
    Simulation simulation(topology, options);
    const auto message = simulation.send(0, 1, kPackets * kMtu);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    REQUIRE(simulation.signal("timeout") == 0);
    return simulation.client.sent[message];
  };
  INFO("window of " << window);
  const Time round_trip = one_way(kFull) + one_way(kAck);
  REQUIRE(took(1) == round_trip * (kPackets / window) + kFull * (window - 1));
  if (window <= 8) REQUIRE(took(64) == took(1));
  // At worst less than an eighth of the window waits, at the receiver, for more to come.
  REQUIRE(took(64) >= took(1));
  REQUIRE(took(64).ps() * 7 <= took(1).ps() * 8);
}

TEST_CASE("the sender hears of every mark, whatever the ACKs cover") {
  struct Heard {
    std::uint64_t bytes = 0, marked = 0, acks = 0, marked_acks = 0;
  };
  static thread_local Heard heard;
  class Counting final : public congestion::Sender {
   public:
    struct Settings {
      explicit Settings(const Parameters&) {}
    };
    Counting(const congestion::FlowInfo&, const Settings&) {}
    void start(Time) override { allowed_.window_bytes = 40 * kMtu; }
    void on_ack(const congestion::Ack& ack) override {
      ++heard.acks;
      heard.bytes += ack.bytes;
      if (ack.ecn_marked) heard.marked += ack.bytes, ++heard.marked_acks;
    }
    void on_loss(const congestion::Loss&) override {}
    void on_timeout(const congestion::Loss&) override {}
  };
  heard = {};
  const congestion::Control control{.info = {.name = "counting"},
                                    .make_factory = congestion::SenderFactoryFor<Counting>::make};
  const auto policy = GENERATE(one_path(), spray());
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=2,spines=4,hosts_per_leaf=4"));
  Options options = holding(8, "counting");
  options.queue = "ecn:capacity=4MB,kmin=20KB,kmax=400KB";
  options.policy = policy;
  Simulation simulation(topology, options, control);
  constexpr std::uint64_t kPackets = 3000;
  for (std::uint32_t host = 0; host < 3; ++host) simulation.send(host, 7, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("retransmit") == 0);
  std::uint64_t marked = 0;
  for (const auto& flow : simulation.network.flows()) marked += flow.ecn_marked;
  REQUIRE(marked > kPackets / 10);
  REQUIRE(heard.bytes == 3 * kPackets * kMtu);
  REQUIRE(heard.acks < 3 * kPackets);
  if (policy.info.name == "one_path") REQUIRE(heard.marked == marked * kMtu);
  // Overtaken packets may be acknowledged by the bitmap of an ACK of the other kind: nearly.
  REQUIRE(static_cast<double>(heard.marked) == Approx(static_cast<double>(marked * kMtu)).epsilon(0.02));
  // On several paths each mark comes alone, with its path; on one, those in a row come together.
  const double alone = static_cast<double>(heard.marked_acks) / static_cast<double>(marked);
  INFO("ACKs for each mark: " << alone);
  REQUIRE((policy.info.name == "one_path" ? alone < 0.9 : alone > 0.97));
}

TEST_CASE("sprayed packets come out of order, and are still acknowledged in groups") {
  const auto topology = topologies::build(parse_module_choice("fat_tree:k=8,link=400Gbps,latency=500ns"));
  Options options = holding(8, "fixed_window:packets=160");
  options.policy = spray();
  options.queue = "droptail:capacity=4MB";
  Simulation simulation(topology, options);
  for (std::uint32_t h = 0; h < 128; ++h) simulation.send(h, (h + 64) % 128, 300 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("retransmit") == 0);
  std::uint64_t injected = simulation.network.totals().packets_injected - 128 * 300;
  REQUIRE(injected >= 128 * 300 / 8);
  REQUIRE(injected < 128 * 300 / 7);
}

TEST_CASE("ACKs for groups, and losses: everything arrives, and little is sent in vain") {
  const std::string queue = GENERATE("droptail:capacity=20KB", "composite:capacity=20KB");
  const auto policy = GENERATE(one_path(), spray());
  const auto topology = topologies::build(parse_module_choice("fat_tree:k=4,link=400Gbps,latency=500ns"));
  Options options = holding(6, "fixed_window:packets=30");
  options.policy = policy;
  options.queue = queue;
  Simulation simulation(topology, options);
  for (std::uint32_t a = 0; a < 16; ++a) {
    for (std::uint32_t b : {1u, 5u, 6u}) simulation.send(a, (a + b) % 16, 200 * kMtu);
  }
  simulation.run();
  INFO(queue);
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("retransmit") > 50);
  REQUIRE(simulation.signal("duplicate") * 20 < simulation.signal("retransmit"));
}

// A window of one packet, and what the control was told.
struct Told {
  static inline congestion::FlowInfo flow;
  static inline congestion::Ack ack;
};
class Listener final : public congestion::Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters&) {}
  };
  Listener(const congestion::FlowInfo& flow, const Settings&) {
    Told::flow = flow;
    allowed_.window_bytes = flow.mtu_bytes;
  }
  void start(Time) override {}
  void on_ack(const congestion::Ack& ack) override { Told::ack = ack; }
  void on_loss(const congestion::Loss&) override {}
  void on_timeout(const congestion::Loss&) override {}
};

// NICs delay both ways, out and in; the host that is sent to delays data only.
TEST_CASE("delays in NICs and hosts add to each way as the arithmetic says, and controls know them") {
  const Time send = Time::ns(230), receive = Time::ns(310), host = Time::ns(570);
  const Time there = send + receive + host, hosts = there + send + receive;
  const std::string queue = GENERATE("droptail:capacity=1GB", "composite", "pfc", "credit");
  INFO(queue);
  const congestion::Control control{
      .info = {.name = "listener"},
      .make_factory = congestion::SenderFactoryFor<Listener>::make,
  };
  Options options{.control = "listener", .queue = queue};
  options.config.send_delay = send;
  options.config.receive_delay = receive;
  options.config.host_delay = host;
  options.expected.work_conserving = false;
  options.expected.lane = [](std::uint32_t, const Sighting&) { return 0; };
  options.expected.send_delay = send;
  const auto topology = star(2, kRate, kLatency, kSwitch);
  Simulation simulation(topology, options, control);
  const auto message = simulation.send(0, 1, 10 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const Time round_trip = one_way(kFull) + one_way(kAck) + hosts;
  REQUIRE(simulation.client.delivered[message] == round_trip * 9 + one_way(kFull) + there);
  REQUIRE(simulation.client.sent[message] == round_trip * 10);
  REQUIRE(simulation.network.flows().at(0).ideal == kFull * 9 + one_way(kFull) + there);
  REQUIRE(Told::flow.base_rtt == round_trip);
  REQUIRE(Told::flow.longest_rtt == round_trip);
  REQUIRE(Told::flow.network_rtt == round_trip);
  REQUIRE(Told::flow.host_delay == hosts);
  // An ACK may wait for a full packet at its host and at the switch.
  REQUIRE(Told::flow.answer_wait == kFull * 2);
  REQUIRE(Told::flow.bdp_bytes == bytes_in(kRate, round_trip + kFull * 2));
  REQUIRE(Told::ack.rtt == round_trip);
  REQUIRE(Told::ack.host_delay == hosts);
}

TEST_CASE("lossless switches have room for what NICs still send when they are told to stop") {
  const std::string queue = GENERATE("pfc:xoff=20KB", "credit");
  Options options{.queue = queue, .expected = {.work_conserving = false}};
  options.config.send_delay = Time::us(3);
  options.expected.lane = [](std::uint32_t, const Sighting&) { return 0; };
  options.expected.send_delay = options.config.send_delay;
  const auto topology = star(5, kRate, kLatency, kSwitch);
  Simulation simulation(topology, options);
  for (std::uint32_t host = 1; host <= 4; ++host) simulation.send(host, 0, 2'000'000);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") == 0);
  if (queue != "credit") return;
  // Credits come back in time: the last link is never idle.
  const Time busy = kRate.serialization(std::uint64_t{4} * (2'000'000 + 64 * 489));
  for (const auto& [message, at] : simulation.client.delivered) REQUIRE(at < busy + Time::us(8));
}

TEST_CASE("packets take effect one receive delay after their last bit, data and ACKs alike") {
  const Time delay = Time::ns(300);
  const auto topology = star(2, kRate, kLatency, kSwitch);
  Options options{.control = "fixed_window:packets=1"};
  options.config.receive_delay = delay;
  Simulation simulation(topology, options);
  const auto message = simulation.send(0, 1, 10 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  const Time round_trip = one_way(kFull) + one_way(kAck) + delay * 2;
  REQUIRE(simulation.client.delivered[message] == round_trip * 9 + one_way(kFull) + delay);
  REQUIRE(simulation.client.sent[message] == round_trip * 10);
  REQUIRE(simulation.network.flows().at(0).ideal == kFull * 9 + one_way(kFull) + delay);
}

// Two hosts with a NIC in each of `planes` planes, a switch each.
topologies::Topology planes(int count) {
  topologies::Topology topology("planes");
  const auto a = topology.add_host("a"), b = topology.add_host("b");
  for (int plane = 0; plane < count; ++plane) {
    const auto hub = topology.add_switch("p" + std::to_string(plane), 1, 0, kSwitch);
    topology.add_link(a, hub, {kRate, kLatency});
    topology.add_link(b, hub, {kRate, kLatency});
  }
  topology.finish();
  return topology;
}

Options with_nics(NicChoice choice) {
  Options options;
  options.config.nic_choice = choice;
  return options;
}

TEST_CASE("a message sprayed over planes takes each one's share of the time") {
  const int count = GENERATE(1, 2, 3, 4);
  const auto topology = planes(count);
  Simulation simulation(topology, with_nics(NicChoice::kSpray));
  constexpr std::int64_t kPackets = 120;
  const auto message = simulation.send(0, 1, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.client.delivered[message] == kFull * (kPackets / count - 1) + one_way(kFull));
  // Data one way and its ACKs the other: the same in all planes.
  for (const auto& link : simulation.network.links()) {
    REQUIRE(link.packets == static_cast<std::uint64_t>(kPackets / count));
  }
  REQUIRE(simulation.signal("retransmit") == 0);
}

TEST_CASE("messages choose among the NICs of their host") {
  const auto topology = planes(2);
  const auto packets_from_a = [](const Simulation& simulation) {
    std::vector<std::uint64_t> packets;
    for (const auto& link : simulation.network.links()) {
      if (link.from == "a") packets.push_back(link.packets);
    }
    return packets;
  };
  SECTION("given: all ask for the first one") {
    Simulation simulation(topology, {});
    for (int i = 0; i < 10; ++i) simulation.send(0, 1, kMtu);
    simulation.run();
    REQUIRE(packets_from_a(simulation) == std::vector<std::uint64_t>{10, 0});
  }
  SECTION("round robin") {
    Simulation simulation(topology, with_nics(NicChoice::kRoundRobin));
    for (int i = 0; i < 10; ++i) simulation.send(0, 1, kMtu);
    simulation.run();
    REQUIRE(packets_from_a(simulation) == std::vector<std::uint64_t>{5, 5});
    REQUIRE(sorted_deliveries(simulation).back() == (kFull * 4 + one_way(kFull)).ps());
  }
  SECTION("hash: each NIC with even odds") {
    Simulation simulation(topology, with_nics(NicChoice::kHash));
    for (int i = 0; i < 1000; ++i) simulation.send(0, 1, kMtu);
    simulation.run();
    const auto packets = packets_from_a(simulation);
    REQUIRE(packets[0] + packets[1] == 1000);
    REQUIRE(static_cast<double>(packets[0]) == Approx(500).margin(80));  // five standard deviations
  }
  SECTION("least loaded: around the long one") {
    Simulation simulation(topology, with_nics(NicChoice::kLeastLoaded));
    simulation.send(0, 1, 100 * kMtu);
    for (int i = 0; i < 50; ++i) simulation.send(0, 1, kMtu);
    simulation.run();
    REQUIRE(packets_from_a(simulation) == std::vector<std::uint64_t>{100, 50});
  }
  SECTION("ACKs come back through the plane of their message") {
    Simulation simulation(topology, with_nics(NicChoice::kRoundRobin));
    simulation.send(0, 1, 7 * kMtu);
    simulation.send(0, 1, 20 * kMtu);
    simulation.run();
    std::vector<std::uint64_t> acks;
    for (const auto& link : simulation.network.links()) {
      if (link.from == "b") acks.push_back(link.packets);
    }
    REQUIRE(acks == std::vector<std::uint64_t>{7, 20});
  }
}

TEST_CASE("flows of one NIC share it to within a packet, however many and wherever to") {
  const std::uint32_t flows = GENERATE(2, 3, 7);
  const auto topology = star(static_cast<int>(flows) + 1, kRate, kLatency, kSwitch);
  Simulation simulation(topology, {});
  constexpr std::uint64_t kPackets = 60;
  for (std::uint32_t flow = 0; flow < flows; ++flow) simulation.send(0, flow + 1, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  // In turn to the end; the first had sent one packet and stood in line again when the others came.
  const auto times = sorted_deliveries(simulation);
  const std::int64_t last = (kFull * static_cast<std::int64_t>(flows * kPackets - 1) + one_way(kFull)).ps();
  for (std::uint32_t ahead = 0; ahead + 1 < flows; ++ahead) {
    REQUIRE(times[flows - 1 - ahead] == last - kFull.ps() * ahead);
  }
  REQUIRE(times[0] == last - kFull.ps() * (2 * flows - 2));
}

}  // namespace
}  // namespace weft::sim::packet
