// Scenarios that can be repeated from anywhere: which values are paths, and what becomes of them.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "sim/scenario/scenario.h"
#include "tests/sim/scenario/fixture.h"

namespace weft::sim {
namespace {

Registries with_files() {
  Registries registries = test_registries();
  registries.traffic.push_back({.info = {"drawn",
                                         "s",
                                         "s",
                                         {{"sizes", ParameterType::kNameOrFile, "web", "h"},
                                          {"file", ParameterType::kFile, "", "h"},
                                          {"note", ParameterType::kText, "", "h"}}}});
  registries.topologies.push_back({.info = {"net", "s", "s", {{"file", ParameterType::kFile, "", "h"}}}});
  registries.topologies.push_back(
      {.info = {"both", "s", "s", {{"of", ParameterType::kTopologies, "", "h"}}}});
  registries.profiles = {{"first", "s", "s", {}}};
  return registries;
}

Draft told(const std::vector<Setting>& settings) {
  const Registries registries = with_files();
  return repeatable(draft_of(resolve(read_scenario(registries, "", "", settings), registries)), registries);
}

const std::string kHere = std::filesystem::current_path().string();

// What becomes of the parameter `name` of a topology.
std::string of_topology(const std::string& short_form, const std::string& name) {
  return told({{"", "job.goal", "a"}, {"", "topology", short_form}}).topology.given.at(name);
}
std::string of_traffic(const std::string& short_form, const std::string& name) {
  return told({{"", "job.traffic", short_form}}).jobs[0].traffic.given.at(name);
}

}  // namespace

TEST_CASE("repeatable: paths are absolute, other words stay") {
  CHECK(told({{"", "job.goal", "a/b.weft"}}).jobs[0].goal == kHere + "/a/b.weft");
  CHECK(told({{"", "job.goal", "./b.weft"}}).jobs[0].goal == kHere + "/b.weft");
  // Where a link's parent is, only the file system knows.
  CHECK(told({{"", "job.goal", "link/../b.weft"}}).jobs[0].goal == kHere + "/link/../b.weft");
  CHECK(told({{"", "job.goal", "/tmp/b.weft"}}).jobs[0].goal == "/tmp/b.weft");
  CHECK(of_traffic("drawn:sizes=web,note=a/b", "sizes") == "web");
  CHECK(of_traffic("drawn:sizes=web,note=a/b", "note") == "a/b");
  CHECK(of_traffic("drawn:sizes=own.txt", "sizes") == kHere + "/own.txt");
  CHECK(of_traffic("drawn", "file").empty());
  CHECK(of_traffic("drawn:file=plain", "file") == kHere + "/plain");
  CHECK(of_topology("net:file=[a,b]", "file") == "[" + kHere + "/a,b]");
  CHECK(told({{"", "job.goal", "a"}, {"", "collectives.table", "rules"}}).collectives.given.at("table") ==
        kHere + "/rules");
}

TEST_CASE("repeatable: networks within networks have their paths too") {
  CHECK(of_topology("both:of=[tree:k=4; hub:hosts=2]", "of") == "[tree:k=4; hub:hosts=2]");
  CHECK(of_topology("both:of=tree:k=4", "of") == "tree:k=4");
  CHECK(of_topology("both:of=[tree:k=4;net:file=n]", "of") == "[tree:k=4; net:file=" + kHere + "/n]");
  CHECK(of_topology("both:of=[net:file=[n,m]]", "of") == "[net:file=[" + kHere + "/n,m]]");
  CHECK(of_topology("both:of=[both:of=[net:file=n]]", "of") == "[both:of=[net:file=" + kHere + "/n]]");
}

TEST_CASE("repeatable: the list of jobs and its models have paths too") {
  const Registries registries = with_files();
  Draft draft =
      read_scenario(registries, "job_list { file: 'log.swf' model { goal: 'lj.weft' } }", "s.txtpb");
  draft = repeatable(draft, registries);
  CHECK(draft.job_list.file == kHere + "/log.swf");
  CHECK(draft.job_list.models[0].job.goal == kHere + "/lj.weft");
  CHECK(input_files(draft, registries) == std::vector{kHere + "/log.swf", kHere + "/lj.weft"});
}

TEST_CASE("repeatable: the folder of the results is left out, the rest of the output stays") {
  const Registries registries = with_files();
  const std::vector<Setting> settings = {
      {"", "job.goal", "a"},           {"", "topology", "hub:hosts=4"},
      {"", "output.directory", "RUN"}, {"", "output.sample_interval", "1us"},
      {"", "output.flows", "false"},   {"", "output.pcapng", "3"}};
  const Scenario scenario = resolve(read_scenario(registries, "", "", settings), registries);
  const std::string text = to_text(repeatable(draft_of(scenario), registries), registries);
  CHECK(text.find("directory") == std::string::npos);
  const Draft again = read_scenario(registries, text, "RUN/scenario.txtpb");
  CHECK(again.output.directory.empty());
  CHECK(again.output.sample_interval == Time::us(1));
  CHECK_FALSE(again.output.flows);
  CHECK(again.output.pcapng == "3");
  // Telling it twice changes nothing.
  CHECK(to_text(repeatable(again, registries), registries) == text);
}

}  // namespace weft::sim
