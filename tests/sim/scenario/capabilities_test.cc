// What modules need of queues, matched with what queues offer.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "tests/sim/scenario/fixture.h"

namespace weft::sim {
namespace {

// Makes a module of any kind that has needs.
template <typename Registered>
Registered with(const char* name, const CapabilityNeeds& needs) {
  Registered made;
  made.info = {name, "s", "s", {}};
  made.needs = needs;
  return made;
}
constexpr auto control = with<RegisteredControl>;
constexpr auto recovery = with<RegisteredRecovery>;
constexpr auto policy = with<RegisteredRouting>;

Registries registries() {
  using enum Capability;
  Registries all = test_registries();
  all.congestion = {control("still", {}),
                    control("marked", {.required = kMark}),
                    control("cut", {.required = kTrim}),
                    control("uncut", {.forbidden = kTrim}),
                    control("returned", {.required = kBackToSender, .forbidden = kLossless}),
                    control("listening", {.required = kTelemetry}),
                    control("greedy", {.required = kTrim | kLossless})};
  all.recoveries = {recovery("any", {}), recovery("lazy", {.required = kLossless}),
                    recovery("whole", {.forbidden = kTrim})};
  all.routing = {policy("hash", {}), policy("careful", {.required = kTrim}),
                 policy("watching", {.used = kMark})};
  const auto flag = [](const char* name, const char* value) {
    return ParameterSpec{name, ParameterType::kBoolean, value, "h"};
  };
  all.queues = {
      {.info = {"tail", "s", "s", {}}},
      {.info = {"marking", "s", "s", {}}, .offers = {.always = kMark}},
      {.info = {"cutting", "s", "s", {flag("cuts", "true"), flag("returns", "false")}},
       .offers = {.always = kMark,
                  .switches = {{kTrim, "cuts", "true", "false"},
                               {kBackToSender, "returns", "true", "false"},
                               {kBackToSender, "cuts", "true", "false"}}}},
      {.info = {"holding", "s", "s", {flag("cuts", "false")}},
       .offers = {.always = kLossless, .switches = {{kTrim, "cuts", "true", "false"}}}},
  };
  return all;
}

Scenario resolved(const std::vector<std::string>& sets, const Registries& all = registries()) {
  std::vector<Setting> settings = {parse_setting("topology=tree")};
  for (const std::string& set : sets) settings.push_back(parse_setting(set));
  return resolve(read_scenario(all, "job { goal: \"a\" }", "s.txtpb", settings), all);
}

using Values = std::map<std::string, std::string>;

TEST_CASE("capabilities: a control's own queue where none is given and it suits; and a warning of its own") {
  Registries all = registries();
  for (RegisteredControl& control : all.congestion) {
    if (control.info.name == "marked") control.queue = "cutting";
    if (control.info.name == "still") control.caveat = "not all that it could be";
    if (control.info.name == "cut") control.queue = "marking";
  }
  REQUIRE(resolved({"congestion=marked"}, all).queue.name == "cutting");
  REQUIRE(resolved({"congestion=marked", "queue=marking"}, all).queue.name == "marking");
  REQUIRE(resolved({"congestion=cut"}, all).queue.name == "cutting");  // its own does not suit
  REQUIRE(resolved({"congestion=still"}, all).warnings ==
          std::vector<std::string>{"congestion control still is not all that it could be"});
  REQUIRE(resolved({"congestion=marked"}, all).warnings.empty());
}

TEST_CASE("capabilities: an unset queue is the first that gives what is required") {
  CHECK(resolved({}).queue.name == "tail");
  CHECK(resolved({"congestion=marked"}).queue.name == "marking");
  CHECK(resolved({"congestion=cut"}).queue.name == "cutting");
  CHECK(resolved({"congestion=listening"}).queue.name == "tail");
  CHECK(resolved({"recovery=lazy"}).queue.name == "holding");
  CHECK(resolved({"routing=careful"}).queue.name == "cutting");
  CHECK(resolved({"recovery=lazy", "routing=careful"}).queue.name == "holding");
}

TEST_CASE("capabilities: the network may require something too, by its parameters") {
  Registries all = registries();
  const std::string name = resolved({}, all).network.name;
  for (RegisteredNetwork& network : all.networks) {
    if (network.info.name != name) continue;
    network.needs_of = [](const Parameters&) { return CapabilityNeeds{.required = Capability::kTrim}; };
  }
  for (RegisteredControl& control : all.congestion) control.queue = "marking";
  REQUIRE(resolved({"congestion=marked"}).queue.name == "marking");
  REQUIRE(resolved({"congestion=marked"}, all).queue.name == "cutting");  // its own has none
  REQUIRE_THROWS_WITH(
      resolved({"queue=marking"}, all),
      Catch::Contains("network model " + name +
                      " acts on trimmed packets, and queue "
                      "discipline marking never trims any; choose a queue that does (cutting, "
                      "holding)"));
}

TEST_CASE("capabilities: parameters that weren't given are set to what is required or not wanted") {
  CHECK(resolved({"queue=cutting"}).queue.given == Values{{"cuts", "true"}, {"returns", "false"}});
  CHECK(resolved({"congestion=returned"}).queue.given == Values{{"cuts", "true"}, {"returns", "true"}});
  CHECK(resolved({"congestion=uncut", "queue=cutting"}).queue.given ==
        Values{{"cuts", "false"}, {"returns", "false"}});
  CHECK(resolved({"congestion=cut", "queue=holding"}).queue.given == Values{{"cuts", "true"}});
  CHECK(resolved({"congestion=uncut", "queue=cutting:cuts=no"}).queue.given.at("cuts") == "false");
}

TEST_CASE("capabilities: what can't be is refused, with both modules, the reason, and what would do") {
  const auto check = [](const std::vector<std::string>& sets, const std::string& message) {
    CHECK_THROWS_WITH(resolved(sets), message);
  };
  check({"congestion=cut", "queue=marking"},
        "--set queue=marking: congestion control cut acts on trimmed packets, and queue discipline marking "
        "never trims any; choose a queue that does (cutting, holding) or another control (still, marked, "
        "uncut, listening)");
  check(
      {"congestion=cut", "queue=cutting:cuts=false"},
      "--set queue=cutting:cuts=false: congestion control cut acts on trimmed packets, and queue discipline "
      "cutting never trims any with cuts=false; set cuts=true, or choose a queue that does (holding) or "
      "another control (still, marked, uncut, listening)");
  check(
      {"congestion=uncut", "queue=cutting:cuts=true"},
      "--set queue=cutting:cuts=true: congestion control uncut can't live with trimmed packets, which queue "
      "discipline cutting makes; choose a queue without (tail, marking, holding) or another control (still, "
      "marked, cut, returned, listening)");
  check({"congestion=returned", "queue=holding"},
        "--set queue=holding: congestion control returned acts on headers that come back, and queue "
        "discipline holding sends none back; choose a queue that does (cutting) or another control (still, "
        "cut, uncut, listening, greedy)");
  check({"congestion=cut", "recovery=whole"},
        "--set congestion=cut: congestion control cut acts on trimmed packets, and loss recovery whole can't "
        "live with trimmed packets; choose another control (still, marked, uncut, returned, listening) or "
        "another recovery (any, lazy)");
  check({"congestion=marked", "recovery=lazy"},
        "--set congestion=marked: congestion control marked acts on ECN marks, and queue discipline tail "
        "never sets any; choose a queue that does (there is none) or another control (still, uncut, "
        "listening)");
}

TEST_CASE("capabilities: what one parameter would have to be both for is refused") {
  CHECK_THROWS_WITH(
      resolved({"congestion=returned", "recovery=whole", "queue=cutting"}),
      "--set queue=cutting: queue discipline cutting can't be set so that it suits all: congestion "
      "control returned acts on headers that come back, congestion control returned can't live with "
      "packets that are held back, loss recovery whole can't live with trimmed packets; choose another "
      "queue (there is none) or another control or another recovery");
}

TEST_CASE("capabilities: marks that nobody looks at are warned of, as long as the queue was chosen") {
  CHECK(resolved({"queue=marking"}).warnings.size() == 1);
  CHECK(resolved({"queue=marking", "routing=watching"}).warnings.empty());
  CHECK(resolved({"queue=marking", "congestion=marked"}).warnings.empty());
}

// By trying every value of every parameter.
bool some_setting_suits(const RegisteredQueue& queue, const CapabilityNeeds& needs, const Values& given) {
  const auto& parameters = queue.info.parameters;
  for (std::uint32_t bits = 0; bits < 1u << parameters.size(); ++bits) {
    Values values;
    bool as_given = true;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      values[parameters[i].name] = (bits >> i & 1) != 0 ? "true" : "false";
      const auto found = given.find(parameters[i].name);
      as_given = as_given && (found == given.end() || found->second == values[parameters[i].name]);
    }
    Capabilities offered = queue.offers.always | Capability::kTelemetry;
    for (const CapabilitySwitch& each : queue.offers.switches) {
      bool on = true;
      for (const CapabilitySwitch& other : queue.offers.switches) {
        on = on && (other.capability != each.capability || values[other.parameter] == other.on);
      }
      if (on) offered = offered | each.capability;
    }
    if (as_given && offered.has_all(needs.required) && offered.both(needs.forbidden).empty()) return true;
  }
  return false;
}

TEST_CASE("capabilities: every combination is resolved if some setting suits it, and to one that does") {
  const Registries all = registries();
  int suited = 0, refused = 0;
  for (const RegisteredControl& control : all.congestion) {
    for (const RegisteredRecovery& recovery : all.recoveries) {
      for (const RegisteredRouting& policy : all.routing) {
        const CapabilityNeeds needs{
            .required = control.needs.required | recovery.needs.required | policy.needs.required,
            .forbidden = control.needs.forbidden | recovery.needs.forbidden | policy.needs.forbidden};
        for (const std::string queue :
             {"", "tail", "marking", "cutting", "cutting:cuts=false", "cutting:returns=true", "holding"}) {
          INFO(control.info.name << " " << recovery.info.name << " " << policy.info.name << " " << queue);
          const ModuleChoice choice = queue.empty() ? ModuleChoice() : parse_module_choice(queue);
          bool possible = false;
          for (const RegisteredQueue& each : all.queues) {
            if (queue.empty() || each.info.name == choice.name) {
              possible = possible || some_setting_suits(each, needs, choice.given);
            }
          }
          std::vector<std::string> sets = {"congestion=" + control.info.name,
                                           "recovery=" + recovery.info.name, "routing=" + policy.info.name};
          if (!queue.empty()) sets.push_back("queue=" + queue);
          if (!possible) {
            CHECK_THROWS_AS(resolved(sets), InputError);
            ++refused;
            continue;
          }
          const Scenario scenario = resolved(sets);
          for (const RegisteredQueue& each : all.queues) {
            if (each.info.name != scenario.queue.name) continue;
            CHECK(some_setting_suits(each, needs, scenario.queue.given));
          }
          CHECK(to_text(resolve(draft_of(scenario), all), all) == to_text(scenario, all));
          ++suited;
        }
      }
    }
  }
  CHECK(suited > 100);
  CHECK(refused > 100);
}

TEST_CASE("a recovery that wants order, with a policy that doesn't keep it, works with a warning") {
  Registries all = test_registries();
  all.recoveries = {recovery("patient", {}), recovery("strict", {})};
  all.recoveries[1].wants_order = true;
  all.routing = {policy("one", {}), policy("many", {})};
  all.routing[1].info.parameters = {{"paths", ParameterType::kInteger, "16", "h"}};
  all.routing[1].keeps_order = [](const Parameters& values) { return values.integer("paths") == 1; };
  const auto warnings = [&](const std::string& recovery, const std::string& routing) {
    const std::vector<Setting> settings = {parse_setting("topology=tree"),
                                           parse_setting("recovery=" + recovery),
                                           parse_setting("routing=" + routing)};
    return resolve(read_scenario(all, "job { goal: \"a\" }", "s.txtpb", settings), all).warnings;
  };
  CHECK(warnings("patient", "many").empty());
  CHECK(warnings("patient", "one").empty());
  CHECK(warnings("strict", "one").empty());
  CHECK(warnings("strict", "many:paths=1").empty());
  CHECK(warnings("strict", "many") ==
        std::vector<std::string>{
            "--set recovery=strict: loss recovery strict takes packets that come early for "
            "a sign of loss, and with routing policy many they overtake each other"});
  // Hosts may break it as well.
  all.networks[1].info.parameters.push_back({"cards", ParameterType::kInteger, "1", "h"});
  all.networks[1].breaks_order = [](const Parameters& values) {
    return values.integer("cards") > 1 ? "network.wires.cards=2" : "";
  };
  CHECK(warnings("strict", "one").empty());
  const std::vector<Setting> settings = {parse_setting("topology=tree"),
                                         parse_setting("network=wires:cards=2"),
                                         parse_setting("recovery=strict")};
  CHECK(resolve(read_scenario(all, "job { goal: \"a\" }", "s.txtpb", settings), all).warnings ==
        std::vector<std::string>{
            "--set recovery=strict: loss recovery strict takes packets that come early for "
            "a sign of loss, and with network.wires.cards=2 they overtake each other"});
}

TEST_CASE("a control that compares what packets met, with a policy that spreads them, works with a warning") {
  Registries all = registries();
  all.congestion[0].info.parameters = {{"by", ParameterType::kText, "hops", "h"}};
  all.congestion[0].wants_one_path = [](const Parameters& values) { return values.text("by") == "hops"; };
  all.routing[1] = policy("many", {});
  all.routing[1].keeps_order = [](const Parameters&) { return false; };
  CHECK(resolved({"congestion=still"}, all).warnings.empty());
  CHECK(resolved({"congestion=still:by=time", "routing=many"}, all).warnings.empty());
  CHECK(resolved({"congestion=marked", "routing=many"}, all).warnings.empty());
  CHECK(
      resolved({"congestion=still", "routing=many"}, all).warnings ==
      std::vector<std::string>{
          "--set congestion=still: congestion control still compares what a packet met on its way with what "
          "the last one met, and with routing policy many they may take different ways: where they do, it "
          "does not react"});
}

TEST_CASE("a control sets parameters of queues that have them, where they aren't given") {
  Registries all = registries();
  for (RegisteredControl& control : all.congestion) {
    if (control.info.name == "still") control.queue_settings = {{"returns", "true"}};
  }
  CHECK(resolved({"congestion=still", "queue=cutting"}, all).queue.given ==
        Values{{"cuts", "true"}, {"returns", "true"}});
  CHECK(resolved({"congestion=still", "queue=cutting:returns=false"}, all).queue.given ==
        Values{{"cuts", "true"}, {"returns", "false"}});
  CHECK(resolved({"congestion=still", "queue=tail"}, all).queue.given.empty());
  CHECK(resolved({"congestion=marked", "queue=cutting"}, all).queue.given ==
        Values{{"cuts", "true"}, {"returns", "false"}});
}

}  // namespace
}  // namespace weft::sim
