// Several programs on one network: what each does beside others, again and again, and started during a run.
#include "sim/replay/jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sim/loggops/loggops.h"
#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

// Jobs on a LogGOPS network of so many hosts, run to the end.
struct JobsRun {
  std::vector<std::unique_ptr<Engine>> owned;
  std::vector<Engine*> engines;
  std::unique_ptr<JobReplays> replay;
  std::unique_ptr<LogGopsNetwork> network;

  JobsRun(std::vector<ReplayJob> jobs, std::uint32_t hosts, std::uint32_t partitions = 1,
          std::uint32_t threads = 1, JobStarter* starter = nullptr) {
    for (std::uint32_t p = 0; p < partitions; ++p) {
      engines.push_back(owned.emplace_back(std::make_unique<Engine>(1)).get());
    }
    std::vector<std::uint16_t> partition_of_host;
    std::uint32_t nics = 1;
    for (const ReplayJob& job : jobs) nics = std::max(nics, job.program.facts().max_nic + 1u);
    for (std::uint32_t h = 0; h < hosts; ++h) {
      partition_of_host.push_back(static_cast<std::uint16_t>(h % partitions));
    }
    replay = std::make_unique<JobReplays>(std::move(jobs), hosts, engines, partition_of_host, starter);
    std::vector<NetworkClient*> clients;
    for (std::uint32_t p = 0; p < partitions; ++p) clients.push_back(&replay->client(p));
    const LogGopsConfig config{Time::ns(1000), Time::ns(10), TimePerByte::ns(2)};
    network = std::make_unique<LogGopsNetwork>(config, nics, FlowRecord::kNothing, engines, clients,
                                               partition_of_host);
    std::vector<Network*> networks;
    for (std::uint32_t p = 0; p < partitions; ++p) networks.push_back(&network->part(p));
    NeverStop control;
    replay->start(networks);
    network->run(control, threads);
  }

  // All that ranks of the job have to tell, times from its start on, and what the job waits for.
  std::string account(std::uint32_t job, const std::string& name) const {
    const JobProgress progress = replay->progress_of(job);
    std::string text = fmt::format("{} {} {} ps\n", progress.complete, progress.unreceived,
                                   (progress.finish - progress.start).ps());
    for (const results::Rank& r : replay->ranks()) {
      if (r.job != job) continue;
      text += fmt::format("rank {} on {}: {} {} {} {}, {} {} {} {} {}\n", r.rank, r.host,
                          (r.finish - progress.start).ps(), r.compute.ps(), r.overhead.ps(), r.waiting.ps(),
                          r.messages_sent, r.messages_received, r.bytes_sent, r.bytes_received, r.ops);
    }
    const std::string prefix = fmt::format("job {}: ", name);
    for (const std::string& line : replay->diagnose(5)) {
      if (line.starts_with(prefix)) text += line.substr(prefix.size()) + "\n";
      if (!line.starts_with("job ")) text += line + "\n";
    }
    return text;
  }
  std::int64_t finish_ns(std::uint32_t job) const { return replay->progress_of(job).finish.ps() / 1000; }
  std::int64_t start_ns(std::uint32_t job) const { return replay->progress_of(job).start.ps() / 1000; }
};

ReplayJob job(const goal::Graph& graph, std::vector<std::uint32_t> hosts, Repetition repetition = {},
              Time submit = {}) {
  ReplayJob job{
      .name = "job", .program = graph, .hosts = LogGopsRun::hosts({}), .host_of_rank = std::move(hosts)};
  job.repetition = repetition;
  job.submit = submit;
  return job;
}

goal::Graph calc(int ns) {
  return goal::parse_text(fmt::format("num_ranks 1\nrank 0 {{\ncalc {}\n}}\n", ns), "calc.goal");
}

}  // namespace

