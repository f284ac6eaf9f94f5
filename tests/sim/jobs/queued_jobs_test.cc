// Jobs that wait for hosts while a run goes on, against the queue alone: jobs that only compute take a time
// that is known, so each must start when run_queue(), which knows no network and no hosts, says.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "sim/jobs/queue_run.h"
#include "sim/jobs/schedulers.h"
#include "sim/results/jobs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "sim/units/input_error.h"
#include "tests/sim/jobs/naive_scheduler.h"

namespace weft::sim {
namespace {

class NoControl final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

results::Report run(const Scenario& scenario) {
  const Simulation simulation(scenario);
  NoControl control;
  return simulation.run(simulation.workload(), control);
}

struct Machine {
  const char* network;
  const char* topology;  // of 16 hosts; "": the scenario says how many nodes there are
};
constexpr Machine kMachines[] = {{"loggops", ""}, {"flow", "fat_tree:k=4"}, {"packet", "fat_tree:k=4"}};

Scenario scenario_of(const Machine& machine, const std::vector<std::string>& jobs,
                     std::vector<Setting> more) {
  std::vector<Setting> settings = {{"", "network", machine.network}};
  if (*machine.topology != 0) {
    settings.push_back({"", "topology", machine.topology});
  } else {
    settings.push_back({"", "nodes", "16"});
  }
  for (const std::string& job : jobs) settings.push_back({"", "job", job});
  settings.insert(settings.end(), more.begin(), more.end());
  const Registries registries = builtin_registries();
  const Scenario scenario = resolve(read_scenario(registries, "", "", settings), registries);
  // What is written is the same run.
  const Scenario again =
      resolve(read_scenario(registries, to_text(scenario, registries), "again", {}), registries);
  CHECK(to_text(again, registries) == to_text(scenario, registries));
  return again;
}

// Times are few whole microseconds, so that much happens at one moment. One in five takes longer than it
// says.
std::vector<jobs::TimedJob> random_jobs(std::mt19937_64& random) {
  const auto upto = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
  std::vector<jobs::TimedJob> jobs(static_cast<std::size_t>(2 + upto(25)));
  const std::int64_t longest = 1 + upto(20), gap = upto(5);
  Time submit;
  for (jobs::TimedJob& job : jobs) {
    submit += Time::us(upto(gap));
    job.submit = submit;
    job.nodes = static_cast<std::uint32_t>(1 + upto(upto(2) == 0 ? 15 : 5));
    job.estimate = Time::us(1 + upto(longest));
    job.runtime = upto(4) == 0 ? job.estimate * (1 + upto(2)) : Time::us(1 + upto(longest));
  }
  return jobs;
}

std::vector<std::string> as_jobs(const std::vector<jobs::TimedJob>& jobs) {
  std::vector<std::string> all;
  for (const jobs::TimedJob& job : jobs) {
    all.push_back(fmt::format("traffic=[compute:compute={},ranks={}],at={},estimate={}",
                              to_string(job.runtime), job.nodes, to_string(job.submit),
                              to_string(job.estimate)));
  }
  return all;
}

// Jobs that have a host at the same time don't have the same host.
void check_hosts(const results::Report& report) {
  for (std::size_t i = 0; i < report.jobs.size(); ++i) {
    const results::Job& a = report.jobs[i];
    CHECK(a.hosts.size() == a.nodes);
    for (std::size_t j = 0; j < i; ++j) {
      const results::Job& b = report.jobs[j];
      if (a.finish <= b.start || b.finish <= a.start) continue;
      std::vector<std::uint32_t> both;
      std::set_intersection(a.hosts.begin(), a.hosts.end(), b.hosts.begin(), b.hosts.end(),
                            std::back_inserter(both));
      CHECK(both.empty());
    }
  }
}

}  // namespace

TEST_CASE("jobs that compute start when the queue alone says so") {
  std::mt19937_64 random(18);
  int waited = 0;
  for (int list = 0; list < 60; ++list) {
    const std::vector<jobs::TimedJob> listed = random_jobs(random);
    const Machine& machine = kMachines[list % 3];
    for (const char* name : {"fcfs", "easy", "conservative"}) {
      INFO("list " << list << " " << name << " " << machine.network);
      const auto scheduler = jobs::make_scheduler({.name = name}, 16);
      const std::vector<Time> starts = jobs::run_queue(listed, *scheduler);
      std::vector<Setting> settings = {{"", "scheduler", name}};
      if (*machine.topology != 0) settings.push_back({"", "placement", list % 2 == 0 ? "random" : "packed"});
      const results::Report report = run(scenario_of(machine, as_jobs(listed), settings));
      REQUIRE(report.outcome == results::Outcome::kComplete);
      for (std::size_t i = 0; i < listed.size(); ++i) {
        INFO("job " << i);
        CHECK(report.jobs[i].submit == listed[i].submit);
        CHECK(report.jobs[i].start == starts[i]);
        CHECK(report.jobs[i].finish == starts[i] + listed[i].runtime);
        waited += report.jobs[i].start > report.jobs[i].submit;
      }
      check_hosts(report);
      // The machine's utilization is hosts in use by hosts there are, from the first submission on.
      double used = 0;
      for (const jobs::TimedJob& job : listed) used += job.nodes * job.runtime.seconds();
      CHECK(results::machine_figures(report).utilization == Approx(used / (16 * report.makespan.seconds())));
    }
  }
  CHECK(waited > 500);
}

TEST_CASE("a machine with failed hosts is a smaller one, and no job gets these") {
  std::mt19937_64 random(19);
  int waited = 0;
  for (int list = 0; list < 40; ++list) {
    std::vector<jobs::TimedJob> listed = random_jobs(random);
    const auto failed = static_cast<std::uint32_t>(1 + random() % 6);
    std::string names;
    for (std::uint32_t i = 0; i < failed; ++i) names += fmt::format("{}{}", i == 0 ? "" : ",", 3 * i);
    for (jobs::TimedJob& job : listed) {
      job.nodes = std::min(job.nodes, 16 - failed);
      job.estimate = std::max(job.estimate, job.runtime);
    }
    const Machine& machine = kMachines[1 + list % 2];
    for (const char* name : {"fcfs", "easy", "conservative"}) {
      INFO("list " << list << " " << name << " " << machine.network << " without " << names);
      const std::vector<Time> starts = jobs::NaiveScheduler(listed, 16 - failed, name).run();
      const Scenario scenario = scenario_of(machine, as_jobs(listed),
                                            {{"", "scheduler", name},
                                             {"", "failed", names},
                                             {"", "placement", list % 3 == 0 ? "random" : "packed"}});
      const results::Report report = run(scenario);
      REQUIRE(report.outcome == results::Outcome::kComplete);
      REQUIRE(report.failed_hosts.size() == failed);
      double used = 0;
      for (std::size_t i = 0; i < listed.size(); ++i) {
        CHECK(report.jobs[i].start == starts[i]);
        waited += report.jobs[i].start > report.jobs[i].submit;
        used += listed[i].nodes * listed[i].runtime.seconds();
        for (const std::uint32_t host : report.failed_hosts) {
          CHECK_FALSE(std::ranges::binary_search(report.jobs[i].hosts, host));
        }
      }
      check_hosts(report);
      CHECK(results::machine_figures(report).utilization ==
            Approx(used / ((16 - failed) * report.makespan.seconds())));
    }
  }
  CHECK(waited > 300);
}

TEST_CASE("jobs without a queue avoid failed hosts too, and traffic fills what is left") {
  for (const char* model : {"flow", "packet"}) {
    const Machine machine{model, "fat_tree:k=4"};
    for (const std::string placement : {"", "random", "group_round_robin"}) {
      INFO(model << " " << placement);
      std::vector<Setting> settings = {{"", "failed", "0,5,25%"}};
      if (!placement.empty()) settings.push_back({"", "placement", placement});
      const results::Report alone = run(scenario_of(machine, {"traffic=[shift:size=1KB]"}, settings));
      CHECK(alone.outcome == results::Outcome::kComplete);
      CHECK(alone.failed_hosts.size() == 6);
      CHECK(alone.jobs[0].ranks == 10);
      std::vector<std::uint32_t> all = alone.jobs[0].hosts;
      all.insert(all.end(), alone.failed_hosts.begin(), alone.failed_hosts.end());
      std::sort(all.begin(), all.end());
      CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
      settings.push_back({"", "threads", "2"});
      CHECK(run(scenario_of(machine, {"traffic=[shift:size=1KB]"}, settings)).digest == alone.digest);
    }
  }
  CHECK_THROWS_WITH(scenario_of(kMachines[0], {"traffic=[shift:ranks=4]"},
                                {{"", "scheduler", "fcfs"}, {"--failed 1%", "failed", "1%"}}),
                    Catch::Contains("failed has no effect: network model loggops has no topology"));
  CHECK_THROWS_WITH(run(scenario_of(kMachines[1], {"traffic=[shift:ranks=16]"}, {{"", "failed", "1"}})),
                    Catch::Contains("15 that have not failed"));
  CHECK_THROWS_WITH(run(scenario_of(kMachines[1], {"traffic=shift"}, {{"--failed 16", "failed", "16"}})),
                    Catch::Contains("'16', but the network has 16 hosts"));
}

TEST_CASE("fragmentation: free hosts on a row, and jobs that find no place") {
  // Two jobs take 0-1 and 2-3 of 6; the first leaves after 2 us, the third, of 3 in a row, waits for the
  // other's end at 4 us and is over at 5.
  const std::vector<std::string> jobs = {"traffic=[compute:compute=2us,ranks=2]",
                                         "traffic=[compute:compute=4us,ranks=2]",
                                         "traffic=[compute:compute=1us,ranks=3],at=1us"};
  const results::Report report = run(scenario_of({"flow", "mesh:dims=1x6"}, jobs,
                                                 {{"", "scheduler", "fcfs"}, {"", "placement", "submesh"}}));
  REQUIRE(report.jobs[2].start == Time::us(4));
  // 4 and 5 are free for 2 us; 0, 1, 4, 5 for 2: half is outside the longest row; and 3 to 5 for 1.
  CHECK(*report.fragmentation == Approx(0.5 * 2 / 5));
  CHECK(report.jobs_without_place == 1);
}

TEST_CASE("jobs that talk wait as well, have the same digest twice, and hosts of their own") {
  const std::string halo = "traffic=[stencil:dims=2d,cells=16,iterations=3,compute=2us,ranks=8]";
  const std::string all = "traffic=[alltoall:size=100KB,ranks=12]";
  const std::vector<std::string> jobs = {halo, all + ",at=1us", halo + ",at=2us,estimate=5us",
                                         all + ",at=2us"};
  for (const Machine& machine : kMachines) {
    INFO(machine.network);
    std::vector<Setting> settings = {{"", "scheduler", "easy"}};
    if (*machine.topology != 0) settings.push_back({"", "placement", "random"});
    const Scenario scenario = scenario_of(machine, jobs, settings);
    const results::Report once = run(scenario), twice = run(scenario);
    CHECK(once.outcome == results::Outcome::kComplete);
    CHECK(once.digest == twice.digest);
    check_hosts(once);
    // The second needs more than the first leaves, and the third is over before, for all that is known.
    CHECK(once.jobs[1].start >= once.jobs[0].finish);
    CHECK(once.jobs[3].start >= once.jobs[1].finish);
    CHECK(once.jobs[1].messages == 12 * 11);
    settings.push_back({"", "threads", "2"});
    CHECK(run(scenario_of(machine, jobs, settings)).digest == once.digest);
  }
}

TEST_CASE("a job that placement has no room for waits, although enough hosts are free") {
  // A row of 8 hosts: 0 and 1, 2 and 3, 4 to 6 are taken. When the first job is over, three are free, but not
  // beside each other.
  const Machine row{"flow", "mesh:dims=1x8"};
  const std::vector<std::string> jobs = {
      "traffic=[compute:compute=2us,ranks=2]", "traffic=[compute:compute=9us,ranks=2]",
      "traffic=[compute:compute=8us,ranks=3]", "traffic=[compute:compute=1us,ranks=3],at=1us"};
  const auto start = [&](const char* scheduler, const char* placement) {
    const results::Report report =
        run(scenario_of(row, jobs, {{"", "scheduler", scheduler}, {"", "placement", placement}}));
    CHECK(report.outcome == results::Outcome::kComplete);
    check_hosts(report);
    return report.jobs[3].start;
  };
  for (const char* scheduler : {"fcfs", "easy", "conservative"}) {
    INFO(scheduler);
    CHECK(start(scheduler, "packed") == Time::us(2));
    CHECK(start(scheduler, "submesh") == Time::us(8));
  }
}

// Times and counts of a job's ranks.
std::vector<std::vector<std::int64_t>> rows(const results::Report& report, std::uint32_t job) {
  std::vector<std::vector<std::int64_t>> rows;
  for (const results::Rank& r : report.ranks) {
    if (r.job != job) continue;
    rows.push_back({r.rank, r.host, r.finish.ps(), r.compute.ps(), r.overhead.ps(), r.waiting.ps(),
                    static_cast<std::int64_t>(r.bytes_sent)});
  }
  return rows;
}

TEST_CASE(
    "a job that waited, run again alone: on its hosts, at its time, and bit by bit as fluids if nobody was "
    "near") {
  // Four jobs one after the other on the same eight hosts: each has the machine for itself, after others.
  const std::string all = "traffic=[alltoall:size=100KB,ranks=8]";
  const std::vector<std::string> in_turn = {all, all + ",at=1us", all + ",at=2us", all + ",at=3us"};
  for (const char* network : {"loggops", "flow", "packet"}) {
    INFO(network);
    const Machine machine{network,
                          std::string(network) == "loggops" ? "" : "fat_tree:k=4,oversubscription=2"};
    std::vector<Setting> settings = {{"", "scheduler", "fcfs"}};
    if (*machine.topology != 0) {
      settings.push_back({"", "placement", "random"});
      settings.push_back({"", "failed", "75%"});
    } else {
      settings.push_back({"", "nodes", "8"});
    }
    const Scenario scenario = scenario_of(machine, in_turn, settings);
    const Simulation simulation(scenario);
    const std::vector<goal::Program> programs = simulation.workload();
    NoControl control;
    const results::Report together = simulation.run(programs, control);
    REQUIRE(together.outcome == results::Outcome::kComplete);
    for (std::uint32_t job = 0; job < 4; ++job) {
      if (job > 0) CHECK(together.jobs[job].start == together.jobs[job - 1].finish);
      const results::Report alone =
          simulation.run(programs, control, std::vector<std::uint32_t>{job}, &together);
      CHECK(alone.jobs[0].start == together.jobs[job].start);
      // In packets the last ACKs of the job before are still under way, and queues that mark go on with its
      // draws.
      if (std::string(network) == "packet") {
        CHECK(results::runtime(alone.jobs[0]).seconds() ==
              Approx(results::runtime(together.jobs[job]).seconds()).epsilon(0.05));
      } else {
        CHECK(rows(alone, 0) == rows(together, job));
      }
    }
    // Connections are never used twice.
    CHECK(together.jobs[3].first_channel == 3 * together.jobs[1].first_channel);
  }
}

TEST_CASE("jobs that share a link: alone each takes half as long, in a pair as long as in the run") {
  // Two leaves with one link between them; round robin lets both jobs send across at the same time.
  const Machine leaves{"flow", "leaf_spine:leaves=2,spines=1,hosts_per_leaf=4,link=100Gbps,latency=500ns"};
  const std::string cross = "traffic=[shift:size=4MB,ranks=2],placement=round_robin";
  const Scenario scenario = scenario_of(leaves, {cross, cross + ",at=1us"}, {{"", "scheduler", "easy"}});
  const Simulation simulation(scenario);
  const std::vector<goal::Program> programs = simulation.workload();
  NoControl control;
  const results::Report together = simulation.run(programs, control);
  for (std::uint32_t job = 0; job < 2; ++job) {
    const results::Report alone =
        simulation.run(programs, control, std::vector<std::uint32_t>{job}, &together);
    CHECK(results::runtime(together.jobs[job]).seconds() ==
          Approx(2 * results::runtime(alone.jobs[0]).seconds()).epsilon(0.01));
  }
  const results::Report pair = simulation.run(programs, control, std::vector<std::uint32_t>{0, 1}, &together);
  for (std::uint32_t job = 0; job < 2; ++job) CHECK(rows(pair, job) == rows(together, job));
}

TEST_CASE("jobs that wait are placed by what they send, and those that send nothing anywhere") {
  const Machine torus{"flow", "torus:dims=4x4"};
  const std::string halo = "traffic=[stencil:dims=[4,4],iterations=2,cells=64,ranks=16]";
  const std::vector<std::string> jobs = {halo, "traffic=[compute:compute=1us,ranks=3]", halo + ",at=1us"};
  const auto hops = [&](const char* placement) {
    const results::Report report =
        run(scenario_of(torus, jobs, {{"", "scheduler", "fcfs"}, {"", "placement", placement}}));
    CHECK(report.outcome == results::Outcome::kComplete);
    check_hosts(report);
    std::uint64_t bytes = 0;
    for (const results::Link& link : report.links) bytes += link.bytes;
    return bytes;
  };
  // A 4x4 stencil fits a 4x4 torus with neighbours a link apart: each byte on three links, with those of its
  // hosts.
  const std::uint64_t best = hops("packed");
  CHECK(hops("matrix:on=random") == best);
  CHECK(hops("matrix") == best);
  CHECK(hops("random") > best * 5 / 4);
}

TEST_CASE("queues that make no sense are told so") {
  const auto refused = [](const Machine& machine, const std::vector<std::string>& jobs,
                          const std::vector<Setting>& settings) {
    run(scenario_of(machine, jobs, settings));
  };
  const std::string job = "traffic=[compute:ranks=4]", large = "traffic=[compute:ranks=17]";
  const std::vector<Setting> fcfs = {{"", "scheduler", "fcfs"}};
  CHECK_THROWS_WITH(refused(kMachines[1], {job, large}, fcfs), Catch::Contains("17 hosts"));
  CHECK_THROWS_WITH(refused(kMachines[0], {job, large}, fcfs), Catch::Contains("could never start"));
  CHECK_THROWS_WITH(refused({"loggops", ""}, {job}, {{"", "scheduler", "fcfs"}, {"", "nodes", "4000000000"}}),
                    Catch::Contains("nodes is 4000000000"));
  CHECK_THROWS_WITH(refused(kMachines[0], {job}, {}), Catch::Contains("nodes has no effect"));
  CHECK_THROWS_WITH(refused(kMachines[1], {job + ",estimate=1ms"}, {}), Catch::Contains("estimate of job"));
  CHECK_THROWS_WITH(refused(kMachines[1], {job}, {{"", "scheduler", "eas"}}),
                    Catch::Contains("did you mean"));
}

}  // namespace weft::sim
