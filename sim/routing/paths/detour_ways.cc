#include "sim/routing/paths/detour_ways.h"

#include <algorithm>

namespace weft::routing {

// Worth it where the ways of those that send and receive are shorter than all legs; those of the first group
// stand for all. So the choice follows from the pairs alone.
bool DetourWays::is_worth_it(std::span<const DetourPair> pairs) {
  senders_.clear();
  receivers_.clear();
  for (const DetourPair& pair : pairs) {
    senders_.push_back(areas_.sender_of(pair));
    receivers_.push_back(areas_.receiver_of(pair));
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
         legs_.steps();
}

bool DetourWays::prepare(std::span<const DetourPair> pairs, bool narrow) {
  if (!is_worth_it(pairs)) return false;
  find_ways(pairs);
  select_ways(pairs, narrow);
  return true;
}

void DetourWays::find_ways(std::span<const DetourPair> pairs) {
  for (const std::uint32_t k : senders_) find_first(k / 2, k % 2 != 0);
  for (const std::uint32_t k : receivers_) find_last(k / 2, k % 2 != 0);
  ways_of_.clear();
  for (const DetourPair& pair : pairs) {
    const auto [place, fresh] = number_of_.try_emplace(std::uint64_t{pair.from} << 32 | pair.to,
                                                       static_cast<std::uint32_t>(pair_ways_.size()));
    if (fresh) find_pair(pair, pair_ways_.emplace_back());
    ways_of_.push_back(place->second);
  }
}

void DetourWays::find_first(std::uint32_t source, bool within) {
  Ways& ways = first_ways_[DetourAreas::key(source, within)];
  if (ways.known) return;
  begin_way();
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    const double part = groups_.is_near(v, source) ? 0 : areas_.odds(v, source, within);
    if (part == 0) continue;
    legs_.begin(legs_.to_switches(v));
    legs_.put(legs_.to_switches(v).first, source, part);
    legs_.carry(legs_.to_switches(v), found_);
  }
  ways = take_ways();
}

void DetourWays::find_last(std::uint32_t destination, bool within) {
  Ways& ways = last_ways_[DetourAreas::key(destination, within)];
  if (ways.known) return;
  const DetourLegs::Leg& leg = legs_.to_hosts(destination);
  begin_way();
  legs_.begin(leg);
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    if (!groups_.is_near(destination, v)) legs_.put(leg.behind, v, areas_.odds(v, destination, within));
  }
  legs_.carry(leg, found_);
  ways = take_ways();
}

void DetourWays::find_pair(const DetourPair& pair, PairWays& ways) {
  const DetourLegs::Leg& leg = legs_.to_hosts(pair.to);
  const bool within = areas_.is_within(pair.from, pair.to);
  begin_way();
  legs_.begin(leg);
  legs_.put(leg.first, pair.from, 1);
  legs_.carry(leg, found_);
  ways.direct = take_ways();
  begin_way();
  for (const std::uint32_t v : groups_.near(pair.to)) {
    if (groups_.is_near(v, pair.from)) continue;
    legs_.begin(legs_.to_switches(v));
    legs_.put(legs_.to_switches(v).first, pair.from, areas_.odds(v, pair.from, within));
    legs_.carry(legs_.to_switches(v), found_);
  }
  legs_.begin(leg);
  for (const std::uint32_t v : groups_.near(pair.from)) {
    if (!groups_.is_near(pair.to, v)) legs_.put(leg.behind, v, areas_.odds(v, pair.to, within));
  }
  legs_.carry(leg, found_);
  ways.none = take_ways();
}

void DetourWays::begin_way() {
  found_.on.assign(capacity_.size(), 0);
  found_.lost = 0;
}

DetourWays::Ways DetourWays::take_ways() {
  Ways ways{.begin = parts_.size(), .end = 0, .lost = found_.lost, .known = true};
  for (const std::uint32_t c : legs_.between()) {
    if (found_.on[c] > 0) parts_.push_back({c, found_.on[c]});
  }
  ways.end = parts_.size();
  return ways;
}

// ---- Those of the pairs at hand ----

