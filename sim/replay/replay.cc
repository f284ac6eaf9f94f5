#include "sim/replay/replay.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/replay/rail_splitter.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/share.h"
#include "sim/replay/timeline_tap.h"
#include "sim/units/graph_error.h"

namespace weft::sim {

// ---- The shares ----

Replay::Replay(const goal::Program& program, const HostConfig& hosts, Engine& engine)
    : Replay(program, hosts, std::array{&engine}, {}) {}

Replay::Replay(const goal::Program& program, const HostConfig& hosts, std::span<Engine* const> engines,
               std::span<const std::uint16_t> partition_of_host, ReplayPlace place)
    : engines_(engines.begin(), engines.end()) {
  std::sort(engines_.begin(), engines_.end());  // to name each once; their order decides nothing
  engines_.erase(std::unique(engines_.begin(), engines_.end()), engines_.end());
  if (!place.first_entity) {
    for (Engine* engine : engines_) place.first_entity = engine->add_entities(program.ranks());
  }
  auto plan = std::make_unique<ReplayPlan>(program, hosts, std::move(place));
  plan->shares = static_cast<std::uint32_t>(engines.size());
  if (engines.size() > 1) partition_of_host_.assign(partition_of_host.begin(), partition_of_host.end());
  std::vector<std::vector<std::uint32_t>> ranks(engines.size());
  for (std::uint32_t r = 0; r < program.ranks(); ++r) {
    const std::size_t partition = engines.size() > 1 ? partition_of_host_[plan->host_of(r)] : 0;
    plan->local[r] = static_cast<std::uint32_t>(ranks[partition].size());
    ranks[partition].push_back(r);
  }
  plan_ = std::move(plan);
  for (std::size_t p = 0; p < engines.size(); ++p) {
    shares_.push_back(std::make_unique<ReplayShare>(*plan_, *engines[p], ranks[p]));
  }
  if (plan_->place.keeps_path) {
    classes_ = std::make_unique<const CommunicationClasses>(program.facts());
    trails_ = std::make_unique<TrailRecords>();
    for (const auto& share : shares_) share->keep_trails(*trails_, *classes_);
    if (plan_->place.keeps_steps) shares_.at(0)->keep_steps();
  }
  if (plan_->place.timeline != nullptr) records_ = std::make_unique<TimelineRecords>();
  for (std::size_t p = 0; records_ != nullptr && p < shares_.size(); ++p) {
    taps_.push_back(std::make_unique<TimelineTap>(*shares_[p], plan_->place.job,
                                                  plan_->place.timeline->part(p), *records_));
  }
  for (std::size_t p = 0; plan_->rails.most > 1 && p < engines.size(); ++p) {
    NetworkClient* const client =
        taps_.empty() ? static_cast<NetworkClient*>(shares_[p].get()) : taps_[p].get();
    splitters_.push_back(std::make_unique<RailSplitter>(*plan_, *client));
  }
}

Replay::~Replay() = default;

std::size_t Replay::partition_of(std::uint32_t rank) const {
  return partition_of_host_.empty() ? 0 : partition_of_host_[plan_->host_of(rank)];
}

NetworkClient& Replay::client(std::size_t partition) {
  if (!splitters_.empty()) return *splitters_[partition];
  if (!taps_.empty()) return *taps_[partition];
  return *shares_[partition];
}

void Replay::finish_timeline() {
  if (taps_.empty()) return;
  std::vector<bool> is_free(records_->made());
  for (const std::uint32_t record : records_->free()) is_free[record] = true;
  for (const auto& tap : taps_) {
    for (const std::uint32_t record : tap->free_messages()) is_free[record] = true;
  }
  for (std::uint32_t record = 0; record < is_free.size(); ++record) {
    if (!is_free[record]) plan_->place.timeline->part(0).add((*records_)[record]);
  }
}

void Replay::start(std::span<Network* const> networks) {
  const auto tap_of = [this](std::uint32_t rank) -> TimelineTap& { return *taps_[partition_of(rank)]; };
  for (std::size_t p = 0; p < shares_.size(); ++p) {
    Network* network = networks[p];
    if (!splitters_.empty()) {
      splitters_[p]->set_network(*network);
      network = splitters_[p].get();
    }
    if (taps_.empty()) {
      shares_[p]->start(*network);
    } else {
      taps_[p]->start(*network, tap_of);
    }
  }
}

void Replay::start(Network& network) { start(std::array{&network}); }

// ---- Results ----

bool Replay::complete() const {
  return std::all_of(shares_.begin(), shares_.end(), [](const auto& share) { return share->complete(); });
}

bool Replay::done() const {
  return std::all_of(shares_.begin(), shares_.end(), [](const auto& share) { return share->done(); });
}

bool Replay::at_rest() const {
  return std::all_of(shares_.begin(), shares_.end(), [](const auto& share) { return share->at_rest(); });
}

std::uint64_t Replay::executed_ops() const {
  std::uint64_t executed = 0;
  for (const auto& share : shares_) executed += share->executed_ops();
  return executed;
}

std::vector<std::uint32_t> Replay::events_of_ranks() const {
  std::vector<std::uint32_t> events;
  for (std::uint32_t r = 0; r < plan_->program.ranks(); ++r) events.push_back(share_of(r).events_of(r));
  return events;
}

double Replay::progress() const {
  const std::uint64_t ops = plan_->program.facts().ops;
  if (ops == 0) return 1;
  return static_cast<double>(executed_ops()) / static_cast<double>(ops);
}

std::uint64_t Replay::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& share : shares_) bytes += share->memory_bytes();
  return bytes;
}

