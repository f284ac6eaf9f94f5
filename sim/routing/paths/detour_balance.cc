#include "sim/routing/paths/detour_balance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft::routing {
namespace {

constexpr double kNothingWaits = -1e200;
constexpr double kNothing = 1e-3;  // shares that differ by less are alike
// Prices go by powers of loads, ever higher ones: 4 to 2048. A detour has more links than a direct way, and
// what that makes of the sum is a root of as high a degree: nothing, where all of them are equally full.
constexpr int kFirstSquarings = 2, kSquarings = 11;
constexpr double kLeastPrice = 1e-280;  // what waits costs something, however full others are

double steep(double load, int squarings) {
  for (int i = 0; i < squarings; ++i) load *= load;
  return load;
}

}  // namespace

void SharedPaths::starts(std::uint32_t source, std::uint32_t destination,
                         std::vector<PathStart>& starts) const {
  const std::size_t before = starts.size();
  base_->starts(source, destination, starts);
  if (starts.size() - before == 1 && !starts[before].by_detour) return;
  const double share = shares_.of(groups_.of(source), groups_.of(destination));
  for (std::size_t i = before; i < starts.size(); ++i) {
    starts[i].share = starts[i].by_detour ? share : 1 - share;
  }
  std::erase_if(starts, [](const PathStart& start) { return start.share == 0; });
}

DetourBalance::DetourBalance(const topologies::Topology& topology, const PathModel& model,
                             const HostGroups& groups, std::vector<double> capacity)
    : groups_(groups),
      areas_(topology, model, groups),
      capacity_(std::move(capacity)),
      legs_(topology, model, groups, capacity_),
      ways_(groups, areas_, legs_, capacity_),
      pairs_to_(groups.size()),
      load_{.on = std::vector<double>(capacity_.size())},
      price_(capacity_.size()),
      filled_(capacity_.size()) {}

// ---- Loads ----

void DetourBalance::carry_direct(std::span<const DetourPair> pairs) {
  if (kept_) return ways_.carry_direct(pairs, near_, load_.on);
  for (std::uint32_t g = 0; g < groups_.size(); ++g) carry_direct(pairs, g);
}

void DetourBalance::carry_direct(std::span<const DetourPair> pairs, std::uint32_t to) {
  if (pairs_to_[to].empty()) return;
  const DetourLegs::Leg& leg = legs_.to_hosts(to);
  legs_.begin(leg);
  for (const std::uint32_t i : pairs_to_[to]) {
    const DetourPair& pair = pairs[i];
    legs_.put(leg.first, pair.from, pair.offered * (1 - pair.detoured * (1 - near_[i])));
  }
  legs_.carry(leg, load_);
}

void DetourBalance::carry_last(std::span<const DetourPair> pairs, std::uint32_t to) {
  std::array<double, 2> received{};  // from elsewhere, within the area
  for (const std::uint32_t i : pairs_to_[to]) {
    received[areas_.is_within(pairs[i].from, to) ? 1 : 0] += pairs[i].offered * pairs[i].detoured;
  }
  if (received[0] + received[1] == 0) return;
  const DetourLegs::Leg& leg = legs_.to_hosts(to);
  legs_.begin(leg);
  minus_.assign(2 * groups_.size(), 0);
  for (const std::uint32_t i : pairs_to_[to]) {
    const double detoured = pairs[i].offered * pairs[i].detoured;
    const bool within = areas_.is_within(pairs[i].from, to);
    for (const std::uint32_t v : groups_.near(pairs[i].from)) minus_[DetourAreas::key(v, within)] += detoured;
  }
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    if (groups_.is_near(to, v)) continue;
    for (const bool within : {false, true}) {
      const double detoured = received[within ? 1 : 0] - minus_[DetourAreas::key(v, within)];
      if (received[within ? 1 : 0] > 0) legs_.put(leg.behind, v, areas_.odds(v, to, within) * detoured);
    }
  }
  legs_.carry(leg, load_);
}

void DetourBalance::carry_first(std::span<const DetourPair> pairs, std::uint32_t via) {
  const DetourLegs::Leg& leg = legs_.to_switches(via);
  legs_.begin(leg);
  minus_.assign(2 * groups_.size(), 0);
  for (const std::uint32_t d : groups_.near(via)) {
    for (const std::uint32_t i : pairs_to_[d])
      minus_[areas_.sender_of(pairs[i])] += pairs[i].offered * pairs[i].detoured;
  }
  for (std::uint32_t k = 0; k < sent_.size(); ++k) {
    const std::uint32_t s = k / 2;
    if (sent_[k] > 0 && !groups_.is_near(via, s))
      legs_.put(leg.first, s, areas_.odds(via, s, k % 2 != 0) * (sent_[k] - minus_[k]));
  }
  legs_.carry(leg, load_);
}

