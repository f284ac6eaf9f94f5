// Virtual channels that are left to the network: no packets wait in a circle, with as few as can be.
#include "sim/packet/channel_choice.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/packet/deadlock_check.h"
#include "sim/packet/deadlock_proof.h"
#include "sim/routing/policies/policies.h"
#include "tests/sim/packet/divided.h"
#include "topologies/families.h"
#include "topologies/recommended_routing.h"

namespace weft::sim::packet {
namespace {

using routing::ChannelRule;
using Selection = ChannelRule::Selection;

// A small one of each family, where it has a size.
std::vector<std::string> networks() {
  std::vector<std::string> list = {
      "bcube:n=3,k=1",
      "cascade:g=2",
      "dragonfly:p=2",
      "torus:dims=5x5",
      "tofu:x=3,y=2,z=1",
      "datacenters:of=[fat_tree:k=4;slim_fly:q=4;bcube:n=3,k=1]",
      "random_equivalent:of=[slim_fly:q=4],seed=3",
      "scale_up:of=[leaf_spine:leaves=2,spines=2,hosts_per_leaf=3],accelerators=4,switches=2",
  };
  for (const topologies::Family& family : topologies::families()) {
    const bool is_machine = std::ranges::find(family.info.parameters, "groups", &ParameterSpec::name) !=
                            family.info.parameters.end();
    if (family.size_for != nullptr) {
      list.push_back(family.info.name + ":endpoints=24");
    } else if (is_machine) {
      list.push_back(family.info.name + ":groups=2");
    }
  }
  return list;
}

struct Net {
  explicit Net(const std::string& text)
      : choice(parse_module_choice(text)), topology(topologies::build(choice)), table(topology) {}

  // Nothing: the policy can't be had here, or only with parameters.
  std::optional<ChannelChoice> choose(const routing::Policy& policy,
                                      const std::string& queue = "credit") const {
    try {
      const Parameters of_policy(policy.info, std::map<std::string, std::string>());
      return choose_channels(policy, {of_policy, topology, table}, discipline(queue), of_queue(queue));
    } catch (const InputError&) {
      return std::nullopt;
    }
  }
  bool is_acyclic(const routing::Policy& policy, const ChannelRule& rule) const {
    const Parameters of_policy(policy.info, std::map<std::string, std::string>());
    const ChannelChoice choice{rule, ""};
    return check_deadlocks(policy, {of_policy, topology, table}, discipline("credit"),
                           with_channels(discipline("credit"), of_queue("credit"), choice))
        ->found.acyclic();
  }
  // What rules prove, and whether the search finds the same.
  std::optional<ChannelRule> proven(const routing::Policy& policy, Selection selection,
                                    std::uint64_t most_work = UINT64_MAX) const {
    const Parameters of_policy(policy.info, std::map<std::string, std::string>());
    const routing::PlanSetup setup{of_policy, topology, table};
    const LosslessTraffic traffic(policy, setup);
    return DeadlockProof(traffic, setup, most_work).least({.selection = selection, .any_count = true}, true);
  }
  ModuleChoice choice;
  topologies::Topology topology;
  routing::RoutingTable table;

