// Policies that keep packets from waiting in a circle on every network: told by their paths, and with
// packets.
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/routing/paths/dependencies.h"
#include "sim/routing/paths/link_load.h"
#include "sim/units/random.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/path_models.h"
#include "tests/sim/routing/registered.h"
#include "tests/topologies/analysis/random_network.h"
#include "topologies/analysis/demands.h"
#include "topologies/analysis/partition.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

using routing::ChannelRule;
using routing::PathModel;
using routing::PathState;
using routing::PlainWalk;
using topologies::Topology;

const char* const kPolicies[] = {"up_down", "dfsssp:vcs=15", "lash:vcs=15", "nue:vcs=1", "nue:vcs=3"};

std::vector<std::string> networks() {
  std::vector<std::string> list = {
      "bcube:n=3,k=1",
      "bundlefly:q1=5,q2=5,hosts=1",
      "cascade:g=2",
      "datacenters:of=[fat_tree:k=4;slim_fly:q=4;bcube:n=3,k=1]",
      "hammingmesh:a=2,b=2,x=2,y=2",
      "leaf_spine:leaves=3,spines=2,hosts_per_leaf=2,links_per_pair=3",
      "random_equivalent:of=[slim_fly:q=4],seed=3",
      "scale_up:of=[leaf_spine:leaves=2,spines=2,hosts_per_leaf=3],accelerators=4,switches=2",
      "tofu:x=2,y=2,z=1",
      "torus:dims=3x3x3",
  };
  for (const topologies::Family& family : topologies::families()) {
    if (family.size_for != nullptr) list.push_back(family.info.name + ":endpoints=24");
  }
  return list;
}

struct Net {
  Net(Topology built, const std::string& policy_text)
      : topology(std::move(built)),
        table(topology),
        policy(routing::registered(policy_text)),
        parameters(policy.info, std::map<std::string, std::string>()),
        paths(routing::paths_of(policy, {parameters, topology, table})) {}

  routing::Dependencies dependencies() const {
    const ChannelRule rule{.channels = paths->virtual_channels(),
                           .selection = ChannelRule::Selection::kRouted};
    return routing::find_dependencies(
        topology, table, {{.paths = paths.get()}, {.paths = paths.get(), .control = true}}, rule);
  }
  // Is there a way to each host from every switch that another one is cabled to, where links lead at all, and
  // do the shares of all ways make 1?
  bool reaches_all() const {
    for (std::uint32_t source = 0; source < topology.hosts(); ++source) {
      for (std::uint32_t to = 0; to < topology.hosts(); ++to) {
        if (source != to && !reaches(source, to)) return false;
      }
    }
    return true;
  }

 private:
  bool reaches(std::uint32_t source, std::uint32_t to) const {
    std::vector<routing::PathStart> starts;
    paths->starts(source, to, starts);
    for (const std::uint32_t nic : topology.out_channels(topology.host(source))) {
      const std::uint32_t at = topology.channels()[nic].to;
      if (topology.node(at).kind != topologies::NodeKind::kSwitch || table.candidates(at, to).empty())
        continue;
      double arrived = 0;
      std::vector<PlainWalk::Hop> hops;
      PlainWalk{topology, *paths, to, [](std::uint32_t) { return false; },
                [&](const auto&, std::uint32_t, PathState, double share) { arrived += share; }}
          .go(at, starts.front().state, 1, hops);
      if (arrived < 1 - 1e-9 || arrived > 1 + 1e-9) return false;
    }
    return true;
  }

 public:
  Topology topology;
  routing::RoutingTable table;
  routing::Policy policy;
  Parameters parameters;
  std::unique_ptr<PathModel> paths;
};

std::vector<Message> crowd(const Topology& topology, int each, std::uint64_t bytes) {
  std::vector<Message> messages;
  RandomStream random(4, 4);
  for (int i = 0; i < each; ++i) {
    for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
      messages.push_back({.source = host,
                          .destination = static_cast<std::uint32_t>(random.below(topology.hosts())),
                          .notify_sent = true,
                          .bytes = bytes,
                          .client = {static_cast<std::uint32_t>(messages.size())}});
    }
  }
  return messages;
}

}  // namespace

