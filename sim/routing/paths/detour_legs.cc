#include "sim/routing/paths/detour_legs.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/units/grouped.h"
#include "sim/units/memory.h"

namespace weft::routing {

DetourLegs::DetourLegs(const topologies::Topology& topology, const PathModel& model, const HostGroups& groups,
                       const std::vector<double>& capacity)
    : topology_(topology), groups_(groups), capacity_(capacity) {
  constexpr double kBytes = 150;  // of a network with a few next links each
  expect_memory(kBytes * 2 * groups.size() * topology.switches(),
                fmt::format("the ways of {} groups of hosts over {} switches", grouped(groups.size()),
                            grouped(topology.switches())));
  for (std::uint32_t c = 0; c < topology.channels().size(); ++c) {
    const topologies::Channel& channel = topology.channels()[c];
    const bool counts = topology.node(channel.from).kind == topologies::NodeKind::kSwitch &&
                        topology.node(channel.to).kind == topologies::NodeKind::kSwitch &&
                        !groups.leaves_out(channel);
    if (counts) between_.push_back(c);
  }
  if (topology.hosts() < 2) return;
  find_states(model);
  PathGraph graph(topology, model);
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    to_hosts_.push_back(make_leg(graph, g, PathGraph::End::kHost));
    to_switches_.push_back(make_leg(graph, g, PathGraph::End::kSwitch));
    steps_ += to_hosts_.back().steps.size() + to_switches_.back().steps.size();
  }
}

// Neighbours may have no detours.
void DetourLegs::find_states(const PathModel& model) {
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

DetourLegs::Leg DetourLegs::make_leg(PathGraph& graph, std::uint32_t to, PathGraph::End end) {
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

void DetourLegs::carry(const Leg& leg, Carried& carried) {
  for (std::size_t stop = 0; stop + 1 < leg.begin.size(); ++stop) {
    const double amount = value_[stop];
    if (amount == 0) continue;
    if (leg.cut_off[stop]) carried.lost += amount;
    for (std::uint32_t i = leg.begin[stop]; i < leg.begin[stop + 1]; ++i) {
      const Step& step = leg.steps[i];
      carried.on[step.channel] += amount * step.share;
      if (step.next != kOut) value_[step.next] += amount * step.share;
    }
  }
}

void DetourLegs::price(const Leg& leg, std::span<const double> prices) {
  value_.assign(leg.begin.size(), 0);
  for (std::size_t stop = leg.begin.size() - 1; stop-- > 0;) {
    double sum = leg.cut_off[stop] ? kNoWay : 0;
    for (std::uint32_t i = leg.begin[stop]; i < leg.begin[stop + 1]; ++i) {
      const Step& step = leg.steps[i];
      sum += step.share * (prices[step.channel] + (step.next == kOut ? 0 : value_[step.next]));
    }
    value_[stop] = sum;
  }
}

}  // namespace weft::routing
