#include "sim/replay/jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "sim/units/graph_error.h"

namespace weft::sim {
namespace {

// Events of own_entity_ alone. kSubmit, payload: a job. kStart: the starter is asked.
constexpr std::uint16_t kSubmit = kClientKinds, kStart = kClientKinds + 1;
constexpr std::uint32_t kNone = 0xFFFFFFFFu;

void add(results::Rank& sum, const results::Rank& run) {
  sum.host = run.host;
  sum.finish = std::max(sum.finish, run.finish);
  sum.compute = after(sum.compute, run.compute);
  sum.slowed = after(sum.slowed, run.slowed);
  sum.overhead = after(sum.overhead, run.overhead);
  sum.waiting = after(sum.waiting, run.waiting);
  sum.messages_sent += run.messages_sent;
  sum.messages_received += run.messages_received;
  sum.bytes_sent += run.bytes_sent;
  sum.bytes_received += run.bytes_received;
  sum.ops += run.ops;
}

void add(ReplayTotals& sum, const ReplayTotals& part) {
  sum.ops += part.ops;
  sum.executed_ops += part.executed_ops;
  sum.messages += part.messages;
  sum.makespan = std::max(sum.makespan, part.makespan);
  sum.collectives_differ |= part.collectives_differ;
  if (__builtin_add_overflow(sum.bytes, part.bytes, &sum.bytes)) {
    throw InputError("the messages of all jobs have more than 2^64 bytes together");
  }
}

}  // namespace

struct JobReplays::Job {
  ReplayJob what;
  EntityId first_entity = 0;
  std::uint32_t instance = kNone;  // of its run; none before the first and after the last
  std::uint64_t first_channel = 0;
  bool submitted = false, started = false, finished = false;
  Time first_start, run_start;
  std::uint64_t runs = 0;                // that are done
  std::uint64_t lost = 0;                // messages for runs that are done and dropped
  std::vector<std::uint32_t> events;     // of each rank, before the run
  std::vector<results::Rank> rows = {};  // sums of the runs that are done
  ReplayTotals totals = {};              // likewise, but for unreceived
  results::CriticalPath path = {};       // likewise
  results::CpuTimes cpu_times = {};      // likewise
  results::PathShares path_shares = {};  // likewise
  std::vector<std::uint32_t> kept = {};  // instances that are done, whose messages nobody received
};

// Knows how many messages of a run are under way.
class JobReplays::CountingNetwork final : public Network {
 public:
  explicit CountingNetwork(Network& network) : network_(network) {}
  void inject(const Message& message) override {
    calls_to_come_ += message.notify_sent ? 2 : 1;
    network_.inject(message);
  }
  bool delivers_in_order() const override { return network_.delivers_in_order(); }
  void called_back() { --calls_to_come_; }
  bool is_empty() const { return calls_to_come_ == 0; }

 private:
  Network& network_;
  std::uint64_t calls_to_come_ = 0;
};

// One partition's client: finds out whose the message or event is.
class JobReplays::Port final : public NetworkClient {
 public:
  Port(JobReplays& jobs, std::size_t partition) : jobs_(jobs), partition_(partition) {}

  void on_sent(const Message& message) override {
    count(message.instance);
    if (NetworkClient* const client = client_of(message.instance)) client->on_sent(message);
    if (jobs_.is_dynamic_) jobs_.after_event(message.instance);
  }
  void on_delivered(const Message& message) override {
    count(message.instance);
    if (NetworkClient* const client = client_of(message.instance)) {
      client->on_delivered(message);
    } else {
      ++jobs_.jobs_[jobs_.instances_[message.instance].job].lost;
    }
    if (jobs_.is_dynamic_) jobs_.after_event(message.instance);
  }
  void on_event(const Event& event) override {
    if (jobs_.is_dynamic_ && event.source == jobs_.own_entity_) return jobs_.handle_own(event);
    const std::uint32_t instance = instance_of(event);
    client_of(instance)->on_event(event);
    if (jobs_.is_dynamic_) jobs_.after_event(instance);
  }
  void expect(const Event& event, int look) const override {
    if (jobs_.is_dynamic_ && event.source == jobs_.own_entity_) return;
    const std::uint32_t instance = instance_of(event);
    if (instance == kNone) return;
    if (const NetworkClient* const client = client_of(instance)) client->expect(event, look);
  }
  void expect(const Message& message, int look) const override {
    if (const NetworkClient* const client = client_of(message.instance)) client->expect(message, look);
  }