TEST_CASE("deadlock-free policies: every host is reached and nothing waits in a circle, in every family") {
  for (const char* policy : kPolicies) {
    for (const std::string& choice : networks()) {
      INFO(policy << " on " << choice);
      const Net net(topologies::build(parse_module_choice(choice)), policy);
      CHECK(net.dependencies().acyclic());
      CHECK(net.reaches_all());
    }
  }
}

TEST_CASE("deadlock-free policies: the same on random networks") {
  for (const char* policy : kPolicies) {
    INFO(policy);
    REQUIRE(rc::check([policy] {
      const Net net(topologies::random_network(), policy);
      RC_ASSERT(net.dependencies().acyclic());
      RC_ASSERT(net.reaches_all());
    }));
  }
}

TEST_CASE("dfsssp, lash: one shortest way for each pair of switches, over all families") {
  for (const char* policy : {"dfsssp:vcs=15", "lash:vcs=15"}) {
    for (const std::string& choice : networks()) {
      INFO(policy << " on " << choice);
      const Net net(topologies::build(parse_module_choice(choice)), policy);
      for (std::uint32_t to = 0; to < net.topology.hosts(); ++to) {
        for (std::uint32_t s = 0; s < net.topology.switches(); ++s) {
          std::vector<routing::PathStep> steps;
          net.paths->steps(net.topology.switch_at(s), 0, to, steps);
          const routing::Candidates shortest = net.table.candidates(net.topology.switch_at(s), to);
          if (shortest.empty() != steps.empty()) FAIL("a way is missing");
          for (const routing::PathStep& step : steps) {
            if (std::ranges::find(shortest, step.channel) == shortest.end())
              FAIL("a way that isn't shortest");
          }
          if (steps.size() > 1 && net.topology.node(net.topology.channels()[steps[0].channel].to).kind ==
                                      topologies::NodeKind::kSwitch) {
            FAIL("more than one way");
          }
        }
      }
    }
  }
}

TEST_CASE("dfsssp, lash: as many virtual channels as must be") {
  for (const std::string policy : {"dfsssp", "lash"}) {
    const auto channels = [&](const char* choice) {
      return Net(topologies::build(parse_module_choice(choice)), policy).paths->virtual_channels();
    };
    INFO(policy);
    // Trees and what has one link between any two switches need one, and a ring whose ways have two links
    // two.
    CHECK(channels("fat_tree:k=4") == 1);
    CHECK(channels("leaf_spine:leaves=4,spines=3,hosts_per_leaf=3") == 1);
    CHECK(channels("hyperx:dims=6,hosts=2") == 1);
    CHECK(channels("torus:dims=4") == 1);  // its ways of two links go round in a part only
    CHECK(channels("torus:dims=5") == 2);
    CHECK(channels("torus:dims=9") == 2);
    CHECK_THROWS_WITH(Net(topologies::build(parse_module_choice("torus:dims=5")), policy + ":vcs=1"),
                      Catch::Matchers::StartsWith(policy + ": vcs is '1', but the ways of torus:dims=5") &&
                          Catch::Matchers::EndsWith(" need 2"));
    CHECK_THROWS_WITH(
        Net(topologies::build(parse_module_choice("torus:dims=40x40")), policy),
        Catch::Matchers::Contains("has 2,560,000 pairs of switches with hosts, and 1,000,000 are the most"));
  }
}

TEST_CASE("dfsssp, lash: ways are spread over links, also those of hosts on one switch") {
  for (const char* policy : {"dfsssp", "lash"}) {
    INFO(policy);
    const Net net(topologies::build(parse_module_choice("fat_tree:k=8")), policy);
    const auto traffic = topologies::uniform_traffic(topologies::router_graph(net.topology));
    const routing::LinkLoad load = routing::link_load(net.topology, net.table, *net.paths, traffic);
    CHECK(load.stranded == 0);
    CHECK(load.most < 1.25 * load.mean);
  }
}

