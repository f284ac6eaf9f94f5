// Tables and source routes that users give in files.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/parts/user_tables.h"
#include "sim/units/input_error.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/registered.h"
#include "topologies/analysis/partition.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

using routing::PathModel;
using routing::PathState;
using routing::PathStep;
using topologies::Topology;
using topologies::Vertex;

constexpr const char* kLeafSpine = "leaf_spine:leaves=4,spines=2,hosts_per_leaf=2";

std::string write(const std::string& name, const std::string& text) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
  std::ofstream(path) << text;
  return path;
}

struct Net {
  Net(const std::string& choice, const std::string& policy_text)
      : topology(topologies::build(parse_module_choice(choice))),
        table(topology),
        policy(routing::registered(policy_text)),
        parameters(policy.info, std::map<std::string, std::string>()) {
    policy = policy.configured(parameters);
  }
  routing::PlanSetup setup() const { return {parameters, topology, table}; }
  std::unique_ptr<PathModel> paths() const { return routing::paths_of(policy, setup()); }
  // Names of switches and hosts with the share of a pair's packets that go there.
  std::map<std::string, double> spread(std::uint32_t source, std::uint32_t destination) const {
    const auto model = paths();
    std::vector<routing::PathStart> starts;
    model->starts(source, destination, starts);
    std::map<std::pair<Vertex, PathState>, double> here;
    const std::uint32_t nic = topology.out_channels(topology.host(source))[0];
    for (const auto& start : starts) here[{topology.channels()[nic].to, start.state}] += start.share;
    std::map<std::string, double> all;
    while (!here.empty()) {
      std::map<std::pair<Vertex, PathState>, double> next;
      for (const auto& [place, share] : here) {
        all[topology.node(place.first).name] += share;
        if (topology.node(place.first).kind == topologies::NodeKind::kHost) continue;
        std::vector<PathStep> steps;
        model->steps(place.first, place.second, destination, steps);
        for (const PathStep& step : steps) {
          next[{topology.channels()[step.channel].to, step.state}] += share * step.share;
        }
      }
      here = std::move(next);
    }
    return all;
  }

  Topology topology;
  routing::RoutingTable table;
  routing::Policy policy;
  Parameters parameters;
};

// Packets of data over each channel.
class Counted final : public Observer {
 public:
  void on_inject(Time, const Sighting&) override {}
  void on_enqueue(Time, std::uint32_t channel, const Sighting& packet, Time) override {
    if (!packet.ack) ++packets[channel];
  }
  void on_drop(Time, std::uint32_t, const Sighting&) override {}
  void on_arrive(Time, std::uint32_t, const Sighting&) override {}
  void on_deliver(Time, const Sighting&) override {}
  std::map<std::uint32_t, double> packets;
};

std::vector<Message> many(std::uint32_t source, std::uint32_t destination, std::uint32_t count,
                          std::uint64_t bytes) {
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < count; ++i) {
    messages.push_back(
        {.source = source, .destination = destination, .notify_sent = true, .bytes = bytes, .client = {i}});
  }
  return messages;
}

std::vector<Message> everybody(const Topology& topology) {
  std::vector<Message> messages;
  for (std::uint32_t a = 0; a < topology.hosts(); ++a) {
    for (std::uint32_t b = 0; b < topology.hosts(); ++b) {
      if (a == b) continue;
      messages.push_back({.source = a,
                          .destination = b,
                          .notify_sent = true,
                          .bytes = 20'000,
                          .client = {static_cast<std::uint32_t>(messages.size())}});
    }
  }
  return messages;
}

Account run(const Net& net, const std::vector<Message>& messages, Observer* observer = nullptr,
            const std::vector<LinkChange>& changes = {}) {
  const Options options{.control = "fixed_window:packets=40",
                        .policy = net.policy,
                        .config = {.reconvergence = Time::us(20)},
                        .changes = changes};
  return run_divided(net.topology, options, messages, {.of_vertex = {}, .parts = 1}, 1, StopEvery::kNever,
                     nullptr, observer);
}

double told(const Net& net) { return routing::UserTables(net.setup()).told(); }

}  // namespace

