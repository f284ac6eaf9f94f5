// Placements by number alone.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <vector>

#include "sim/placement/policies/policies.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

using Hosts = std::vector<std::uint32_t>;

// Hosts of a switch of ten, of which these are free.
Outcome on_ten(const char* choice, const Hosts& free, const Request& request) {
  const topologies::Topology topology = topologies::build(parse_module_choice("single_switch:hosts=10"));
  Machine machine = idle_machine(topology);
  for (HostState& state : machine.state) state = HostState::kTaken;
  for (const std::uint32_t h : free) machine.state[h] = HostState::kFree;
  return place(parse_module_choice(choice), request, machine);
}

}  // namespace

TEST_CASE("packed: gaps among taken hosts") {
  const Hosts free = {0, 2, 3, 4, 7, 8};
  CHECK(on_ten("packed", free, {.ranks = 2}).hosts == Hosts{2, 3});
  CHECK(on_ten("packed:fit=best", free, {.ranks = 2}).hosts == Hosts{7, 8});
  CHECK(on_ten("packed:fit=any", free, {.ranks = 2}).hosts == Hosts{0, 2});
  CHECK(on_ten("packed", free, {.ranks = 5}).hosts == Hosts{0, 2, 3, 4, 7});
  CHECK(on_ten("packed:strict=true", free, {.ranks = 4}).no_room ==
        "4 hosts in a row are needed, and at most 3 are free");
  CHECK(on_ten("packed:strict=true,fit=any", free, {.ranks = 3}).hosts == Hosts{2, 3, 4});
}

TEST_CASE("packed: ranks of a node together, or dealt out") {
  const Hosts free = {4, 5, 6};
  CHECK(on_ten("packed", free, {.ranks = 5, .ranks_per_node = 2}).hosts == Hosts{4, 4, 5, 5, 6});
  CHECK(on_ten("packed:distribution=cyclic", free, {.ranks = 5, .ranks_per_node = 2}).hosts ==
        Hosts{4, 5, 6, 4, 5});
}

TEST_CASE("random: every ordered choice is equally likely") {
  // 4 of 2 in order: 12, each 500 times in 6,000 draws; 5.5 standard deviations are 118.
  std::map<Hosts, int> count;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    ++count[on_ten("random", {1, 3, 5, 9}, {.ranks = 2, .seed = seed}).hosts];
  }
  REQUIRE(count.size() == 12);
  for (const auto& [hosts, times] : count) CHECK(std::abs(times - 500) < 118);
  CHECK(count.count({3, 3}) == 0);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Hosts sorted = on_ten("random:order=sorted", {1, 3, 5, 9}, {.ranks = 3, .seed = seed}).hosts;
    CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  }
}

}  // namespace weft::placement
