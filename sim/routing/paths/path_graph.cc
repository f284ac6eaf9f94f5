#include "sim/routing/paths/path_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "sim/routing/checked_paths.h"

namespace weft::routing {

PathGraph::PathGraph(const topologies::Topology& topology, const PathModel& model)
    : topology_(topology),
      model_(model),
      homes_(topology),
      states_(model.states()),
      is_host_(topology.nodes()),
      number_(std::size_t{topology.nodes()} * model.states(), kUnknown) {
  for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
    is_host_[v] = topology.node(v).kind == topologies::NodeKind::kHost;
  }
}

void PathGraph::begin(std::uint32_t host, End end) {
  for (const Stop& stop : stops_) number_[place(stop.at, stop.state)] = kUnknown;
  stops_.clear();
  steps_.clear();
  next_.clear();
  done_.clear();
  is_done_.clear();
  has_circle_ = false;
  host_ = host;
  end_ = end;
  last_.clear();
  if (end == End::kHost) return;
  last_.assign(homes_.of(host).begin(), homes_.of(host).end());
}

std::uint32_t PathGraph::make(std::uint32_t at, PathState state) {
  if (state >= states_) {
    throw std::logic_error(fmt::format("a path model of {} states comes to state {}", states_, state));
  }
  const auto number = static_cast<std::uint32_t>(stops_.size());
  number_[place(at, state)] = number;
  Stop& stop = stops_.emplace_back();
  is_done_.push_back(false);
  stop.at = at;
  stop.state = state;
  stop.first_step = static_cast<std::uint32_t>(steps_.size());
  stop.last = std::find(last_.begin(), last_.end(), at) != last_.end();
  if (!stop.last) model_.steps(at, state, host_, steps_);
  stop.steps = static_cast<std::uint32_t>(steps_.size()) - stop.first_step;
  next_.resize(steps_.size(), kUnknown);
  return number;
}

std::uint32_t PathGraph::add(topologies::Vertex at, PathState state) {
  const auto vertex = static_cast<std::uint32_t>(at);
  if (const std::uint32_t known = number_[place(vertex, state)]; known != kUnknown) return known;
  const std::uint32_t root = make(vertex, state);
  stack_.push_back({root, 0});
  while (!stack_.empty()) {
    Visit& visit = stack_.back();
    const Stop stop = stops_[visit.stop];
    if (visit.step == stop.steps) {
      is_done_[visit.stop] = true;
      done_.push_back(visit.stop);
      stack_.pop_back();
      continue;
    }
    const std::uint32_t step = stop.first_step + visit.step++;
    const std::uint32_t to = topology_.channels()[steps_[step].channel].to;
    if (is_host_[to]) {
      next_[step] = kArrived;
      continue;
    }
    std::uint32_t next = number_[place(to, steps_[step].state)];
    if (next == kUnknown) {
      next = make(to, steps_[step].state);
      stack_.push_back({next, 0});
    } else if (!is_done_[next]) {
      has_circle_ = true;
    }
    next_[step] = next;
  }
  if (has_circle_) check_ends();
  return root;
}

// From every stop packets come to the end, or to where there is no way on: whoever moves them along is done
// some day.
void PathGraph::check_ends() const {
  std::vector<bool> ends(stops_.size(), false);
  for (bool again = true; again;) {
    again = false;
    for (const std::uint32_t number : done_) {
      const Stop& stop = stops_[number];
      bool here = stop.last || stop.steps == 0;
      for (std::uint32_t i = stop.first_step; i < stop.first_step + stop.steps && !here; ++i) {
        here = steps_[i].share > 0 && (next_[i] == kArrived || ends[next_[i]]);
      }
      again = again || here != ends[number];
      ends[number] = here;
    }
  }
  for (const std::uint32_t number : done_) {
    if (!ends[number]) fail_endless(model_, topology_, stops_[number].at, host_);
  }
}

std::span<const std::uint32_t> PathGraph::order() {
  order_.assign(done_.rbegin(), done_.rend());
  return order_;
}

}  // namespace weft::routing
