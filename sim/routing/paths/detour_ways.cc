#include "sim/routing/paths/detour_ways.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::routing {

void DetourWays::find_keys(std::span<const DetourPair> pairs) {
  collect(
      pairs, [this](const DetourPair& pair) { return areas_.sender_of(pair); }, senders_);
  collect(
      pairs, [this](const DetourPair& pair) { return areas_.receiver_of(pair); }, receivers_);
}

// Each once, ascending. Marks take less time than to sort.
template <typename KeyOf>
void DetourWays::collect(std::span<const DetourPair> pairs, KeyOf&& key_of,
                         std::vector<std::uint32_t>& keys) {
  constexpr std::uint32_t kBits = 64;
  marks_.resize(2 * groups_.size() / kBits + 1);
  for (const DetourPair& pair : pairs) {
    const std::uint32_t key = key_of(pair);
    marks_[key / kBits] |= std::uint64_t{1} << key % kBits;
  }
  keys.clear();
  for (std::uint32_t word = 0; word < marks_.size(); ++word) {
    for (std::uint64_t left = std::exchange(marks_[word], 0); left != 0; left &= left - 1)
      keys.push_back(word * kBits + static_cast<std::uint32_t>(std::countr_zero(left)));
  }
}

// Worth it where the ways of those that send and receive are shorter than all legs; those of the first group
// stand for all. So the choice follows from the pairs alone.
bool DetourWays::is_worth_it(std::span<const DetourPair> pairs) {
  constexpr std::size_t kMostParts = 1 << 24;
  if (parts_.size() > kMostParts || first_ways_.empty()) {
    parts_.clear();
    first_ways_.assign(2 * groups_.size(), {});
    last_ways_.assign(2 * groups_.size(), {});
    number_of_.clear();
    pair_ways_.clear();
  }
  if (pairs.empty()) return false;
  find_keys(pairs);
  find_first(0, false);
  find_last(0, false);
  return senders_.size() * (first_ways_[0].end - first_ways_[0].begin) +
             receivers_.size() * (last_ways_[0].end - last_ways_[0].begin) <=
         legs_.steps();
}

bool DetourWays::prepare(std::span<const DetourPair> pairs) {
  if (!is_worth_it(pairs)) return false;
  narrow_ = false;
  find_pairs(pairs);
  find_legs();
  return true;
}

bool DetourWays::prepare_moving(std::span<const DetourPair> pairs) {
  if (!is_worth_it(pairs)) return false;
  narrow_ = true;
  find_pairs(pairs);
  find_moving(pairs);
  select_ways();
  return true;
}

void DetourWays::find_pairs(std::span<const DetourPair> pairs) {
  ways_of_.clear();
  for (const DetourPair& pair : pairs) {
    const auto [number, fresh] = number_of_.add(PairTable<std::uint32_t>::key(pair.from, pair.to));
    if (fresh) {
      number = static_cast<std::uint32_t>(pair_ways_.size());
      find_pair(pair, pair_ways_.emplace_back());
    }
    ways_of_.push_back(number);
  }
}

void DetourWays::find_legs() {
  for (const std::uint32_t k : senders_) find_first(k / 2, k % 2 != 0);
  for (const std::uint32_t k : receivers_) find_last(k / 2, k % 2 != 0);
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

// A share grows only where something waits on direct ways. At first that is where these alone fill a channel;
// what such pairs could send by detours may fill more of them, and so on. All other pairs stay with direct
// ways and cross none of these channels, so that rounds come out the same to the bit without them.
void DetourWays::find_moving(std::span<const DetourPair> pairs) {
  most_.assign(capacity_.size(), 0);
  for (std::size_t i = 0; i < pairs.size(); ++i) add_most(pair_ways_[ways_of_[i]].direct, pairs[i].offered);
  sent_.assign(2 * groups_.size(), 0);
  received_.assign(2 * groups_.size(), 0);
  is_moving_.assign(pairs.size(), false);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const DetourPair& pair = pairs[i];
      if (is_moving_[i] || !could_wait(pair_ways_[ways_of_[i]].direct)) continue;
      is_moving_[i] = more = true;
      sent_[areas_.sender_of(pair)] += pair.offered;
      received_[areas_.receiver_of(pair)] += pair.offered;
    }
    for (const std::uint32_t key : senders_) {
      const double sent = std::exchange(sent_[key], 0.0);
      if (sent == 0) continue;
      find_first(key / 2, key % 2 != 0);
      add_most(first_ways_[key], sent);
    }
    for (const std::uint32_t key : receivers_) {
      const double received = std::exchange(received_[key], 0.0);
      if (received == 0) continue;
      find_last(key / 2, key % 2 != 0);
      add_most(last_ways_[key], received);
    }
  }
  moving_.clear();
  moving_pairs_.clear();
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    if (!is_moving_[i]) continue;
    ways_of_[moving_.size()] = ways_of_[i];
    moving_.push_back(i);
    moving_pairs_.push_back(pairs[i]);
  }
  ways_of_.resize(moving_.size());
  find_keys(moving_pairs_);
}

