// The ways of the groups that send, each worked out once: with them a round costs what these groups' ways are
// long, not what the network is large.
#include <algorithm>

#include "sim/routing/paths/detour_balance.h"

namespace weft::routing {

// Worth it where the ways of those that send and receive are shorter than all legs; those of the first group
// stand for all. So the choice follows from the pairs alone.
bool DetourBalance::keeps_ways(std::span<const Pair> pairs) {
  senders_.clear();
  receivers_.clear();
  for (const Pair& pair : pairs) {
    senders_.push_back(sender_of(pair));
    receivers_.push_back(receiver_of(pair));
  }
  for (std::vector<std::uint32_t>* groups : {&senders_, &receivers_}) {
    std::ranges::sort(*groups);
    groups->erase(std::unique(groups->begin(), groups->end()), groups->end());
  }
  constexpr std::size_t kMostParts = 1 << 24;
  if (parts_.size() > kMostParts || first_ways_.empty()) {
    parts_.clear();
    first_ways_.assign(2 * groups_.size(), {});
    last_ways_.assign(2 * groups_.size(), {});
    number_of_.clear();
    pair_ways_.clear();
  }
  if (pairs.empty()) return false;
  find_first(0, false);
  find_last(0, false);
  return senders_.size() * (first_ways_[0].end - first_ways_[0].begin) +
             receivers_.size() * (last_ways_[0].end - last_ways_[0].begin) <=
         steps_;
}

void DetourBalance::find_ways(std::span<const Pair> pairs) {
  for (const std::uint32_t k : senders_) find_first(k / 2, k % 2 != 0);
  for (const std::uint32_t k : receivers_) find_last(k / 2, k % 2 != 0);
  ways_of_.clear();
  for (const Pair& pair : pairs) {
    const auto [place, fresh] = number_of_.try_emplace(std::uint64_t{pair.from} << 32 | pair.to,
                                                       static_cast<std::uint32_t>(pair_ways_.size()));
    if (fresh) find_pair(pair, pair_ways_.emplace_back());
    ways_of_.push_back(place->second);
  }
}

void DetourBalance::find_first(std::uint32_t source, bool within) {
  Ways& ways = first_ways_[key(source, within)];
  if (ways.known) return;
  load_.assign(load_.size(), 0);
  lost_ = 0;
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    const double part = groups_.is_near(v, source) ? 0 : areas_.odds(v, source, within);
    if (part == 0) continue;
    value_.assign(to_via_[v].begin.size(), 0);
    put(to_via_[v].first, source, part);
    carry(to_via_[v]);
  }
  ways = take_ways();
}

void DetourBalance::find_last(std::uint32_t destination, bool within) {
  Ways& ways = last_ways_[key(destination, within)];
  if (ways.known) return;
  const Leg& leg = last_[destination];
  load_.assign(load_.size(), 0);
  lost_ = 0;
  value_.assign(leg.begin.size(), 0);
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    if (!groups_.is_near(destination, v)) put(leg.behind, v, areas_.odds(v, destination, within));
  }
  carry(leg);
  ways = take_ways();
}

void DetourBalance::find_pair(const Pair& pair, PairWays& ways) {
  const Leg& leg = last_[pair.to];
  const bool within = areas_.is_within(pair.from, pair.to);
  load_.assign(load_.size(), 0);
  lost_ = 0;
  value_.assign(leg.begin.size(), 0);
  put(leg.first, pair.from, 1);
  carry(leg);
  ways.direct = take_ways();
  load_.assign(load_.size(), 0);
  lost_ = 0;
  for (const std::uint32_t v : groups_.near(pair.to)) {
    if (groups_.is_near(v, pair.from)) continue;
    value_.assign(to_via_[v].begin.size(), 0);
    put(to_via_[v].first, pair.from, areas_.odds(v, pair.from, within));
    carry(to_via_[v]);
  }
  value_.assign(leg.begin.size(), 0);
  for (const std::uint32_t v : groups_.near(pair.from)) {
    if (!groups_.is_near(pair.to, v)) put(leg.behind, v, areas_.odds(v, pair.to, within));
  }
  carry(leg);
  ways.none = take_ways();
}

// What load_ and lost_ hold.
DetourBalance::Ways DetourBalance::take_ways() {
  Ways ways{.begin = parts_.size(), .end = 0, .lost = lost_, .known = true};
  for (const std::uint32_t c : between_) {
    if (load_[c] > 0) parts_.push_back({c, load_[c]});
  }
  ways.end = parts_.size();
  return ways;
}

// ---- Those of the pairs at hand ----

