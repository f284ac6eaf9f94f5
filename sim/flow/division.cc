#include "sim/flow/division.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/units/grouped.h"
#include "sim/units/memory.h"

namespace weft::sim::flow {

using routing::PathGraph;
using routing::PathStart;
using routing::PathState;
using routing::PathStep;

Division::Division(const topologies::Topology& topology, const routing::RoutingTable& table,
                   std::unique_ptr<const routing::PathModel> model, const std::vector<Rate>& capacity)
    : topology_(topology),
      capacity_(capacity),
      model_(std::move(model)),
      groups_(topology, table, model_->tells_hosts_apart()),
      areas_(topology, *model_, groups_),
      graph_(topology, *model_),
      load_(topology.channels().size()) {}

bool Division::divide(std::uint32_t source, std::uint32_t at, std::uint32_t destination,
                      std::vector<Part>& parts, std::vector<std::uint32_t>& hops) {
  starts_.clear();
  model_->starts(source, destination, starts_);
  bool open = true;
  hops.clear();
  const std::vector<PathStart> starts = starts_;
  for (const PathStart& start : starts) {
    if (start.share == 0) continue;
    if (!start.by_detour) {
      open = straight(at, start.state, destination, start.share, hops) && open;
      continue;
    }
    const double direct = start.share * areas_.near(groups_.of(source), groups_.of(destination));
    open = straight(at, model_->behind_detour(start.state), destination, direct, hops) && open;
    open = by_detour(source, at, destination, start) && open;
  }
  take_parts(parts);
  return open;
}

Division::Divided Division::divided(std::uint32_t source, std::uint32_t at, std::uint32_t destination) {
  constexpr std::size_t kMost = 1 << 21;  // 32 MB
  if (kept_parts_.size() + kept_hops_.size() > kMost) {
    kept_.clear();
    kept_parts_.clear();
    kept_hops_.clear();
  }
  const auto [kept, fresh] = kept_.add(routing::PairTable<Kept>::key(source, destination));
  if (fresh || kept.at != at) {
    kept.at = at;
    kept.open = divide(source, at, destination, found_parts_, found_hops_);
    kept.parts = static_cast<std::uint32_t>(kept_parts_.size());
    kept.hops = static_cast<std::uint32_t>(kept_hops_.size());
    kept.part_count = static_cast<std::uint32_t>(found_parts_.size());
    kept.hop_count = static_cast<std::uint32_t>(found_hops_.size());
    kept_parts_.insert(kept_parts_.end(), found_parts_.begin(), found_parts_.end());
    kept_hops_.insert(kept_hops_.end(), found_hops_.begin(), found_hops_.end());
  }
  return {kept.open, std::span(kept_parts_).subspan(kept.parts, kept.part_count),
          std::span(kept_hops_).subspan(kept.hops, kept.hop_count)};
}

// Routes are followed to the end, so a way with a link that is down is none.
bool Division::divide_named(std::uint32_t source, std::uint32_t destination, std::vector<Part>& parts,
                            std::vector<std::uint32_t>& hops) {
  ways_.clear();
  model_->ways(source, destination, ways_);
  bool open = !ways_.empty();
  for (const routing::NamedWay& way : ways_) {
    for (const std::uint32_t c : way.channels) {
      open = open && capacity_[c] > 0;
      add(c, way.share);
    }
  }
  take_parts(parts);
  hops.clear();
  if (!ways_.empty()) {
    hops = std::ranges::max_element(ways_, {}, &routing::NamedWay::share)->channels;
  }
  return open;
}

// What was added.
void Division::take_parts(std::vector<Part>& parts) {
  parts.clear();
  std::ranges::sort(touched_);
  for (const std::uint32_t c : touched_) {
    const double share = std::exchange(load_[c], 0.0);
    constexpr double kNothing = 1e-9;  // what differences of sums leave
    if (share > kNothing) parts.push_back({c, std::min(share, 1.0)});
  }
  touched_.clear();
}

void Division::add(std::uint32_t channel, double share) {
  if (load_[channel] == 0) touched_.push_back(channel);
  load_[channel] += share;
}

// Moves what is in amount_ along the graph, in the order of its stops.
bool Division::move(const Ways& ways, double scale) {
  bool open = true;
  amount_.resize(graph_.stops().size());
  constexpr double kNothing = 1e-9;
  // In a circle less is left each time, unless what leads out of it is down.
  constexpr int kMostRounds = 10'000;
  int rounds = 0;
  for (bool again = true; again;) {
    again = false;
    for (const std::uint32_t number : graph_.order()) {
      const double amount = std::exchange(amount_[number], 0.0);
      const PathGraph::Stop& stop = graph_.stops()[number];
      if (amount == 0 || stop.last) continue;
      const auto steps = graph_.steps(stop);
      double up = 0;
      for (const PathStep& step : steps) up += capacity_[step.channel] > 0 ? step.share : 0;
      open = open && up > 0;
      for (std::uint32_t i = 0; i < steps.size() && up > 0; ++i) {
        if (capacity_[steps[i].channel] == 0) continue;
        const double part = amount * steps[i].share / up;
        const std::uint32_t next = graph_.next(stop, i);
        if (next != PathGraph::kArrived) {
          amount_[next] += part;
          again = again || part > kNothing;
        }
        if (next == PathGraph::kArrived && ways.arrivals != nullptr) {
          ways.arrivals->push_back({stop.at, part * scale});
        } else if (&ways.load == &load_) {
          add(steps[i].channel, part * scale);
        } else {
          ways.load[steps[i].channel] += part * scale;
        }
      }
    }
    again = again && graph_.has_circle();
    if (again && ++rounds == kMostRounds) return false;
  }
  return open;
}

bool Division::straight(std::uint32_t at, PathState state, std::uint32_t destination, double share,
                        std::vector<std::uint32_t>& hops) {
  graph_.begin(destination, PathGraph::End::kHost);
  const std::uint32_t stop = graph_.add(at, state);
  if (hops.empty()) follow(at, state, hops);
  if (share == 0) return true;
  amount_.assign(graph_.stops().size(), 0);
  amount_[stop] = 1;
  return move({load_, nullptr}, share);
}

void Division::follow(std::uint32_t at, PathState state, std::vector<std::uint32_t>& hops) const {
  // Each stop at most once: a model may lead in a circle.
  std::uint32_t number = 0;
  while (graph_.stops()[number].at != at || graph_.stops()[number].state != state) ++number;
  for (std::size_t left = graph_.stops().size(); left > 0; --left) {
    const PathGraph::Stop& stop = graph_.stops()[number];
    const auto steps = graph_.steps(stop);
    std::uint32_t best = UINT32_MAX;
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      if (capacity_[steps[i].channel] == 0) continue;
      if (best == UINT32_MAX || steps[i].share > steps[best].share) best = i;
    }
    if (best == UINT32_MAX) return;
    hops.push_back(steps[best].channel);
    number = graph_.next(stop, best);
    if (number == PathGraph::kArrived) return;
  }
}

