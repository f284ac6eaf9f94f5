#include "sim/routing/paths/detour_balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "sim/units/grouped.h"
#include "sim/units/memory.h"

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
    : topology_(topology),
      groups_(groups),
      areas_(topology, model, groups),
      capacity_(std::move(capacity)),
      pairs_to_(groups.size()),
      load_(capacity_.size()),
      price_(capacity_.size()) {
  constexpr double kBytes = 150;  // of a network with a few next links each
  expect_memory(kBytes * 2 * groups.size() * topology.switches(),
                fmt::format("the ways of {} groups of hosts over {} switches", grouped(groups.size()),
                            grouped(topology.switches())));
  for (const topologies::Channel& c : topology.channels()) {
    counts_.push_back(topology.node(c.from).kind == topologies::NodeKind::kSwitch &&
                      topology.node(c.to).kind == topologies::NodeKind::kSwitch && !groups.leaves_out(c));
    if (counts_.back()) between_.push_back(static_cast<std::uint32_t>(counts_.size() - 1));
  }
  if (topology.hosts() < 2) return;
  find_states(model);
  PathGraph graph(topology, model);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    last_.push_back(make_leg(graph, g, PathGraph::End::kHost));
    to_via_.push_back(make_leg(graph, g, PathGraph::End::kSwitch));
    steps_ += last_.back().steps.size() + to_via_.back().steps.size();
  }
}

// Neighbours may have no detours.
void DetourBalance::find_states(const PathModel& model) {
  std::vector<PathStart> starts;
  for (std::uint32_t host = 1; host < topology_.hosts() && starts.size() < 2; ++host) {
    starts.clear();
    model.starts(0, host, starts);
  }
  const auto detour = std::ranges::find(starts, true, &PathStart::by_detour);
  const auto direct = std::ranges::find(starts, false, &PathStart::by_detour);
  if (starts.size() > 2 || direct == starts.end() || (starts.size() == 2 && detour == starts.end())) {
    throw std::logic_error("expected a path model with one start by a detour and one without");
  }
  direct_state_ = behind_state_ = direct->state;
  if (detour == starts.end()) return;
  detour_state_ = detour->state;
  behind_state_ = model.behind_detour(detour_state_);
}

DetourBalance::Leg DetourBalance::make_leg(PathGraph& graph, std::uint32_t to, PathGraph::End end) {
  const bool to_host = end == PathGraph::End::kHost;
  const auto is_switch = [&](std::uint32_t at) {
    return topology_.node(at).kind == topologies::NodeKind::kSwitch;
  };
  Leg leg;
  graph.begin(groups_.destination(to), end);
  std::vector<Entry> scratch;
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    leg.first.begin.push_back(static_cast<std::uint32_t>(leg.first.stops.size()));
    leg.behind.begin.push_back(static_cast<std::uint32_t>(leg.behind.stops.size()));
    if (groups_.has_pair(g, to)) {
      for (const Entry& entry : groups_.entries(g, to, scratch)) {
        if (!is_switch(entry.to)) continue;
        leg.first.stops.push_back(graph.add(entry.to, to_host ? direct_state_ : detour_state_));
      }
    }
    if (!to_host) continue;
    for (const std::uint32_t home : groups_.homes(g)) {
      if (is_switch(home)) leg.behind.stops.push_back(graph.add(home, behind_state_));
    }
  }
  leg.first.begin.push_back(static_cast<std::uint32_t>(leg.first.stops.size()));
  leg.behind.begin.push_back(static_cast<std::uint32_t>(leg.behind.stops.size()));
  const auto order = graph.order();
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (const std::uint32_t number : order) {
    const PathGraph::Stop& stop = graph.stops()[number];
    leg.begin.push_back(static_cast<std::uint32_t>(leg.steps.size()));
    const auto steps = graph.steps(stop);
    double up = 0;
    for (const PathStep& step : steps) up += capacity_[step.channel] > 0 ? step.share : 0;
    leg.cut_off.push_back(!stop.last && up == 0);
    for (std::uint32_t i = 0; i < steps.size() && up > 0; ++i) {
      if (capacity_[steps[i].channel] == 0) continue;
      const std::uint32_t next = graph.next(stop, i);
      leg.steps.push_back({.channel = steps[i].channel,
                           .next = next == PathGraph::kArrived ? kOut : place[next],
                           .share = steps[i].share / up});
    }
  }
  leg.begin.push_back(static_cast<std::uint32_t>(leg.steps.size()));
  for (std::uint32_t& stop : leg.first.stops) stop = place[stop];
  for (std::uint32_t& stop : leg.behind.stops) stop = place[stop];
  return leg;
}

// ---- Loads ----

void DetourBalance::put(const Entries& entries, std::uint32_t group, double amount) {
  const std::uint32_t begin = entries.begin[group], end = entries.begin[group + 1];
  for (std::uint32_t i = begin; i < end; ++i) value_[entries.stops[i]] += amount / (end - begin);
}