// What of them counts now: all, or only channels that some shares could fill, as others never cost anything.
void DetourBalance::select_ways(std::span<const Pair> pairs, bool narrow) {
  counted_ = between_;
  if (narrow) {
    const std::vector<double> most = most_load(pairs);
    constexpr double kRounding = 1e-9;
    std::erase_if(counted_, [&](std::uint32_t c) { return most[c] <= capacity_[c] * (1 - kRounding); });
  }
  is_counted_.assign(load_.size(), false);
  for (const std::uint32_t c : counted_) is_counted_[c] = true;
  counted_parts_.clear();
  const auto select = [&](const Ways& ways) {
    Ways counted{.begin = counted_parts_.size(), .end = 0, .lost = ways.lost, .known = true};
    for (std::size_t i = ways.begin; i < ways.end; ++i) {
      if (is_counted_[parts_[i].channel]) counted_parts_.push_back(parts_[i]);
    }
    counted.end = counted_parts_.size();
    return counted;
  };
  counted_first_.resize(2 * groups_.size());
  counted_last_.resize(2 * groups_.size());
  counted_pairs_.clear();
  for (const std::uint32_t group : senders_) counted_first_[group] = select(first_ways_[group]);
  for (const std::uint32_t group : receivers_) counted_last_[group] = select(last_ways_[group]);
  for (const std::uint32_t i : ways_of_) {
    const Ways direct = select(pair_ways_[i].direct), none = select(pair_ways_[i].none);
    counted_pairs_.push_back({direct, none});
  }
}

// If all went by detours and straight too.
std::vector<double> DetourBalance::most_load(std::span<const Pair> pairs) const {
  std::vector<double> most(load_.size()), sent(2 * groups_.size()), received(2 * groups_.size());
  const auto add = [&](const Ways& ways, double amount) {
    for (std::size_t i = ways.begin; i < ways.end; ++i) most[parts_[i].channel] += amount * parts_[i].share;
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    add(pair_ways_[ways_of_[i]].direct, pairs[i].offered);
    sent[sender_of(pairs[i])] += pairs[i].offered;
    received[receiver_of(pairs[i])] += pairs[i].offered;
  }
  for (const std::uint32_t group : senders_) add(first_ways_[group], sent[group]);
  for (const std::uint32_t group : receivers_) add(last_ways_[group], received[group]);
  return most;
}

void DetourBalance::add_load(const Ways& ways, double amount) {
  for (std::size_t i = ways.begin; i < ways.end; ++i) {
    load_[counted_parts_[i].channel] += amount * counted_parts_[i].share;
  }
}

void DetourBalance::carry_kept_direct(std::span<const Pair> pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    add_load(counted_pairs_[i].direct, pair.offered * (1 - pair.detoured * (1 - near_[i])));
  }
}

bool DetourBalance::carry_kept_detours(std::span<const Pair> pairs) {
  sent_.assign(2 * groups_.size(), 0);
  received_.assign(2 * groups_.size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double detoured = pairs[i].offered * pairs[i].detoured;
    if (pairs[i].detoured > 0) any = true;
    if (detoured == 0) continue;
    sent_[sender_of(pairs[i])] += detoured;
    received_[receiver_of(pairs[i])] += detoured;
    add_load(counted_pairs_[i].none, -detoured);
  }
  for (const std::uint32_t group : senders_) {
    if (sent_[group] > 0) add_load(counted_first_[group], sent_[group]);
  }
  for (const std::uint32_t group : receivers_) {
    if (received_[group] > 0) add_load(counted_last_[group], received_[group]);
  }
  return any;
}

double DetourBalance::price_of(const Ways& ways) const {
  double sum = ways.lost > 0 ? ways.lost * kNoWay : 0;
  for (std::size_t i = ways.begin; i < ways.end; ++i) {
    sum += price_[counted_parts_[i].channel] * counted_parts_[i].share;
  }
  return sum;
}

void DetourBalance::price_kept(std::span<const Pair> pairs) {
  direct_cost_.assign(pairs.size(), 0);
  detour_cost_.assign(pairs.size(), 0);
  first_cost_.assign(2 * groups_.size(), -1);
  last_cost_.assign(2 * groups_.size(), -1);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    const PairWays& ways = counted_pairs_[i];
    direct_cost_[i] = (1 - near_[i]) * price_of(ways.direct);
    // Where nothing waits on direct ways, all go there, whatever detours cost.
    if (direct_cost_[i] <= 0) continue;
    double& first = first_cost_[sender_of(pair)];
    double& last = last_cost_[receiver_of(pair)];
    if (first < 0) first = price_of(counted_first_[sender_of(pair)]);
    if (last < 0) last = price_of(counted_last_[receiver_of(pair)]);
    detour_cost_[i] = first + last - price_of(ways.none);
  }
}

}  // namespace weft::routing