TEST_CASE(
    "dfsssp, lash: a run ends with the reason if links that fail take more virtual channels than there may "
    "be") {
  for (const std::string policy : {"dfsssp:vcs=1", "lash:vcs=1"}) {
    INFO(policy);
    // Five switches, each linked to each other; without every other link of the circle round them a ring.
    const Net net(topologies::build(parse_module_choice("hyperx:dims=5,hosts=1")), policy);
    REQUIRE(net.paths->virtual_channels() == 1);
    Options options{.control = "fixed_window:packets=20",
                    .queue = "credit:selection=routed,vcs=1",
                    .policy = net.policy,
                    .config = {.reconvergence = Time::us(5)}};
    for (std::uint32_t e = 0; e < net.topology.edges().size(); ++e) {
      const auto &from = net.topology.node(net.topology.edges()[e].from),
                 &to = net.topology.node(net.topology.edges()[e].to);
      if (from.kind != to.kind) continue;
      const std::uint32_t apart = (from.index + 5 - to.index) % 5;
      if (apart == 1 || apart == 4)
        options.changes.push_back({.at = Time::us(5), .link = e, .rate_share = 0});
    }
    REQUIRE(options.changes.size() == 5);
    const auto messages = crowd(net.topology, 2, 1'000'000);
    CHECK_THROWS_WITH(run_divided(net.topology, options, messages, {.of_vertex = {}, .parts = 1}, 1),
                      Catch::Matchers::EndsWith(" need 2, with the links that are down"));
  }
}

TEST_CASE("deadlock-free policies: crowded lossless networks with small buffers get everything through") {
  for (const char* policy : kPolicies) {
    for (const char* choice : {"torus:dims=4x4", "dragonfly:p=2", "jellyfish:n=16,r=4,hosts=2",
                               "leaf_spine:leaves=4,spines=3,hosts_per_leaf=3"}) {
      INFO(policy << " on " << choice);
      const Net net(topologies::build(parse_module_choice(choice)), policy);
      const Options options{
          .control = "fixed_window:packets=200",
          .queue = "credit:selection=routed,buffer=9KB,vcs=" + std::to_string(net.paths->virtual_channels()),
          .policy = net.policy};
      const auto messages = crowd(net.topology, 4, 200'000);
      const Account whole = run_divided(net.topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
      CHECK(whole.delivered == messages.size());
      RandomStream random(3, 3);
      CHECK(run_divided(net.topology, options, messages, random_division(net.topology, 3, random), 2) ==
            whole);
    }
  }
}

TEST_CASE("deadlock-free policies: routes are worked out anew when links fail, and when they are back") {
  for (const char* policy : kPolicies) {
    INFO(policy);
    const Net net(topologies::build(parse_module_choice("torus:dims=4x4")), policy);
    Options options{.control = "fixed_window:packets=20",
                    .queue = "credit:selection=routed,vcs=8",
                    .policy = net.policy,
                    .config = {.reconvergence = Time::us(20)}};
    std::set<std::uint32_t> cut;
    for (std::uint32_t e = 0; e < net.topology.edges().size() && cut.size() < 4; e += 5) {
      const auto& edge = net.topology.edges()[e];
      if (net.topology.node(edge.from).kind == net.topology.node(edge.to).kind) cut.insert(e);
    }
    REQUIRE(cut.size() == 4);
    for (const std::uint32_t e : cut)
      options.changes.push_back({.at = Time::us(5), .link = e, .rate_share = 0});
    const auto messages = crowd(net.topology, 2, 2'000'000);
    const Account down = run_divided(net.topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
    CHECK(down.delivered == messages.size());
    for (const std::uint32_t e : cut) options.changes.push_back({.at = Time::us(60), .link = e});
    const Account back = run_divided(net.topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
    CHECK(back.delivered == messages.size());
    RandomStream random(3, 3);
    CHECK(run_divided(net.topology, options, messages, random_division(net.topology, 3, random), 2) == back);
  }
}

}  // namespace weft::sim::packet