 private:
  std::uint32_t instance_of(const Event& event) const {
    return jobs_.jobs_[jobs_.job_of_entity_[event.source - jobs_.first_entity_]].instance;
  }
  NetworkClient* client_of(std::uint32_t instance) const {
    Replay* const replay = jobs_.replay_of(instance);
    return replay == nullptr ? nullptr : &replay->client(partition_);
  }
  void count(std::uint32_t instance) {
    if (CountingNetwork* const network = jobs_.instances_[instance].network.get()) network->called_back();
  }

  JobReplays& jobs_;
  const std::size_t partition_;
};

bool JobReplays::needs_one_partition(std::span<const ReplayJob> jobs, const JobStarter* starter) {
  return starter != nullptr || std::any_of(jobs.begin(), jobs.end(),
                                           [](const ReplayJob& job) { return !job.repetition.is_once(); });
}

JobReplays::JobReplays(std::vector<ReplayJob> jobs, std::uint32_t host_count,
                       std::span<Engine* const> engines, std::span<const std::uint16_t> partition_of_host,
                       JobStarter* starter, results::TimelineRecorder* timeline)
    : engines_(engines.begin(), engines.end()),
      partition_of_host_(partition_of_host.begin(), partition_of_host.end()),
      starter_(starter),
      timeline_(timeline),
      is_dynamic_(needs_one_partition(jobs, starter)),
      next_channel_(host_count) {
  std::uint64_t ranks = 0;
  for (ReplayJob& job : jobs) {
    const std::uint32_t own = job.program.ranks();
    ranks += own;
    if (ranks > INT32_MAX) throw InputError("the jobs have more than 2^31 - 1 ranks together");
    job_of_entity_.resize(ranks, static_cast<std::uint32_t>(jobs_.size()));
    jobs_.push_back({.what = std::move(job),
                     .first_entity = static_cast<EntityId>(ranks - own),
                     .events = std::vector<std::uint32_t>(is_dynamic_ ? own : 0)});
  }
  if (timeline_ != nullptr) begin_timeline();
  std::vector<Engine*> each = engines_;
  std::sort(each.begin(), each.end());
  each.erase(std::unique(each.begin(), each.end()), each.end());
  for (Engine* engine : each) first_entity_ = engine->add_entities(static_cast<std::uint32_t>(ranks));
  if (is_dynamic_) own_entity_ = engines_[0]->add_entities(1);
  for (Job& job : jobs_) job.first_entity += first_entity_;
  if (is_dynamic_ || jobs_.size() > 1) {
    for (std::size_t p = 0; p < engines_.size(); ++p) ports_.push_back(std::make_unique<Port>(*this, p));
  } else {
    job_of_entity_ = {};
  }
  if (is_dynamic_) return;
  for (std::uint32_t job = 0; job < jobs_.size(); ++job) prepare(job, jobs_[job].what.submit);
}

JobReplays::~JobReplays() = default;

// Makes a run of the job.
void JobReplays::prepare(std::uint32_t index, Time start) {
  Job& job = jobs_[index];
  const ReplayJob& what = job.what;
  if (!job.started && (is_dynamic_ || jobs_.size() > 1 || what.least_channel > 0)) choose_channels(job);
  ReplayPlace place{.host_of_rank = what.host_of_rank,
                    .start = start,
                    .instance = static_cast<std::uint32_t>(instances_.size()),
                    .first_channel = static_cast<std::uint32_t>(job.first_channel),
                    .first_entity = job.first_entity,
                    .events_so_far = job.events,
                    .replays = static_cast<std::uint32_t>(std::min<std::size_t>(jobs_.size(), 1024)),
                    .timeline = timeline_,
                    .job = index,
                    .keeps_path = true,
                    .keeps_steps = what.keeps_steps};
  job.instance = place.instance;
  if (!job.started) job.first_start = start;
  job.started = true;
  job.run_start = start;
  try {
    instances_.push_back({.job = index,
                          .replay = std::make_unique<Replay>(what.program, what.hosts, engines_,
                                                             partition_of_host_, std::move(place)),
                          .network = nullptr});
  } catch (const GraphError& error) {
    if (jobs_.size() == 1) throw;
    throw GraphError(fmt::format("job {}: {}", what.name, error.what()));
  }
}

// Connections that no job before had between any of its hosts.
void JobReplays::choose_channels(Job& job) {
  const ReplayJob& what = job.what;
  std::vector<std::uint32_t> hosts = what.host_of_rank;
  if (hosts.empty()) {
    hosts.resize(hosts_needed(what.program, what.hosts));
    std::iota(hosts.begin(), hosts.end(), 0);
  }
  job.first_channel = what.least_channel;
  for (const std::uint32_t host : hosts) job.first_channel = std::max(job.first_channel, next_channel_[host]);
  const std::uint64_t next = job.first_channel + connections_between_hosts(what.host_of_rank, what.hosts);
  if (job.first_channel > 0 && next > kAnswerChannels) {
    throw InputError(
        fmt::format("job {}: with those of the jobs before, there are more than 2^31 connections between two "
                    "of its hosts",
                    what.name));
  }
  for (const std::uint32_t host : hosts) next_channel_[host] = next;
}

NetworkClient& JobReplays::client(std::size_t partition) {
  if (ports_.empty()) return instances_[0].replay->client(partition);
  return *ports_[partition];
}

void JobReplays::start(std::span<Network* const> networks) {
  if (!is_dynamic_) {
    for (const Instance& instance : instances_) instance.replay->start(networks);
    return;
  }
  network_ = networks[0];
  std::vector<std::uint32_t> order(jobs_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return jobs_[a].what.submit < jobs_[b].what.submit;
  });
  for (const std::uint32_t job : order) {
    engines_[0]->schedule_counted(jobs_[job].what.submit, own_entity_, scheduled_++, kSubmit, job);
  }
}

