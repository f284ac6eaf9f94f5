#include "sim/replay/replay_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "goal/transform/scale.h"
#include "sim/replay/call_sums.h"
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

namespace {

// Bytes of the vector that a rank of a collective adds up or copies.
double vector_bytes(const goal::Collective& collective, std::uint32_t size) {
  const auto bytes = static_cast<double>(collective.bytes);
  using Kind = goal::CollectiveKind;
  const bool has_blocks = collective.kind == Kind::kReduceScatter || collective.kind == Kind::kAllgather ||
                          collective.kind == Kind::kAlltoall;
  if (!has_blocks) return bytes;
  const std::vector<std::uint64_t>& counts = collective.counts;
  return counts.empty() ? bytes * size : std::accumulate(counts.begin(), counts.end(), 0.0);
}

}  // namespace

ReplayPlan::ReplayPlan(const goal::Program& what, const HostConfig& config, ReplayPlace where)
    : program(scaled(what, config.compute_scale)),
      hosts(config),
      place(std::move(where)),
      first_entity(*place.first_entity),
      local(what.ranks()),
      places(what.ranks(), what.facts().communicators) {
  choices.reserve(program.facts().collectives.size());
  signatures.reserve(program.facts().collectives.size());
  for (const goal::Collective& collective : program.facts().collectives) {
    const std::uint32_t size = program.facts().communicator_size(collective.comm);
    signatures.push_back(call_signature(collective));
    const bool in_cache = vector_bytes(collective, size) <= static_cast<double>(hosts.cache_bytes);
    reductions.push_back(in_cache ? hosts.reduction_per_byte : hosts.reduction_from_memory);
    copies.push_back(in_cache ? hosts.copy_per_byte : hosts.copy_from_memory);
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

}  // namespace weft::sim