bool Division::first_leg(std::uint32_t at, PathState state, std::uint32_t via, double share,
                         const Ways& ways) {
  graph_.begin(groups_.destination(via), PathGraph::End::kSwitch);
  const std::uint32_t stop = graph_.add(at, state);
  amount_.assign(graph_.stops().size(), 0);
  amount_[stop] = 1;
  return move(ways, share);
}

bool Division::second_leg(std::uint32_t via, PathState state, std::uint32_t destination, double share,
                          const Ways& ways) {
  graph_.begin(destination, PathGraph::End::kHost);
  const auto homes = groups_.homes(via);
  std::vector<std::uint32_t> stops;
  for (const std::uint32_t home : homes) stops.push_back(graph_.add(home, model_->behind_detour(state)));
  amount_.assign(graph_.stops().size(), 0);
  for (const std::uint32_t stop : stops) amount_[stop] += 1.0 / static_cast<double>(homes.size());
  return move(ways, share);
}

void Division::expect_legs() {
  if (std::exchange(expected_, true)) return;
  const double channels = static_cast<double>(topology_.channels().size());
  expect_memory(2 * groups_.size() * channels * sizeof(double),
                fmt::format("the detours of {} groups of hosts over {} channels", grouped(groups_.size()),
                            grouped(channels)));
}

const Division::Legs& Division::first_legs(std::uint32_t group, std::uint32_t at, PathState state,
                                           bool within) {
  const auto [position, fresh] = first_.try_emplace({std::uint64_t{group} << 32 | at, state, within});
  Legs& legs = position->second;
  if (!fresh) return legs;
  expect_legs();
  legs.load.resize(topology_.channels().size());
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    const double odds = groups_.is_near(group, v) ? 0 : areas_.odds(v, group, within);
    if (odds > 0) legs.open = first_leg(at, state, v, odds, {legs.load, nullptr}) && legs.open;
  }
  return legs;
}

const Division::Legs& Division::second_legs(std::uint32_t group, PathState state, bool within) {
  const auto [position, fresh] = second_.try_emplace({group, state, within});
  Legs& legs = position->second;
  if (!fresh) return legs;
  expect_legs();
  legs.load.resize(topology_.channels().size());
  for (std::uint32_t v = 0; v < groups_.size(); ++v) {
    const double odds = groups_.is_near(group, v) ? 0 : areas_.odds(v, group, within);
    if (odds == 0) continue;
    legs.open =
        second_leg(v, state, groups_.destination(group), odds, {legs.load, &legs.arrivals}) && legs.open;
  }
  return legs;
}

// All detours of source and destination, less those by hosts near the other end.
bool Division::by_detour(std::uint32_t source, std::uint32_t at, std::uint32_t destination,
                         const PathStart& start) {
  const std::uint32_t s = groups_.of(source), d = groups_.of(destination);
  const bool within = areas_.is_within(s, d);
  const Legs& first = first_legs(s, at, start.state, within);
  const Legs& second = second_legs(d, start.state, within);
  for (std::uint32_t c = 0; c < load_.size(); ++c) {
    const double all = first.load[c] + second.load[c];
    if (all > 0) add(c, all * start.share);
  }
  std::vector<std::pair<std::uint32_t, double>> arrivals = second.arrivals, not_so;
  for (const std::uint32_t v : groups_.near(d)) {
    if (!groups_.is_near(s, v))
      first_leg(at, start.state, v, -areas_.odds(v, s, within) * start.share, {load_, nullptr});
  }
  for (const std::uint32_t v : groups_.near(s)) {
    if (groups_.is_near(d, v)) continue;
    second_leg(v, start.state, groups_.destination(d), -areas_.odds(v, d, within) * start.share,
               {load_, &not_so});
  }
  for (auto& [vertex, share] : arrivals) share *= start.share;
  arrivals.insert(arrivals.end(), not_so.begin(), not_so.end());
  bool open = first.open && second.open;
  const auto cables = topology_.out_channels(topology_.host(destination));
  for (const auto& [vertex, share] : arrivals) {
    const auto fits = [&, there = vertex](std::uint32_t c) {
      return topology_.channels()[c].to == there && capacity_[c ^ 1] > 0;
    };
    const auto count = static_cast<double>(std::ranges::count_if(cables, fits));
    open = open && count > 0;
    for (const std::uint32_t c : cables) {
      if (fits(c)) add(c ^ 1, share / count);
    }
  }
  return open;
}

}  // namespace weft::sim::flow