// Adds to load_ what goes by detours; if there is none, false.
bool DetourBalance::carry_detours(std::span<const DetourPair> pairs) {
  if (kept_) return ways_.carry_detours(pairs, load_.on);
  sent_.assign(2 * groups_.size(), 0);
  bool any = false;
  for (const DetourPair& pair : pairs) {
    sent_[areas_.sender_of(pair)] += pair.offered * pair.detoured;
    any = any || pair.detoured > 0;
  }
  for (std::uint32_t g = 0; g < groups_.size() && any; ++g) {
    carry_first(pairs, g);
    carry_last(pairs, g);
  }
  return any;
}

bool DetourBalance::carry_all(std::span<const DetourPair> pairs) {
  if (kept_) {
    for (const std::uint32_t c : counted()) load_.on[c] = 0;
  } else {
    load_.on.assign(capacity_.size(), 0);
  }
  carry_direct(pairs);
  return carry_detours(pairs);
}

const DetourBalance::Loads& DetourBalance::loads(std::span<const DetourPair> pairs) {
  kept_ = ways_.prepare(pairs);
  begin(pairs);
  double all = 0;
  for (const DetourPair& pair : pairs) all += pair.offered;
  const auto take = [&](std::vector<double>& into) {
    into.swap(load_.on);
    load_.on.assign(capacity_.size(), 0);
  };
  load_.on.assign(capacity_.size(), 0);
  carry_direct(pairs);
  take(loads_.direct);
  carry_detours(pairs);
  take(loads_.detoured);
  constexpr double kRounding = 1e-12;  // what differences of sums leave
  const double least = kRounding * all;
  for (const std::uint32_t c : legs_.between()) {
    if (loads_.direct[c] <= least) loads_.direct[c] = 0;
    if (loads_.detoured[c] <= least) loads_.detoured[c] = 0;
  }
  return loads_;
}

// ---- Prices ----

// In units of what the fullest link costs; and the logarithm of what all cost together at the last power.
double DetourBalance::price_channels(int squarings) {
  squarings_ = squarings;
  double most = 1;
  for (const std::uint32_t c : counted()) {
    if (load_.on[c] == 0) continue;
    if (capacity_[c] > 0) load_.on[c] /= capacity_[c];
    most = std::max(most, load_.on[c]);
  }
  log_most_ = std::log(most);
  constexpr double kRounding = 1e-9;
  double sum = 0;
  for (const std::uint32_t c : counted()) {
    const double load = load_.on[c];
    filled_[c] = std::max(steep(load / most, squarings), kLeastPrice);
    price_[c] = load > 1 + kRounding ? filled_[c] : 0;
    if (price_[c] > 0) sum += steep(load / most, kSquarings) * load;
  }
  return sum == 0 ? kNothingWaits : std::log(sum) + (1 << kSquarings) * log_most_;
}

void DetourBalance::price_pairs(std::span<const DetourPair> pairs) {
  if (kept_) return ways_.price_pairs(pairs, near_, price_, filled_, costs_);
  costs_.direct.assign(pairs.size(), 0);
  costs_.detour.assign(pairs.size(), 0);
  costs_.filled.assign(pairs.size(), 0);
  first_cost_.assign(2 * groups_.size(), 0);
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    legs_.price(legs_.to_switches(v), price_);
    for (std::uint32_t s = 0; s < groups_.size(); ++s) {
      if (groups_.is_near(v, s)) continue;
      const double cost = legs_.price_from(legs_.to_switches(v).first, s);
      first_cost_[DetourAreas::key(s, false)] += areas_.odds(v, s, false) * cost;
      if (areas_.any()) first_cost_[DetourAreas::key(s, true)] += areas_.odds(v, s, true) * cost;
    }
    for (const std::uint32_t d : groups_.near(v)) {
      for (const std::uint32_t i : pairs_to_[d]) {
        const std::uint32_t s = pairs[i].from;
        if (groups_.is_near(v, s)) continue;
        costs_.detour[i] -=
            areas_.odds(v, s, areas_.is_within(s, d)) * legs_.price_from(legs_.to_switches(v).first, s);
      }
    }
  }
  for (std::uint32_t d = 0; d < groups_.size(); ++d) {
    if (pairs_to_[d].empty()) continue;
    legs_.price(legs_.to_hosts(d), price_);
    const auto behind = [&](std::uint32_t v, bool within) {
      return groups_.is_near(d, v)
                 ? 0
                 : areas_.odds(v, d, within) * legs_.price_from(legs_.to_hosts(d).behind, v);
    };
    std::array<double, 2> all{};
    for (std::uint32_t v = 0; v < groups_.size(); ++v) {
      all[0] += behind(v, false);
      if (areas_.any()) all[1] += behind(v, true);
    }
    for (const std::uint32_t i : pairs_to_[d]) {
      costs_.direct[i] = (1 - near_[i]) * legs_.price_from(legs_.to_hosts(d).first, pairs[i].from);
      const bool within = areas_.is_within(pairs[i].from, d);
      costs_.detour[i] += first_cost_[areas_.sender_of(pairs[i])] + all[within ? 1 : 0];
      for (const std::uint32_t v : groups_.near(pairs[i].from)) costs_.detour[i] -= behind(v, within);
    }
    const auto is_filled = [&](std::uint32_t i) { return costs_.direct[i] <= 0 && pairs[i].detoured > 0; };
    if (std::ranges::none_of(pairs_to_[d], is_filled)) continue;
    legs_.price(legs_.to_hosts(d), filled_);
    for (const std::uint32_t i : pairs_to_[d]) {
      if (is_filled(i)) costs_.filled[i] = legs_.price_from(legs_.to_hosts(d).first, pairs[i].from);
    }
  }
}

