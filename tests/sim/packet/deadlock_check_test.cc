// Every family with every policy that it is defined for: with enough virtual channels no packets can wait for
// each other in a circle.
#include "sim/packet/deadlock_check.h"

#include <catch2/catch.hpp>
#include <string>

#include "sim/routing/policies/policies.h"
#include "sim/units/input_error.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

struct Row {
  const char* topology;
  // The fewest channels, by hops, with which all shortest paths are safe; 1: any lossless queue is.
  std::uint32_t least;
};

// As listed in sim/routing/paths/README.md.
const Row kRows[] = {
    {"single_switch:hosts=4", 1},
    {"leaf_spine:leaves=4,spines=2,hosts_per_leaf=2", 1},
    {"fat_tree2:k=4", 1},
    {"fat_tree:k=4", 1},
    {"k_ary_n_tree:k=2,n=3", 1},
    {"torus:dims=4x4", 4},
    {"mesh:dims=4x4", 4},
    {"hypercube:n=4", 4},
    {"hyperx:dims=4x4,hosts=1", 2},
    {"hammingmesh:a=2,b=2,x=2,y=2", 3},
    {"dragonfly:p=2", 3},
    {"megafly:p=2,g=1", 1},
    {"bcube:n=3,k=1", 3},
    {"slim_fly:q=5", 2},
    {"polarfly:q=3", 2},
    {"bundlefly:q1=5,q2=5,hosts=1", 3},
    {"oft:k=3", 1},
    {"mlfm:h=2", 1},
    {"kautz:b=2,n=3", 3},
    {"jellyfish:n=16,r=4", 3},
    {"xpander:d=3,lifts=2", 3},
};

ModuleChoice choice(const std::string& text) { return parse_module_choice(text); }

DeadlockCheck check(const topologies::Topology& topology, const routing::RoutingTable& table,
                    const routing::Policy& policy, const std::string& queue) {
  const Discipline& discipline = find_module(disciplines(), choice(queue), "queue discipline");
  const Parameters of_policy(policy.info, std::map<std::string, std::string>());
  return *check_deadlocks(policy, {of_policy, topology, table}, discipline,
                          Parameters(discipline.info, choice(queue)));
}

std::string credit(std::uint32_t channels, const std::string& selection = "by_hop") {
  return "credit:vcs=" + std::to_string(channels) + ",selection=" + selection;
}

std::uint32_t longest_way(const topologies::Topology& topology, const routing::RoutingTable& table) {
  std::uint32_t longest = 0;
  for (std::uint32_t s = 0; s < topology.hosts(); ++s) {
    for (std::uint32_t d = 0; d < topology.hosts(); ++d) {
      std::uint32_t hops = 0;
      for (topologies::Vertex at = topology.host(s); s != d && at != topology.host(d); ++hops) {
        at = topology.channels()[table.candidates(at, d).front()].to;
      }
      longest = std::max(longest, hops);
    }
  }
  return longest;
}

}  // namespace

TEST_CASE("families: shortest paths need no more virtual channels than they have links between switches") {
  const routing::Policy& ecmp = find_module(routing::policies(), choice("ecmp"), "routing policy");
  for (const Row& row : kRows) {
    INFO(row.topology);
    const topologies::Topology topology = topologies::build(choice(row.topology));
    const routing::RoutingTable table(topology);
    std::uint32_t least = 1;
    while (!check(topology, table, ecmp, credit(least)).found.acyclic()) ++least;
    CHECK(least == row.least);
    CHECK(least <= std::max(longest_way(topology, table), 3u) - 2);
    CHECK(check(topology, table, ecmp, "pfc").found.acyclic() == (row.least == 1));
    CHECK(check(topology, table, ecmp, "pfc:classes=2").found.acyclic() == (row.least == 1));
  }
}

TEST_CASE(
    "families: every policy is safe with as many virtual channels as its paths have links, or as it asks") {
  for (const Row& row : kRows) {
    const topologies::Topology topology = topologies::build(choice(row.topology));
    const routing::RoutingTable table(topology);
    const std::uint32_t longest = longest_way(topology, table);
    for (const routing::Policy& policy : routing::policies()) {
      INFO(row.topology << " with " << policy.info.name);
      std::uint32_t channels = 0;
      try {
        const Parameters parameters(policy.info, std::map<std::string, std::string>());
        channels = routing::paths_of(policy, {parameters, topology, table})->virtual_channels();
      } catch (const InputError&) {
        continue;  // it needs parameters, or isn't defined here
      }
      const DeadlockCheck by_hop =
          check(topology, table, policy, credit(std::min(longest * policy.longest_path, 64u)));
      CHECK(by_hop.found.acyclic());
      CHECK(deadlock_warning(by_hop, topology, "credit", policy.info.name).empty());
      if (channels == 0) continue;
      CHECK(check(topology, table, policy, credit(channels, "routed")).found.acyclic());
    }
  }
}

TEST_CASE("what a run's results say of a circle that is possible") {
  const routing::Policy& ecmp = find_module(routing::policies(), choice("ecmp"), "routing policy");
  const topologies::Topology topology = topologies::build(choice("torus:dims=5"));
  const routing::RoutingTable table(topology);
  const DeadlockCheck found = check(topology, table, ecmp, "pfc");
  REQUIRE(found.found.cycle.size() == 5);
  const std::string text = deadlock_warning(found, topology, "pfc", "ecmp");
  CHECK(text.starts_with("queue pfc with routing ecmp: packets can come to wait for each other in a circle"));
  CHECK(text.find("router 0 -> router 1, then router 1 -> router 2, ") != std::string::npos);
  CHECK(text.ends_with(" … (5 in all)"));
  const Discipline& droptail = find_module(disciplines(), choice("droptail"), "queue discipline");
  const Parameters none(ecmp.info, std::map<std::string, std::string>());
  CHECK_FALSE(check_deadlocks(ecmp, {none, topology, table}, droptail,
                              Parameters(droptail.info, choice("droptail"))));
}

}  // namespace weft::sim::packet
