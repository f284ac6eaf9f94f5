// Policies of the sending NIC in networks with failed links.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/policies/policies.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096, kPacket = kMtu + 64;

topologies::Topology network(const std::string& text) { return topologies::build(parse_module_choice(text)); }

// With other values than its defaults.
routing::Policy policy(const std::string& name, const std::map<std::string, std::string>& values = {}) {
  const routing::Policy& found =
      find_module(routing::policies(), parse_module_choice(name), "routing policy");
  routing::Policy changed = found;
  for (ParameterSpec& parameter : changed.info.parameters) {
    const auto value = values.find(parameter.name);
    if (value != values.end()) parameter.default_value = value->second;
  }
  return changed;
}

bool fits(const std::string& name, const std::string& start) { return name.starts_with(start); }

// Both directions of all links between nodes whose names begin so, from `at` on, until `until`.
std::vector<LinkChange> cut(const topologies::Topology& topology, const std::string& a, const std::string& b,
                            Time at, Time until = Time::max()) {
  std::vector<LinkChange> changes;
  for (std::uint32_t link = 0; link < topology.edges().size(); ++link) {
    const std::string& from = topology.node(topology.edges()[link].from).name;
    const std::string& to = topology.node(topology.edges()[link].to).name;
    if (!(fits(from, a) && fits(to, b)) && !(fits(from, b) && fits(to, a))) continue;
    changes.push_back({.at = at, .link = link, .rate_share = 0});
  }
  const std::size_t cuts = changes.size();
  for (std::size_t i = 0; i < cuts && until < Time::max(); ++i) {
    changes.push_back({.at = until, .link = changes[i].link, .rate_share = 1});
  }
  return changes;
}

double microseconds(Time time) { return static_cast<double>(time.ps()) / 1e6; }