// What of them counts now: all, or only channels that some shares could fill, as others never cost anything.
void DetourWays::select_ways(std::span<const DetourPair> pairs, bool narrow) {
  counted_.assign(legs_.between().begin(), legs_.between().end());
  if (narrow) {
    const std::vector<double> most = most_load(pairs);
    constexpr double kRounding = 1e-9;
    std::erase_if(counted_, [&](std::uint32_t c) { return most[c] <= capacity_[c] * (1 - kRounding); });
  }
  is_counted_.assign(capacity_.size(), false);
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
std::vector<double> DetourWays::most_load(std::span<const DetourPair> pairs) const {
  std::vector<double> most(capacity_.size()), sent(2 * groups_.size()), received(2 * groups_.size());
  const auto add = [&](const Ways& ways, double amount) {
    for (std::size_t i = ways.begin; i < ways.end; ++i) most[parts_[i].channel] += amount * parts_[i].share;
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    add(pair_ways_[ways_of_[i]].direct, pairs[i].offered);
    sent[areas_.sender_of(pairs[i])] += pairs[i].offered;
    received[areas_.receiver_of(pairs[i])] += pairs[i].offered;
  }
  for (const std::uint32_t group : senders_) add(first_ways_[group], sent[group]);
  for (const std::uint32_t group : receivers_) add(last_ways_[group], received[group]);
  return most;
}

void DetourWays::add_load(const Ways& ways, double amount, std::vector<double>& load) const {
  for (std::size_t i = ways.begin; i < ways.end; ++i) {
    load[counted_parts_[i].channel] += amount * counted_parts_[i].share;
  }
}

void DetourWays::carry_direct(std::span<const DetourPair> pairs, std::span<const double> near,
                              std::vector<double>& load) const {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const DetourPair& pair = pairs[i];
    add_load(counted_pairs_[i].direct, pair.offered * (1 - pair.detoured * (1 - near[i])), load);
  }
}

bool DetourWays::carry_detours(std::span<const DetourPair> pairs, std::vector<double>& load) {
  sent_.assign(2 * groups_.size(), 0);
  received_.assign(2 * groups_.size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double detoured = pairs[i].offered * pairs[i].detoured;
    if (pairs[i].detoured > 0) any = true;
    if (detoured == 0) continue;
    sent_[areas_.sender_of(pairs[i])] += detoured;
    received_[areas_.receiver_of(pairs[i])] += detoured;
    add_load(counted_pairs_[i].none, -detoured, load);
  }
  for (const std::uint32_t group : senders_) {
    if (sent_[group] > 0) add_load(counted_first_[group], sent_[group], load);
  }
  for (const std::uint32_t group : receivers_) {
    if (received_[group] > 0) add_load(counted_last_[group], received_[group], load);
  }
  return any;
}

double DetourWays::price_of(const Ways& ways, std::span<const double> prices) const {
  double sum = ways.lost > 0 ? ways.lost * DetourLegs::kNoWay : 0;
  for (std::size_t i = ways.begin; i < ways.end; ++i) {
    sum += prices[counted_parts_[i].channel] * counted_parts_[i].share;
  }
  return sum;
}

void DetourWays::price_pairs(std::span<const DetourPair> pairs, std::span<const double> near,
                             std::span<const double> prices, DetourCosts& costs) {
  costs.direct.assign(pairs.size(), 0);
  costs.detour.assign(pairs.size(), 0);
  first_cost_.assign(2 * groups_.size(), -1);
  last_cost_.assign(2 * groups_.size(), -1);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const DetourPair& pair = pairs[i];
    const PairWays& ways = counted_pairs_[i];
    costs.direct[i] = (1 - near[i]) * price_of(ways.direct, prices);
    // Where nothing waits on direct ways, all go there, whatever detours cost.
    if (costs.direct[i] <= 0) continue;
    double& first = first_cost_[areas_.sender_of(pair)];
    double& last = last_cost_[areas_.receiver_of(pair)];
    if (first < 0) first = price_of(counted_first_[areas_.sender_of(pair)], prices);
    if (last < 0) last = price_of(counted_last_[areas_.receiver_of(pair)], prices);
    costs.detour[i] = first + last - price_of(ways.none, prices);
  }
}

}  // namespace weft::routing