// Whether something could wait on a pair's direct ways.
bool DetourWays::could_wait(const Ways& direct) const {
  if (direct.lost > 0) return true;
  for (std::size_t i = direct.begin; i < direct.end; ++i) {
    if (could_fill(parts_[i].channel)) return true;
  }
  return false;
}

void DetourWays::add_most(const Ways& ways, double amount) {
  for (std::size_t i = ways.begin; i < ways.end; ++i) most_[parts_[i].channel] += amount * parts_[i].share;
}

// Only channels that some shares could fill count, as others never cost anything.
void DetourWays::select_ways() {
  find_legs();
  counted_.clear();
  is_counted_.assign(capacity_.size(), false);
  for (const std::uint32_t c : moving_.empty() ? std::span<const std::uint32_t>() : legs_.between()) {
    if (!could_fill(c)) continue;
    counted_.push_back(c);
    is_counted_[c] = true;
  }
  counted_parts_.clear();
  counted_first_.resize(2 * groups_.size());
  counted_last_.resize(2 * groups_.size());
  counted_pairs_.clear();
  for (const std::uint32_t key : senders_) counted_first_[key] = select(first_ways_[key]);
  for (const std::uint32_t key : receivers_) counted_last_[key] = select(last_ways_[key]);
  for (const std::uint32_t i : ways_of_) {
    const Ways direct = select(pair_ways_[i].direct), none = select(pair_ways_[i].none);
    counted_pairs_.push_back({direct, none});
  }
}

// What of them is on channels that count.
DetourWays::Ways DetourWays::select(const Ways& ways) {
  Ways counted{.begin = counted_parts_.size(), .end = 0, .lost = ways.lost, .known = true};
  for (std::size_t i = ways.begin; i < ways.end; ++i) {
    if (is_counted_[parts_[i].channel]) counted_parts_.push_back(parts_[i]);
  }
  counted.end = counted_parts_.size();
  return counted;
}

void DetourWays::add_load(const Ways& ways, double amount, std::vector<double>& load) const {
  for (const Part& part : parts(ways)) load[part.channel] += amount * part.share;
}

void DetourWays::carry_direct(std::span<const DetourPair> pairs, std::span<const double> near,
                              std::vector<double>& load) const {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const DetourPair& pair = pairs[i];
    add_load(pair_ways(i).direct, pair.offered * (1 - pair.detoured * (1 - near[i])), load);
  }
}

bool DetourWays::carry_detours(std::span<const DetourPair> pairs, std::vector<double>& load) {
  sent_.resize(2 * groups_.size());
  received_.resize(2 * groups_.size());
  for (const std::uint32_t key : senders_) sent_[key] = 0;
  for (const std::uint32_t key : receivers_) received_[key] = 0;
  bool any = false;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double detoured = pairs[i].offered * pairs[i].detoured;
    if (pairs[i].detoured > 0) any = true;
    if (detoured == 0) continue;
    sent_[areas_.sender_of(pairs[i])] += detoured;
    received_[areas_.receiver_of(pairs[i])] += detoured;
    add_load(pair_ways(i).none, -detoured, load);
  }
  for (const std::uint32_t key : senders_) {
    if (sent_[key] > 0) add_load(first_ways(key), sent_[key], load);
  }
  for (const std::uint32_t key : receivers_) {
    if (received_[key] > 0) add_load(last_ways(key), received_[key], load);
  }
  return any;
}

double DetourWays::price_of(const Ways& ways, std::span<const double> prices) const {
  double sum = ways.lost > 0 ? ways.lost * DetourLegs::kNoWay : 0;
  for (const Part& part : parts(ways)) sum += prices[part.channel] * part.share;
  return sum;
}

void DetourWays::price_pairs(std::span<const DetourPair> pairs, std::span<const double> near,
                             std::span<const double> prices, std::span<const double> filled,
                             DetourCosts& costs) {
  costs.direct.assign(pairs.size(), 0);
  costs.detour.assign(pairs.size(), 0);
  costs.filled.assign(pairs.size(), 0);
  first_cost_.resize(2 * groups_.size());
  last_cost_.resize(2 * groups_.size());
  for (const std::uint32_t key : senders_) first_cost_[key] = -1;
  for (const std::uint32_t key : receivers_) last_cost_[key] = -1;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const DetourPair& pair = pairs[i];
    const PairWays& ways = pair_ways(i);
    costs.direct[i] = (1 - near[i]) * price_of(ways.direct, prices);
    // Where nothing waits on direct ways, it doesn't matter what detours cost.
    if (costs.direct[i] <= 0) {
      if (pair.detoured > 0) costs.filled[i] = price_of(ways.direct, filled);
      continue;
    }
    double& first = first_cost_[areas_.sender_of(pair)];
    double& last = last_cost_[areas_.receiver_of(pair)];
    if (first < 0) first = price_of(first_ways(areas_.sender_of(pair)), prices);
    if (last < 0) last = price_of(last_ways(areas_.receiver_of(pair)), prices);
    costs.detour[i] = first + last - price_of(ways.none, prices);
  }
}

}  // namespace weft::routing
