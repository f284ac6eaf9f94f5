// The changes of single links that a scenario's faults make, against a state worked out for one moment at a
// time.
#include "sim/run/faults.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/random.h"
#include "topologies/families.h"

namespace weft::sim {
namespace {

using Values = std::map<std::string, std::string>;

topologies::Topology fat_tree(const Values& given) {
  const ModuleChoice choice{.name = "fat_tree", .given = given, .location = {}, .locations = {}};
  const topologies::Family& family = find_module(topologies::families(), choice, "topology");
  return family.build(Parameters(family.info, choice));
}
topologies::Topology small_tree() { return fat_tree({{"k", "4"}, {"link", "400Gbps"}}); }

Scenario scenario_of(const std::vector<Values>& faults, std::uint64_t seed = 1) {
  Scenario scenario;
  scenario.seed = seed;
  for (const Values& given : faults) {
    scenario.faults.push_back(
        {.name = "fault", .given = given, .location = {.file = "s", .line = 3}, .locations = {}});
  }
  return scenario;
}
std::vector<LinkChange> plan(const std::vector<Values>& faults, std::uint64_t seed = 1) {
  return plan_faults(scenario_of(faults, seed), small_tree());
}

std::string ends(const topologies::Topology& topology, std::uint32_t link) {
  const topologies::Channel& channel = topology.channels()[2 * link];
  return topology.node(channel.from).name + " / " + topology.node(channel.to).name;
}
std::uint32_t link_named(const topologies::Topology& topology, const std::string& name) {
  for (std::uint32_t link = 0; link < topology.channels().size() / 2; ++link) {
    if (ends(topology, link) == name) return link;
  }
  FAIL("no link is named " + name);
  return 0;
}

std::string text(const LinkChange& change) {
  return fmt::format("{} link {} rate {} errors {}", to_string(change.at), change.link, change.rate_share,
                     change.bit_error_rate);
}
std::vector<std::string> texts(const std::vector<LinkChange>& changes) {
  std::vector<std::string> all;
  for (const LinkChange& change : changes) all.push_back(text(change));
  return all;
}

struct State {
  double rate = 1, errors = 0;
};

}  // namespace

TEST_CASE("outages are what links were down for, up to a moment") {
  const topologies::Topology topology = small_tree();
  const std::string first = ends(topology, 0), second = ends(topology, 1), third = ends(topology, 2);
  const std::vector<LinkChange> changes =
      plan({{{"link", first}, {"rate", "0"}, {"at", "10us"}, {"until", "30us"}},
            {{"link", first}, {"rate", "0"}, {"at", "90us"}},
            {{"link", second}, {"rate", "0"}, {"at", "50us"}, {"until", "90us"}},
            {{"link", third}, {"rate", "0.5"}, {"at", "10us"}}});
  const std::vector<results::Outage> whole = outages(topology, changes, Time::us(100));
  REQUIRE(whole.size() == 2);
  CHECK(whole[0].link == second);
  CHECK(whole[0].down == Time::us(40));
  CHECK(whole[1].link == first);
  CHECK(whole[1].down == Time::us(20 + 10));
  const std::vector<results::Outage> part = outages(topology, changes, Time::us(60));
  CHECK(part.at(0).down == Time::us(20));
  CHECK(part.at(1).down == Time::us(10));
  CHECK(outages(topology, changes, Time::us(10)).empty());
}

TEST_CASE("faults: a link that is cut and mended") {
  const topologies::Topology tree = small_tree();
  // A cable may be named from either end.
  for (const char* name :
       {"edge 0.0 / aggregation 0.1", "aggregation 0.1 / edge 0.0", " edge 0.0/aggregation 0.1 "}) {
    INFO(name);
    const auto changes =
        plan_faults(scenario_of({{{"link", name}, {"at", "10us"}, {"until", "50us"}}}), tree);
    REQUIRE(changes.size() == 2);
    const std::string link = ends(tree, changes[0].link);
    CHECK((link == "edge 0.0 / aggregation 0.1" || link == "aggregation 0.1 / edge 0.0"));
    CHECK(text(changes[0]) == fmt::format("10us link {} rate 0 errors 0", changes[0].link));
    CHECK(text(changes[1]) == fmt::format("50us link {} rate 1 errors 0", changes[0].link));
  }
}

TEST_CASE("faults: how many links a name is of") {
  // A fat tree of 4-port switches: 16 hosts, 8 edge and 8 aggregation switches, 4 cores; 16 links in each
  // tier.
  const std::vector<std::pair<Values, std::size_t>> cases = {
      {{{"link", "*"}}, 48},
      {{{"link", "* / *"}}, 48},
      {{{"link", "host * / *"}}, 16},
      {{{"link", "core * / aggregation 0.0"}}, 2},
      {{{"link", "edge 0.* / aggregation *"}}, 4},
      {{{"link", "edge ?.0 / host [0-3]"}}, 2},
      {{{"switch", "core 3"}}, 4},
      {{{"switch", "edge 1.0"}}, 4},
      {{{"switch", "*"}}, 48},
      // Both ends of each link are such switches, but it is one link.
      {{{"switch", "[ea]*"}}, 48},
      {{{"random_links", "5"}, {"between", "*"}}, 5},
      {{{"random_links", "0"}, {"between", "*"}}, 0},
      // 5% of 48 is 2.4; of those that are no host's only cable, 1.6.
      {{{"random_links", "5%"}, {"between", "*"}}, 2},
      {{{"random_links", "100%"}, {"between", "core * / *"}}, 16},
      {{{"random_links", "5%"}, {"between", "auto"}}, 2},
      {{{"random_links", "100%"}, {"between", "auto"}}, 32},
  };
  for (const auto& [fault, expected] : cases) {
    INFO(fault.begin()->second);
    const auto changes = plan({fault});
    CHECK(changes.size() == expected);
    std::set<std::uint32_t> links;
    for (const LinkChange& change : changes) {
      links.insert(change.link);
      CHECK(change.at == Time());
      CHECK(change.rate_share == 0);
    }
    CHECK(links.size() == expected);
  }
}

TEST_CASE("faults: a link that flaps") {
  const std::uint32_t link = link_named(small_tree(), "host 0 / edge 0.0");
  const std::string up = fmt::format(" link {} rate 1 errors 0", link),
                    down = fmt::format(" link {} rate 0 errors 0", link);
  const Values flaps = {
      {"link", "host 0 / *"}, {"at", "1ms"}, {"until", "1010us"}, {"period", "100us"}, {"times", "3"}};
  CHECK(texts(plan({flaps})) == std::vector<std::string>{"1ms" + down, "1.01ms" + up, "1.1ms" + down,
                                                         "1.11ms" + up, "1.2ms" + down, "1.21ms" + up});
  // One that follows itself at once is down in one piece.
  Values always = flaps;
  always["period"] = "10us";
  CHECK(texts(plan({always})) == std::vector<std::string>{"1ms" + down, "1.03ms" + up});
}

TEST_CASE("faults: those of one link add up") {
  const std::uint32_t link = link_named(small_tree(), "host 0 / edge 0.0");
  const auto at = [&](const char* time, double rate, double errors) {
    return fmt::format("{} link {} rate {} errors {}", time, link, rate, errors);
  };
  const std::string name = "host 0 / *";
  CHECK(texts(plan({
            {{"link", name}, {"at", "0"}, {"until", "10us"}, {"rate", "0.5"}},
            {{"link", name}, {"at", "2us"}, {"until", "8us"}, {"rate", "0.5"}, {"bit_error_rate", "0.25"}},
            {{"link", name}, {"at", "4us"}, {"until", "6us"}, {"rate", "0"}},
            {{"link", name}, {"at", "7us"}, {"rate", "1"}, {"bit_error_rate", "0.5"}},
            {{"link", name}, {"at", "1us"}, {"rate", "1"}, {"bit_error_rate", "0"}},
        })) == std::vector<std::string>{at("0ps", 0.5, 0), at("2us", 0.25, 0.25), at("4us", 0, 0),
                                        at("6us", 0.25, 0.25), at("7us", 0.25, 0.75), at("8us", 0.5, 0.5),
                                        at("10us", 1, 0.5)});
  // Never all bits wrong.
  const auto changes = plan({{{"link", name}, {"rate", "1"}, {"bit_error_rate", "0.7"}},
                             {{"link", name}, {"rate", "1"}, {"bit_error_rate", "0.7"}}});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].bit_error_rate < 1);
  CHECK(changes[0].bit_error_rate > 0.999);
}

