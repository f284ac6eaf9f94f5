// Policies that don't look at loads: mod-k, dimension order, weights, spraying in switches, Valiant.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/registered.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

using topologies::NodeKind;
using topologies::Topology;

Account run(const Topology& topology, const std::string& policy, const std::vector<Message>& messages,
            const std::string& queue = "droptail:capacity=1GB") {
  const Options options{
      .control = "fixed_window:packets=100", .queue = queue, .policy = routing::registered(policy)};
  return run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
}

// Data bytes are much more than those of ACKs.
std::uint64_t busiest(const Topology& topology, const Account& account) {
  std::uint64_t most = 0;
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) most = std::max(most, account.links[c * 5]);
  return most;
}

std::unique_ptr<routing::SwitchPlan> plan(const std::string& text, const Topology& topology) {
  const routing::Policy policy = routing::registered(text);
  const routing::RoutingTable table(topology);
  const Parameters parameters(policy.info, std::map<std::string, std::string>());
  return policy.make_plan({parameters, topology, table, 1});
}

}  // namespace

TEST_CASE("mod-k: shift permutations of a full fat tree meet nowhere") {
  // E. Zahavi et al., 2010: every shift is free of contention.
  constexpr std::uint64_t kBytes = 200'000;
  for (const char* policy : {"d_mod_k", "s_mod_k"}) {
    for (const char* tree :
         {"fat_tree:k=4", "fat_tree:k=6", "leaf_spine:leaves=5,spines=4,hosts_per_leaf=4"}) {
      const Topology topology = topologies::build(parse_module_choice(tree));
      for (std::uint32_t by = 1; by < topology.hosts(); by += 3) {
        INFO(policy << " on " << tree << ", shift by " << by);
        // One message on a link, and less than another tenth of ACKs.
        REQUIRE(busiest(topology, run(topology, policy, shift(topology, by, kBytes))) < 1.15 * kBytes);
      }
    }
  }
  // Hashed, some meet.
  const Topology topology = topologies::build(parse_module_choice("fat_tree:k=6"));
  REQUIRE(busiest(topology, run(topology, "ecmp", shift(topology, 10, kBytes))) > 1.9 * kBytes);
}