// ---- Rounds ----

void DetourBalance::begin(std::span<const DetourPair> pairs) {
  near_.clear();
  for (const DetourPair& pair : pairs) near_.push_back(near(pair.from, pair.to));
  if (kept_) return;
  for (std::vector<std::uint32_t>& numbers : pairs_to_) numbers.clear();
  for (std::uint32_t i = 0; i < pairs.size(); ++i) pairs_to_[pairs[i].to].push_back(i);
}

void DetourBalance::balance(std::span<Pair> pairs, std::uint32_t rounds) {
  for (Pair& pair : pairs) pair.detoured = 0;
  kept_ = ways_.prepare_moving(pairs);
  if (!kept_) {
    begin(pairs);
    return find_shares(pairs, rounds);
  }
  moving_.assign(ways_.moving_pairs().begin(), ways_.moving_pairs().end());
  if (moving_.empty()) return;
  begin(moving_);
  find_shares(moving_, rounds);
  for (std::size_t i = 0; i < moving_.size(); ++i) pairs[ways_.moving()[i]].detoured = moving_[i].detoured;
}

// The load that these costs are those of: nearly that of the fullest link, as a logarithm.
double DetourBalance::level(double costs) const { return std::log(costs) / (1 << squarings_) + log_most_; }

// By how much the fullest links of a pair's direct ways are fuller than those of its detours, or than full if
// these have room, as a logarithm.
double DetourBalance::gap(std::size_t pair) const {
  constexpr double kIdle = -8;
  const double direct = costs_.direct[pair], detour = costs_.detour[pair], filled = costs_.filled[pair];
  if (direct > 0) return level(direct) - (detour > 0 ? std::max(level(detour), 0.0) : 0);
  return filled > 0 ? std::clamp(level(filled), kIdle, 0.0) : kIdle;
}

// Begins where direct ways alone are at most full: else links that will be relieved deter from detours.
bool DetourBalance::guess_shares(std::span<Pair> pairs) {
  carry_all(pairs);
  if (price_channels(kSquarings) == kNothingWaits) return false;
  price_pairs(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (costs_.direct[i] > 0)
      pairs[i].detoured = std::clamp((1 - std::exp(-level(costs_.direct[i]))) / (1 - near_[i]), 0.0, 1.0);
  }
  return true;
}

void DetourBalance::find_shares(std::span<Pair> pairs, std::uint32_t rounds) {
  if (!guess_shares(pairs)) return;
  // What goes directly changes by the gap between loads, at a pace of each pair's own: slower where it has
  // gone too far, else ever faster.
  constexpr double kPace = 3, kMostPace = 6, kLeastPace = 0.3, kSlower = 0.5, kFaster = 1.3;
  constexpr double kLeastDirect = 0.1;
  std::vector<double> pace(pairs.size(), kPace), best(pairs.size()), before(pairs.size());
  double least = 0;
  int squarings = kFirstSquarings;
  for (std::uint32_t round = 0;; ++round) {
    carry_all(pairs);
    const auto stage = static_cast<int>(round * (kSquarings - kFirstSquarings + 1) / (rounds + 1));
    squarings = std::max(squarings, kFirstSquarings + stage);
    const double cost = price_channels(squarings);
    if (round == 0 || cost <= least) {
      least = cost;
      for (std::size_t i = 0; i < pairs.size(); ++i) best[i] = pairs[i].detoured;
    }
    if (round == rounds) break;
    price_pairs(pairs);
    bool moved = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Pair& pair = pairs[i];
      if (pair.detoured == 0 && costs_.direct[i] <= 0) continue;
      const double now = gap(i);
      if (round > 0)
        pace[i] = std::clamp(pace[i] * (now * before[i] < 0 ? kSlower : kFaster), kLeastPace, kMostPace);
      before[i] = now;
      const double move = pace[i] * now * std::max(1 - pair.detoured, kLeastDirect);
      const double share = std::clamp(pair.detoured + move, 0.0, 1.0);
      moved = moved || std::abs(share - pair.detoured) > kNothing;
      pair.detoured = share;
    }
    if (!moved && squarings++ == kSquarings) break;
  }
  // What is nearly all of it may as well be all, if the fullest links gain.
  constexpr double kGain = 1;  // a two-thousandth of their load
  const auto is_most = [](double share) { return share > 0.5 && share < 1; };
  if (std::ranges::any_of(best, is_most)) {
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].detoured = is_most(best[i]) ? 1 : best[i];
    carry_all(pairs);
    if (std::max(price_channels(kSquarings), 0.0) < least - kGain) return;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].detoured = best[i];
}

}  // namespace weft::routing
