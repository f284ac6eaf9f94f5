// Cut-through, wrong bits, links that fail, slow down and come back, against closed forms and counts.
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

const Bandwidth kRate = Bandwidth::gbps(400);
constexpr std::uint32_t kMtu = 4096, kHeader = 64;
const Time kLatency = Time::ns(500), kPipeline = Time::ns(37);

PacketConfig cut_through() {
  PacketConfig config;
  config.cut_through = true;
  return config;
}

TEST_CASE("cut-through: a message pays for its packets once, and for a header at each switch") {
  const int switches = GENERATE(0, 1, 2, 5);
  const std::uint64_t packets = GENERATE(1, 2, 50);
  const auto topology = chain(switches, kRate, kLatency, kPipeline);
  Simulation simulation(topology, {.config = cut_through()});
  const auto message = simulation.send(0, 1, packets * kMtu);
  simulation.run();
  const Time expected = kRate.serialization(kMtu + kHeader) * static_cast<std::int64_t>(packets) +
                        (kRate.serialization(kHeader) + kPipeline) * switches + kLatency * (switches + 1);
  REQUIRE(simulation.client.delivered[message].ps() == expected.ps());
  REQUIRE(simulation.network.flows()[0].ideal == expected);
  REQUIRE(simulation.signal("drop") == 0);
}

TEST_CASE("cut-through never sends faster than it receives") {
  // 100 Gb/s into a switch, 400 Gb/s out: the last bit can't leave before it has come.
  topologies::Topology topology("step");
  const auto a = topology.add_host("a"), b = topology.add_host("b");
  const auto s = topology.add_switch("s", 1, 0, Time());
  topology.add_link(a, s, {Bandwidth::gbps(100), kLatency});
  topology.add_link(s, b, {kRate, kLatency});
  topology.finish();
  Simulation simulation(topology, {.config = cut_through()});
  const auto message = simulation.send(0, 1, 10 * kMtu);
  simulation.run();
  const Time expected = Bandwidth::gbps(100).serialization(kMtu + kHeader) * 10 + kLatency * 2;
  REQUIRE(simulation.client.delivered[message].ps() == expected.ps());
  REQUIRE(simulation.network.flows()[0].ideal == expected);
}

TEST_CASE("the ideal of packets on several ways is that of the quickest, whatever links are elsewhere") {
  // Two ways from a to b, of 20 and 50 us; the links to c are shorter than any of theirs.
  topologies::Topology topology("two ways");
  const auto a = topology.add_host("a"), b = topology.add_host("b"), c = topology.add_host("c");
  const auto in = topology.add_switch("in", 1, 0, kPipeline),
             out = topology.add_switch("out", 1, 0, kPipeline);
  const auto far = topology.add_switch("far", 1, 0, kPipeline),
             near = topology.add_switch("near", 1, 0, kPipeline);
  const auto other = topology.add_switch("other", 1, 0, Time());
  const topologies::Link short_link{kRate, Time::ns(10)};
  topology.add_link(a, in, short_link);
  topology.add_link(out, b, short_link);
  for (const auto& [middle, latency] : {std::pair(far, Time::us(25)), std::pair(near, Time::us(10))}) {
    topology.add_link(in, middle, {kRate, latency});
    topology.add_link(middle, out, {kRate, latency});
  }
  topology.add_link(out, other, {Bandwidth::gbps(1600), Time::ns(1)});
  topology.add_link(other, c, short_link);
  topology.finish();
  for (const bool cut : {false, true}) {
    CAPTURE(cut);
    Simulation simulation(topology, {.policy = spray(), .config = cut ? cut_through() : PacketConfig()});
    (void)simulation.send(0, 1, 100);
    simulation.run();
    const Time wire = kRate.serialization(100 + kHeader);
    const Time expected = Time::us(20) + Time::ns(20) + kPipeline * 3 + (cut ? wire : wire * 4);
    const results::Flow flow = simulation.network.flows()[0];
    CHECK(flow.ideal == expected);
    CHECK(flow.finish - flow.start >= expected);
  }
}