TEST_CASE(
    "minimal: one link between groups, never through a third, where ecmp takes ways as short through one") {
  // J. Kim et al., 2008: of traffic to the next group 1/(a p) is accepted, as its hosts share one link.
  const Topology topology = topologies::build(parse_module_choice("dragonfly:p=2"));
  const auto messages = shift(topology, 8, 200'000);
  // From which groups packets go to which others: to the next one, and ACKs back.
  const auto links = [&](const Account& account) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> used;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      const auto from = topology.node(topology.channels()[c].from).group,
                 to = topology.node(topology.channels()[c].to).group;
      if (from != to && account.links[c * 5] > 0) used.emplace(from, to);
    }
    return used;
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> expected;
  for (std::uint32_t group = 0; group < 9; ++group) {
    expected.emplace(group, (group + 1) % 9);
    expected.emplace((group + 1) % 9, group);
  }
  const Account minimal = run(topology, "minimal", messages);
  CHECK(links(minimal) == expected);
  CHECK(static_cast<double>(busiest(topology, minimal)) == Approx(8 * 200'000).epsilon(0.05));
  const Account ecmp = run(topology, "ecmp", messages);
  CHECK(links(ecmp).size() > expected.size());
  CHECK(busiest(topology, ecmp) < busiest(topology, minimal));
  // Where no groups are linked it is the same as ecmp.
  const Topology tree = topologies::build(parse_module_choice("fat_tree:k=4"));
  const auto across = shift(tree, 5, 200'000);
  CHECK(run(tree, "minimal", across).links == run(tree, "ecmp", across).links);
}

TEST_CASE("policies refuse networks that they aren't defined for, and say why") {
  const auto refusal = [](const char* policy, const char* text) {
    const Topology topology = topologies::build(parse_module_choice(text));
    try {
      (void)plan(policy, topology);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no refusal");
  };
  REQUIRE_THAT(refusal("d_mod_k", "jellyfish:n=12,r=4,hosts=2"),
               Catch::Contains("d_mod_k is for trees") && Catch::Contains("isn't a tier above or below"));
  REQUIRE_THAT(refusal("dimension_order", "fat_tree:k=4"), Catch::Contains("dimension_order is for grids"));
  REQUIRE_THAT(refusal("valiant:intermediate=group", "torus:dims=4x4"), Catch::Contains("it must be switch"));
  REQUIRE_THAT(refusal("switch_spray:choice=even", "fat_tree:k=4"), Catch::Contains("round_robin"));
}

TEST_CASE("dimension order: the first dimension first, and two channels keep a ring from locking up") {
  // From (0, 0) to (1, 2): the other hosts' links stay idle.
  const Topology torus = topologies::build(parse_module_choice("torus:dims=5x5"));
  const Account account =
      run(torus, "dimension_order",
          {{.source = 0, .destination = 7, .notify_sent = true, .bytes = 100'000, .client = {0}}});
  std::vector<std::string> used;
  for (std::uint32_t c = 0; c < torus.channels().size(); ++c) {
    if (account.links[c * 5] > 90'000) used.push_back(torus.node(torus.channels()[c].to).name);
  }
  std::sort(used.begin(), used.end());
  const auto name = [&](std::uint32_t s) { return torus.node(torus.switch_at(s)).name; };
  std::vector<std::string> expected = {name(0), name(5), name(6), name(7), torus.node(torus.host(7)).name};
  std::sort(expected.begin(), expected.end());
  REQUIRE(used == expected);

  // All of a ring send half way round, in small buffers: a circle of full buffers with one channel.
  const Topology ring = topologies::build(parse_module_choice("torus:dims=9"));
  const auto messages = shift(ring, 4, 1'000'000);
  const auto delivered = [&](const std::string& queue) {
    return run(ring, "dimension_order", messages, queue).delivered;
  };
  REQUIRE(delivered("credit:vcs=1,buffer=20KB,selection=routed") < messages.size());
  REQUIRE(delivered("credit:vcs=2,buffer=20KB,selection=routed") == messages.size());
}

// Two leaves with four hosts each; three spines, whose links to leaf 1 carry 100, 200 and 100 Gb/s.
Topology uneven() {
  Topology topology("uneven");
  const auto near = topology.add_switch("near", 1), far = topology.add_switch("far", 1);
  for (int i = 0; i < 8; ++i) {
    topology.add_link(topology.add_host("h" + std::to_string(i)), i < 4 ? near : far,
                      {Bandwidth::gbps(100), Time::ns(500)});
  }
  for (const int gbps : {100, 200, 100}) {
    const auto spine = topology.add_switch("spine " + std::to_string(topology.switches()), 2);
    topology.add_link(near, spine, {Bandwidth::gbps(400), Time::ns(500)});
    topology.add_link(spine, far, {Bandwidth::gbps(gbps), Time::ns(500)});
  }
  topology.finish();
  return topology;
}

TEST_CASE("weights follow what paths can carry, beyond the next link") {
  const Topology topology = uneven();
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 400; ++i) {
    messages.push_back(
        {.source = i % 4, .destination = 4 + i / 4 % 4, .notify_sent = true, .bytes = 40'000, .client = {i}});
  }
  const auto shares = [&](const std::string& policy) {
    const Account account = run(topology, policy, messages);
    std::vector<double> sums;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      const auto &from = topology.node(topology.channels()[c].from),
                 &to = topology.node(topology.channels()[c].to);
      if (from.name == "near" && to.tier == 2) sums.push_back(static_cast<double>(account.links[c * 5]));
    }
    return std::vector<double>{sums[0] / sums[1], sums[2] / sums[1]};
  };
  // 4,000 packets, or 400 flows: within 10 and 30 % of one to two, and of even without weights.
  for (const double share : shares("switch_spray:choice=weighted"))
    REQUIRE(share == Approx(0.5).epsilon(0.1));
  for (const double share : shares("wcmp")) REQUIRE(share == Approx(0.5).epsilon(0.3));
  for (const double share : shares("switch_spray")) REQUIRE(share == Approx(1).epsilon(0.1));
  for (const double share : shares("ecmp")) REQUIRE(share == Approx(1).epsilon(0.3));
}

// The shares of the next channels at a switch towards a host, by what they lead to.
std::map<std::string, double> shares(const Topology& topology, const std::vector<bool>& down_links,
                                     const std::string& at, const std::string& host) {
  const routing::RoutingTable table(topology, down_links);
  const routing::Policy policy = routing::registered("wcmp");
  const Parameters parameters(policy.info, std::map<std::string, std::string>());
  const std::unique_ptr<routing::PathModel> paths = policy.make_paths({parameters, topology, table, 1});
  const auto vertex = [&](const std::string& name) {
    topologies::Vertex v = 0;
    while (topology.node(v).name != name) ++v;
    return v;
  };
  std::vector<routing::PathStep> steps;
  paths->steps(vertex(at), 0, topology.node(vertex(host)).index, steps);
  std::map<std::string, double> found;
  for (const routing::PathStep& step : steps) {
    found[topology.node(topology.channels()[step.channel].to).name] += step.share;
  }
  return found;
}

TEST_CASE("weights: what several switches can send to is shared out among them") {
  // A pod of two edges and two spines, whose second has lost one of its two links to the core. Where all of
  // the 12 hosts send to all, a link of an edge has a tenth of its rate for each host beyond the edge, a link
  // of a spine an eighth for each beyond the pod: the first spine's two are enough for both edges, of the
  // second's one each has a sixteenth.
  Topology clos("clos");
  const topologies::Link link{Bandwidth::gbps(100), Time::ns(500)};
  std::vector<topologies::Vertex> cores;
  for (int c = 0; c < 4; ++c) cores.push_back(clos.add_switch("core" + std::to_string(c), 3));
  std::uint32_t lost = 0;
  for (const std::string pod : {"a", "b", "c"}) {
    std::vector<topologies::Vertex> spines;
    for (int s = 0; s < 2; ++s) {
      spines.push_back(clos.add_switch(pod + "_spine" + std::to_string(s), 2));
      for (int c = 0; c < 2; ++c) {
        if (pod == "a" && s == 1 && c == 1) lost = static_cast<std::uint32_t>(clos.edges().size());
        clos.add_link(spines[s], cores[2 * s + c], link);
      }
    }
    for (int e = 0; e < 2; ++e) {
      const auto edge = clos.add_switch(pod + "_edge" + std::to_string(e), 1);
      for (const auto spine : spines) clos.add_link(edge, spine, link);
      for (int h = 0; h < 2; ++h) {
        clos.add_link(clos.add_host(pod + std::to_string(2 * e + h)), edge, link);
      }
    }
  }
  clos.finish();
  std::vector<bool> down(clos.edges().size());
  CHECK(shares(clos, down, "a_edge0", "b0").at("a_spine0") == Approx(0.5));
  down[lost] = true;
  for (const char* edge : {"a_edge0", "a_edge1"}) {
    for (const char* host : {"b0", "b3", "c1"}) {
      CHECK(shares(clos, down, edge, host).at("a_spine0") == Approx(8.0 / 13));
      CHECK(shares(clos, down, edge, host).at("a_spine1") == Approx(5.0 / 13));
    }
  }
  // Other pods have enough by either spine, but not to the first.
  CHECK(shares(clos, down, "b_edge0", "c0").at("b_spine0") == Approx(0.5));
  CHECK(shares(clos, down, "b_edge0", "a0").at("b_spine0") > 0.6);

  // Two of three ways meet again: together they are worth as much as the third.
  Topology meeting("meeting");
  const auto s = meeting.add_switch("s", 1), d = meeting.add_switch("d", 1);
  const auto x = meeting.add_switch("x", 2), y = meeting.add_switch("y", 2);
  for (const auto& [name, to] : {std::pair("p", x), std::pair("q", x), std::pair("r", y)}) {
    const auto next = meeting.add_switch(name, 2);
    meeting.add_link(s, next, {Bandwidth::gbps(400), Time::ns(500)});
    meeting.add_link(next, to, {Bandwidth::gbps(400), Time::ns(500)});
  }
  meeting.add_link(x, d, link);
  meeting.add_link(y, d, link);
  meeting.add_link(meeting.add_host("from"), s, link);
  meeting.add_link(meeting.add_host("to"), d, link);
  meeting.finish();
  const std::map<std::string, double> found = shares(meeting, {}, "s", "to");
  CHECK(found.at("p") == Approx(0.25));
  CHECK(found.at("q") == Approx(0.25));
  CHECK(found.at("r") == Approx(0.5));
}

TEST_CASE("weights see a switch whose links onward are slow, however many share the way to a host") {
  // All links of an aggregation switch to the core at a tenth: it can carry a tenth of what each of the
  // others can, but for what edges send each other within the pod.
  const Topology topology = topologies::build(parse_module_choice("fat_tree:k=8"));
  const routing::RoutingTable table(topology);
  const routing::Policy policy = routing::registered("wcmp");
  const Parameters parameters(policy.info, std::map<std::string, std::string>());
  std::vector<double> rate_shares(topology.channels().size(), 1);
  const topologies::Vertex edge = topology.channels()[topology.out_channels(topology.host(0))[0]].to;
  topologies::Vertex slow = 0;
  for (const std::uint32_t c : topology.out_channels(edge)) {
    if (topology.node(topology.channels()[c].to).tier == 2) slow = topology.channels()[c].to;
  }
  for (const std::uint32_t c : topology.out_channels(slow)) {
    if (topology.node(topology.channels()[c].to).tier == 3) rate_shares[c] = rate_shares[c ^ 1] = 0.1;
  }
  const auto paths = policy.make_paths({parameters, topology, table, 1, rate_shares});
  const auto share_of_slow = [&](topologies::Vertex at, std::uint32_t host) {
    std::vector<routing::PathStep> steps;
    paths->steps(at, 0, host, steps);
    double share = 0;
    for (const routing::PathStep& step : steps) {
      if (topology.channels()[step.channel].to == slow) share += step.share;
    }
    return share;
  };
  // A host beyond the edge has 1/124 of each link up to the switch, one beyond the pod 1/112 of each link on.
  const double slow_one = 0.1 * 124 / 112;
  CHECK(share_of_slow(edge, 127) == Approx(slow_one / (3 + slow_one)));
  CHECK(share_of_slow(edge, 15) == Approx(0.25));  // within the pod
}

TEST_CASE("weights follow links that are slowed down, after the routes' delay") {
  const Topology topology = uneven();
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 4; ++i) {
    messages.push_back(
        {.source = i, .destination = 4 + i, .notify_sent = true, .bytes = 4'096'000, .client = {i}});
  }
  // The links to spines have 400 Gb/s; the first is slowed down to 100, then 50, of them.
  std::uint32_t first = 0;
  while (topology.node(topology.channels()[2 * first + 1].from).tier != 2) ++first;
  const auto share = [&](double rate_share, Time reconvergence) {
    Options options{.control = "fixed_window:packets=100",
                    .queue = "droptail:capacity=1GB",
                    .policy = routing::registered("switch_spray:choice=weighted")};
    options.config.reconvergence = reconvergence;
    options.changes = {{.at = Time(), .link = first, .rate_share = rate_share}};
    const Account account = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
    REQUIRE(account.delivered == messages.size());
    double sum = 0;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      const topologies::Channel& channel = topology.channels()[c];
      const bool up = topology.node(channel.from).name == "near" && topology.node(channel.to).tier == 2;
      if (up) sum += static_cast<double>(account.links[c * 5]);
    }
    return static_cast<double>(account.links[2 * first * 5]) / sum;
  };
  // 100, 200 and 100 Gb/s behind the links, of which the first has that, half of that, or half but nobody
  // knows.
  CHECK(share(0.25, Time()) == Approx(1.0 / 4).epsilon(0.08));
  CHECK(share(0.125, Time()) == Approx(1.0 / 7).epsilon(0.08));
  CHECK(share(0.125, Time::us(1'000'000)) == Approx(1.0 / 4).epsilon(0.08));
}

TEST_CASE("round robin gives every port the same, at random nearly so") {
  const Topology topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=2,spines=7,hosts_per_leaf=1"));
  const std::vector<Message> messages{
      {.source = 0, .destination = 1, .notify_sent = true, .bytes = 4096 * 7 * 50, .client = {0}}};
  const auto packets = [&](const std::string& policy) {
    const Account account = run(topology, policy, messages);
    std::vector<std::uint64_t> counts;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      if (topology.node(topology.channels()[c].to).tier == 2 &&
          topology.node(topology.channels()[c].from).index == 0) {
        counts.push_back(account.links[c * 5 + 1]);
      }
    }
    return counts;
  };
  REQUIRE(packets("switch_spray:choice=round_robin") == std::vector<std::uint64_t>(7, 50));
  const auto counts = packets("switch_spray");
  // 350 packets over 7 ports: five standard deviations of 6.5.
  for (const std::uint64_t count : counts) REQUIRE(std::abs(static_cast<double>(count) - 50) < 33);
  REQUIRE(std::set<std::uint64_t>(counts.begin(), counts.end()).size() > 1);
}

TEST_CASE("Valiant: the port to the switch to go by is drawn independently of it") {
  // A square of routers, all pairs of a line linked: every router sends to the next one. By symmetry all
  // links carry the same (a share 0.875 goes by another router, all links 2 hosts' worth together); two ways
  // lead across the square, each with even odds, whatever the router to go by.
  const Topology topology = topologies::build(parse_module_choice("hyperx:dims=4x4,hosts=4"));
  const Account account = run(topology, "valiant", shift(topology, 4, 4'000'000));
  double least = 1e18, most = 0, sum = 0;
  int links = 0;
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
    const topologies::Channel& channel = topology.channels()[c];
    if (topology.node(channel.from).kind == NodeKind::kHost ||
        topology.node(channel.to).kind == NodeKind::kHost)
      continue;
    const auto bytes = static_cast<double>(account.links[c * 5]);
    least = std::min(least, bytes), most = std::max(most, bytes), sum += bytes;
    ++links;
  }
  REQUIRE(links == 96);
  // Some 2,000 data packets on a link: five standard deviations of 2.2%.
  REQUIRE(least > 0.89 * sum / links);
  REQUIRE(most < 1.11 * sum / links);
}

TEST_CASE("Valiant: what all goes to the next group spreads over all") {
  // Dragonfly with p=2, a=4, h=2, g=9: one link between two groups for 8 hosts. Minimal ways take 8 times as
  // long as the hosts' links; by way of any switch two phases share 36 links of each group evenly, with 64
  // messages.
  const Topology topology = topologies::build(parse_module_choice("dragonfly:p=2"));
  const auto messages = shift(topology, 8, 1'000'000);
  const double minimal = static_cast<double>(run(topology, "ecmp", messages).end().ps());
  const double spread = static_cast<double>(run(topology, "valiant", messages).end().ps());
  const double alone = 1e6 * 8 / 400e9 * 1e12;
  REQUIRE(minimal > 3.5 * alone);  // some have two links between groups, as short: not all 8 share one
  REQUIRE(spread < 3 * alone);
  REQUIRE(spread < 0.7 * minimal);
}

}  // namespace weft::sim::packet