TEST_CASE("random mixes of jobs on hosts of their own: each does what it does alone") {
  int complete = 0, incomplete = 0;
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    std::mt19937_64 random(seed);
    std::deque<goal::Graph> graphs;
    std::vector<ReplayJob> jobs;
    std::vector<std::uint32_t> free(32);
    std::iota(free.begin(), free.end(), 0);
    std::shuffle(free.begin(), free.end(), random);
    const std::size_t count = 2 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      const ProgramOptions options{
          .broken = random() % 4 == 0, .wildcards = random() % 2 == 0, .nics = random() % 2 == 0};
      const goal::Graph& graph = graphs.emplace_back(random_program(random(), options).graph());
      ReplayJob one{.name = fmt::format("j{}", i), .program = graph};
      one.hosts.overhead = Time::ns(static_cast<std::int64_t>(random() % 3) * 500);
      one.hosts.eager_limit_bytes = random() % 8000;
      one.hosts.connections_per_pair = static_cast<std::uint32_t>(1 + random() % 3);
      one.hosts.rendezvous = random() % 2 == 0 ? Rendezvous::kPut : Rendezvous::kGet;
      one.submit = Time::ns(static_cast<std::int64_t>(random() % 5000));
      const std::uint32_t per_host = 1 + random() % 2;
      for (std::uint32_t r = 0; r < graph.ranks(); ++r) one.host_of_rank.push_back(free[r / per_host]);
      free.erase(free.begin(), free.begin() + (graph.ranks() + per_host - 1) / per_host);
      jobs.push_back(std::move(one));
    }
    INFO("seed " << seed);
    const JobsRun together(jobs, 32);
    const JobsRun divided(jobs, 32, 3, seed % 8 == 0 ? 2 : 1);
    CHECK(together.replay->digest() == divided.replay->digest());
    std::uint64_t messages = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const JobsRun alone({jobs[i]}, 32);
      const std::string expected = alone.account(0, jobs[i].name);
      CHECK(together.account(i, jobs[i].name) == expected);
      CHECK(divided.account(i, jobs[i].name) == expected);
      ++(alone.replay->complete() ? complete : incomplete);
      messages += alone.replay->totals().messages;
    }
    CHECK(together.replay->totals().messages == messages);
  }
  CHECK(complete > 300);
  CHECK(incomplete > 50);
}

TEST_CASE("a job alone is a replay: the same digest") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const goal::Graph graph = random_program(seed, {.broken = false}).graph();
    const LogGopsRun replay(graph, {});
    std::vector<std::uint32_t> hosts(graph.ranks());
    std::iota(hosts.begin(), hosts.end(), 0);
    INFO("seed " << seed);
    CHECK(JobsRun({job(graph, {})}, graph.ranks()).replay->digest() == replay.replay.digest());
    CHECK(JobsRun({job(graph, hosts)}, graph.ranks()).replay->digest() == replay.replay.digest());
  }
}

TEST_CASE("jobs that share a host share its NIC, and nothing else") {
  // Equal ranks, tags and communicators: 1001 bytes occupy the NIC for 1000 · 2 ns, after o = 100 ns.
  const goal::Graph graph = goal::parse_text(
      "num_ranks 2\nrank 0 {\nsend 1001b to 1\n}\nrank 1 {\nrecv 1001b from 0\n}\n", "one.goal");
  const JobsRun run({job(graph, {0, 1}), job(graph, {0, 1}, {}, Time::ns(1))}, 2);
  CHECK(run.replay->complete());
  // o + 1000 G + L + o; the second leaves its host behind the first, g = 10 ns later than its last byte.
  CHECK(run.finish_ns(0) == 100 + 2000 + 1000 + 100);
  CHECK(run.finish_ns(1) >= run.finish_ns(0) + 2000);
  CHECK(run.finish_ns(1) <= run.finish_ns(0) + 2000 + 10);
}

TEST_CASE("compute is scaled, in one job alone") {
  const goal::Graph graph = calc(1000);
  ReplayJob slow = job(graph, {0});
  slow.hosts.compute_scale = 2.5;
  const JobsRun run({slow, job(graph, {1})}, 2);
  CHECK(run.finish_ns(0) == 2500);
  CHECK(run.finish_ns(1) == 1000);
}

TEST_CASE("jobs are repeated: so often, for a time, or until the others end") {
  const goal::Graph short_one = calc(300), long_one = calc(1000);
  const JobsRun run(
      {job(short_one, {0}, {.times = 5}), job(short_one, {1}, {.duration = Time::ns(700)}, Time::ns(50)),
       job(short_one, {2}, {.until_others_end = true}), job(long_one, {3}, {}, Time::ns(900))},
      4);
  CHECK(run.replay->complete());
  CHECK(run.replay->progress_of(0).runs == 5);
  CHECK(run.finish_ns(0) == 1500);
  // It begins at 50, 350 and 650; at 950 more than 700 ns have passed.
  CHECK(run.replay->progress_of(1).runs == 3);
  CHECK(run.finish_ns(1) == 950);
  // The last of the others ends at 1900: begun at 1800, it ends at 2100.
  CHECK(run.replay->progress_of(2).runs == 7);
  CHECK(run.finish_ns(2) == 2100);
  CHECK(run.replay->totals().executed_ops == 5 + 3 + 7 + 1);
  CHECK(run.replay->ranks()[2].compute == Time::ns(2100));
}