// ---- While it runs ----

void JobReplays::submit(std::uint32_t job) {
  jobs_[job].submitted = true;
  if (starter_ == nullptr) return launch(job);
  starter_->submitted(job, now());
  ask_starter();
}

// In an event of its own, behind what else is scheduled for this moment by ranks and by submissions.
void JobReplays::ask_starter() {
  if (starter_is_asked_) return;
  starter_is_asked_ = true;
  engines_[0]->schedule_counted(now(), own_entity_, scheduled_++, kStart, 0);
}

void JobReplays::handle_own(const Event& event) {
  if (event.kind == kSubmit) return submit(event.payload);
  starter_is_asked_ = false;
  for (const JobStarter::Start& start : starter_->start(now())) {
    jobs_[start.job].what.host_of_rank = start.host_of_rank;
    launch(start.job);
  }
}

void JobReplays::launch(std::uint32_t job) {
  prepare(job, now());
  Instance& instance = instances_.back();
  instance.network = std::make_unique<CountingNetwork>(*network_);
  instance.replay->start(*instance.network);
  if (!instance.replay->done()) return;
  // It has no ranks, so no event comes, however often it runs.
  jobs_[job].runs = std::max<std::uint64_t>(jobs_[job].what.repetition.times, 1) - 1;
  finish_run(jobs_[job].instance);
}

