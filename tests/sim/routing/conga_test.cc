// CONGA: on networks whose ways differ behind the spines, where a leaf's own links tell nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/registered.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

using topologies::Topology;
using topologies::Vertex;

struct Net {
  Topology topology{"two leaves"};
  std::uint32_t up[2] = {}, down[2] = {};  // channels from leaf 0 to each spine, and on to leaf 1
};

// Two leaves of five hosts, two spines; the second one's link to the second leaf at `slow`.
Net two_leaves(Bandwidth slow) {
  Net net;
  Topology& t = net.topology;
  const Vertex leaves[] = {t.add_switch("leaf 0", 1, 0), t.add_switch("leaf 1", 1, 1)};
  const Vertex spines[] = {t.add_switch("spine 0", 2, 2), t.add_switch("spine 1", 2, 3)};
  const Bandwidth fast = Bandwidth::bps(80'000'000'000);
  for (int s = 0; s < 2; ++s) {
    net.up[s] = static_cast<std::uint32_t>(2 * t.edges().size());
    t.add_link(leaves[0], spines[s], {.rate = fast, .latency = Time::ns(200)});
    net.down[s] = static_cast<std::uint32_t>(2 * t.edges().size());
    t.add_link(spines[s], leaves[1], {.rate = s == 0 ? fast : slow, .latency = Time::ns(200)});
  }
  for (std::uint32_t h = 0; h < 10; ++h) {
    const Vertex host = t.add_host("host " + std::to_string(h), h / 5);
    t.add_link(host, leaves[h / 5], {.rate = Bandwidth::bps(20'000'000'000), .latency = Time::ns(200)});
  }
  t.finish();
  return net;
}

Account run(const Topology& topology, const std::string& policy) {
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < 5; ++host) {
    messages.push_back({.source = host,
                        .destination = 5 + host,
                        .notify_sent = true,
                        .bytes = 20'000'000,
                        .client = {host}});
  }
  const Options options{.control = "fixed_window:packets=6", .policy = routing::registered(policy)};
  const Account account = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(account.delivered == messages.size());
  return account;
}

double share_of_second(const Net& net, const Account& account) {
  const auto first = static_cast<double>(account.links[net.up[0] * 5]);
  const auto second = static_cast<double>(account.links[net.up[1] * 5]);
  return second / (first + second);
}

}  // namespace

TEST_CASE("conga: traffic divides as the ways' capacities, also where these differ behind the spine") {
  const char* conga = "flowlet:choice=congestion,gap=200ns,tau=20us,age=50us";
  // Equal ways: half and half, as at random.
  const Net even = two_leaves(Bandwidth::bps(80'000'000'000));
  CHECK(share_of_second(even, run(even.topology, conga)) == Approx(0.5).margin(0.05));
  // The paper's example: of 100 Gb/s for ways of 80 and 40 they take two and one of three parts. Both ways
  // are then equally full (0.83). What is blind sends half by each, what sees its own queues no less.
  const Net uneven = two_leaves(Bandwidth::bps(40'000'000'000));
  const double share = share_of_second(uneven, run(uneven.topology, conga));
  const double blind = share_of_second(uneven, run(uneven.topology, "flowlet:gap=200ns"));
  const double local = share_of_second(uneven, run(uneven.topology, "flowlet:choice=least_loaded,gap=200ns"));
  INFO("conga " << share << ", at random " << blind << ", own queues " << local);
  CHECK(share == Approx(1.0 / 3).margin(0.05));
  CHECK(blind > 0.4);
  CHECK(local > 0.4);
}

TEST_CASE("conga: networks that aren't two tiers are refused, and parameters that make no sense") {
  const auto refusal = [](const std::string& policy_text, const char* text) {
    const Topology topology = topologies::build(parse_module_choice(text));
    const routing::RoutingTable table(topology);
    try {
      const routing::Policy policy = routing::registered(policy_text);
      const Parameters parameters(policy.info, std::map<std::string, std::string>());
      (void)policy.make_plan({parameters, topology, table, 1});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string conga = "flowlet:choice=congestion";
  CHECK(refusal(conga, "leaf_spine:leaves=2,spines=2,hosts_per_leaf=2") == "none");
  CHECK(refusal(conga, "fat_tree2:k=4") == "none");
  CHECK_THAT(refusal(conga, "fat_tree:k=4"), Catch::Contains("flowlet:choice=congestion is for two tiers") &&
                                                 Catch::Contains("neither has hosts"));
  CHECK_THAT(refusal(conga, "jellyfish:n=12,r=4,hosts=2"), Catch::Contains("both have hosts"));
  CHECK_THAT(refusal(conga, "multi_plane:k=4,planes=2"), Catch::Contains("host 0 isn't on one switch"));
  CHECK(refusal(conga + ",bits=7", "fat_tree2:k=4") == "flowlet: bits is '7', but it must be from 1 to 6");
  CHECK(refusal(conga + ",tau=0us", "fat_tree2:k=4") ==
        "flowlet: tau is '0us', but it must be above 0 and at most 3600s");
  CHECK(refusal("flowlet:choice=best", "fat_tree2:k=4") ==
        "flowlet: choice is 'best', but it must be random, least_loaded or congestion");
}

TEST_CASE("ecmp: without salt the second tier repeats the choices of the first, and leaves links unused") {
  // All 128 hosts of a fat tree (k = 8) to other pods, two flows each. With one salt an aggregation switch
  // that is the i-th of its pod sends all to its i-th core: 4 of 16 uplinks of a pod's.
  const Topology topology = topologies::build(parse_module_choice("fat_tree:k=8"));
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 2048; ++i) {
    messages.push_back({.source = i % 128,
                        .destination = (i % 128 + 16 * (1 + i / 128 % 7)) % 128,
                        .notify_sent = true,
                        .bytes = 4096,
                        .client = {i}});
  }
  const auto used = [&](const char* policy) {
    const Options options{.control = "fixed_window:packets=100", .policy = routing::registered(policy)};
    const Account account = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
    REQUIRE(account.delivered == messages.size());
    std::uint32_t links = 0;
    for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
      const topologies::Node& from = topology.node(topology.channels()[c].from);
      const topologies::Node& to = topology.node(topology.channels()[c].to);
      if (from.tier != 2 || to.tier != 3) continue;
      links += account.links[c * 5] > 0;
    }
    return links;
  };
  CHECK(used("ecmp") == 8 * 16);
  CHECK(used("ecmp:salt=per_switch") == 8 * 16);
  CHECK(used("ecmp:salt=none") == 8 * 4);
}

}  // namespace weft::sim::packet