ReplayTotals Replay::totals() const {
  ReplayTotals totals;
  for (const auto& share : shares_) {
    const ReplayTotals part = share->totals();
    totals.ops += part.ops;
    totals.executed_ops += part.executed_ops;
    totals.messages += part.messages;
    totals.unreceived += part.unreceived;
    totals.makespan = std::max(totals.makespan, part.makespan);
    if (__builtin_add_overflow(totals.bytes, part.bytes, &totals.bytes)) throw GraphError(kTooManyBytes);
  }
  totals.collectives_differ = done() && do_collectives_differ();
  return totals;
}

bool Replay::do_collectives_differ() const {
  const goal::ProgramFacts& program = plan_->program.facts();
  if (program.collectives.empty()) return false;
  for (std::uint32_t comm = 0; comm < program.communicators.size(); ++comm) {
    CallSums::Sum sum;
    for (const auto& share : shares_) {
      sum.all += share->calls_on(comm).all;
      sum.of_first += share->calls_on(comm).of_first;
    }
    if (sum.all != program.communicator_size(comm) * sum.of_first) return true;
  }
  return false;
}

std::vector<results::Rank> Replay::ranks() const {
  std::vector<results::Rank> rows;
  rows.reserve(plan_->program.ranks());
  for (std::uint32_t r = 0; r < plan_->program.ranks(); ++r) rows.push_back(share_of(r).result(r));
  return rows;
}

std::optional<results::CriticalPath> Replay::critical_path() const {
  if (trails_ == nullptr || !done()) return std::nullopt;
  Trails::Last last;
  for (const auto& share : shares_) {
    if (share->last_trail().is_behind(last)) last = share->last_trail();
  }
  return last.path;
}

std::optional<results::PathShares> Replay::path_shares() const {
  if (!plan_->place.keeps_steps || !done()) return std::nullopt;
  return shares_[0]->steps()->shares(plan_->program.facts());
}

std::optional<results::CpuTimes> Replay::cpu_times(std::uint32_t rank) const {
  if (trails_ == nullptr || !done()) return std::nullopt;
  results::CpuTimes times;
  share_of(rank).fill(rank, times);
  return times;
}

std::optional<results::CpuTimes> Replay::cpu_times() const {
  if (trails_ == nullptr || !done()) return std::nullopt;
  results::CpuTimesOfRanks all;
  results::CpuTimes times;
  for (std::uint32_t r = 0; r < plan_->program.ranks(); ++r) {
    share_of(r).fill(r, times);
    all.add(times);
  }
  return all.together();
}

std::uint64_t Replay::digest() const {
  std::uint64_t events = 0;
  for (const Engine* engine : engines_) events += engine->digest();
  std::uint64_t digest = mix64(events);
  for (std::uint32_t r = 0; r < plan_->program.ranks(); ++r) {
    digest = mix64(digest ^ static_cast<std::uint64_t>(share_of(r).finish(r).ps()));
  }
  return digest;
}

}  // namespace weft::sim