TEST_CASE("faults: any schedule is at every moment what the faults say for that moment") {
  const topologies::Topology tree = small_tree();
  const std::vector<std::string> names = {"host 0",   "host 1",          "edge 0.0",
                                          "edge 0.1", "aggregation 0.0", "core 1"};
  const auto links = static_cast<std::uint32_t>(tree.channels().size() / 2);
  std::uint64_t moments_checked = 0, changes_seen = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, 0, 1);
    std::vector<Values> faults;
    const std::uint64_t count = 1 + random.below(6);
    // Few different times, so that beginnings and ends often meet.
    for (std::uint64_t f = 0; f < count; ++f) {
      const std::uint64_t at = random.below(8), length = 1 + random.below(5), times = 1 + random.below(4);
      Values fault = {{"at", fmt::format("{}ns", at)}};
      fault[random.below(3) == 0 ? "switch" : "link"] = "";
      if (fault.contains("switch")) {
        fault["switch"] = names[2 + random.below(4)];
      } else {
        fault["link"] = random.below(4) == 0 ? "*" : names[random.below(names.size())] + " / *";
      }
      constexpr const char* kRates[] = {"0", "0.1", "0.5", "1"};
      constexpr const char* kErrors[] = {"0", "0.001", "0.3"};
      fault["rate"] = kRates[random.below(4)];
      fault["bit_error_rate"] = kErrors[random.below(3)];
      if (random.below(4) > 0) {
        fault["until"] = fmt::format("{}ns", at + length);
        if (times > 1) {
          fault["period"] = fmt::format("{}ns", length + random.below(3));
          fault["times"] = fmt::format("{}", times);
        }
      }
      faults.push_back(fault);
    }
    const std::vector<LinkChange> changes = plan_faults(scenario_of(faults), tree);
    changes_seen += changes.size();
    CHECK(std::is_sorted(changes.begin(), changes.end(), [](const LinkChange& a, const LinkChange& b) {
      return a.at != b.at ? a.at < b.at : a.link < b.link;
    }));
    for (std::uint32_t link = 0; link < links; ++link) {
      const std::string name = ends(tree, link);
      const std::string a = name.substr(0, name.find(" / ")), b = name.substr(name.find(" / ") + 3);
      State now;
      std::size_t next = 0;
      std::optional<Time> last;
      for (std::int64_t ps = 0; ps <= 45'000; ps += 500) {
        const Time time = Time::ps(ps);
        for (; next < changes.size() && changes[next].at <= time; ++next) {
          if (changes[next].link != link) continue;
          // Each change changes something, and there is one at a moment.
          CHECK((changes[next].rate_share != now.rate || changes[next].bit_error_rate != now.errors));
          CHECK((!last || *last < changes[next].at));
          last = changes[next].at;
          now = {changes[next].rate_share, changes[next].bit_error_rate};
        }
        State expected;
        for (const Values& fault : faults) {
          const std::string what = fault.contains("switch") ? fault.at("switch") : fault.at("link");
          const std::string end = what.substr(0, what.find(" / "));
          if (what != "*" && end != a && end != b) continue;
          bool acts = false;
          const int times = fault.contains("times") ? std::stoi(fault.at("times")) : 1;
          for (int i = 0; i < times; ++i) {
            const Time shift = fault.contains("period") ? parse_time(fault.at("period")) * i : Time();
            acts = acts || (parse_time(fault.at("at")) + shift <= time &&
                            (!fault.contains("until") || time < parse_time(fault.at("until")) + shift));
          }
          if (!acts) continue;
          expected.rate *= std::stod(fault.at("rate"));
          expected.errors += std::stod(fault.at("bit_error_rate"));
        }
        if (expected.rate == 0) expected.errors = 0;
        expected.errors = std::min(expected.errors, std::nextafter(1.0, 0.0));
        if (now.rate != expected.rate || now.errors != expected.errors) {
          FAIL(fmt::format("seed {}, {} at {}: {} {}, expected {} {}", seed, name, to_string(time), now.rate,
                           now.errors, expected.rate, expected.errors));
        }
        ++moments_checked;
      }
    }
  }
  CHECK(moments_checked == 300u * 48 * 91);
  CHECK(changes_seen > 10'000);
}