 private:
  static const Discipline& discipline(const std::string& queue) {
    return find_module(disciplines(), parse_module_choice(queue), "queue");
  }
  static Parameters of_queue(const std::string& queue) {
    return {discipline(queue).info, parse_module_choice(queue)};
  }
};

const routing::Policy& policy_named(const std::string& name) {
  return find_module(routing::policies(), ModuleChoice{.name = name}, "routing policy");
}

struct Row {
  const char *topology, *policy;
  Selection selection;
  std::uint32_t channels;
};

}  // namespace

TEST_CASE("virtual channels: every family is free of circles with every policy that it can have") {
  std::size_t pairs = 0, proofs = 0;
  for (const std::string& text : networks()) {
    const Net net(text);
    for (const routing::Policy& policy : routing::policies()) {
      INFO(text << " with " << policy.info.name);
      const bool is_recommended = policy.info.name == topologies::recommended_routing(net.choice.name).policy;
      // Parts of machines, and the least of some families, are large.
      if (net.topology.switches() > 40 && !is_recommended && policy.info.name != "minimal") continue;
      const auto choice = net.choose(policy);
      if (!choice) {
        CHECK(!is_recommended);
        continue;
      }
      CHECK(!choice->reason.empty());
      CHECK(net.is_acyclic(policy, choice->rule));
      ++pairs;
      for (const Selection selection : {Selection::kByHop, Selection::kByGroup, Selection::kRouted}) {
        const auto rule = net.proven(policy, selection);
        const bool is_known =
            rule && rule->selection == choice->rule.selection && rule->channels == choice->rule.channels;
        if (rule && !is_known) CHECK(net.is_acyclic(policy, *rule));
        proofs += rule.has_value();
      }
      if (choice->rule.channels == 1 || choice->rule.selection == Selection::kRouted) continue;
      ChannelRule fewer = choice->rule;
      --fewer.channels;
      CHECK_FALSE(net.is_acyclic(policy, fewer));
    }
  }
  CHECK(pairs > 900);
  CHECK(proofs > 2 * pairs);
}

TEST_CASE("virtual channels: as many as books and papers have") {
  // Trees and dimension order on meshes need none; a ring two (W. J. Dally, C. L. Seitz, 1987). Dragonflies:
  // one more with each group (J. Kim et al., 2008); by a switch, not a group, in between one more again.
  // Diameter two: as many as links on the way (M. Besta, T. Hoefler, 2014).
  const Row rows[] = {
      {"fat_tree:k=4", "ecmp", Selection::kByHop, 1},
      {"leaf_spine:leaves=4,spines=2,hosts_per_leaf=2", "spray", Selection::kByHop, 1},
      {"mesh:dims=4x4", "dimension_order", Selection::kRouted, 1},
      {"hyperx:dims=4x4,hosts=1", "dimension_order", Selection::kByHop, 1},
      {"torus:dims=5x5", "dimension_order", Selection::kRouted, 2},
      {"hammingmesh:a=2,b=2,x=2,y=2", "hammingmesh", Selection::kRouted, 3},
      {"dragonfly:p=2", "minimal", Selection::kByHop, 2},
      {"dragonfly:p=2", "valiant", Selection::kByGroup, 4},
      {"slim_fly:q=5", "minimal", Selection::kByHop, 2},
      {"slim_fly:q=5", "ugal", Selection::kByHop, 4},
  };
  for (const Row& row : rows) {
    INFO(row.topology << " with " << row.policy);
    const auto choice = Net(row.topology).choose(policy_named(row.policy));
    REQUIRE(choice);
    CHECK(choice->rule.channels == row.channels);
    CHECK(choice->rule.selection == row.selection);
  }
}

TEST_CASE("virtual channels: rules prove as many as ways have links, or steps up") {
  // Worked out on paper. Dragonflies: local, global, local for each leg, and none behind the second leg of a
  // detour that ends at a switch; by group the classes are 0 0 1 and 2 2 3. Where trees go up, then down, one
  // channel does; a torus of 6x4 has 3 + 2 links at most.
  const Row rows[] = {
      {"fat_tree:k=8", "ecmp", Selection::kByHop, 1},
      {"megafly:p=2", "minimal", Selection::kByHop, 3},
      {"torus:dims=6x4", "ecmp", Selection::kByHop, 5},
      {"torus:dims=6x4", "dimension_order", Selection::kRouted, 2},
      {"mesh:dims=4x4", "dimension_order", Selection::kRouted, 1},
      {"hyperx:dims=4x4,hosts=1", "dimension_order", Selection::kByHop, 2},
      {"dragonfly:p=2", "minimal", Selection::kByHop, 3},
      {"dragonfly:p=2", "minimal", Selection::kByGroup, 2},
      {"dragonfly:p=2", "valiant", Selection::kByHop, 6},
      {"dragonfly:p=2", "valiant", Selection::kByGroup, 4},
      {"slim_fly:q=5", "valiant", Selection::kByHop, 4},
  };
  for (const Row& row : rows) {
    INFO(row.topology << " with " << row.policy);
    const Net net(row.topology);
    const auto rule = net.proven(policy_named(row.policy), row.selection);
    REQUIRE(rule);
    CHECK(rule->channels == row.channels);
    CHECK(net.is_acyclic(policy_named(row.policy), *rule));
  }
  // Shortest ways don't keep to one channel, or two, round a ring.
  CHECK_FALSE(Net("torus:dims=6x4").proven(policy_named("ecmp"), Selection::kRouted));
}

TEST_CASE("virtual channels: large networks take little work") {
  // 16,512 hosts on 2,064 switches: a few steps for each pair of switches and leg, and twice to ask how pairs
  // begin. The search takes over a hundred times as many.
  const Net net("dragonfly:p=8");
  const std::uint64_t pairs = std::uint64_t{net.topology.switches()} * net.topology.switches();
  const auto rule = net.proven(policy_named("valiant"), Selection::kByGroup, 14 * pairs);
  REQUIRE(rule);
  CHECK(rule->channels == 4);
  CHECK_FALSE(net.proven(policy_named("valiant"), Selection::kByGroup, pairs));
  // That is chosen where the search would give up.
  CHECK(net.choose(policy_named("valiant"))->rule.selection == Selection::kByGroup);
  // A grid that is known to have the form that the proof is for takes no walk at all.
  CHECK(Net("torus:dims=16x16x16").proven(policy_named("dimension_order"), Selection::kRouted, 1)->channels ==
        2);
}

TEST_CASE("virtual channels: where a walk takes long, the longest ways that a policy can have count") {
  // Local, global, local for each leg. A walk over the ways of 5,256 hosts takes more than a few steps for
  // each pair of switches.
  const Net net("dragonfly:p=6");
  const std::uint64_t pairs = std::uint64_t{net.topology.switches()} * net.topology.switches();
  for (const auto& [policy, links] :
       {std::pair{"valiant", 6u}, std::pair{"ugal", 6u}, std::pair{"minimal", 3u}}) {
    INFO(policy);
    const auto rule = net.proven(policy_named(policy), Selection::kByHop, pairs / 4);
    REQUIRE(rule);
    CHECK(rule->channels == links);
    // Fewer, or by another rule, aren't proven by that.
    CHECK_FALSE(net.proven(policy_named(policy), Selection::kByGroup, pairs / 4));
  }
  // Small ones agree with the walk.
  const Net small("dragonfly:p=2");
  CHECK(small.proven(policy_named("valiant"), Selection::kByHop, 1)->channels ==
        small.proven(policy_named("valiant"), Selection::kByHop)->channels);
  CHECK(small.proven(policy_named("minimal"), Selection::kByHop, 1)->channels ==
        small.proven(policy_named("minimal"), Selection::kByHop)->channels);
}

TEST_CASE("virtual channels: what a user gives wins") {
  const Net torus("torus:dims=8");
  const routing::Policy &order = policy_named("dimension_order"), &ecmp = policy_named("ecmp");
  // The paths have four links between routers.
  CHECK(torus.choose(order, "credit:vcs=4")->rule.selection == Selection::kByHop);
  // Those of four begin at every other router, so the last two links may be in one channel, but not three.
  CHECK(torus.choose(order, "credit:vcs=3")->rule.selection == Selection::kByHop);
  CHECK_FALSE(torus.choose(order, "credit:vcs=3")->reason.empty());
  CHECK(torus.choose(order, "credit:vcs=2")->rule.selection == Selection::kRouted);
  CHECK(torus.choose(ecmp, "credit:selection=by_hop")->rule.channels == 4);
  const auto too_few = torus.choose(ecmp, "credit:vcs=3");
  CHECK(too_few->rule.channels == 3);
  CHECK(too_few->rule.selection == Selection::kByHop);
  CHECK(too_few->reason.empty());
  CHECK(torus.choose(ecmp, "credit:selection=by_flow")->reason.empty());
  CHECK_FALSE(torus.choose(ecmp, "credit:vcs=3,selection=by_hop"));
  CHECK_FALSE(torus.choose(ecmp, "pfc"));
}

TEST_CASE("virtual channels: crowded networks with small buffers get everything through by default") {
  struct Crowd {
    const char *topology, *policy;
  };
  for (const Crowd& each : {Crowd{"torus:dims=5x5", "dimension_order"}, Crowd{"dragonfly:p=2", "par"},
                            Crowd{"slim_fly:q=5", "ugal"}, Crowd{"dragonfly:p=2", "minimal"}}) {
    INFO(each.topology << " with " << each.policy);
    const Net net(each.topology);
    std::vector<Message> messages;
    RandomStream random(4, 4);
    for (std::uint32_t i = 0; i < 3 * net.topology.hosts(); ++i) {
      messages.push_back({.source = i % net.topology.hosts(),
                          .destination = static_cast<std::uint32_t>(random.below(net.topology.hosts())),
                          .notify_sent = true,
                          .bytes = 200'000,
                          .client = {i}});
    }
    const Options options{.control = "fixed_window:packets=200",
                          .queue = "credit:buffer=9KB",
                          .policy = policy_named(each.policy)};
    CHECK(run_divided(net.topology, options, messages, {.of_vertex = {}, .parts = 1}, 1).delivered ==
          messages.size());
  }
}

}  // namespace weft::sim::packet