TEST_CASE("messages of one run of a job are none of the next one's") {
  const goal::Graph graph = goal::parse_text(
      "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: recv 8b from 1\nb requires a\n}\n"
      "rank 1 {\na: recv 8b from 0\nb: send 8b to 0\nb requires a\n}\n",
      "ping.goal");
  // Each way o + 7 G + L + o.
  const JobsRun run({job(graph, {1, 0}, {.times = 10})}, 2);
  CHECK(run.replay->complete());
  CHECK(run.finish_ns(0) == 10 * 2 * (100 + 14 + 1000 + 100));
  CHECK(run.replay->totals().messages == 20);
}

TEST_CASE("a job that can't go on doesn't keep others from ending, nor a repeated one at it") {
  const goal::Graph stuck =
      goal::parse_text("num_ranks 1\nrank 0 {\nrecv 8b from 0 tag 7\n}\n", "stuck.goal");
  const goal::Graph busy = calc(300);
  ReplayJob first = job(stuck, {0});
  first.name = "stuck";
  const JobsRun run({first, job(busy, {1}), job(busy, {2}, {.until_others_end = true})}, 3);
  CHECK_FALSE(run.replay->complete());
  CHECK_FALSE(run.replay->progress_of(0).complete);
  CHECK(run.replay->progress_of(1).complete);
  CHECK(run.replay->progress_of(2).complete);
  CHECK(run.replay->progress_of(2).runs == 1);
  REQUIRE(run.replay->diagnose().size() == 1);
  CHECK_THAT(run.replay->diagnose()[0], Catch::StartsWith("job stuck: rank 0 waits to receive 8 bytes"));
}

TEST_CASE("a job that takes no time is not repeated without end") {
  const goal::Graph nothing = calc(0), some = calc(100);
  CHECK_THROWS_WITH(JobsRun({job(nothing, {0}, {.until_others_end = true}), job(some, {1})}, 2),
                    Catch::Contains("takes no time"));
  CHECK(JobsRun({job(nothing, {0}, {.times = 1000})}, 1).replay->progress_of(0).runs == 1000);
}

namespace {

// First come, first served, on a machine of so many hosts.
class FirstCome final : public JobStarter {
 public:
  FirstCome(std::vector<std::uint32_t> sizes, std::uint32_t hosts) : sizes_(std::move(sizes)), free_(hosts) {
    std::iota(free_.begin(), free_.end(), 0);
  }
  void submitted(std::uint32_t job, Time) override { queue_.push_back(job); }
  void finished(std::uint32_t job, Time) override {
    free_.insert(free_.end(), held_[job].begin(), held_[job].end());
    std::sort(free_.begin(), free_.end());
  }
  std::vector<Start> start(Time) override {
    std::vector<Start> starts;
    while (!queue_.empty() && sizes_[queue_.front()] <= free_.size()) {
      const std::uint32_t job = queue_.front();
      queue_.pop_front();
      held_[job].assign(free_.begin(), free_.begin() + sizes_[job]);
      free_.erase(free_.begin(), free_.begin() + sizes_[job]);
      starts.push_back({job, held_[job]});
    }
    return starts;
  }

 private:
  std::vector<std::uint32_t> sizes_, free_;
  std::deque<std::uint32_t> queue_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> held_;
};

}  // namespace

TEST_CASE("jobs are started during a run, when others give their hosts back") {
  const goal::Graph two =
      goal::parse_text("num_ranks 2\nrank 0 {\ncalc 1000\n}\nrank 1 {\ncalc 1000\n}\n", "two.goal");
  const goal::Graph one = calc(400);
  FirstCome queue({2, 1, 2, 1}, 3);
  const JobsRun run(
      {job(two, {}), job(one, {}), job(two, {}, {}, Time::ns(500)), job(one, {}, {}, Time::ns(600))}, 3, 1, 1,
      &queue);
  CHECK(run.replay->complete());
  CHECK(run.start_ns(0) == 0);
  CHECK(run.start_ns(1) == 0);
  CHECK(run.start_ns(2) == 1000);  // one host alone is free before
  CHECK(run.start_ns(3) == 1000);  // not before the one in front of it
  CHECK(run.finish_ns(2) == 2000);
  CHECK(run.finish_ns(3) == 1400);
  const std::vector<results::Rank> ranks = run.replay->ranks();
  CHECK(ranks[5].host == 2);
}