TEST_CASE("faults: one direction of a cable") {
  const topologies::Topology tree = small_tree();
  const std::string up = "aggregation 0.0", down = "core 0";
  // The bit of the direction that leaves `from`.
  const auto bit = [&](const LinkChange& change, const std::string& from) {
    return tree.node(tree.channels()[2 * change.link].from).name == from ? 1 : 2;
  };
  for (const auto& [from, to] : {std::pair{up, down}, {down, up}}) {
    const auto changes = plan({{{"link", from + " -> " + to}, {"rate", "0.1"}, {"until", "5us"}}});
    REQUIRE(changes.size() == 2);
    CHECK(changes[0].directions == bit(changes[0], from));
    CHECK(changes[0].rate_share == 0.1);
    CHECK(changes[1].directions == changes[0].directions);
    CHECK(changes[1].rate_share == 1);
  }
  // A pattern that fits both ends is of both directions.
  for (const LinkChange& change : plan({{{"link", "* -> *"}, {"rate", "0.5"}}})) {
    CHECK(change.directions == kBothDirections);
  }
  // Together with a fault of both: each direction has its own rate, until the cable is cut and when it is
  // back.
  const auto changes = plan({{{"link", up + " -> " + down}, {"rate", "0.1"}, {"at", "1us"}},
                             {{"link", down + " / " + up}, {"rate", "0.5"}, {"at", "2us"}},
                             {{"link", up + " / " + down}, {"rate", "0"}, {"at", "3us"}, {"until", "4us"}}});
  REQUIRE(changes.size() == 6);
  const std::uint8_t there = changes[0].directions;
  CHECK(there == bit(changes[0], up));
  const auto expect = [&](std::size_t first, double rate_there, double rate_back) {
    REQUIRE(changes[first].at == changes[first + 1].at);
    REQUIRE(changes[first].directions + changes[first + 1].directions == kBothDirections);
    for (const std::size_t i : {first, first + 1}) {
      CHECK(changes[i].rate_share == (changes[i].directions == there ? rate_there : rate_back));
    }
  };
  expect(1, 0.05, 0.5);
  CHECK(changes[3].directions == kBothDirections);
  CHECK(changes[3].rate_share == 0);
  expect(4, 0.05, 0.5);
  CHECK_THROWS_WITH(plan({{{"link", up + " -> " + down}, {"rate", "0"}}}),
                    Catch::Contains("a cable is cut in both directions"));
  CHECK_THROWS_WITH(plan({{{"link", up + " -> " + down + " -> edge 0.0"}, {"rate", "0.5"}}}),
                    Catch::Contains("a link is named by its two ends"));
}

