// How long messages take without loss, against closed forms, to the picosecond.
#include <catch2/catch.hpp>

#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

const Bandwidth kRate = Bandwidth::gbps(400);
constexpr std::uint32_t kMtu = 4096, kHeader = 64, kAck = 64;

// Time on the wire, worked out anew: bits over bits per second, in picoseconds, rounded up.
Time wire(std::uint64_t bytes, Bandwidth rate) {
  const double exact = static_cast<double>(bytes) * 8 * 1e12 / static_cast<double>(rate.bps());
  return Time::ps(static_cast<std::int64_t>(std::ceil(exact)));
}

// Store and forward over `links` equal links, `latency` each, `switch_latency` at each of the links - 1
// switches. A first packet needs links × its time on the wire. Each further full packet follows one full time
// later at every link. A last, smaller packet catches up with the one ahead of it at the first queue, and
// from then on leaves each queue its own (smaller) time after it.
Time closed_form(std::uint64_t bytes, int links, Bandwidth rate, Time latency, Time switch_latency) {
  const std::uint64_t packets = std::max<std::uint64_t>(1, (bytes + kMtu - 1) / kMtu);
  const Time full = wire(kMtu + kHeader, rate);
  const Time last = wire(bytes - (packets - 1) * kMtu + kHeader, rate);
  const Time fixed = latency * links + switch_latency * (links - 1);
  if (packets == 1) return last * links + fixed;
  return full * (links - 1) + full * static_cast<std::int64_t>(packets - 1) + last + fixed;
}