void JobReplays::after_event(std::uint32_t instance) {
  const Replay* const replay = replay_of(instance);
  if (replay != nullptr && jobs_[instances_[instance].job].instance == instance && replay->done()) {
    finish_run(instance);
  }
}

void JobReplays::finish_run(std::uint32_t index) {
  const std::uint32_t number = instances_[index].job;
  Job& job = jobs_[number];
  Replay& replay = *instances_[index].replay;
  const std::vector<results::Rank> rows = replay.ranks();
  if (job.rows.empty()) {
    job.rows = rows;
  } else {
    for (std::size_t r = 0; r < rows.size(); ++r) add(job.rows[r], rows[r]);
  }
  const ReplayTotals totals = replay.totals();
  add(job.totals, totals);
  job.path += replay.critical_path().value_or(results::CriticalPath{});
  job.cpu_times += replay.cpu_times().value_or(results::CpuTimes{});
  job.path_shares += replay.path_shares().value_or(results::PathShares{});
  ++job.runs;
  job.instance = kNone;
  const bool again = runs_again(job);
  if (again) job.events = replay.events_of_ranks();
  if (totals.unreceived == 0) {
    replay.finish_timeline();
    instances_[index].replay.reset();
    instances_[index].network.reset();
  } else {
    job.kept.push_back(index);
  }
  if (again) return launch(number);
  job.finished = true;
  if (starter_ == nullptr) return;
  starter_->finished(number, now());
  ask_starter();
}

bool JobReplays::runs_again(const Job& job) const {
  const Repetition& repetition = job.what.repetition;
  if (job.runs < repetition.times) return true;
  const bool again = (repetition.duration > Time() && now() - job.first_start < repetition.duration) ||
                     (repetition.until_others_end && others_go_on());
  if (again && now() == job.run_start) {
    throw InputError(fmt::format(
        "job {} takes no time: it would be repeated without end; give a number of times", job.what.name));
  }
  return again;
}

// Those that wait for hosts don't count: none but the jobs that run can give them any.
bool JobReplays::others_go_on() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [this](const Job& job) {
    if (job.what.repetition.until_others_end || job.finished) return false;
    if (!job.submitted) return true;
    if (job.instance == kNone) return false;
    const Instance& run = instances_[job.instance];
    return !run.replay->at_rest() || !run.network->is_empty();
  });
}

// ---- Results ----

bool JobReplays::complete() const {
  for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
    if (!progress_of(job).complete) return false;
  }
  return true;
}

JobProgress JobReplays::progress_of(std::uint32_t index) const {
  const Job& job = jobs_[index];
  JobProgress progress{.start = job.first_start,
                       .finish = job.totals.makespan,
                       .runs = job.runs,
                       .unreceived = job.lost,
                       .collectives_differ = job.totals.collectives_differ,
                       .first_channel = job.first_channel};
  Time latest;
  for (const Engine* engine : engines_) latest = std::max(latest, engine->now());
  progress.started = job.started && job.first_start <= latest;
  for (const std::uint32_t kept : job.kept) progress.unreceived += replay_of(kept)->totals().unreceived;
  bool done = job.finished;
  if (job.instance != kNone) {
    const Replay& replay = *replay_of(job.instance);
    const ReplayTotals totals = replay.totals();
    progress.finish = std::max(progress.finish, totals.makespan);
    progress.collectives_differ |= totals.collectives_differ;
    progress.unreceived += totals.unreceived;
    if (!is_dynamic_) done = replay.done();
    if (!is_dynamic_) progress.path = replay.critical_path();
    if (!is_dynamic_) progress.path_shares = replay.path_shares();
    progress.runs += done ? 1 : 0;
  }
  if (is_dynamic_ && done) progress.path = job.path;
  if (is_dynamic_ && done && job.what.keeps_steps) progress.path_shares = job.path_shares;
  progress.complete = done && progress.unreceived == 0;
  return progress;
}

