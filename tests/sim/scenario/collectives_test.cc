// How a scenario chooses collective algorithms: by name, by a table, by a profile.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"
#include "tests/sim/scenario/fixture.h"

namespace weft::sim {
namespace {

using Values = std::map<std::string, std::string>;
using Catch::Contains;

Registries with_profiles() {
  Registries registries = test_registries();
  registries.profiles = {{"default", "s", "s", {}}, {"openmpi", "s", "s", {}}};
  return registries;
}

Scenario resolved(const std::string& section, const std::vector<std::string>& settings = {}) {
  std::vector<Setting> parsed;
  for (const std::string& setting : settings) parsed.push_back(parse_setting(setting));
  const std::string text = "job { goal: \"a.weft\" }\n" + section;
  return resolve(read_scenario(with_profiles(), text, "s.txtpb", parsed), with_profiles());
}

}  // namespace

TEST_CASE("a kind that nothing is named for is left to the graph, the table and the profile") {
  const Scenario scenario = resolved("");
  CHECK(scenario.collectives.given ==
        Values{{"profile", "auto"}, {"table", ""}, {"allreduce", "auto"}, {"barrier", "auto"}});
  CHECK(scenario.warnings.empty());
  // Which library generated traffic would be of is not known here either.
  const Registries registries = with_profiles();
  for (const char* section : {"", "collectives { profile: \"auto\" }"}) {
    const std::string text = std::string("job { traffic { shift {} } }\n") + section;
    CHECK(resolve(read_scenario(registries, text, "s"), registries).collectives.given.at("profile") ==
          "auto");
  }
}

TEST_CASE("profile, table and algorithms by name go together") {
  CHECK(resolved("collectives { profile: \"openmpi\" allreduce: \"ring\" }").collectives.given ==
        Values{{"profile", "openmpi"}, {"table", ""}, {"allreduce", "ring"}, {"barrier", "auto"}});
  CHECK(resolved("collectives { table: \"t.txt\" }").collectives.given ==
        Values{{"profile", "auto"}, {"table", "t.txt"}, {"allreduce", "auto"}, {"barrier", "auto"}});
  CHECK(resolved("", {"collectives.profile=openmpi"}).collectives.given.at("allreduce") == "auto");
  CHECK(resolved("collectives { allreduce: \"auto\" }").collectives.given.at("allreduce") == "auto");
}

TEST_CASE("a resolved choice of collectives is read back as it is") {
  for (const char* section :
       {"", "collectives { profile: \"openmpi\" allreduce: \"ring\" }", "collectives { table: \"t.txt\" }"}) {
    const Scenario once = resolved(section);
    const Scenario twice =
        resolve(read_scenario(with_profiles(), to_text(once, with_profiles()), "again"), with_profiles());
    CHECK(twice.collectives.given == once.collectives.given);
    CHECK(twice.warnings.empty());
  }
}

TEST_CASE("rules that nothing is left for can't act") {
  const std::string named = "collectives { allreduce: \"ring\" barrier: \"dissemination\" ";
  const Scenario scenario = resolved(named + "profile: \"openmpi\" }");
  REQUIRE(scenario.warnings.size() == 1);
  CHECK_THAT(scenario.warnings[0], Contains("collectives.profile has no effect"));
  CHECK(scenario.collectives.given.at("profile") == "default");
  CHECK_THROWS_WITH(resolved(named + "}", {"collectives.profile=openmpi"}),
                    Contains("collectives.profile has no effect"));
  CHECK_THROWS_WITH(resolved(named + "}", {"collectives.table=t.txt"}),
                    Contains("collectives.table has no effect"));
}

TEST_CASE("unknown profiles and algorithms are told with their place") {
  CHECK_THROWS_WITH(resolved("collectives { profile: \"openmpl\" }"),
                    Contains("s.txtpb:2:") && Contains("did you mean 'openmpi'?"));
  CHECK_THROWS_WITH(resolved("collectives { profile: \"openmpi\" allreduce: \"rign\" }"),
                    Contains("did you mean 'ring'?"));
}

}  // namespace weft::sim
