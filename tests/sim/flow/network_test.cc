#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "sim/routing/policies/ecmp.h"
#include "tests/sim/flow/support.h"

namespace weft::sim::flow {
namespace {

using packet::chain;
using packet::star;

constexpr std::int64_t kGiga = 1'000'000'000;

// Adds a header of 64 bytes for each packet of up to 4,096.
std::uint64_t on_the_wire(std::uint64_t bytes) {
  return bytes + std::max<std::uint64_t>(1, (bytes + 4095) / 4096) * 64;
}

// Over a switch and two cables of 1 us and 100 Gb/s, from the last byte's leaving on: a full packet once
// more, and its acknowledgement, a header, back.
const Time kAnsweredAfter =
    Time::us(4) + Bandwidth::gbps(100).serialization(4160) + Bandwidth::gbps(100).serialization(64) * 2;

}  // namespace

TEST_CASE("a message alone takes what it takes packet by packet, to the picosecond") {
  // 0 bytes, one packet, full packets only, and a last one that is shorter; a slow link in every place.
  const std::uint64_t bytes = GENERATE(0, 1, 4096, 40'960, 1'000'000);
  const std::size_t slow = GENERATE(0, 1, 2, 3);
  const Time delay = Time::ns(slow == 0 ? 70 : 0);
  CAPTURE(bytes, slow);
  topologies::Topology topology("chain");
  topologies::Vertex last = topology.add_host("a");
  for (std::size_t link = 0; link < 3; ++link) {
    const bool end = link == 2;
    const auto next =
        end ? topology.add_host("b") : topology.add_switch("s" + std::to_string(link), 1, 0, Time::ns(300));
    topology.add_link(last, next, {Bandwidth::gbps(link == slow ? 25 : 100), Time::ns(500)});
    last = next;
  }
  topology.finish();
  Run fluid(topology, routing::ecmp(),
            {.send_delay = delay, .receive_delay = delay * 2, .host_delay = delay * 4});
  fluid.send(0, 1, bytes);
  fluid.run();
  packet::Options options;
  options.config.send_delay = delay;
  options.config.receive_delay = delay * 2;
  options.config.host_delay = delay * 4;
  packet::Simulation packets(topology, options);
  packets.send(0, 1, bytes);
  packets.run();
  const Time found = fluid.client.delivered.at(0);
  CHECK(found == packets.client.delivered.at(0));
  CHECK(fluid.flow(0).ideal == found);
  CHECK(fluid.verdict() == "");
}

TEST_CASE("a handshake takes what it takes alone, and others what they take without it") {
  const topologies::Topology topology = star(4, Bandwidth::gbps(100), Time::ns(500), Time::ns(200));
  const auto run = [&](bool handshake) {
    Run run(topology, routing::ecmp(), {});
    for (std::uint32_t i = 1; i < 4; ++i) run.send(i, 0, 1'000'000);
    if (handshake) {
      run.network.inject(
          {.source = 1, .destination = 0, .notify_sent = true, .control = true, .client = {3}});
    }
    run.run();
    return std::pair(run.client.delivered, run.link("hub", "h0").bytes);
  };
  const auto [alone, bytes] = run(false);
  auto [with, more] = run(true);
  // One header over two links of 100 Gb/s, two cables and the switch.
  CHECK(with.at(3) == Bandwidth::gbps(100).serialization(64) * 2 + Time::ns(500 + 200 + 500));
  CHECK(more == bytes + 64);
  with.erase(3);
  CHECK(with == alone);
}

TEST_CASE("n messages to one host share its link") {
  const auto n = GENERATE(2u, 3u, 16u);
  const topologies::Topology topology = star(17, Bandwidth::gbps(100), Time::ns(500), Time::ns(200));
  Run run(topology, routing::ecmp(), {});
  for (std::uint32_t i = 0; i < n; ++i) run.send(i + 1, 0, 1'000'000);
  run.run();
  // All end together: n times the bytes at 100 Gb/s, and then two cables, the switch, and one packet once
  // more.
  const Time sending = Bandwidth::gbps(100).serialization(n * on_the_wire(1'000'000));
  const Time first = Bandwidth::gbps(100).serialization(4160);
  const Time header = Bandwidth::gbps(100).serialization(64);  // comes back as an acknowledgement
  for (std::uint32_t i = 0; i < n; ++i) {
    const Time expected = sending + Time::ns(1200) + first;
    // A share is cut to 2^-16 bit/s, so each may take some picoseconds more.
    CHECK(run.client.delivered.at(i) >= expected);
    CHECK(run.client.delivered.at(i) <= expected + Time::ps(2));
    CHECK(run.client.sent.at(i) == run.client.delivered.at(i) + Time::ns(1200) + header * 2);
  }
  CHECK(run.link("hub", "h0").bytes == n * on_the_wire(1'000'000));
  CHECK(run.verdict() == "");
}

TEST_CASE("what ends gives its share to the others, at the moment it ends") {
  const topologies::Topology topology = star(4, Bandwidth::gbps(80), Time(), Time());
  FlowConfig config;
  config.header_bytes = 0;
  config.mtu_bytes = 1000;
  Run run(topology, routing::ecmp(), config);
  run.send(1, 0, 100'000);
  run.send(2, 0, 200'000);
  run.send(3, 0, 300'000);
  run.run();
  // 80 Gb/s are 10 bytes per ns. Three at 10/3 until the first is done after 30 us; two at 5 for the 100 kB
  // that the second still has, 20 us; the third's last 100 kB take 10 us. Then one packet, 100 ns, over the
  // last link.
  const Time packet = Time::ns(100);
  const auto near = [&](std::uint32_t message, Time expected) {
    const Time found = run.client.delivered.at(message);
    return found >= expected + packet && found <= expected + packet + Time::ps(3);
  };
  CHECK(near(0, Time::us(30)));
  CHECK(near(1, Time::us(50)));
  CHECK(near(2, Time::us(60)));
  CHECK(run.verdict() == "");
}

TEST_CASE("the parking lot, on links between switches") {
  // A row of 4 switches with a host each at 100 Gb/s; one message goes all along, one over each link.
  topologies::Topology topology("row");
  std::vector<topologies::Vertex> row;
  for (int s = 0; s < 4; ++s) {
    row.push_back(topology.add_switch("s" + std::to_string(s), 1, 0, Time()));
    for (int h = 0; h < 2; ++h) {
      topology.add_link(topology.add_host("h" + std::to_string(2 * s + h)), row.back(),
                        {Bandwidth::gbps(100), Time()});
    }
    if (s > 0)
      topology.add_link(row[row.size() - 2], row.back(), {Bandwidth::gbps(s == 2 ? 40 : 100), Time()});
  }
  topology.finish();
  Run run(topology, routing::ecmp(), {});
  run.send(0, 6, 10'000'000);  // over all three links
  for (std::uint32_t s = 0; s < 3; ++s) run.send(2 * s + 1, 2 * s + 3, 10'000'000);
  run.run();
  // 20 Gb/s for the long one and for the short one on the slow link, which end together; 80 for the others.
  const double seconds = 8.0 * static_cast<double>(on_the_wire(10'000'000));
  // Beside that, a packet for each link on the way, and the acknowledgement.
  const auto at = [&](double gigabits) { return Approx(seconds / (gigabits * kGiga)).epsilon(0.001); };
  CHECK(run.client.sent.at(0).seconds() == at(20));
  CHECK(run.client.sent.at(2).seconds() == at(20));
  CHECK(run.client.sent.at(1).seconds() == at(80));
  CHECK(run.client.sent.at(3).seconds() == at(80));
}

TEST_CASE("a cap and a window bind where links don't, and short round trips get more of a shared link") {
  const topologies::Topology topology = star(3, Bandwidth::gbps(100), Time::us(1), Time());
  FlowConfig config;
  config.max_rate = Bandwidth::gbps(10);
  Run capped(topology, routing::ecmp(), config);
  capped.send(0, 1, 1'000'000);
  capped.run();
  CHECK(capped.client.sent.at(0) ==
        Bandwidth::gbps(10).serialization(on_the_wire(1'000'000)) + kAnsweredAfter);

  config = {};
  config.window_bytes = 10'000;
  Run windowed(topology, routing::ecmp(), config);
  windowed.send(0, 1, 1'000'000);
  windowed.run();
  // Round trip: 4 cables of 1 us, a packet and its acknowledgement over two links each.
  const double rtt = 4e-6 + 2 * 8 * (4160 + 64) / 100e9;
  CHECK(windowed.client.sent.at(0).seconds() ==
        Approx(static_cast<double>(on_the_wire(1'000'000)) / 10'000 * rtt + kAnsweredAfter.seconds()));

  topologies::Topology uneven("uneven");
  const auto hub = uneven.add_switch("hub", 1, 0, Time());
  for (const int us : {1, 1, 5}) {
    uneven.add_link(uneven.add_host("h" + std::to_string(uneven.hosts())), hub,
                    {Bandwidth::gbps(100), Time::us(us)});
  }
  uneven.finish();
  config = {};
  config.equal_shares = false;
  Run fair(uneven, routing::ecmp(), config);
  fair.send(1, 0, 100'000'000);
  fair.send(2, 0, 100'000'000);
  fair.run();
  const double near = 4e-6 + 2 * 8 * 4224 / 100e9, far = 12e-6 + 2 * 8 * 4224 / 100e9;
  // Shares in proportion to 1 / round trip, until the near one is done.
  const double share = far / (near + far);
  CHECK(fair.client.sent.at(0).seconds() ==
        Approx(8.0 * static_cast<double>(on_the_wire(100'000'000)) / (share * 100e9)).epsilon(1e-3));
}

TEST_CASE("copies within a host go one after the other and use no link") {
  const topologies::Topology topology = star(2, Bandwidth::gbps(100), Time::us(1), Time());
  Run run(topology, routing::ecmp(), {});
  run.send(0, 0, 100'000);
  run.send(0, 0, 100'000);
  run.run();
  CHECK(run.client.delivered.at(0) == Time::ns(1'000 + 200));
  CHECK(run.client.delivered.at(1) == Time::ns(2'000 + 200));
  CHECK(run.link("h0", "hub").bytes == 0);
  CHECK(run.client.sent.size() == 2);
}

TEST_CASE("several NICs: the given one, all in turn, or all at once") {
  topologies::Topology topology("planes");
  const auto a = topology.add_host("a"), b = topology.add_host("b");
  for (std::uint16_t plane = 0; plane < 2; ++plane) {
    const auto s = topology.add_switch("s" + std::to_string(plane), 1, 0, Time(), plane);
    for (const auto host : {a, b}) topology.add_link(host, s, {Bandwidth::gbps(100), Time::us(1)});
  }
  topology.finish();
  const auto kind = GENERATE(0, 1);
  const routing::Policy policy = kind == 0 ? routing::ecmp() : routing::spray();
  const auto time_of_two = [&](NicChoice choice) {
    FlowConfig config;
    config.nic_choice = choice;
    Run run(topology, policy, config);
    run.send(0, 1, 1'000'000);
    run.send(0, 1, 1'000'000);
    run.run();
    CHECK(run.verdict() == "");
    CHECK(run.link("a", "s0").bytes + run.link("a", "s1").bytes == 2 * on_the_wire(1'000'000));
    return run.client.sent.at(1);
  };
  const Time one = Bandwidth::gbps(100).serialization(on_the_wire(1'000'000));
  CHECK(time_of_two(NicChoice::kGiven) == one * 2 + kAnsweredAfter);
  CHECK(time_of_two(NicChoice::kRoundRobin) == one + kAnsweredAfter);
  CHECK(time_of_two(NicChoice::kSpray) == one + kAnsweredAfter);
}

TEST_CASE("a policy that looks at packets is refused") {
  const topologies::Topology topology = star(2, Bandwidth::gbps(100), Time::us(1), Time());
  CHECK_THROWS_WITH(Run(topology, packet::one_path(), {}), Catch::Contains("choose ecmp or spray"));
}

TEST_CASE("a link that fails stops its flows until routes are known anew; one that slows down slows them") {
  // Two switches with two cables between them.
  topologies::Topology topology("two");
  const auto s = topology.add_switch("s", 1, 0, Time()), t = topology.add_switch("t", 1, 0, Time());
  topology.add_link(topology.add_host("a"), s, {Bandwidth::gbps(100), Time()});
  topology.add_link(topology.add_host("b"), t, {Bandwidth::gbps(100), Time()});
  topology.add_link(s, t, {Bandwidth::gbps(100), Time()});
  topology.finish();
  const Time alone = Bandwidth::gbps(100).serialization(on_the_wire(1'000'000));
  const auto sent = [&](std::vector<LinkShare> changes) {
    Run run(topology, routing::ecmp(), {}, std::move(changes));
    run.send(0, 1, 1'000'000);
    run.run();
    CHECK(run.link("s", "t").bytes ==
          (run.client.sent.empty() ? run.link("a", "s").bytes : on_the_wire(1'000'000)));
    return run.client.sent.empty() ? Time::max() : run.client.sent.at(0);
  };
  // A full packet for each of the two switches, and the acknowledgement's header over three links.
  const Time answered =
      Bandwidth::gbps(100).serialization(4160) * 2 + Bandwidth::gbps(100).serialization(64) * 3;
  CHECK(sent({}) == alone + answered);
  // At a quarter from 20 us on: what is left takes four times as long.
  CHECK(sent({{Time::us(20), 2, 0.25}}) == Time::us(20) + (alone - Time::us(20)) * 4 + answered);
  // Down for 30 us. Its own switches know at once.
  CHECK(sent({{Time::us(20), 2, 0}, {Time::us(50), 2, 1}}) == alone + Time::us(30) + answered);
  CHECK(sent({{Time::us(20), 2, 0}}) == Time::max());
}

TEST_CASE(
    "round a failed link, at once where the switch has another and after reconvergence where it has not") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4,link=100Gbps"));
  for (const bool spray : {false, true}) {
    // All links between an edge switch and one aggregation switch of its pod, host 0's pod: down.
    std::uint32_t link = 0;
    while (topology.node(topology.channels()[2 * link].from).name != "edge 0.0" ||
           topology.node(topology.channels()[2 * link].to).name != "aggregation 0.1") {
      ++link;
    }
    FlowConfig config;
    config.reconvergence = Time::us(30);
    Run run(topology, spray ? routing::spray() : routing::ecmp(), config, {{Time::us(10), link, 0}});
    run.send(0, 15, 1'000'000);
    run.send(15, 0, 1'000'000);
    run.run();
    CHECK(run.client.deliveries == 2);
    CHECK(run.verdict() == "");
    // Over six links of 500 ns, there and back, and five switches.
    const Time answered = Time::ns(500) * 12 + Bandwidth::gbps(100).serialization(4160) * 5 +
                          Bandwidth::gbps(100).serialization(64) * 6;
    const double alone = (Bandwidth::gbps(100).serialization(on_the_wire(1'000'000)) + answered).seconds();
    // Upwards nothing is lost; downwards the pod's other switch does not know a way until 40 us. A flow that
    // happens to go the other way is not touched.
    CHECK(run.client.sent.at(0).seconds() == Approx(alone));
    const double back = run.client.sent.at(1).seconds();
    if (spray) {
      CHECK(back == Approx(alone + 30e-6));
    } else {
      CHECK((back == Approx(alone) || back == Approx(alone + 30e-6)));
    }
  }
}

TEST_CASE("samples add up to what links carried, and no link is ever more than full") {
  class Sink final : public results::SeriesSink {
   public:
    void sample(Time begin, Time end, const results::NetworkSample& network,
                std::span<const results::LinkSample> links) override {
      packets += network.packets_delivered;
      bytes += network.bytes_delivered;
      for (const results::LinkSample& link : links) {
        of_link[link.link] += link.bytes;
        most = std::max(most, link.utilization);
        if (end - begin > Time::us(10)) most = 99;
      }
    }
    std::map<std::uint32_t, std::uint64_t> of_link;
    std::uint64_t packets = 0, bytes = 0;
    double most = 0;
  };
  const bool spray = GENERATE(false, true);
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4,link=100Gbps"));
  Run run(topology, spray ? routing::spray() : routing::ecmp(), {});
  std::vector<std::uint32_t> all;
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) all.push_back(c);
  Sink sink;
  results::Series series(Time::us(10), all, sink);
  run.network.set_series(&series);
  for (std::uint32_t host = 0; host < 15; ++host) run.send(host, host % 3 + 13, 500'000 * (host % 4 + 1));
  run.run();
  series.close(Time::max());
  CHECK(run.verdict() == "");
  const std::vector<results::Link> links = run.network.links();
  for (std::uint32_t c = 0; c < links.size(); ++c) CHECK(sink.of_link[c] == links[c].bytes);
  CHECK(sink.bytes == run.network.totals().bytes_delivered);
  // Each flow's bytes are rounded down.
  CHECK(sink.most == Approx(1.0).epsilon(1e-4));
}

TEST_CASE("a link slowed for a while is full in each interval, and as long as it has anything to send") {
  class Sink final : public results::SeriesSink {
   public:
    void sample(Time, Time end, const results::NetworkSample&,
                std::span<const results::LinkSample> links) override {
      for (const results::LinkSample& link : links) {
        most = std::max(most, link.utilization);
      }
      if (end <= Time::us(150)) least = std::min(least, links[1].utilization);
    }
    double least = 1, most = 0;
  };
  // 100 Gb/s, between 50 and 150 us a tenth.
  const topologies::Topology topology = star(2, Bandwidth::gbps(100), Time::us(1), Time());
  Run run(topology, routing::ecmp(), {}, {{Time::us(50), 1, 0.1}, {Time::us(150), 1, 1}});
  Sink sink;
  results::Series series(Time::us(10), {0, 3}, sink);
  run.network.set_series(&series);
  run.send(0, 1, 5'000'000);
  run.run();
  CHECK(run.verdict() == "");
  const std::vector<results::Link> links = run.network.links();
  const Time whole = Bandwidth::gbps(100).serialization(links[3].bytes);
  CHECK(links[0].busy == whole);
  // What a tenth of the rate left undone in 100 us takes 90 us longer.
  CHECK(links[3].busy.seconds() == Approx((whole + Time::us(90)).seconds()).epsilon(1e-6));
  CHECK(sink.least == Approx(1.0).epsilon(1e-4));
  CHECK(sink.most == Approx(1.0).epsilon(1e-4));
}

TEST_CASE("a run can be stopped while it has few events but much to work out") {
  class Stop final : public RunControl {
   public:
    StopReason poll(Time, std::uint64_t) override { return StopReason::kInterrupt; }
  };
  const topologies::Topology topology = star(3, Bandwidth::gbps(100), Time::us(1), Time());
  Run run(topology, routing::ecmp(), {});
  run.send(0, 1, 1'000'000);
  Stop stop;
  CHECK(run.network.run(stop) == StopReason::kInterrupt);
  CHECK(run.client.deliveries == 0);
  run.run();  // and can go on
  CHECK(run.client.deliveries == 1);
}

TEST_CASE("the order in which hosts hand over messages at one moment makes no difference") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4"));
  const bool spray = GENERATE(false, true);
  const auto times = [&](bool backwards) {
    Run run(topology, spray ? routing::spray() : routing::ecmp(), {});
    for (std::uint32_t i = 0; i < 16; ++i) {
      const std::uint32_t host = backwards ? 15 - i : i;
      for (std::uint32_t n = 1; n < 5; ++n) run.send(host, (host * n + n) % 16, 100'000 * n + host);
    }
    run.run();
    std::vector<std::tuple<std::uint32_t, std::uint64_t, Time>> finished;
    for (const results::Flow& flow : run.network.flows())
      finished.emplace_back(flow.source, flow.bytes, flow.finish);
    return finished;
  };
  CHECK(times(false) == times(true));
}

TEST_CASE("bytes are conserved at every switch, whatever flows do") {
  const char* const shape = GENERATE("fat_tree:k=4", "fat_tree:k=4,oversubscription=3",
                                     "torus:dims=3x4,hosts=2", "hyperx:dims=3x3,hosts=2");
  const bool spray = GENERATE(false, true);
  CAPTURE(shape, spray);
  const topologies::Topology topology = topologies::build(parse_module_choice(shape));
  Run run(topology, spray ? routing::spray() : routing::ecmp(), {});
  RandomStream random(1, 5);
  for (int i = 0; i < 200; ++i) {
    const auto source = static_cast<std::uint32_t>(random.below(topology.hosts()));
    run.send(source, static_cast<std::uint32_t>(random.below(topology.hosts())), random.below(2'000'000));
  }
  run.run();
  CHECK(run.verdict() == "");
}

}  // namespace weft::sim::flow