TEST_CASE("wrong bits lose as many packets as their rate says, and all arrive in the end") {
  const auto topology = chain(1, kRate, kLatency, kPipeline);
  const double rate = 1e-6;
  constexpr std::uint64_t kPackets = 20'000;
  Simulation simulation(topology, {.changes = {{Time(), 0, 1, rate}}});
  simulation.send(0, 1, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == 1);
  // Each data packet, retransmissions too, is lost with probability p; ACKs cross the link as well.
  const double p = 1 - std::pow(1 - rate, 8 * (kMtu + kHeader)), p_ack = 1 - std::pow(1 - rate, 8 * kHeader);
  const double n = kPackets / (1 - p), expected = n * p + kPackets * p_ack;
  const auto corrupt = static_cast<double>(simulation.signal("corrupt"));
  REQUIRE(std::abs(corrupt - expected) < 4 * std::sqrt(expected));
  const auto totals = simulation.network.totals();
  REQUIRE(totals.packets_injected == totals.packets_delivered + totals.packets_dropped);
  REQUIRE(totals.packets_dropped == simulation.signal("corrupt"));
}

TEST_CASE("a slower link takes effect when it is told to") {
  // Ten packets; from the start the second link runs at a quarter of its rate.
  const auto topology = chain(1, kRate, kLatency, Time());
  Simulation simulation(topology, {.changes = {{Time(), 1, 0.25, 0}}});
  const auto message = simulation.send(0, 1, 10 * kMtu);
  simulation.run();
  const Time full = kRate.serialization(kMtu + kHeader);
  REQUIRE(simulation.client.delivered[message].ps() == (full + kLatency * 2 + full * 40).ps());
}

TEST_CASE("a wire is busy for as long as its bytes take at the rates of their times") {
  // The second link always has packets waiting from when the first comes to when the last leaves.
  const auto topology = chain(1, kRate, kLatency, Time());
  const Time full = kRate.serialization(kMtu + kHeader);
  for (const auto& [slow, fast] : {std::pair(20, 60), std::pair(0, 60), std::pair(0, 1'000'000)}) {
    INFO("slow from " << slow << " to " << fast << " us");
    Simulation simulation(topology, {.control = "fixed_window:packets=64",
                                     .changes = {{.at = Time::us(slow), .link = 1, .rate_share = 0.25},
                                                 {.at = Time::us(fast), .link = 1, .rate_share = 1}}});
    const auto message = simulation.send(0, 1, 2000 * kMtu);
    simulation.run();
    REQUIRE(simulation.signal("drop") == 0);
    const std::vector<results::Link> links = simulation.network.links();
    CHECK(links[2].busy == simulation.client.delivered[message] - kLatency * 2 - full);
    CHECK(links[2].highest == (slow == 0 && fast > 60 ? Bandwidth::gbps(100) : kRate));
    CHECK(links[0].busy == full * 2000);
    CHECK(links[0].highest == kRate);
  }
}

TEST_CASE("one direction of a link is slow, the other as it was") {
  const auto topology = chain(2, kRate, kLatency, Time());
  const Time full = kRate.serialization(kMtu + kHeader);
  for (const std::uint8_t direction : {1, 2}) {
    for (const std::uint32_t from : {0u, 1u}) {
      Simulation simulation(
          topology, {.changes = {{.at = Time(), .link = 1, .rate_share = 0.25, .directions = direction}}});
      const auto message = simulation.send(from, 1 - from, 10 * kMtu);
      simulation.run();
      // Link 1 is the one in the middle; messages from host 0 cross it in direction 1, from host 1 in 2.
      const bool slow = from + 1 == direction;
      REQUIRE(simulation.client.delivered[message].ps() ==
              (full * 2 + kLatency * 3 + full * (slow ? 40 : 10)).ps());
    }
  }
}

