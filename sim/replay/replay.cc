#include "sim/replay/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "goal/transform/scale.h"
#include "sim/replay/rail_splitter.h"
#include "sim/replay/share.h"
#include "sim/replay/timeline_tap.h"
#include "sim/units/graph_error.h"

namespace weft::sim {

std::uint32_t hosts_needed(const goal::Program& program, const HostConfig& hosts) {
  return static_cast<std::uint32_t>((std::uint64_t{program.ranks()} + hosts.ranks_per_host - 1) /
                                    hosts.ranks_per_host);
}

namespace {

// A graph's times are those in memory; a packed file's are scaled as they are read.
goal::Program scaled(const goal::Program& program, double factor) {
  if (factor == 1 || program.graph() == nullptr) return program;
  const goal::ScaleRule rule{.factor = factor, .ranks = {}, .cpu = {}};
  return goal::Program(std::make_unique<const goal::Graph>(goal::scale(*program.graph(), std::array{rule})));
}

// Numbers the ranks on each host, in their order; returns how many there are at most.
std::uint32_t number_slots(std::span<PlacedRank> placed) {
  std::uint32_t last = 0, most = 1;
  for (const PlacedRank& rank : placed) last = std::max(last, rank.host);
  std::vector<std::uint32_t> ranks_of_host(std::size_t{last} + 1);
  for (PlacedRank& rank : placed) {
    rank.slot = ranks_of_host[rank.host]++;
    most = std::max(most, rank.slot + 1);
  }
  return most;
}

}  // namespace

std::uint64_t connections_between_hosts(std::span<const std::uint32_t> host_of_rank,
                                        const HostConfig& hosts) {
  std::vector<PlacedRank> placed;
  for (const std::uint32_t host : host_of_rank) placed.push_back({host, 0});
  const std::uint64_t ranks = host_of_rank.empty() ? hosts.ranks_per_host : number_slots(placed);
  return ranks * ranks * hosts.connections_per_pair;
}

// ---- What all shares read ----

ReplayPlan::ReplayPlan(const goal::Program& what, const HostConfig& config, ReplayPlace where)
    : program(scaled(what, config.compute_scale)),
      hosts(config),
      place(std::move(where)),
      first_entity(*place.first_entity),
      local(what.ranks()),
      places(what.ranks(), what.facts().communicators) {
  choices.reserve(program.facts().collectives.size());
  for (const goal::Collective& collective : program.facts().collectives) {
    const std::uint32_t size = program.facts().communicator_size(collective.comm);
    choices.push_back(size < 2 ? nullptr : &hosts.collectives.choose(collective, size));
  }
  if (program.facts().max_nic == 0) nics = hosts.nics;
  const bool is_plain = place.host_of_rank.empty() && hosts.ranks_per_host == 1 && nics == nullptr;
  if (is_plain && place.instance == 0 && place.first_channel == 0) return;
  const std::vector<std::uint32_t>& given = place.host_of_rank;
  for (std::uint32_t rank = 0; rank < program.ranks(); ++rank) {
    placed.push_back({given.empty() ? rank / hosts.ranks_per_host : given[rank], 0});
  }
  most_ranks_on_host = std::max(number_slots(placed), given.empty() ? hosts.ranks_per_host : 1);
  for (const PlacedRank& rank : placed) {
    if (nics == nullptr) break;
    ranks_of_host.resize(std::max<std::size_t>(ranks_of_host.size(), rank.host + 1));
    ++ranks_of_host[rank.host];
  }
  if (nics != nullptr) settle_rails();
}

void ReplayPlan::settle_rails() {
  const std::uint32_t most = nics->most_nics();
  const auto has_several = [&](std::uint32_t ranks) { return ranks > 0 && ranks < most; };
  if (std::any_of(ranks_of_host.begin(), ranks_of_host.end(), has_several)) rails = hosts.rails;
}

void ReplayPlan::put_nics(const PlacedRank& from, const PlacedRank& to, std::uint32_t channel,
                          Message& message) const {
  const NicPair pair = nics_of(from, to, channel == kNoChannel ? 0 : channel);
  message.source_nic = pair.source;
  message.destination_nic = pair.destination;
  if (channel == kNoChannel) message.rails = static_cast<std::uint8_t>(rails.most);
}

std::uint32_t ReplayPlan::position_in(std::uint32_t comm, std::uint32_t rank, goal::OpIndex op) const {
  const std::uint32_t position = places.position(comm, rank);
  if (position != goal::kAny) return position;
  const std::string& name = program.facts().communicators[comm].name;
  throw GraphError(
      fmt::format("rank {}, operation {} calls a collective on communicator {}{}, of which it is no member",
                  rank, op, comm, name.empty() ? "" : " (" + name + ")"));
}

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
  if (plan_->place.keeps_path) trails_ = std::make_unique<TrailRecords>();
  for (const auto& share : shares_) {
    if (trails_ != nullptr) share->keep_trails(*trails_);
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
  return totals;
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
