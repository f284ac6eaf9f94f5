// What a scenario says of faults, before any topology is known.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "tests/sim/scenario/fixture.h"

namespace weft::sim {
namespace {

using Values = std::map<std::string, std::string>;

Scenario resolved(const std::string& faults, const std::vector<std::string>& flags = {},
                  const std::string& network = "topology { tree {} }") {
  std::vector<Setting> settings;
  for (const std::string& flag : flags) settings.push_back({"--fault " + flag, "fault", flag});
  const std::string text = "job { goal: \"a\" } " + network + "\n" + faults;
  return resolve(read_scenario(test_registries(), text, "s.txtpb", settings), test_registries());
}

Values fault_of(const RunSettings& run, std::size_t index) { return run.faults.at(index).given; }

}  // namespace

TEST_CASE("faults: every default is filled in") {
  const Scenario scenario = resolved("fault { link: \"a / b\" at: \"10us\" until: \"50us\" }");
  REQUIRE(scenario.faults.size() == 1);
  CHECK(fault_of(scenario, 0) == Values{{"link", "a / b"},
                                        {"switch", ""},
                                        {"random_links", "0"},
                                        {"between", ""},
                                        {"at", "10us"},
                                        {"until", "50us"},
                                        {"rate", "0"},
                                        {"bit_error_rate", "0"},
                                        {"scale_queue", "false"},
                                        {"period", "0s"},
                                        {"times", "1"}});
}

TEST_CASE("faults: bit errors leave the rate as it is, unless it is given") {
  const Scenario scenario = resolved(
      "fault { link: \"*\" bit_error_rate: 1e-9 }\n"
      "fault { link: \"*\" bit_error_rate: 1e-9 rate: 0.25 }\n"
      "fault { switch: \"s\" }\n");
  CHECK(fault_of(scenario, 0).at("rate") == "1");
  CHECK(fault_of(scenario, 1).at("rate") == "0.25");
  CHECK(fault_of(scenario, 2).at("rate") == "0");
  CHECK(fault_of(scenario, 2).at("until") == "auto");
}

TEST_CASE("faults: random links are drawn from all but hosts' only cables, unless it is said between which") {
  const Scenario scenario =
      resolved("fault { random_links: 3 }\nfault { random_links: 0 between: \"a / *\" }\n");
  CHECK(fault_of(scenario, 0).at("between") == "auto");
  CHECK(fault_of(scenario, 1).at("between") == "a / *");
  CHECK(fault_of(scenario, 1).at("random_links") == "0");
}

TEST_CASE("faults: the command line adds to those of the file") {
  const Scenario scenario =
      resolved("fault { link: \"a / b\" }", {"switch=c 3,at=1ms", "link=d [1,2] / *,rate=0.5"});
  REQUIRE(scenario.faults.size() == 3);
  CHECK(fault_of(scenario, 0).at("link") == "a / b");
  CHECK(fault_of(scenario, 1).at("switch") == "c 3");
  CHECK(fault_of(scenario, 1).at("at") == "1ms");
  CHECK(fault_of(scenario, 2).at("link") == "d [1,2] / *");
  CHECK(fault_of(scenario, 2).at("rate") == "0.5");
  CHECK(scenario.faults[1].locations.at("at").prefix() == "--fault switch=c 3,at=1ms: ");
}

TEST_CASE("faults: --set changes the first") {
  const Setting setting = parse_setting("fault.at=3us");
  const Draft draft =
      read_scenario(test_registries(), "fault { link: \"*\" at: \"1us\" }", "s.txtpb", {&setting, 1});
  REQUIRE(draft.faults.size() == 1);
  CHECK(fault_of(draft, 0).at("at") == "3us");
}

TEST_CASE("faults: a network without links has none") {
  const std::string file = "fault { link: \"*\" }\nfault { switch: \"s\" }\n";
  const Scenario scenario = resolved(file, {}, "network { message {} }");
  CHECK(scenario.faults.empty());
  CHECK(scenario.warnings ==
        std::vector<std::string>{"s.txtpb:2:1: fault without effect: network model message has no links"});
  CHECK_THROWS_WITH(resolved(file, {"link=a / b"}, "network { message {} }"),
                    "--fault link=a / b: fault without effect: network model message has no links");
}

TEST_CASE("faults: what makes no sense") {
  const auto check = [](const std::string& fields, const std::string& message) {
    INFO(fields);
    CHECK_THROWS_WITH(resolved("fault {\n" + fields + "\n}\n"), message);
  };
  const std::string one_way =
      "s.txtpb:2:1: this fault must say which links it is of in one way: link, switch or random_links";
  check("", one_way);
  check("link: \"a / b\" switch: \"c\"", one_way);
  check("switch: \"c\" random_links: 2 between: \"*\"", one_way);
  check("link: \"*\"\nrandom_links: 2",
        "s.txtpb:4:1: fault: random_links is '2', but this fault names its links; give one or the other");
  check("between: \"a / *\"",
        "s.txtpb:3:1: fault: between is 'a / *', but that is where random_links are drawn from; give their "
        "number");
  check("random_links: -1", "s.txtpb:3:15: found - where text in quotes is expected, like \"400Gbps\"");
  check("random_links: \"5 percent\"",
        "s.txtpb:3:1: fault: random_links is '5 percent', but it must be a whole number of links from 0, or "
        "a share "
        "like 5%");
  check("link: \"*\"\nrate: 1.5",
        "s.txtpb:4:1: fault: rate is '1.5', but it must be from 0 (down) to 1 (as built)");
  check("link: \"*\"\nrate: -0.1",
        "s.txtpb:4:1: fault: rate is '-0.1', but it must be from 0 (down) to 1 (as built)");
  check("link: \"*\"\nrate: nan", "s.txtpb:4:1: fault: rate: 'nan' is not a finite number");
  check("link: \"*\"\nbit_error_rate: 1",
        "s.txtpb:4:1: fault: bit_error_rate is '1', but it must be 0 or more and below 1");
  check("link: \"*\"\nat: \"5us\"\nuntil: \"5us\"",
        "s.txtpb:5:1: fault: until is '5us', but it must be later than at (5us)");
  check("link: \"*\"\nat: \"54 days\"",
        "s.txtpb:4:1: fault: at: '54 days' has the unit 'days', which no time has; units "
        "are ps, ns, us, ms, s");
  check("link: \"*\"\nat: \"5e6s\"",
        "s.txtpb:4:1: fault: at is '5e6s', but it must not be after 53 days, where simulated time ends");
  check("link: \"*\" until: \"2us\"\nperiod: \"1us\" times: 3",
        "s.txtpb:4:1: fault: period is '1us', but it must be at least until - at (2us)");
  check("link: \"*\" until: \"2us\"\nperiod: \"4us\"",
        "s.txtpb:4:1: fault: period is '4us', but times must be given too, and be 2 or more");
  check("link: \"*\"\nperiod: \"4us\" times: 2",
        "s.txtpb:4:1: fault: period is '4us', but until must be given too");
  check("link: \"*\" until: \"2us\"\ntimes: 2",
        "s.txtpb:4:1: fault: times is '2', but period must be given too");
  check("link: \"*\" until: \"2us\"\ntimes: 0", "s.txtpb:4:1: fault: times is '0', but it must be 1 or more");
  check("link: \"*\" until: \"2us\" period: \"10s\"\ntimes: 9000000000000000000",
        "s.txtpb:4:1: fault: times is '9000000000000000000', but the last of them must not end after 53 "
        "days, where "
        "simulated time ends");
  check("links: \"*\"",
        "s.txtpb:3:1: 'links' is not a field of fault; did you mean 'link'? (known: link, switch, "
        "random_links, "
        "between, at, until, rate, bit_error_rate, scale_queue, period, times)");
}

TEST_CASE("faults: wrong flags") {
  CHECK_THROWS_WITH(
      resolved("", {"core 3"}),
      "--fault core 3: 'core 3' is no fault; expected field=value,field=value, each field once, like "
      "\"link=edge 0.0 / aggregation 0.1,at=10us,until=50us\"");
  CHECK_THROWS_WITH(
      resolved("", {"link=a,swich=b"}),
      "--fault link=a,swich=b: 'swich' is not a field of fault; did you mean 'switch'? (known: link, "
      "switch, random_links, between, at, until, rate, bit_error_rate, scale_queue, period, times)");
  CHECK_THROWS_WITH(resolved("", {"link=*,rate=x"}), "--fault link=*,rate=x: rate: 'x' is not a number");
}

}  // namespace weft::sim