TEST_CASE("tables: those of another policy, written to a file, are that policy") {
  for (const char* choice : {"jellyfish:n=12,r=4,hosts=2", "torus:dims=4x4", kLeafSpine}) {
    INFO(choice);
    const Net other(choice, "dfsssp");
    const auto model = other.paths();
    std::string by_host, by_switch;
    for (std::uint32_t host = 0; host < other.topology.hosts(); ++host) {
      const Vertex end =
          other.topology.channels()[other.topology.out_channels(other.topology.host(host))[0]].to;
      for (std::uint32_t s = 0; s < other.topology.switches(); ++s) {
        const Vertex at = other.topology.switch_at(s);
        if (at == end) continue;
        std::vector<PathStep> steps;
        model->steps(at, 0, host, steps);
        REQUIRE(steps.size() == 1);
        const auto& next = other.topology.node(other.topology.channels()[steps[0].channel].to);
        by_host += "\"" + other.topology.node(at).name + "\" h" + std::to_string(host) + " s" +
                   std::to_string(next.index) + "\n";
        const std::string line = "s" + std::to_string(s) + "\ts" +
                                 std::to_string(other.topology.node(end).index) + " \"" + next.name +
                                 "\"=7  # and so on\r\n";
        if (by_switch.find(line) == std::string::npos) by_switch += line;
      }
    }
    const auto messages = everybody(other.topology);
    const Account expected = run(other, messages);
    REQUIRE(expected.delivered == messages.size());
    for (const std::string& text : {by_host, by_switch}) {
      const Net net(choice, "tables:file=" + write("all.txt", text));
      CHECK(told(net) == 1);
      CHECK(net.policy.remark(net.setup()).empty());
      for (std::uint32_t to = 1; to < net.topology.hosts(); ++to)
        CHECK(net.spread(0, to) == other.spread(0, to));
      CHECK(run(net, messages).calls == expected.calls);
    }
  }
}

TEST_CASE("tables: weights, lines for hosts before those for switches, and shortest paths for the rest") {
  const Net net(kLeafSpine, "tables:file=" + write("part.txt",
                                                   "s0 s1 s4=3 s5  # three quarters\n\n"
                                                   "\"leaf 0\" \"host 3\" \"spine 1\"\n"
                                                   "s4 s1 s1\ns5 s1 s1\n"));
  CHECK(net.spread(0, 2)["spine 0"] == Approx(0.75));
  CHECK(net.spread(0, 3)["spine 1"] == Approx(1));
  CHECK(net.spread(0, 4)["spine 1"] == Approx(0.5));
  CHECK(net.spread(4, 2)["spine 1"] == Approx(0.5));
  // There are 8 × 6 pairs on different leaves: the tables tell the whole way from leaf 0 to leaf 1 (2 × 2),
  // and something of that of all 6 × 2 to leaf 1.
  const routing::UserTables tables(net.setup());
  CHECK(tables.told() == Approx(4.0 / 48));
  CHECK(tables.told_in_part() == Approx(12.0 / 48));
  CHECK(net.policy.remark(net.setup())
            .find("the whole way of 8.333% of the pairs of hosts that share no "
                  "switch, and something of that of 25%") != std::string::npos);
  Counted counted;
  REQUIRE(run(net, many(0, 2, 800, 4000), &counted).delivered == 800);
  const auto out = net.topology.out_channels(net.topology.switch_at(0));
  double to_first = 0, all = 0;
  for (const std::uint32_t c : out) {
    const auto& end = net.topology.node(net.topology.channels()[c].to);
    if (end.name == "spine 0") to_first += counted.packets[c];
    if (end.kind == topologies::NodeKind::kSwitch) all += counted.packets[c];
  }
  // Within four standard deviations of 800 draws.
  CHECK(to_first / all == Approx(0.75).margin(0.062));
}