TEST_CASE("queues in front of slowed links keep their bytes, or shrink with the rate") {
  // 200 packets at once into a link at a quarter of its rate; room for 100, marks above 40.
  constexpr std::uint64_t kPacket = kMtu + kHeader;
  const auto topology = chain(1, kRate, kLatency, Time());
  const auto run = [&](const std::string& queue, double share, int window) {
    auto simulation = std::make_unique<Simulation>(
        topology, Options{.control = "fixed_window:packets=" + std::to_string(window),
                          .queue = queue,
                          .changes = {{.at = Time(), .link = 1, .rate_share = 0.25, .queue_share = share}}});
    simulation->send(0, 1, 400 * kMtu);
    simulation->run();
    REQUIRE(simulation->client.deliveries == 1);
    return simulation;
  };
  const std::string room = ":capacity=" + std::to_string(100 * kPacket);
  const std::string marks = ",kmin=" + std::to_string(40 * kPacket) + ",kmax=" + std::to_string(40 * kPacket);
  for (const std::string name : {"droptail", "ecn", "red", "priority", "composite"}) {
    INFO(name);
    const std::string queue = name + room + (name == "droptail" ? "" : marks);
    // All that comes beyond the room is lost or cut, so the queue is as long as it can be; packets that wait
    // count without the one being sent in some.
    const auto longest = [&](double share) {
      return static_cast<double>(run(queue, share, 200)->network.links()[2].max_queue_bytes) / kPacket;
    };
    const double whole = longest(1), quarter = longest(0.25), least = longest(0.001);
    CHECK(whole > 97);
    CHECK(whole < 104);
    CHECK(quarter > 23);
    CHECK(quarter < 29);
    CHECK(least >= 1);  // a packet at least, or nothing would ever pass
    CHECK(least < 5);
    if (name == "droptail") continue;
    // Some 20 packets wait: above 10, below 40.
    CHECK(run(queue, 1, 24)->signal("ecn_mark") == 0);
    CHECK(run(queue, 0.25, 24)->signal("ecn_mark") > 300);
  }
  CHECK_THROWS_WITH(run("pfc", 0.25, 10), Catch::Contains("fault.scale_queue: limits of pfc"));
}

TEST_CASE("limits come back with the rate, and follow it step by step to the same place") {
  constexpr std::uint64_t kPacket = kMtu + kHeader;
  const auto topology = chain(1, kRate, kLatency, Time());
  for (const std::string name : {"ecn", "composite"}) {
    INFO(name);
    const auto outcome = [&](std::vector<LinkChange> changes) {
      Simulation simulation(topology, {.control = "fixed_window:packets=80",
                                       .queue = name + ":capacity=" + std::to_string(60 * kPacket),
                                       .changes = std::move(changes)});
      simulation.send(0, 1, 400 * kMtu);
      simulation.run();
      return std::tuple(simulation.client.delivered.begin()->second, simulation.signal("ecn_mark"),
                        simulation.network.links()[2].max_queue_bytes);
    };
    const auto change = [](double share) {
      return LinkChange{.at = Time(), .link = 1, .rate_share = share, .queue_share = share};
    };
    REQUIRE(outcome({change(0.5)}) != outcome({}));
    REQUIRE(outcome({change(0.5), change(0.125), change(1)}) == outcome({change(1)}));
    REQUIRE(outcome({change(0.125), change(0.5)}) == outcome({change(0.5)}));
  }
}