// Moves what is in value_ on to the end. Where a model leads in a circle, once round.
void DetourBalance::carry(const Leg& leg) {
  for (std::size_t stop = 0; stop + 1 < leg.begin.size(); ++stop) {
    const double amount = value_[stop];
    if (amount == 0) continue;
    if (leg.cut_off[stop]) lost_ += amount;
    for (std::uint32_t i = leg.begin[stop]; i < leg.begin[stop + 1]; ++i) {
      const Step& step = leg.steps[i];
      load_[step.channel] += amount * step.share;
      if (step.next != kOut) value_[step.next] += amount * step.share;
    }
  }
}

void DetourBalance::carry_direct(std::span<const Pair> pairs) {
  if (kept_) return carry_kept_direct(pairs);
  for (std::uint32_t g = 0; g < groups_.size(); ++g) carry_direct(pairs, g);
}

void DetourBalance::carry_direct(std::span<const Pair> pairs, std::uint32_t to) {
  if (pairs_to_[to].empty()) return;
  const Leg& leg = last_[to];
  value_.assign(leg.begin.size(), 0);
  for (const std::uint32_t i : pairs_to_[to]) {
    const Pair& pair = pairs[i];
    put(leg.first, pair.from, pair.offered * (1 - pair.detoured * (1 - near_[i])));
  }
  carry(leg);
}

void DetourBalance::carry_last(std::span<const Pair> pairs, std::uint32_t to) {
  std::array<double, 2> received{};  // from elsewhere, within the area
  for (const std::uint32_t i : pairs_to_[to]) {
    received[areas_.is_within(pairs[i].from, to) ? 1 : 0] += pairs[i].offered * pairs[i].detoured;
  }
  if (received[0] + received[1] == 0) return;
  const Leg& leg = last_[to];
  value_.assign(leg.begin.size(), 0);
  minus_.assign(2 * groups_.size(), 0);
  for (const std::uint32_t i : pairs_to_[to]) {
    const double detoured = pairs[i].offered * pairs[i].detoured;
    const bool within = areas_.is_within(pairs[i].from, to);
    for (const std::uint32_t v : groups_.near(pairs[i].from)) minus_[key(v, within)] += detoured;
  }
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    if (groups_.is_near(to, v)) continue;
    for (const bool within : {false, true}) {
      const double detoured = received[within ? 1 : 0] - minus_[key(v, within)];
      if (received[within ? 1 : 0] > 0) put(leg.behind, v, areas_.odds(v, to, within) * detoured);
    }
  }
  carry(leg);
}

void DetourBalance::carry_first(std::span<const Pair> pairs, std::uint32_t via) {
  const Leg& leg = to_via_[via];
  value_.assign(leg.begin.size(), 0);
  minus_.assign(2 * groups_.size(), 0);
  for (const std::uint32_t d : groups_.near(via)) {
    for (const std::uint32_t i : pairs_to_[d])
      minus_[sender_of(pairs[i])] += pairs[i].offered * pairs[i].detoured;
  }
  for (std::uint32_t k = 0; k < sent_.size(); ++k) {
    const std::uint32_t s = k / 2;
    if (sent_[k] > 0 && !groups_.is_near(via, s))
      put(leg.first, s, areas_.odds(via, s, k % 2 != 0) * (sent_[k] - minus_[k]));
  }
  carry(leg);
}

// Adds to load_ what goes by detours; if there is none, false.
bool DetourBalance::carry_detours(std::span<const Pair> pairs) {
  if (kept_) return carry_kept_detours(pairs);
  sent_.assign(2 * groups_.size(), 0);
  bool any = false;
  for (const Pair& pair : pairs) {
    sent_[sender_of(pair)] += pair.offered * pair.detoured;
    any = any || pair.detoured > 0;
  }
  for (std::uint32_t g = 0; g < groups_.size() && any; ++g) {
    carry_first(pairs, g);
    carry_last(pairs, g);
  }
  return any;
}

bool DetourBalance::carry_all(std::span<const Pair> pairs) {
  if (kept_) {
    for (const std::uint32_t c : counted_) load_[c] = 0;
  } else {
    load_.assign(load_.size(), 0);
  }
  carry_direct(pairs);
  return carry_detours(pairs);
}

DetourBalance::Loads DetourBalance::loads(std::span<const Pair> pairs) {
  begin(pairs, false);
  Loads loads;
  double all = 0;
  for (const Pair& pair : pairs) all += pair.offered;
  constexpr double kRounding = 1e-12;  // what differences of sums leave
  const auto take = [&](std::vector<double>& into) {
    into.assign(load_.size(), 0);
    for (const std::uint32_t c : between_) into[c] = load_[c] > kRounding * all ? load_[c] : 0;
    load_.assign(load_.size(), 0);
  };
  load_.assign(load_.size(), 0);
  carry_direct(pairs);
  take(loads.direct);
  carry_detours(pairs);
  take(loads.detoured);
  return loads;
}