TEST_CASE("faults: queues shrink by the rates of those faults alone that say so") {
  const std::string name = "core 0 / aggregation 0.0";
  const auto changes = plan({{{"link", name}, {"rate", "0.5"}, {"scale_queue", "true"}},
                             {{"link", name}, {"rate", "0.1"}, {"at", "1us"}},
                             {{"link", name}, {"rate", "0.5"}, {"at", "2us"}, {"scale_queue", "true"}},
                             {{"link", name}, {"rate", "0"}, {"at", "3us"}}});
  REQUIRE(changes.size() == 4);
  const std::vector<double> rates = {0.5, 0.05, 0.025, 0}, shares = {0.5, 0.5, 0.25, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(changes[i].rate_share == Approx(rates[i]));
    CHECK(changes[i].queue_share == Approx(shares[i]));
  }
}

TEST_CASE("faults: random links follow from the seed and are drawn evenly") {
  const topologies::Topology tree = small_tree();
  const std::vector<Values> faults = {{{"random_links", "3"}, {"between", "aggregation * / core *"}}};
  CHECK(texts(plan(faults, 5)) == texts(plan(faults, 5)));
  CHECK(texts(plan(faults, 5)) != texts(plan(faults, 6)));
  std::map<std::uint32_t, int> drawn;
  constexpr int kSeeds = 4000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const auto changes = plan_faults(scenario_of(faults, static_cast<std::uint64_t>(seed)), tree);
    REQUIRE(changes.size() == 3);
    std::set<std::uint32_t> distinct;
    for (const LinkChange& change : changes) {
      ++drawn[change.link];
      distinct.insert(change.link);
    }
    CHECK(distinct.size() == 3);
  }
  // 16 links, each drawn with probability 3/16: mean 750, standard deviation 24.7; five of these are allowed.
  CHECK(drawn.size() == 16);
  for (const auto& [link, count] : drawn) {
    INFO(ends(tree, link));
    CHECK(ends(tree, link).find("core") != std::string::npos);
    CHECK(std::abs(count - 750) < 124);
  }
  // A second fault like it draws links of its own.
  const auto two =
      plan({faults[0], {{"random_links", "3"}, {"between", "aggregation * / core *"}, {"at", "1us"}}});
  CHECK(two.size() > 3);
}