TEST_CASE("tables: without links that are down, and by shortest paths where a line has nothing left") {
  const Net net(kLeafSpine, "tables:file=" + write("down.txt", "s0 s1 s4\ns0 s2 s4=1 s5=3\n"));
  std::uint32_t link = 0;
  while (net.topology.edges()[link].from != net.topology.switch_at(0) ||
         net.topology.edges()[link].to != net.topology.switch_at(4)) {
    ++link;
    REQUIRE(link < net.topology.edges().size());
  }
  std::vector<bool> down(net.topology.edges().size());
  down[link] = true;
  routing::UserTables tables(net.setup());
  REQUIRE(tables.next(0, 2).size() == 1);
  REQUIRE(tables.next(0, 4).size() == 2);
  CHECK(tables.next(0, 4)[0].up_to == std::uint64_t{1} << 30);
  const routing::RoutingTable repaired(net.topology, down);
  tables.leave_out(down, repaired);
  CHECK(tables.next(0, 2).empty());
  REQUIRE(tables.next(0, 4).size() == 1);
  CHECK(tables.next(0, 4)[0].up_to == std::uint64_t{1} << 32);
  const auto messages = many(0, 2, 20, 400'000);
  Counted counted;
  const Account account = run(net, messages, &counted, {{.at = Time::us(5), .link = link, .rate_share = 0}});
  CHECK(account.delivered == 20);
  CHECK(counted.packets[2 * link] > 0);
}

TEST_CASE("tables: a circle is named") {
  const auto read = [](const std::string& text) {
    const Net net(kLeafSpine, "tables:file=" + write("bad.txt", text));
    (void)routing::UserTables(net.setup());
  };
  CHECK_THROWS_WITH(read("s0 h5 s4\ns4 h5 s0\n"),
                    Catch::Matchers::EndsWith(
                        "bad.txt: packets to host 5 would go in a circle: leaf 0 -> spine 0 -> leaf 0"));
  // With what it doesn't say: from leaf 1 on by shortest paths, which lead by spine 0 among others.
  CHECK_THROWS_WITH(read("s4 h5 s1\n"),
                    Catch::Matchers::Contains("circle: leaf 1 -> spine 0 -> leaf 1") ||
                        Catch::Matchers::Contains("circle: spine 0 -> leaf 1 -> spine 0"));
}

TEST_CASE("routes: ways of a pair share its flows, or packets, out by weight") {
  const std::string file = write("routes.txt",
                                 "h0 h2 s0 s4 s1 =3\n"
                                 "\"host 0\" h2 s0 s5 s2 s4 s1\n"
                                 "h0 h1 s0\n");
  for (const std::string per : {"flow", "packet"}) {
    INFO(per);
    const Net net(kLeafSpine, "routes:per=" + per + ",file=" + file);
    CHECK(net.policy.keeps_order() == (per == "flow"));
    auto spread = net.spread(0, 2);
    CHECK(spread["spine 1"] == Approx(0.25));
    CHECK(spread["leaf 2"] == Approx(0.25));
    CHECK(spread["spine 0"] == Approx(1));
    CHECK(net.spread(2, 0)["spine 0"] == Approx(0.5));
    CHECK(net.policy.remark(net.setup()).find("has ways for 3.571% of the pairs of hosts") !=
          std::string::npos);
    Counted counted;
    const auto messages = per == "flow" ? many(0, 2, 800, 4000) : many(0, 2, 1, 800 * 4096);
    REQUIRE(run(net, messages, &counted).delivered == messages.size());
    double over = 0, all = 0;
    for (const std::uint32_t c : net.topology.out_channels(net.topology.switch_at(0))) {
      const auto& end = net.topology.node(net.topology.channels()[c].to);
      if (end.name == "spine 1") over += counted.packets[c];
      if (end.kind == topologies::NodeKind::kSwitch) all += counted.packets[c];
    }
    REQUIRE(all >= 800);
    CHECK(over / all == Approx(0.25).margin(0.062));
  }
}

TEST_CASE("routes: a flow leaves a way that is down for the next line, after a timeout") {
  const Net net(kLeafSpine,
                "routes:file=" + write("two.txt", "h0 h2 s0 s4 s1 =1000\nh0 h2 s0 s5 s1 =0.001\n"));
  std::uint32_t link = 0;
  while (net.topology.edges()[link].from != net.topology.switch_at(0) ||
         net.topology.edges()[link].to != net.topology.switch_at(4)) {
    ++link;
    REQUIRE(link < net.topology.edges().size());
  }
  const auto messages = many(0, 2, 3, 1'000'000);
  const Account account = run(net, messages, nullptr, {{.at = Time::us(5), .link = link, .rate_share = 0}});
  CHECK(account.delivered == 3);
}

TEST_CASE("routes: more ways to a host than states are refused where paths are told") {
  std::string text;
  // Each leaf's host has a way by a router of its own behind the first one: a switch with 20 ways on.
  for (int leaf = 0; leaf < 20; ++leaf) {
    text += "h" + std::to_string(leaf) + " h20 s" + std::to_string(leaf) + " s21 s" +
            std::to_string((leaf + 1) % 20) + " s22 s20\n";
  }
  const Net net("leaf_spine:leaves=21,spines=20,hosts_per_leaf=1", "routes:file=" + write("many.txt", text));
  CHECK_THROWS_WITH(net.paths(), Catch::Matchers::Contains("the ways to host 20 part from each other"));
  CHECK(run(net, many(3, 20, 5, 100'000)).delivered == 5);
}

}  // namespace weft::sim::packet