// Eight planes of 100 Gb/s, of k-port switches: leaves of k/2 hosts with k/2 links up. Every host sends to
// one on the next leaf, so that each leaf's links up are full in every plane.
struct Planes {
  struct Case {
    // Pairs of names: links between nodes whose names begin so.
    std::vector<std::pair<std::string, std::string>> failed;
    Time at = Time::us(1), until = Time::max();
    std::map<std::string, std::string> values = {};  // of the policy's parameters
    std::uint32_t k = 4;
  };
  explicit Planes(const Case& run)
      : topology(network("multi_plane:planes=8,link=100Gbps,latency=500ns,k=" + std::to_string(run.k))) {
    Options options{
        .control = "fixed_window:packets=200", .queue = "composite", .policy = policy("srv6", run.values)};
    for (const auto& [a, b] : run.failed) {
      const std::vector<LinkChange> changes = cut(topology, a, b, run.at, run.until);
      options.changes.insert(options.changes.end(), changes.begin(), changes.end());
    }
    std::stable_sort(options.changes.begin(), options.changes.end(),
                     [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
    Simulation simulation(topology, options);
    const std::uint32_t hosts = topology.hosts();
    for (std::uint32_t host = 0; host < hosts; ++host) {
      simulation.send(host, (host + run.k / 2) % hosts, kBytes);
    }
    simulation.run();
    REQUIRE(simulation.client.deliveries == hosts);
    for (const auto& [message, time] : simulation.client.delivered) done.push_back(microseconds(time));
    longest = *std::max_element(done.begin(), done.end());
    for (const char* name : {"timeout", "assumed_bad", "restored_path", "probe"}) {
      signals[name] = simulation.signal(name);
    }
  }

  static constexpr std::uint64_t kPackets = 4880, kBytes = kPackets * kMtu;
  // On eight links of 100 Gb/s, and the four links of the way with the last packet's three further hops.
  static constexpr double kWire = kPackets * kPacket * 8 / 800e3, kWay = 4 * 0.5 + 3 * kPacket * 8 / 100e3;

  topologies::Topology topology;
  std::vector<double> done;  // us, by sending host
  double longest = 0;
  std::map<std::string, std::uint64_t> signals;
};

// Until a loss is known: a round trip, in which queues of 32 packets may be met (10.6 us), and as much
// patience. What is lost until then is an eighth of what a host sends or less.
constexpr double kNotice = 20;
const std::vector<std::pair<std::string, std::string>> kPlane3 = {{"leaf 3.", "spine 3."},
                                                                  {"leaf 3.", "host"}};

TEST_CASE("srv6: eight planes carry eight times what one does") {
  const Planes whole(Planes::Case{});
  REQUIRE(whole.longest >= Planes::kWire + Planes::kWay);
  REQUIRE(whole.longest <= 1.02 * (Planes::kWire + Planes::kWay));
  REQUIRE(whole.signals.at("assumed_bad") == 0);
}

TEST_CASE("srv6: without one of eight planes seven eighths are left") {
  const Planes run({.failed = kPlane3});
  for (const double time : run.done) {
    REQUIRE(time >= Planes::kWire * 8 / 7);
    REQUIRE(time <= Planes::kWire * 8 / 7 + Planes::kWay + kNotice);
  }
  REQUIRE(run.signals.at("assumed_bad") == 8 * 2);  // all ways of that plane, of every connection
  REQUIRE(run.signals.at("timeout") == 0);
}

TEST_CASE("srv6: a host that lost one of eight ports has seven eighths, and others what they had") {
  const Planes run({.failed = {{"host 5", "leaf 3."}}});
  for (std::uint32_t host = 0; host < 8; ++host) {
    const bool ends_there = host == 5 || host == 3;
    const double wire = Planes::kWire * (ends_there ? 8.0 / 7 : 1);
    REQUIRE(run.done[host] >= wire);
    REQUIRE(run.done[host] <= wire + Planes::kWay + (ends_there ? kNotice : 5));
  }
}

TEST_CASE("srv6: a leaf that lost one of its links up loses that link, and others nothing") {
  const Planes run({.failed = {{"leaf 3.2", "spine 3.1"}}, .k = 8});
  // Hosts 8 to 11 send through it, 4 to 7 to it. Of 32 links 31 are left: what is trimmed in that plane goes
  // through the next. If planes took equal turns whatever they carry it would be three of four.
  for (std::uint32_t host = 0; host < 32; ++host) {
    const bool meets = host >= 4 && host < 12;
    const double wire = meets ? Planes::kWire * 32 / 31 + kNotice : Planes::kWire + 6;
    REQUIRE(run.done[host] <= wire + Planes::kWay);
  }
  // All four together can't be faster than their links.
  REQUIRE(*std::max_element(run.done.begin() + 8, run.done.begin() + 12) >= Planes::kWire * 32 / 31);
}

TEST_CASE("srv6: a plane that comes back is found by probes, and used again") {
  // Down for 40 us: an eighth of what these could carry is lost, 5 us, and what it takes to notice both.
  const Planes back(
      {.failed = kPlane3, .at = Time::us(20), .until = Time::us(60), .values = {{"probe", "20us"}}});
  REQUIRE(back.longest >= Planes::kWire + 5);
  REQUIRE(back.longest <= Planes::kWire + Planes::kWay + 5 + 20.0 / 8 + kNotice);
  REQUIRE(back.signals.at("restored_path") == back.signals.at("assumed_bad"));
  // Without a probe in time it is not.
  const Planes late({.failed = kPlane3, .at = Time::us(20), .until = Time::us(60)});
  REQUIRE(late.longest > back.longest + 5);
  REQUIRE(late.signals.at("probe") == 0);
}

// From leaf 0 to leaf 1 over eight spines, of which some have lost their link to leaf 1: what is sent there
// is lost until routes everywhere know, which they don't in this run.
struct FailedSpines {
  std::string control;
  std::uint32_t senders = 0, failed = 0;

  // When the last message came, in us, and packets lost: means over five seeds.
  std::pair<double, double> run(const std::map<std::string, std::string>& values) const {
    const auto topology = network("leaf_spine:leaves=2,spines=8,hosts_per_leaf=8,link=100Gbps,latency=500ns");
    Options options{.control = control, .queue = "composite", .policy = policy("reps", values)};
    options.config.reconvergence = Time::us(10'000'000);
    for (std::uint32_t spine = 0; spine < failed; ++spine) {
      const auto changes = cut(topology, "spine " + std::to_string(spine), "leaf 1", Time::us(20));
      options.changes.insert(options.changes.end(), changes.begin(), changes.end());
    }
    constexpr std::uint64_t kSeeds = 5;
    double time = 0, lost = 0;
    for (options.seed = 1; options.seed <= kSeeds; ++options.seed) {
      Simulation simulation(topology, options);
      for (std::uint32_t host = 0; host < senders; ++host) simulation.send(host, 8 + host, 1500 * kMtu);
      simulation.run();
      REQUIRE(simulation.client.deliveries == senders);
      Time last;
      for (const auto& [message, at] : simulation.client.delivered) last = std::max(last, at);
      time += microseconds(last) / kSeeds;
      lost += static_cast<double>(simulation.signal("link_down_loss")) / kSeeds;
    }
    return {time, lost};
  }
};

TEST_CASE("reps: frozen after a loss it rides through failed links, and unfrozen it does not") {
  // Half of the hosts send, over five or three links; unfrozen 688 and 961 us, frozen 543 and 735.
  for (const std::uint32_t failed : {3, 5}) {
    const FailedSpines network{"dctcp", 4, failed};
    const auto [time, lost] = network.run({{"trigger", "loss"}});
    const auto [unfrozen_time, unfrozen_lost] = network.run({{"freeze", "0"}});
    INFO(failed << " failed: " << time << " us, " << lost << " lost; unfrozen " << unfrozen_time << ", "
                << unfrozen_lost);
    CHECK(time < 0.85 * unfrozen_time);
    CHECK(lost < unfrozen_lost);
  }
}

TEST_CASE("reps: frozen after a timeout it gets through the one link that is left") {
  const FailedSpines network{"fixed_window:packets=64", 8, 7};
  const auto [time, lost] = network.run({});
  const auto [unfrozen_time, unfrozen_lost] = network.run({{"freeze", "0"}});
  INFO(time << " us, " << lost << " lost; unfrozen " << unfrozen_time << ", " << unfrozen_lost);
  CHECK(time < 0.7 * unfrozen_time);
  CHECK(lost < 0.9 * unfrozen_lost);
}

TEST_CASE("plb and flowbender: flows that met on one path part") {
  // Eight flows over eight spines: with ecmp some spine has two or three, for as long as they last.
  const auto topology = network("leaf_spine:leaves=2,spines=8,hosts_per_leaf=8,link=100Gbps,latency=500ns");
  const auto longest = [&](const std::string& name) {
    constexpr std::uint64_t kSeeds = 5;
    double mean = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Options options{.control = "fixed_window:packets=48",
                      .queue = "ecn:capacity=8MB,kmin=50KB,kmax=50KB",
                      .policy = policy(name)};
      options.seed = seed;
      Simulation simulation(topology, options);
      for (std::uint32_t host = 0; host < 8; ++host) simulation.send(host, 8 + host, 4000 * kMtu);
      simulation.run();
      REQUIRE(simulation.verdict() == "");
      Time last;
      for (const auto& [message, at] : simulation.client.delivered) last = std::max(last, at);
      mean += microseconds(last) / kSeeds;
    }
    return mean;
  };
  const double ecmp = longest("ecmp"), plb = longest("plb"), flowbender = longest("flowbender");
  INFO("ecmp " << ecmp << " us, plb " << plb << ", flowbender " << flowbender);
  CHECK(plb < 0.85 * ecmp);
  CHECK(flowbender < 0.75 * ecmp);
}

TEST_CASE("plb: flows that change paths only while idle keep their order") {
  const auto topology = network("leaf_spine:leaves=2,spines=8,hosts_per_leaf=8,link=100Gbps,latency=20ns");
  const auto out_of_order = [&](const char* rounds, const char* control, std::uint32_t receivers) {
    Simulation simulation(topology, {.control = control,
                                     .queue = "ecn:capacity=8MB,kmin=5KB,kmax=5KB",
                                     .policy = policy("plb", {{"rounds", rounds}})});
    for (std::uint32_t host = 0; host < 8; ++host) simulation.send(host, 8 + host % receivers, 1000 * kMtu);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    REQUIRE(simulation.signal("repath") > 0);
    return simulation.network.totals().out_of_order_packets;
  };
  // One packet of each of eight flows at a time, of which some always wait for the receiver's link.
  REQUIRE(out_of_order("0", "fixed_window:packets=1", 1) == 0);
  // Many of each, which wait at the spines, leave a queue for a shorter one.
  REQUIRE(out_of_order("4", "fixed_window:packets=48", 8) > 0);
}

TEST_CASE("policies of the NIC: one account, however the network is divided") {
  const std::string name = GENERATE("plb", "flowbender", "reps", "bitmap", "srv6");
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 4)));
  RandomStream random(seed, 31);
  const auto topology = network("multi_plane:k=6,planes=3");
  Options options{.control = "fixed_window:packets=60", .policy = policy(name)};
  if (name == "srv6") options.policy = policy(name, {{"probe", "10us"}, {"paths", "6"}, {"backups", "3"}});
  options.seed = seed;
  const char* const queues[] = {"ecn:capacity=60KB,kmin=20KB,kmax=20KB", "composite:capacity=40KB",
                                "pfc:xoff=60KB", "credit"};
  options.queue = queues[random.below(4)];
  options.config.ack_every = random.below(2) == 0 ? 1 : 4;
  options.config.connections.per_message = random.below(2) == 0;
  options.config.reconvergence = Time::us(40);
  options.changes = cut(topology, "leaf 1.0", "spine", Time::us(5), Time::us(60));
  INFO(name << ", " << options.queue);
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 60; ++i) {
    messages.push_back({.source = static_cast<std::uint32_t>(random.below(18)),
                        .destination = static_cast<std::uint32_t>(random.below(18)),
                        .bytes = random.below(400'000),
                        .client = {i}});
  }
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == messages.size());
  for (const std::uint32_t parts : {2, 4}) {
    REQUIRE(run_divided(topology, options, messages, random_division(topology, parts, random), 2) == whole);
  }
}

}  // namespace
}  // namespace weft::sim::packet
