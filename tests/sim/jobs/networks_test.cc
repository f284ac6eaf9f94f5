// Jobs beside each other in each network: apart they don't notice each other, on one link they share it.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sim/results/jobs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

class NoControl final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

Scenario scenario_of(const std::vector<std::string>& jobs, std::vector<Setting> settings) {
  for (const std::string& job : jobs) settings.push_back({"--job", "job", job});
  const Registries registries = builtin_registries();
  const Scenario scenario = resolve(read_scenario(registries, "", "", settings), registries);
  // What is written is the same run.
  const Scenario again =
      resolve(read_scenario(registries, to_text(scenario, registries), "again", {}), registries);
  CHECK(to_text(again, registries) == to_text(scenario, registries));
  return again;
}

results::Report run(const Scenario& scenario, std::vector<std::uint32_t> only = {}) {
  const Simulation simulation(scenario);
  NoControl control;
  return simulation.run(simulation.workload(), control, only);
}

// Times and counts of the job's ranks.
std::vector<std::vector<std::int64_t>> rows(const results::Report& report, std::uint32_t job) {
  std::vector<std::vector<std::int64_t>> rows;
  for (const results::Rank& r : report.ranks) {
    if (r.job != job) continue;
    rows.push_back({r.rank, r.host, r.finish.ps(), r.compute.ps(), r.overhead.ps(), r.waiting.ps(),
                    static_cast<std::int64_t>(r.bytes_sent), static_cast<std::int64_t>(r.bytes_received)});
  }
  return rows;
}

double seconds(const results::Report& report, std::uint32_t job) {
  return results::runtime(report.jobs[job]).seconds();
}

std::vector<Setting> network(const std::string& model, const std::string& topology) {
  std::vector<Setting> settings = {{"", "network", model}};
  if (model != "loggops") settings.push_back({"", "topology", topology});
  return settings;
}

}  // namespace

TEST_CASE("jobs on switches of their own: bit by bit as alone") {
  const std::string first = "traffic=[alltoall:size=100KB,ranks=4],at=3us";
  const std::string second = "traffic=[stencil:dims=[2,2],iterations=5,compute=2us,ranks=4]";
  for (const char* model : {"loggops", "flow", "packet"}) {
    INFO(model);
    const std::vector<Setting> settings = network(model, "fat_tree:k=4");
    const Scenario both = scenario_of({first, second}, settings);
    const results::Report together = run(both);
    CHECK(together.outcome == results::Outcome::kComplete);
    CHECK(together.jobs[1].hosts == std::vector<std::uint32_t>{4, 5, 6, 7});
    // Alone: in a scenario of its own, where it has the first hosts too.
    CHECK(rows(together, 0) == rows(run(scenario_of({first}, settings)), 0));
    CHECK(rows(together, 0) == rows(run(both, {0}), 0));
    CHECK(rows(together, 1) == rows(run(both, {1}), 0));
    // Bytes: 4 · 3 messages of 100 kB.
    CHECK(together.jobs[0].messages == 12);
    CHECK(together.jobs[0].bytes == 1'200'000);
    CHECK(together.bytes == together.jobs[0].bytes + together.jobs[1].bytes);
  }
}

TEST_CASE("four equal flows on one link: a job with one of them takes four times as long") {
  // Two leaves and one link between them; ranks alternate between the leaves, so each sends across.
  const std::string one = "traffic=[shift:size=4MB,ranks=2],placement=round_robin";
  const std::string three = "traffic=[shift:size=4MB,by=3,ranks=6],placement=round_robin";
  const std::string topology = "leaf_spine:leaves=2,spines=1,hosts_per_leaf=4,link=100Gbps,latency=500ns";
  const auto slowdown = [&](const char* model, const char* control) {
    std::vector<Setting> settings = network(model, topology);
    if (*control != 0) settings.push_back({"", "congestion", control});
    const Scenario both = scenario_of({one, three}, settings);
    const results::Report together = run(both);
    CHECK(together.outcome == results::Outcome::kComplete);
    CHECK(together.jobs[0].hosts == std::vector<std::uint32_t>{0, 4});
    return seconds(together, 0) / seconds(run(both, {0}), 0);
  };
  // 1280 us on the wire instead of 320, and some us of latency in both. With packets the congestion control
  // must be one that shares evenly with a window of a few packets.
  CHECK(slowdown("flow", "") == Approx(4).epsilon(0.01));
  CHECK(slowdown("packet", "nscc") == Approx(4).epsilon(0.05));
  CHECK(slowdown("packet", "dctcp") == Approx(4).epsilon(0.05));
  // Four slow starts at once overflow the queue, and then not all have lost equally much.
  CHECK(slowdown("packet", "newreno") == Approx(4).epsilon(0.08));
}

