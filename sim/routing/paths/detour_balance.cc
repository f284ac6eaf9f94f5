#include "sim/routing/paths/detour_balance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft::routing {
namespace {

constexpr double kNothingWaits = -1e200;
constexpr double kNothing = 1e-4;  // shares that differ by less are alike
// Prices go by powers of loads, ever higher ones: 8 to 128.
constexpr int kFirstSquarings = 3, kSquarings = 7;

double steep(double load, int squarings) {
  for (int i = 0; i < squarings; ++i) load *= load;
  return load;
}

// By how much the fullest links of direct ways are fuller than those of detours, as a logarithm. Down where
// nothing waits.
double load_gap(double direct, double detour, int squarings) {
  if (direct <= 0) return -1;
  return detour <= 0 ? 1 : std::log(direct / detour) / (1 << squarings);
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
      price_(capacity_.size()) {}

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
  constexpr double kRounding = 1e-12;  // what differences of sums leave
  const auto take = [&](std::vector<double>& into) {
    into.assign(capacity_.size(), 0);
    for (const std::uint32_t c : legs_.between()) into[c] = load_.on[c] > kRounding * all ? load_.on[c] : 0;
    load_.on.assign(capacity_.size(), 0);
  };
  load_.on.assign(capacity_.size(), 0);
  carry_direct(pairs);
  take(loads_.direct);
  carry_detours(pairs);
  take(loads_.detoured);
  return loads_;
}

// ---- Prices ----

// In units of what the fullest link costs; and the logarithm of what all cost together, in a unit of its own.
double DetourBalance::price_channels(int squarings) {
  double most = 1;
  for (const std::uint32_t c : counted()) {
    if (load_.on[c] == 0) continue;
    if (capacity_[c] > 0) load_.on[c] /= capacity_[c];
    most = std::max(most, load_.on[c]);
  }
  constexpr double kRounding = 1e-9;
  double sum = 0;
  for (const std::uint32_t c : counted()) {
    price_[c] = load_.on[c] > 1 + kRounding ? steep(load_.on[c] / most, squarings) : 0;
    if (price_[c] > 0) sum += steep(load_.on[c] / most, kSquarings) * load_.on[c];
  }
  return sum == 0 ? kNothingWaits : std::log(sum) + (1 << kSquarings) * std::log(most);
}

void DetourBalance::price_pairs(std::span<const DetourPair> pairs) {
  if (kept_) return ways_.price_pairs(pairs, near_, price_, costs_);
  costs_.direct.assign(pairs.size(), 0);
  costs_.detour.assign(pairs.size(), 0);
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

void DetourBalance::balance(std::span<Pair> pairs, std::uint32_t rounds, double largest_step) {
  kept_ = ways_.prepare_moving(pairs);
  if (!kept_) {
    begin(pairs);
    return find_shares(pairs, rounds, largest_step);
  }
  moving_.assign(ways_.moving_pairs().begin(), ways_.moving_pairs().end());
  if (moving_.empty()) return;
  begin(moving_);
  find_shares(moving_, rounds, largest_step);
  for (std::size_t i = 0; i < moving_.size(); ++i) pairs[ways_.moving()[i]].detoured = moving_[i].detoured;
}

void DetourBalance::find_shares(std::span<Pair> pairs, std::uint32_t rounds, double largest_step) {
  // Shares move in proportion to the gap between loads, at a pace of each pair's own: slower where it has
  // gone too far, else ever faster.
  constexpr double kPace = 0.25, kSlower = 0.5, kFaster = 1.3, kLeastPace = 0.05;
  std::vector<double> pace(pairs.size(), kPace), best(pairs.size()), before(pairs.size());
  double least = 0;
  const int first = largest_step < 0.25 ? kSquarings - 1 : kFirstSquarings;
  for (std::uint32_t round = 0;; ++round) {
    const bool any = carry_all(pairs);
    const auto stage = static_cast<int>(round * (kSquarings - first + 1) / (rounds + 1));
    const int squarings = first + stage;
    const double cost = price_channels(squarings);
    if (round == 0 || cost <= least) {
      least = cost;
      for (std::size_t i = 0; i < pairs.size(); ++i) best[i] = pairs[i].detoured;
    }
    if (round == rounds || (cost == kNothingWaits && !any)) break;
    price_pairs(pairs);
    bool moved = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const double gap = load_gap(costs_.direct[i], costs_.detour[i], squarings);
      if (round > 0) pace[i] = std::max(pace[i] * (gap * before[i] < 0 ? kSlower : kFaster), kLeastPace);
      before[i] = gap;
      const double move = std::clamp(pace[i] * gap, -largest_step, largest_step);
      const double share = std::clamp(pairs[i].detoured + move, 0.0, 1.0);
      moved = moved || std::abs(share - pairs[i].detoured) > kNothing;
      pairs[i].detoured = share;
    }
    if (!moved) break;
  }
  // What is nearly all of it may as well be all.
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].detoured = best[i] > 0.5 ? 1 : best[i];
  if (carry_all(pairs) && price_channels(kSquarings) < least) return;
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].detoured = best[i];
}

}  // namespace weft::routing