std::optional<results::CpuTimes> JobReplays::cpu_times_of(std::uint32_t index) const {
  const Job& job = jobs_[index];
  if (is_dynamic_) return job.finished ? std::optional(job.cpu_times) : std::nullopt;
  return job.instance == kNone ? std::nullopt : replay_of(job.instance)->cpu_times();
}

void JobReplays::begin_timeline() {
  std::vector<std::uint32_t> ranks;
  for (const Job& job : jobs_) ranks.push_back(job.what.program.ranks());
  timeline_->begin(ranks, engines_.size(), timeline_collectives());
}

void JobReplays::finish_timeline() {
  for (const Instance& instance : instances_) {
    if (instance.replay != nullptr) instance.replay->finish_timeline();
  }
}

double JobReplays::progress() const {
  std::uint64_t ops = 0, executed = 0;
  for (const Job& job : jobs_) {
    const std::uint64_t own = job.what.program.facts().ops;
    ops += own;
    executed += job.finished ? own : job.instance != kNone ? replay_of(job.instance)->executed_ops() : 0;
  }
  return ops == 0 ? 1 : static_cast<double>(executed) / static_cast<double>(ops);
}

std::uint64_t JobReplays::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Instance& instance : instances_) {
    if (instance.replay != nullptr) bytes += instance.replay->memory_bytes();
  }
  return bytes;
}

ReplayTotals JobReplays::totals() const {
  ReplayTotals sum;
  for (std::uint32_t index = 0; index < jobs_.size(); ++index) {
    const Job& job = jobs_[index];
    add(sum, job.totals);
    if (job.instance != kNone) add(sum, replay_of(job.instance)->totals());
    if (!job.started) sum.ops += job.what.program.facts().ops;
    sum.unreceived += progress_of(index).unreceived;
  }
  return sum;
}

std::vector<results::Rank> JobReplays::ranks() const {
  std::vector<results::Rank> all;
  all.reserve(job_of_entity_.size());
  for (std::uint32_t index = 0; index < jobs_.size(); ++index) {
    const Job& job = jobs_[index];
    std::vector<results::Rank> rows = job.rows;
    if (job.instance != kNone) {
      const std::vector<results::Rank> live = replay_of(job.instance)->ranks();
      rows.resize(live.size());
      for (std::size_t r = 0; r < live.size(); ++r) add(rows[r], live[r]);
    }
    rows.resize(job.what.program.ranks());
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
      rows[r].rank = r;
      rows[r].job = index;
    }
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

std::uint64_t JobReplays::digest() const {
  std::vector<const Engine*> each(engines_.begin(), engines_.end());
  std::sort(each.begin(), each.end());
  each.erase(std::unique(each.begin(), each.end()), each.end());
  std::uint64_t events = 0;
  for (const Engine* engine : each) events += engine->digest();
  std::uint64_t digest = mix64(events);
  for (const results::Rank& rank : ranks()) {
    digest = mix64(digest ^ static_cast<std::uint64_t>(rank.finish.ps()));
  }
  return digest;
}

std::vector<std::string> JobReplays::diagnose(std::size_t limit) const {
  std::vector<std::string> lines;
  const auto tell = [&](const Job& job, const std::string& line) {
    lines.push_back(jobs_.size() > 1 ? fmt::format("job {}: {}", job.what.name, line) : line);
  };
  for (const Job& job : jobs_) {
    if (!job.started) tell(job, "it was never started");
    std::vector<std::uint32_t> runs = job.kept;
    if (job.instance != kNone) runs.push_back(job.instance);
    for (const std::uint32_t run : runs) {
      for (const std::string& line : replay_of(run)->diagnose(limit)) tell(job, line);
    }
    if (job.lost > 0) tell(job, fmt::format("{} messages came when it had ended", job.lost));
  }
  return lines;
}

}  // namespace weft::sim
