#include "sim/flow/detours.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::sim::flow {

Detours::Detours(const topologies::Topology& topology, const routing::RoutingTable& table,
                 std::unique_ptr<routing::PathModel> model, const std::vector<Rate>& capacity)
    : topology_(topology),
      capacity_(capacity),
      model_(std::move(model)),
      groups_(routing::HostGroups::between_homes(topology, table, model_->tells_hosts_apart())),
      balance_(std::make_unique<routing::DetourBalance>(
          topology, *model_, groups_, std::vector<double>(capacity.begin(), capacity.end()))) {}

double Detours::share(std::uint32_t source, std::uint32_t destination) const {
  const std::uint32_t from = groups_.of(source), to = groups_.of(destination);
  const double share = shares_.of(from, to);
  return share == 0 ? 0 : share * (1 - balance_->near(from, to));
}

// Sums mustn't depend on the order of flows: they are of whole numbers.
std::vector<Detours::Pair> Detours::pairs_of(std::span<const Offer> offers) {
  number_of_.clear();
  sums_.clear();
  pair_of_offer_.resize(offers.size());
  for (std::uint32_t i = 0; i < offers.size(); ++i) {
    const std::uint64_t ends = pair_of(offers[i].source, offers[i].destination);
    const auto [number, fresh] = number_of_.add(ends);
    if (fresh) {
      number = static_cast<std::uint32_t>(sums_.size());
      sums_.push_back({ends, number, 0});
    }
    sums_[number].offered += static_cast<unsigned __int128>(offers[i].rate);
    pair_of_offer_[i] = number;
  }
  std::ranges::sort(sums_, {}, &Sum::ends);
  std::vector<Pair> pairs;
  place_.resize(sums_.size());
  for (const Sum& sum : sums_) {
    place_[sum.number] = static_cast<std::uint32_t>(pairs.size());
    const auto from = static_cast<std::uint32_t>(sum.ends >> 32), to = static_cast<std::uint32_t>(sum.ends);
    pairs.push_back({from, to, static_cast<double>(sum.offered), shares_.of(from, to)});
  }
  for (std::uint32_t& pair : pair_of_offer_) pair = place_[pair];
  return pairs;
}

std::vector<bool> Detours::balance(std::span<const Offer> offers) {
  const std::vector<Pair> before = pairs_of(offers);
  // From direct ways alone, so that equal traffic has equal shares.
  std::vector<Pair> fresh;
  for (const Pair& pair : before) {
    if (pair.offered > 0) fresh.push_back({pair.from, pair.to, pair.offered, 0});
  }
  const std::uint32_t rounds = groups_.size() <= 128 ? 24 : 8;
  balance_->balance(fresh, rounds);
  balanced_ = before;
  // Small changes aren't worth the work they make.
  constexpr double kLeastChange = 1.0 / 128;
  auto next = fresh.begin();
  for (Pair& pair : balanced_) {
    if (pair.offered == 0) continue;
    const double share = (next++)->detoured;
    if (share == 0 || std::abs(share - pair.detoured) >= kLeastChange) pair.detoured = share;
  }
  std::vector<bool> changed;
  for (const std::uint32_t pair : pair_of_offer_) {
    changed.push_back(before[pair].detoured != balanced_[pair].detoured);
  }
  return changed;
}

void Detours::forget() { balanced_.clear(); }

Rate Detours::whole_pool() const {
  double sum = 0;
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    for (const std::uint32_t c : topology_.out_channels(topology_.host(host))) {
      sum += static_cast<double>(capacity_[c]);
    }
  }
  return static_cast<Rate>(std::max(sum * pool_unit(), 1.0));
}

void Detours::adopt(std::vector<Rate>& resources) {
  double offered = 0, detoured = 0, in_pool = 0;
  shares_.clear();
  for (const Pair& pair : balanced_) {
    shares_.set(pair.from, pair.to, pair.detoured);
    offered += pair.offered;
    detoured += pair.offered * pair.detoured;
    in_pool += pair.offered * pair.detoured * (1 - balance_->near(pair.from, pair.to));
  }
  shares_.set_others(offered > 0 ? detoured / offered : 0);
  resources = capacity_;
  if (detoured == 0) return resources.push_back(whole_pool());
  const routing::DetourBalance::Loads& loads = balance_->loads(balanced_);
  // The fullest link that detours fill, not direct ways, says how much of them gets through.
  double fullest = 1;
  for (std::size_t c = 0; c < capacity_.size(); ++c) {
    if (capacity_[c] == 0 || loads.detoured[c] <= loads.direct[c]) continue;
    fullest = std::max(fullest, (loads.direct[c] + loads.detoured[c]) / static_cast<double>(capacity_[c]));
  }
  for (std::size_t c = 0; c < capacity_.size(); ++c) {
    if (loads.detoured[c] == 0) continue;
    // Where direct ways fill a link, both have a share of it as they offer.
    const auto all = static_cast<double>(capacity_[c]);
    const double in_proportion = all * loads.direct[c] / (loads.direct[c] + loads.detoured[c]);
    const double rest = all - loads.detoured[c] / fullest;
    resources[c] = static_cast<Rate>(std::max({in_proportion, rest, all / 16}));
  }
  const Rate whole = whole_pool();
  const bool is_free = fullest == 1;
  resources.push_back(is_free ? whole
                              : std::min(whole, static_cast<Rate>(in_pool / fullest * pool_unit()) + 1));
}

void Detours::carry(std::uint32_t source, std::uint32_t destination, double bytes, Carried& carried) const {
  carried.add(pair_of(source, destination)).value += bytes;
}

void Detours::add_carried(const Carried& carried, std::vector<double>& bytes) const {
  if (carried.empty()) return;
  std::vector<Pair> pairs;
  carried.each([&](std::uint64_t ends, double sum) {
    const auto from = static_cast<std::uint32_t>(ends >> 32), to = static_cast<std::uint32_t>(ends);
    pairs.push_back({from, to, sum / (1 - balance_->near(from, to)), 1});
  });
  std::ranges::sort(pairs, {}, [](const Pair& pair) { return std::pair(pair.from, pair.to); });
  const routing::DetourBalance::Loads& loads = balance_->loads(pairs);
  for (std::size_t c = 0; c < bytes.size(); ++c) bytes[c] += loads.detoured[c];
}

}  // namespace weft::sim::flow
