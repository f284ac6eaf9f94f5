// Placements by switch and group, against what the numbering of a dragonfly says.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "sim/placement/policies/policies.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

using Hosts = std::vector<std::uint32_t>;

// Groups of 8 hosts: 4 routers with 2 each; 9 of them.
const topologies::Topology& dragonfly() {
  static const topologies::Topology topology = topologies::build(parse_module_choice("dragonfly:p=2"));
  return topology;
}

Hosts on_dragonfly(const char* choice, const Request& request, const Machine& machine) {
  return place(parse_module_choice(choice), request, machine).hosts;
}

Hosts on_idle(const char* choice, std::uint32_t ranks, std::uint64_t seed = 1) {
  return on_dragonfly(choice, {.ranks = ranks, .seed = seed}, idle_machine(dragonfly()));
}

std::set<std::uint32_t> groups_of(const Hosts& hosts) {
  std::set<std::uint32_t> groups;
  for (const std::uint32_t h : hosts) groups.insert(h / 8);
  return groups;
}

// So many free hosts in each group, the lowest of it.
Machine with_free(const std::vector<std::uint32_t>& in_group) {
  Machine machine = idle_machine(dragonfly());
  for (std::uint32_t h = 0; h < 72; ++h) {
    machine.state[h] = h % 8 < in_group[h / 8] ? HostState::kFree : HostState::kTaken;
  }
  return machine;
}

}  // namespace

TEST_CASE("round robin: one of each switch, then the next of each") {
  const Hosts hosts = on_idle("round_robin", 40);
  for (std::uint32_t r = 0; r < 40; ++r) CHECK(hosts[r] == r % 36 * 2 + r / 36);
  // 72 ranks on 36 switches: all of them.
  CHECK(std::set<std::uint32_t>(hosts.begin(), hosts.end()).size() == 40);
}

TEST_CASE("group round robin: one of each group, and how groups are filled") {
  const Hosts packed = on_idle("group_round_robin", 20);
  const Hosts spread = on_idle("group_round_robin:within=spread", 20);
  const Hosts random = on_idle("group_round_robin:within=random", 20, 3);
  for (std::uint32_t r = 0; r < 20; ++r) {
    CHECK(packed[r] == r % 9 * 8 + r / 9);
    CHECK(spread[r] == r % 9 * 8 + r / 9 * 2);  // another router each time
    CHECK(random[r] / 8 == r % 9);
  }
  CHECK(random != packed);
  CHECK(random != on_idle("group_round_robin:within=random", 20, 4));
  // Groups that are used up are passed over.
  CHECK(on_dragonfly("group_round_robin", {.ranks = 6}, with_free({1, 0, 3, 0, 0, 0, 0, 0, 2})) ==
        Hosts{0, 16, 64, 17, 65, 18});
}

TEST_CASE("by group: the best fit, else the emptiest first") {
  const Machine machine = with_free({2, 5, 8, 3, 5, 0, 8, 1, 4});
  const auto groups = [&](const char* choice, std::uint32_t ranks) {
    Hosts list;
    for (const std::uint32_t h : on_dragonfly(choice, {.ranks = ranks}, machine)) {
      if (list.empty() || list.back() != h / 8) list.push_back(h / 8);
    }
    return list;
  };
  CHECK(groups("by_group", 3) == Hosts{3});
  CHECK(groups("by_group", 5) == Hosts{1});
  CHECK(groups("by_group", 6) == Hosts{2});
  CHECK(groups("by_group", 9) == Hosts{2, 7});      // 8, and 1 is left: the group with one
  CHECK(groups("by_group", 20) == Hosts{2, 6, 8});  // 8, 8, and 4
  CHECK(groups("by_group:fit=first", 9) == Hosts{0, 1, 2});
  CHECK(groups("by_group:by=switch", 2) == Hosts{0});
  CHECK(groups("by_group", 36).size() == 8);
}

TEST_CASE("hybrid: as few groups, in another order within") {
  std::set<Hosts> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Hosts hosts = on_idle("hybrid", 12, seed);
    CHECK(groups_of(hosts).size() == 2);
    CHECK(groups_of(Hosts(hosts.begin(), hosts.begin() + 8)).size() == 1);
    seen.insert(hosts);
  }
  CHECK(seen.size() == 10);
  std::set<std::uint32_t> first;
  for (std::uint64_t seed = 0; seed < 40; ++seed) first.insert(on_idle("hybrid:fit=random", 4, seed)[0] / 8);
  CHECK(first.size() >= 7);  // of 9 groups, 40 draws
}

TEST_CASE("units: refused where they tell nothing, with the reason") {
  const topologies::Topology torus = topologies::build(parse_module_choice("torus:dims=4x4"));
  const auto attempt = [&](const char* choice) {
    return place(parse_module_choice(choice), {.ranks = 4}, idle_machine(torus));
  };
  CHECK_THROWS_WITH(attempt("round_robin"), Catch::Contains("round_robin can't be had on torus") &&
                                                Catch::Contains("every host has a switch of its own"));
  CHECK_THROWS_WITH(attempt("group_round_robin"), Catch::Contains("every host is a group of its own"));
  CHECK_THROWS_WITH(attempt("by_group:by=rack"), Catch::Contains("doesn't say which racks"));
  CHECK_THROWS_WITH(attempt("hybrid:by=site"), Catch::Contains("it has one site"));
  CHECK_THROWS_WITH(attempt("hybrid:by=pod"),
                    Catch::Contains("it must be switch, group, rack, plane or site"));
}

}  // namespace weft::placement