// ---- Prices ----

// In units of what the fullest link costs; and the logarithm of what all cost together, in a unit of its own.
double DetourBalance::price_channels(int squarings) {
  double most = 1;
  for (const std::uint32_t c : counted_) {
    if (load_[c] == 0) continue;
    if (capacity_[c] > 0) load_[c] /= capacity_[c];
    most = std::max(most, load_[c]);
  }
  constexpr double kRounding = 1e-9;
  double sum = 0;
  for (const std::uint32_t c : counted_) {
    price_[c] = load_[c] > 1 + kRounding ? steep(load_[c] / most, squarings) : 0;
    if (price_[c] > 0) sum += steep(load_[c] / most, kSquarings) * load_[c];
  }
  return sum == 0 ? kNothingWaits : std::log(sum) + (1 << kSquarings) * std::log(most);
}

void DetourBalance::price(const Leg& leg) {
  value_.assign(leg.begin.size(), 0);
  for (std::size_t stop = leg.begin.size() - 1; stop-- > 0;) {
    double sum = leg.cut_off[stop] ? kNoWay : 0;
    for (std::uint32_t i = leg.begin[stop]; i < leg.begin[stop + 1]; ++i) {
      const Step& step = leg.steps[i];
      sum += step.share * (price_[step.channel] + (step.next == kOut ? 0 : value_[step.next]));
    }
    value_[stop] = sum;
  }
}

double DetourBalance::price_from(const Entries& entries, std::uint32_t group) const {
  const std::uint32_t begin = entries.begin[group], end = entries.begin[group + 1];
  double sum = 0;
  for (std::uint32_t i = begin; i < end; ++i) sum += value_[entries.stops[i]] / (end - begin);
  return sum;
}

void DetourBalance::price_pairs(std::span<const Pair> pairs) {
  if (kept_) return price_kept(pairs);
  direct_cost_.assign(pairs.size(), 0);
  detour_cost_.assign(pairs.size(), 0);
  first_cost_.assign(2 * groups_.size(), 0);
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    price(to_via_[v]);
    for (std::uint32_t s = 0; s < groups_.size(); ++s) {
      if (groups_.is_near(v, s)) continue;
      const double cost = price_from(to_via_[v].first, s);
      first_cost_[key(s, false)] += areas_.odds(v, s, false) * cost;
      if (areas_.any()) first_cost_[key(s, true)] += areas_.odds(v, s, true) * cost;
    }
    for (const std::uint32_t d : groups_.near(v)) {
      for (const std::uint32_t i : pairs_to_[d]) {
        const std::uint32_t s = pairs[i].from;
        if (groups_.is_near(v, s)) continue;
        detour_cost_[i] -= areas_.odds(v, s, areas_.is_within(s, d)) * price_from(to_via_[v].first, s);
      }
    }
  }
  for (std::uint32_t d = 0; d < groups_.size(); ++d) {
    if (pairs_to_[d].empty()) continue;
    price(last_[d]);
    const auto behind = [&](std::uint32_t v, bool within) {
      return groups_.is_near(d, v) ? 0 : areas_.odds(v, d, within) * price_from(last_[d].behind, v);
    };
    std::array<double, 2> all{};
    for (std::uint32_t v = 0; v < groups_.size(); ++v) {
      all[0] += behind(v, false);
      if (areas_.any()) all[1] += behind(v, true);
    }
    for (const std::uint32_t i : pairs_to_[d]) {
      direct_cost_[i] = (1 - near_[i]) * price_from(last_[d].first, pairs[i].from);
      const bool within = areas_.is_within(pairs[i].from, d);
      detour_cost_[i] += first_cost_[sender_of(pairs[i])] + all[within ? 1 : 0];
      for (const std::uint32_t v : groups_.near(pairs[i].from)) detour_cost_[i] -= behind(v, within);
    }
  }
}

// ---- Rounds ----

void DetourBalance::begin(std::span<const Pair> pairs, bool narrow) {
  for (std::vector<std::uint32_t>& numbers : pairs_to_) numbers.clear();
  near_.clear();
  for (std::uint32_t i = 0; i < pairs.size(); ++i) {
    pairs_to_[pairs[i].to].push_back(i);
    near_.push_back(near(pairs[i].from, pairs[i].to));
  }
  counted_ = between_;
  kept_ = keeps_ways(pairs);
  if (!kept_) return;
  find_ways(pairs);
  select_ways(pairs, narrow);
}

void DetourBalance::balance(std::span<Pair> pairs, std::uint32_t rounds, double largest_step) {
  begin(pairs, true);
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
      const double gap = load_gap(direct_cost_[i], detour_cost_[i], squarings);
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