TEST_CASE("threads never decide what jobs do") {
  const std::vector<std::string> jobs = {"traffic=[alltoall:size=100KB,ranks=5]",
                                         "traffic=[stencil:dims=[6],iterations=5,compute=2us,ranks=6],"
                                         "at=1us",
                                         "traffic=[shift:size=1MB,ranks=4]"};
  for (const char* model : {"loggops", "packet"}) {
    INFO(model);
    std::vector<Setting> settings = network(model, "fat_tree:k=4");
    if (std::string(model) == "packet") settings.push_back({"", "placement", "random"});
    const results::Report alone = run(scenario_of(jobs, settings));
    settings.push_back({"", "threads", "2"});
    const results::Report divided = run(scenario_of(jobs, settings));
    CHECK(alone.digest == divided.digest);
    for (std::uint32_t job = 0; job < 3; ++job) CHECK(rows(alone, job) == rows(divided, job));
  }
}

TEST_CASE("jobs that don't go together are told so") {
  const auto refused = [](const std::vector<std::string>& jobs) {
    return run(scenario_of(jobs, network("flow", "fat_tree:k=4")));
  };
  CHECK_THROWS_WITH(refused({"traffic=[shift:ranks=10]", "traffic=[shift:ranks=10]"}),
                    Catch::Contains("job shift-2 can't be placed: 10 hosts are needed, and 6 are free"));
  CHECK_THROWS_WITH(refused({"traffic=[shift:size=1MB]", "traffic=[alltoall:size=1MB]"}),
                    Catch::Contains("would both have a rank on each host that the others leave"));
  CHECK_THROWS_WITH(refused({"name=a,traffic=shift", "name=a,traffic=shift"}),
                    Catch::Contains("two jobs have the name 'a'"));
  CHECK_THROWS_WITH(refused({"traffic=shift,repeat=0", "traffic=shift"}),
                    Catch::Contains("repeat of this job is 0"));
  CHECK_THROWS_WITH(refused({"traffic=shift,repeat_until_others_end=true"}),
                    Catch::Contains("there are no other jobs"));
  CHECK_THROWS_WITH(refused({"traffic=shift,tempo=3"}), Catch::Contains("'tempo' is not a field of job"));
  CHECK_THROWS_WITH(refused({"traffic=shift,placement=packd"}), Catch::Contains("did you mean 'packed'"));
}

TEST_CASE("traffic without a number of ranks has what the other jobs leave") {
  const results::Report report = run(scenario_of(
      {"traffic=[shift:size=1MB]", "traffic=[shift:size=1MB,ranks=6]"}, network("flow", "fat_tree:k=4")));
  CHECK(report.jobs[0].ranks == 10);
  CHECK(report.jobs[1].ranks == 6);
}

TEST_CASE("each job has hosts of its own kind, over those of the run") {
  std::vector<Setting> settings = network("flow", "fat_tree:k=4");
  settings.push_back({"", "hosts.o", "1us"});
  const Scenario scenario = scenario_of(
      {"traffic=[shift:ranks=4]", "traffic=[shift:ranks=4],hosts.o=5us,ranks_per_node=2"}, settings);
  const results::Report report = run(scenario);
  // One message sent and one received by each.
  CHECK(report.ranks[0].overhead == Time::ns(2000));
  CHECK(report.ranks[4].overhead == Time::ns(10000));
  CHECK(report.jobs[1].nodes == 2);
  CHECK(report.ranks[7].host == 5);
}

}  // namespace weft::sim