TEST_CASE("an uncontended message takes the closed form: chains") {
  const int switches = GENERATE(0, 1, 2, 3, 5);
  const std::uint64_t bytes = GENERATE(0, 1, 100, 4095, 4096, 4097, 40'960, 123'456, 2'000'000);
  const auto rate = GENERATE(Bandwidth::gbps(400), Bandwidth::gbps(100), Bandwidth::bps(42'700'000'001));
  const Time latency = Time::ns(500), switch_latency = Time::ns(37);
  const auto topology = chain(switches, rate, latency, switch_latency);
  Simulation simulation(topology, {});
  const auto message = simulation.send(0, 1, bytes);
  simulation.run();
  INFO(switches << " switches, " << bytes << " bytes, " << rate.bps() << " bps");
  const Time expected = closed_form(bytes, switches + 1, rate, latency, switch_latency);
  REQUIRE(simulation.client.delivered[message].ps() == expected.ps());
  // The sender knows when the ACK of the last packet is back.
  const Time ack = (wire(kAck, rate) + latency) * (switches + 1) + switch_latency * switches;
  REQUIRE(simulation.client.sent[message].ps() == (expected + ack).ps());
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("retransmit") == 0);
}

TEST_CASE("an uncontended message takes the closed form: one, two and three tiers") {
  struct Case {
    const char* topology;
    std::uint32_t destination;
    int links;
  };
  // fat_tree:k=4 has 2 hosts on an edge switch and 4 in a pod.
  const auto c = GENERATE(
      Case{"single_switch:hosts=4,", 3, 2}, Case{"leaf_spine:leaves=2,spines=2,hosts_per_leaf=3,", 5, 4},
      Case{"fat_tree:k=4,", 1, 2}, Case{"fat_tree:k=4,", 2, 4}, Case{"fat_tree:k=4,", 15, 6});
  const auto policy = GENERATE(one_path(), spray());
  const auto topology = topologies::build(
      parse_module_choice(std::string(c.topology) + "link=400Gbps,latency=250ns,switch_latency=300ns"));
  for (std::uint64_t bytes : {0u, 1u, 4096u, 10'000u, 1'000'000u}) {
    Simulation simulation(topology, {.policy = policy});
    const auto message = simulation.send(0, c.destination, bytes);
    simulation.run();
    INFO(c.topology << " to " << c.destination << ", " << bytes << " bytes");
    REQUIRE(simulation.client.delivered[message].ps() ==
            closed_form(bytes, c.links, kRate, Time::ns(250), Time::ns(300)).ps());
    REQUIRE(simulation.verdict() == "");
  }
}

TEST_CASE("the slowest link sets the pace") {
  // 400, 100, 400 Gb/s: the first packet takes its three times on the wire, each further one of 400 full
  // packets follows a 100 Gb/s time later.
  topologies::Topology topology("funnel");
  const auto a = topology.add_host("a");
  const auto s = topology.add_switch("s", 1), t = topology.add_switch("t", 1);
  const auto b = topology.add_host("b");
  topology.add_link(a, s, {Bandwidth::gbps(400), Time::ns(100)});
  topology.add_link(s, t, {Bandwidth::gbps(100), Time::ns(200)});
  topology.add_link(t, b, {Bandwidth::gbps(400), Time::ns(300)});
  topology.finish();
  Simulation simulation(topology, {});
  const auto message = simulation.send(0, 1, 400 * kMtu);
  simulation.run();
  const Time fast = wire(kMtu + kHeader, Bandwidth::gbps(400)),
             slow = wire(kMtu + kHeader, Bandwidth::gbps(100));
  REQUIRE(simulation.client.delivered[message].ps() == (fast * 2 + slow * 400 + Time::ns(600)).ps());
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("two senders share a link: it is never idle, so both are done after exactly the sum") {
  const Time latency = Time::ns(500);
  const auto topology = star(3, kRate, latency, Time::ns(100));
  Simulation simulation(topology, {});
  const auto one = simulation.send(0, 2, 300 * kMtu), two = simulation.send(1, 2, 300 * kMtu);
  simulation.run();
  const Time full = wire(kMtu + kHeader, kRate);
  const Time end = std::max(simulation.client.delivered[one], simulation.client.delivered[two]);
  REQUIRE(end.ps() == (full + latency + Time::ns(100) + full * 600 + latency).ps());
  // They take turns, so the other is done one packet earlier.
  const Time other = std::min(simulation.client.delivered[one], simulation.client.delivered[two]);
  REQUIRE((end - other).ps() == full.ps());
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("a NIC serves its flows in turn") {
  const auto topology = star(3, kRate, Time::ns(500), Time());
  Simulation simulation(topology, {});
  const auto one = simulation.send(0, 1, 100 * kMtu), two = simulation.send(0, 2, 100 * kMtu);
  simulation.run();
  // When the second message comes, the first has sent one packet and stands first in line again; so it has
  // turns 1, 2, 4, 6 … 198, the second 3, 5 … 199, 200.
  const Time full = wire(kMtu + kHeader, kRate);
  const Time rest = full + Time::ns(1000);
  REQUIRE(simulation.client.delivered[one].ps() == (full * 198 + rest).ps());
  REQUIRE(simulation.client.delivered[two].ps() == (full * 200 + rest).ps());
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("a fixed window below the bandwidth-delay product gives a window per round trip") {
  const int window = GENERATE(1, 2, 10, 25, 26, 27, 60);
  const Time latency = Time::ns(500);
  const auto topology = star(2, kRate, latency, Time());
  Simulation simulation(topology, {.control = "fixed_window:packets=" + std::to_string(window)});
  constexpr std::int64_t kPackets = 1000;
  const auto message = simulation.send(0, 1, kPackets * kMtu);
  simulation.run();
  const Time full = wire(kMtu + kHeader, kRate), ack = wire(kAck, kRate);
  // One round trip is 2 × (83.2 + 500 + 1.28 + 500) ns = 2168.96 ns: 26.07 packets.
  const Time round_trip = (full + ack) * 2 + latency * 4;
  const Time one_way = full * 2 + latency * 2;
  INFO("window " << window);
  if (full * window < round_trip) {
    // Packet n leaves a round trip after packet n - window, the first ones one after the other.
    const Time last = round_trip * ((kPackets - 1) / window) + full * ((kPackets - 1) % window);
    REQUIRE(simulation.client.delivered[message].ps() == (last + one_way).ps());
  } else {
    REQUIRE(simulation.client.delivered[message].ps() == (full * (kPackets - 1) + one_way).ps());
  }
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("a message above 4 GiB takes its time, to the last byte") {
  const auto topology = star(2, kRate, Time::ns(500), Time());
  Options options{.control = "fixed_window:packets=100"};
  options.config.mtu_bytes = 1 << 16;
  Simulation simulation(topology, options);
  constexpr std::uint64_t kBytes = 5'000'000'001;
  const auto message = simulation.send(0, 1, kBytes);
  simulation.run();
  // 76,293 full packets of 65,536 B and one of 61,953 B; 20 ps a byte.
  constexpr std::int64_t kFull = (65'536 + 64) * 20, kLast = (61'953 + 64) * 20;
  static_assert(76'293ULL * 65'536 + 61'953 == kBytes);
  REQUIRE(simulation.client.delivered[message].ps() == kFull * 76'293 + kLast + kFull + 1'000'000);
  REQUIRE(simulation.network.flows().at(0).packets == 76'294);
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("within a host a message is copied: one at a time, then the latency") {
  const auto topology = star(2, kRate, Time::ns(500), Time());
  Options options;
  options.config.local_bandwidth = Bandwidth::gbps(80);  // 100 ps a byte
  options.config.local_latency = Time::ns(70);
  Simulation simulation(topology, options);
  const auto one = simulation.send(1, 1, 1000), two = simulation.send(1, 1, 500),
             other = simulation.send(0, 0, 0);
  simulation.run();
  REQUIRE(simulation.client.delivered[one] == Time::ns(100 + 70));
  REQUIRE(simulation.client.delivered[two] == Time::ns(150 + 70));
  REQUIRE(simulation.client.delivered[other] == Time::ns(70));
  REQUIRE(simulation.network.totals().packet_hops == 0);
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("a paced flow sends at its rate") {
  // A control that allows any window at a quarter of the line rate.
  class Paced final : public congestion::Sender {
   public:
    struct Settings {
      explicit Settings(const Parameters&) {}
    };
    Paced(const congestion::FlowInfo&, const Settings&) {}
    void start(Time) override {
      allowed_.window_bytes = 1 << 30;
      allowed_.rate = Bandwidth::gbps(100);
    }
    void on_ack(const congestion::Ack&) override {}
    void on_loss(const congestion::Loss&) override {}
    void on_timeout(Time) override {}
  };
  const congestion::Control control{.info = {.name = "paced"},
                                    .make_factory = congestion::SenderFactoryFor<Paced>::make};
  const auto topology = star(3, kRate, Time::ns(500), Time());
  Simulation simulation(topology, {.control = "paced"}, control);
  const auto message = simulation.send(0, 1, 50 * kMtu);
  simulation.run();
  const Time full = wire(kMtu + kHeader, kRate), slow = wire(kMtu + kHeader, Bandwidth::gbps(100));
  REQUIRE(simulation.client.delivered[message].ps() == (slow * 49 + full * 2 + Time::ns(1000)).ps());
  REQUIRE(simulation.verdict() == "");
}

TEST_CASE("links tell what crossed them") {
  const auto topology = star(2, kRate, Time::ns(500), Time());
  Simulation simulation(topology, {});
  simulation.send(0, 1, 10 * kMtu);
  simulation.run();
  const auto links = simulation.network.links();
  REQUIRE(links.size() == 4);
  for (const auto& link : links) {
    const bool data = link.from == "h0" || link.to == "h1";
    REQUIRE(link.packets == 10);
    REQUIRE(link.bytes == (data ? 10 * (kMtu + kHeader) : 10 * kAck));
    REQUIRE(link.busy == wire(link.bytes, kRate));
    // Uncontended: never more than the packet on the wire.
    REQUIRE(link.max_queue_bytes == (data ? kMtu + kHeader : kAck));
  }
  const auto flows = simulation.network.flows();
  REQUIRE(flows.size() == 1);
  REQUIRE(flows[0].packets == 10);
  REQUIRE(flows[0].bytes == 10 * kMtu);
  REQUIRE(flows[0].start == Time());
  REQUIRE(flows[0].finish == simulation.client.delivered[0]);
}

}  // namespace
}  // namespace weft::sim::packet