TEST_CASE("faults: random links are never a host's only cable, and hosts that are cut off are named") {
  const topologies::Topology tree = small_tree();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const LinkChange& change :
         plan_faults(scenario_of({{{"random_links", "10"}, {"between", "auto"}}}, seed), tree)) {
      REQUIRE(ends(tree, change.link).find("host") == std::string::npos);
    }
  }
  const auto lost = [&](const std::vector<Values>& faults) {
    return cut_off_hosts(tree, plan_faults(scenario_of(faults, 1), tree), Time::max());
  };
  CHECK(lost({{{"link", "edge * / aggregation *"}}}).empty());
  CHECK(lost({{{"link", "host 3 / *"}, {"at", "1us"}, {"until", "2us"}}}).empty());
  const std::vector<std::string> one = lost({{{"link", "host 3 / *"}, {"at", "1us"}}});
  REQUIRE(one.size() == 1);
  CHECK(one[0].find("host 3 is cut off: its only cable '") == 0);
  CHECK(one[0].find("' is down since 1us") != std::string::npos);
  const std::vector<std::string> all = lost({{{"link", "*"}}});
  REQUIRE(all.size() == 5);
  CHECK(all[4] == "and so are 12 more hosts");
}

TEST_CASE("faults: names and numbers that this network does not have") {
  const auto check = [](const Values& fault, const std::string& message) {
    CHECK_THROWS_WITH(plan({fault}), "s:3: fault: " + message);
  };
  const std::string names = " (names are like: core 0, edge 0.0, host 0, aggregation 0.0)";
  check({{"link", "edge 0.9 / *"}},
        "link is 'edge 0.9 / *', but nothing here is named 'edge 0.9'; did you mean 'edge 0.0'?" + names);
  check({{"link", "spine * / *"}}, "link is 'spine * / *', but nothing here is named 'spine *'" + names);
  check({{"switch", "cor 3"}},
        "switch is 'cor 3', but nothing here is named 'cor 3'; did you mean 'core 3'?" + names);
  check({{"switch", "host 3"}}, "switch is 'host 3', but that is a host; name its links: link: 'host 3 / *'");
  check({{"link", "edge 0.0 / core 1"}},
        "link is 'edge 0.0 / core 1', but that names no link: 'edge 0.0' is linked to host 0, host 1, "
        "aggregation 0.0, "
        "aggregation 0.1");
  check({{"link", "edge * / core *"}},
        "link is 'edge * / core *', but that names no link: no node of the one name is linked to one of the "
        "other");
  for (const char* name : {"edge 0.0", "edge 0.0 /", "/", "a / b / c"}) {
    check({{"link", name}},
          fmt::format("link is '{}', but a link is named by its two ends, like 'host 0 / edge 0.0', with "
                      "* for anything",
                      name));
  }
  check({{"random_links", "33"}, {"between", "auto"}},
        "random_links is '33', but only 32 links are no host's only one (between=* draws from all)");
  check({{"random_links", "17"}, {"between", "core * / *"}},
        "random_links is '17', but only 16 links are between 'core * / *'");
  // Half of one of 32 is 1.5625%.
  CHECK(plan({{{"random_links", "1.6%"}, {"between", "auto"}}}).size() == 1);
  CHECK(plan({{{"random_links", "0%"}, {"between", "auto"}}}).empty());
  check(
      {{"random_links", "1.5%"}, {"between", "auto"}},
      "random_links is '1.5%', but of 32 links that is less than half of one; the nearest share is one link: "
      "3.125%");
  // 400 Gb/s × 1e-6 is 400 kb/s.
  check({{"link", "host 0 / *"}, {"rate", "1e-6"}},
        "rate is '1e-6', but that leaves 400kbps of the 400Gbps of link 'host 0 / edge 0.0'; the least is "
        "1Mbps, and 0 "
        "is down");
  check({{"link", "*"}, {"until", "1ns"}, {"period", "2ns"}, {"times", "1000000"}},
        "times is '1000000', but with all faults before it that makes more than 16000000 changes of links");
}