TEST_CASE("what is on a link that is cut is lost, what comes before and after is not") {
  // Packets of 83.2 ns follow each other over one link of 500 ns. The cut at 1 us finds those lost that
  // started before and arrive after: number n starts at 83.2 n ns and arrives at 83.2 (n + 1) + 500 ns.
  const auto topology = chain(0, kRate, kLatency, Time());
  Simulation simulation(topology, {.changes = {{Time::ns(1000), 0, 0, 0}, {Time::ns(1500), 0, 1, 0}}});
  simulation.send(0, 1, 30 * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == 1);
  int lost = 0;
  for (int n = 0; n < 30; ++n) {
    const double start = 83.2 * n, arrival = 83.2 * (n + 1) + 500;
    if (arrival >= 1000 && start < 1500) ++lost;
  }
  // ACKs of packets that arrived are lost as well: those that arrive from 1 us on or start before 1.5 us.
  for (int n = 0; n < 30; ++n) {
    const double sent = 83.2 * (n + 1) + 500;
    if (sent < 1000 && sent + 1.28 + 500 >= 1000) ++lost;
  }
  REQUIRE(simulation.signal("link_down_loss") == static_cast<std::uint64_t>(lost));
  REQUIRE(simulation.network.totals().packets_dropped == static_cast<std::uint64_t>(lost));
  // Each direction's row has its own: data one way, ACKs the other.
  const auto links = simulation.network.links();
  const int lost_acks = static_cast<int>(links[1].drops);
  REQUIRE(links.size() == 2);
  REQUIRE(links[0].drops + links[1].drops == static_cast<std::uint64_t>(lost));
  int acks = 0;
  for (int n = 0; n < 30; ++n) {
    const double sent = 83.2 * (n + 1) + 500;
    if (sent < 1000 && sent + 1.28 + 500 >= 1000) ++acks;
  }
  REQUIRE(lost_acks == acks);
}

TEST_CASE("every packet that is lost stands in the row of a link, or had no route") {
  // Cuts, wrong bits and full queues, in FIFO queues and in scheduled ones.
  const auto topology = topologies::build(parse_module_choice("fat_tree:k=4,latency=300ns"));
  Options options;
  options.policy = spray();
  options.queue = GENERATE("droptail:capacity=30KB", "priority:capacity=30KB", "composite:capacity=30KB");
  options.config.reconvergence = Time::us(5);
  for (std::uint32_t link = 0; link < topology.channels().size() / 2; ++link) {
    options.changes.push_back({Time(), link, 1, 1e-7});
  }
  for (const std::uint32_t link : {20u, 33u, 40u}) {
    options.changes.push_back({Time::us(3 + link / 10), link, 0, 0});
    options.changes.push_back({Time::us(60), link, 1, 0});
  }
  Simulation simulation(topology, options);
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) simulation.send(h, (h + 5) % 16, 300'000);
  for (std::uint32_t h = 1; h < 6; ++h) simulation.send(h, 0, 300'000);
  simulation.run();
  REQUIRE(simulation.client.deliveries == topology.hosts() + 5);
  REQUIRE(simulation.signal("link_down_loss") > 0);
  REQUIRE(simulation.signal("corrupt") > 0);
  std::uint64_t in_rows = 0, without_route = 0;
  for (const results::Link& link : simulation.network.links()) in_rows += link.drops;
  for (const auto& [name, count] : simulation.network.totals().signals) {
    if (name == "no_route") without_route = count;
  }
  REQUIRE(in_rows + without_route == simulation.network.totals().packets_dropped);
}

TEST_CASE("a switch takes another of its links at once; the others learn of it later") {
  // Two leaves, two spines: the way up from leaf 0 to spine 0 is cut before anything is sent.
  const auto topology = topologies::build(
      parse_module_choice("leaf_spine:leaves=2,spines=2,hosts_per_leaf=1,link=400Gbps,latency=500ns"));
  std::uint32_t up = 0, down = 0;
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
    const auto from = topology.node(topology.channels()[c].from).name;
    const auto to = topology.node(topology.channels()[c].to).name;
    if (from == "leaf 0" && to == "spine 0") up = c / 2;
    if (from == "spine 0" && to == "leaf 1") down = c / 2;
  }
  SECTION("its own link") {
    Simulation simulation(topology, {.policy = spray(), .changes = {{Time(), up, 0, 0}}});
    simulation.send(0, 1, 100 * kMtu);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 1);
    REQUIRE(simulation.signal("detour") > 20);
    // ACKs find spine 0 cut off from leaf 0, and are lost until routes are new; no data packet is.
    REQUIRE(simulation.network.flows()[0].ecn_marked == 0);
  }
  SECTION("a link farther on: packets are lost until routes avoid it") {
    PacketConfig config;
    config.reconvergence = Time::us(200);
    Simulation simulation(topology, {.policy = spray(), .config = config, .changes = {{Time(), down, 0, 0}}});
    const auto message = simulation.send(0, 1, 100 * kMtu);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 1);
    REQUIRE(simulation.signal("link_down_loss") > 20);
    Simulation at_once(
        topology,
        {.policy = spray(), .config = {.reconvergence = Time()}, .changes = {{Time(), down, 0, 0}}});
    const auto other = at_once.send(0, 1, 100 * kMtu);
    at_once.run();
    REQUIRE(at_once.network.totals().packets_dropped == 0);
    REQUIRE(at_once.client.delivered[other] < simulation.client.delivered[message]);
  }
  SECTION("no way left: the flow waits, and goes on when there is one") {
    Simulation simulation(topology, {.config = {.reconvergence = Time::us(10)},
                                     .changes = {{Time(), 0, 0, 0}, {Time::us(900), 0, 1, 0}}});
    const auto message = simulation.send(0, 1, 10 * kMtu);
    simulation.run();
    REQUIRE(simulation.client.deliveries == 1);
    REQUIRE(simulation.client.delivered[message] > Time::us(900));
  }
}

