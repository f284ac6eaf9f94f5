#include "sim/placement/failed_hosts.h"

#include <catch2/catch.hpp>

#include "sim/placement/fragmentation.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

const topologies::Topology& fat_tree() {
  static const topologies::Topology built = [] {
    const ModuleChoice choice{.name = "fat_tree", .given = {{"k", "8"}}};
    const topologies::Family& family = find_module(topologies::families(), choice, "topology");
    return family.build(Parameters(family.info, choice));
  }();
  return built;
}

std::vector<std::uint32_t> failed(std::string_view list, std::uint64_t seed = 1) {
  Machine machine = idle_machine(fat_tree());
  fail_hosts(list, {.file = "--failed"}, seed, machine);
  std::vector<std::uint32_t> hosts;
  for (std::uint32_t h = 0; h < machine.state.size(); ++h) {
    if (machine.state[h] == HostState::kFailed) hosts.push_back(h);
  }
  CHECK(sound_hosts(machine) == 128 - hosts.size());
  return hosts;
}

States states(std::string_view text) {
  States states;
  for (const char c : text) {
    states.push_back(c == '.' ? HostState::kFree : c == 'x' ? HostState::kFailed : HostState::kTaken);
  }
  return states;
}

}  // namespace

TEST_CASE("failed hosts: by name and number, each once") {
  CHECK(failed("7,host 3,h12,3") == std::vector<std::uint32_t>{3, 7, 12});
}

TEST_CASE("failed hosts: a share is of all hosts, drawn by the seed from those that are left") {
  CHECK(failed("0%").empty());
  CHECK(failed("1%").size() == 1);  // 1.28
  CHECK(failed("10%").size() == 13);
  CHECK(failed("10%") == failed("10%"));
  CHECK(failed("10%", 1) != failed("10%", 2));
  CHECK(failed("100%").size() == 128);
  const std::vector<std::uint32_t> both = failed("5,50%,25%");
  CHECK(both.size() == 1 + 64 + 32);
  // Every host is drawn about as often as any other: 200 draws of 13 of 128 hit each 20.3 times, ± 4.3.
  std::vector<int> hits(128);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::uint32_t h : failed("10%", seed)) ++hits[h];
  }
  CHECK(*std::min_element(hits.begin(), hits.end()) >= 5);
  CHECK(*std::max_element(hits.begin(), hits.end()) <= 40);
}

TEST_CASE("failed hosts: what is wrong is told") {
  CHECK_THROWS_WITH(failed("3,128"), Catch::Contains("--failed: '128', but the network has 128 hosts"));
  // Half of 1/128 is 0.39%.
  CHECK(failed("0.4%").size() == 1);
  CHECK_THROWS_WITH(failed("3,0.3%"),
                    Catch::Contains("--failed: '0.3%' of 128 hosts is less than half a host; the nearest "
                                    "share is one host: 0.7812%"));
  CHECK_THROWS_WITH(failed("-1%"), Catch::Contains("'-1%': expected a share from 0% to 100%"));
  CHECK_THROWS_WITH(failed("nan%"), Catch::Contains("expected a share"));
  CHECK_THROWS_WITH(failed("%"), Catch::Contains("expected a share"));
  CHECK_THROWS_WITH(failed("3,,4"), Catch::Contains("--failed"));
}

TEST_CASE("fragmentation: what is outside the longest row of free hosts") {
  CHECK(fragmentation(states("........")) == 0);
  CHECK(fragmentation(states("oooo")) == 0);
  CHECK(fragmentation(states("o...xo")) == 0);
  CHECK(fragmentation(states(".o..o.")) == 0.5);
  CHECK(fragmentation(states(".x.x.x.x")) == 0.75);
}

TEST_CASE("fragmentation: its mean is over the time in which hosts were free") {
  FragmentationOverTime over;
  CHECK(over.mean() == 0);
  over.pass(Time::us(5), states("...."));   // begins
  over.pass(Time::us(7), states(".o.o"));   // 0.5 for 2 us
  over.pass(Time::us(7), states("o.o."));   // for no time
  over.pass(Time::us(9), states("oooo"));   // none free
  over.pass(Time::us(15), states("oo.."));  // 0 for 6 us
  CHECK(over.mean() == Approx(0.5 * 2 / 8));
}

}  // namespace weft::placement