TEST_CASE("faults that change nothing are told, and values of faults without effect") {
  using Given = std::vector<Values>;
  CHECK(plan({{{"link", "*"}, {"rate", "1"}}}).empty());
  const auto told = [](const Values& fault) {
    const std::vector<std::string> all = idle_faults(scenario_of(Given{fault}), Time::us(1));
    return all.empty() ? "" : all.at(0);
  };
  const Values all = {{"link", "*"}};
  const auto with = [&](Values more) {
    more.insert(all.begin(), all.end());
    return more;
  };
  CHECK(told(with({{"rate", "1"}})) ==
        "fault 1 changes nothing: its rate is 1, as built, and it has no bit_error_rate");
  CHECK(told(with({{"rate", "0.5"}, {"at", "2us"}})) ==
        "fault 1 changed nothing: it begins at 2us, and the run ended at 1us");
  CHECK(told(with({{"rate", "0"}, {"bit_error_rate", "0.25"}})) ==
        "fault 1 has a bit_error_rate of 0.25 without effect: its links are down (rate is 0)");
  for (const char* rate : {"0", "1"}) {
    CHECK(
        told(with(
            {{"rate", rate}, {"scale_queue", "true"}, {"bit_error_rate", rate[0] == '1' ? "0.1" : "0"}})) ==
        fmt::format("fault 1 has scale_queue without effect: its rate is {}, and queues go by rates between "
                    "0 and 1",
                    rate));
  }
  CHECK(told(with({{"rate", "1"}, {"bit_error_rate", "1e-9"}})).empty());
  CHECK(told(with({{"rate", "0.5"}, {"at", "1us"}, {"scale_queue", "true"}})).empty());
  CHECK(told(with({})).empty());
  CHECK(idle_faults(scenario_of({all, with({{"rate", "1"}})}), Time::us(1)).at(0).starts_with("fault 2 "));
}

}  // namespace weft::sim