TEST_CASE("changes of links give the same results in any division") {
  const auto topology = topologies::build(parse_module_choice("fat_tree:k=4,latency=300ns"));
  std::vector<Message> messages;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    messages.push_back(
        {.source = h, .destination = (h + 5) % topology.hosts(), .bytes = 300'000, .client = {h}});
  }
  Options options;
  options.policy = spray();
  options.config.reconvergence = Time::us(5);
  options.config.cut_through = GENERATE(false, true);
  options.queue = GENERATE("ecn:capacity=60KB", "phantom:capacity=60KB");
  for (std::uint32_t link = 0; link < topology.channels().size() / 2; ++link) {
    options.changes.push_back({Time(), link, 1, 1e-7});
  }
  options.changes.push_back({Time::us(3), 20, 0, 0});
  options.changes.push_back({Time::us(4), 33, 0.5, 0});
  options.changes.push_back({Time::us(30), 20, 1, 0});
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == messages.size());
  for (const std::uint32_t parts : {2, 5}) {
    for (const std::uint32_t threads : {1, 2}) {
      REQUIRE(run_divided(topology, options, messages, topologies::partition(topology, parts), threads) ==
              whole);
    }
  }
}

TEST_CASE("a phantom queue marks while the real one is short") {
  // Two hosts of 200 Gb/s fill a link of 400 Gb/s exactly: no real queue beyond a packet or two. The virtual
  // one drains 5% slower, and so grows by 5% of what passes: after 2,000 packets by about 100.
  topologies::Topology topology("merge");
  const auto s = topology.add_switch("s", 1, 0, Time());
  const auto sink = topology.add_host("sink");
  topology.add_link(sink, s, {kRate, kLatency});
  for (const char* name : {"a", "b"}) {
    topology.add_link(topology.add_host(name), s, {Bandwidth::gbps(200), kLatency});
  }
  topology.finish();
  constexpr std::uint32_t kPacket = kMtu + kHeader;
  const std::string capacity = std::to_string(200 * kPacket);
  Simulation simulation(topology, {.queue = "phantom:capacity=" + capacity +
                                            ",kmin=400KB,kmax=400KB,phantom_capacity=" + capacity +
                                            ",phantom_kmin=0.25,phantom_kmax=0.25"});
  simulation.send(1, 0, 1000 * kMtu);
  simulation.send(2, 0, 1000 * kMtu);
  simulation.run();
  REQUIRE(simulation.client.deliveries == 2);
  // The threshold of 50 packets is passed after about 50 × 1.05 / 0.05 = 1,050 of the 2,000.
  const auto marks = static_cast<double>(simulation.signal("ecn_mark"));
  REQUIRE(marks == Approx(2000 - 1050).margin(12));
  REQUIRE(simulation.signal("drop") == 0);
}

}  // namespace
}  // namespace weft::sim::packet
