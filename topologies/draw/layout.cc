#include "topologies/draw/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "topologies/draw/plan.h"

namespace weft::topologies {

std::vector<std::uint32_t> numbers_in(const std::string& name) {
  std::vector<std::uint32_t> numbers;
  const std::size_t blank = name.rfind(' ');
  bool inside = false;
  for (std::size_t i = blank == std::string::npos ? 0 : blank + 1; i < name.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
      if (name[i] != '.') return {};
      inside = false;
      continue;
    }
    if (!inside) numbers.push_back(0);
    inside = true;
    numbers.back() = numbers.back() * 10 + static_cast<std::uint32_t>(name[i] - '0');
  }
  return numbers;
}

Plan::Plan(const Topology& network) : topology(network), hosts_of(network.nodes()) {
  for (const Edge& edge : topology.edges()) links.emplace_back(edge.from, edge.to);
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    const Vertex v = topology.switch_at(s);
    routers.push_back(v);
    tiers = std::max<unsigned>(tiers, node(v).tier);
    sites = std::max<std::size_t>(sites, node(v).site + 1);
    groups[node(v).group].push_back(v);
  }
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const auto channels = topology.out_channels(topology.host(h));
    shared_hosts = shared_hosts || channels.size() > 1;
    std::vector<Vertex>& hosts = hosts_of[topology.channels()[channels[0]].to];
    hosts.push_back(topology.host(h));
    most_hosts = std::max(most_hosts, hosts.size());
  }
  read_coordinates();
}

void Plan::read_coordinates() {
  for (const Vertex v : routers) {
    coordinates.push_back(numbers_in(node(v).name));
    if (coordinates.back().size() != coordinates[0].size()) break;
  }
  const auto give_up = [&] {
    coordinates.clear();
    dims.clear();
  };
  if (coordinates.size() != routers.size() || coordinates.empty() || coordinates[0].empty()) return give_up();
  dims.assign(coordinates[0].size(), 0);
  for (const auto& place : coordinates) {
    for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = std::max(dims[d], place[d] + 1);
  }
  for (std::uint32_t i = 0; i < coordinates.size(); ++i) {
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) number = number * dims[d] + coordinates[i][d];
    if (number != i) return give_up();
  }
  // One number each is a numbering, not a place, unless the links are those of a line.
  std::size_t between = 0;
  for (const auto& [a, b] : links) {
    if (is_host(a) || is_host(b)) continue;
    ++between;
    const auto &from = coordinates[node(a).index], &to = coordinates[node(b).index];
    std::size_t changed = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) changed += from[d] != to[d];
    const bool near = dims.size() > 1 || to[0] - from[0] == 1 || from[0] - to[0] == dims[0] - 1 ||
                      to[0] - from[0] == dims[0] - 1;
    if (changed != 1 || !near) return give_up();
  }
  if (between == 0) give_up();
}

Layout empty_layout(const Plan& plan, Arrangement arrangement) {
  Layout layout;
  layout.arrangement = arrangement;
  layout.at.resize(plan.topology.nodes());
  layout.control.resize(plan.links.size());
  layout.kind.assign(plan.links.size(), 0);
  layout.kinds = {"to endpoints", "between switches"};
  for (std::size_t i = 0; i < plan.links.size(); ++i) {
    const auto& [a, b] = plan.links[i];
    layout.kind[i] = plan.is_host(a) || plan.is_host(b) ? 0 : 1;
  }
  return layout;
}

void straighten(const Plan& plan, Layout& layout) {
  for (std::size_t i = 0; i < plan.links.size(); ++i) {
    layout.control[i] = mix(layout.at[plan.links[i].first], layout.at[plan.links[i].second], 0.5F);
  }
}

namespace {

struct Named {
  const char* name;
  Arrangement arrangement;
};
constexpr Named kNames[] = {
    {"auto", Arrangement::kAuto},     {"tiers", Arrangement::kTiers},   {"grid", Arrangement::kGrid},
    {"boards", Arrangement::kBoards}, {"groups", Arrangement::kGroups}, {"ring", Arrangement::kRing},
    {"sites", Arrangement::kSites},
};

// A line of switches is drawn as a ring if it is closed, or too long for the width of the picture.
bool fits_grid(const Plan& plan) {
  constexpr std::uint32_t kLongest = 24;
  if (plan.coordinates.empty()) return false;
  const auto wide = std::count_if(plan.dims.begin(), plan.dims.end(), [](auto size) { return size > 1; });
  if (wide > 1) {
    // Groups that are slices of the grid show better as groups.
    const bool slices = std::all_of(plan.routers.begin(), plan.routers.end(), [&](Vertex v) {
      return plan.node(v).group == plan.coordinates[plan.node(v).index][0];
    });
    return !slices || plan.dims[0] == 1;
  }
  const std::size_t count = plan.routers.size();
  const bool closed = std::any_of(plan.links.begin(), plan.links.end(), [&](const auto& link) {
    const auto &a = plan.node(link.first), &b = plan.node(link.second);
    return a.kind == b.kind && count > 2 &&
           std::max(a.index, b.index) - std::min(a.index, b.index) == count - 1;
  });
  return !closed && count <= kLongest;
}

// Groups that are linked on a level with each other.
bool groups_are_peers(const Plan& plan) {
  return std::any_of(plan.links.begin(), plan.links.end(), [&](const auto& link) {
    const Node &a = plan.node(link.first), &b = plan.node(link.second);
    return a.kind == b.kind && a.tier == b.tier && a.group != b.group;
  });
}

Arrangement choose(const Plan& plan) {
  if (!plan.topology.boards().empty()) return Arrangement::kBoards;
  if (plan.routers.size() == 1) return Arrangement::kRing;
  if (fits_grid(plan)) return Arrangement::kGrid;
  const std::size_t groups = plan.groups.size();
  if (groups_are_peers(plan)) {
    return groups > 1 && groups * 2 <= plan.routers.size() ? Arrangement::kGroups : Arrangement::kRing;
  }
  return plan.tiers > 1 ? Arrangement::kTiers : Arrangement::kRing;
}

}  // namespace

std::vector<std::string> arrangement_names() {
  std::vector<std::string> names;
  for (const Named& entry : kNames) names.emplace_back(entry.name);
  return names;
}

Arrangement find_arrangement(std::string_view name) {
  for (const Named& entry : kNames) {
    if (name == entry.name) return entry.arrangement;
  }
  fail_unknown_name("arrangement", name, arrangement_names());
}

Layout lay_out(const Topology& topology, const Area& area, Arrangement arrangement) {
  const Plan plan(topology);
  if (arrangement == Arrangement::kAuto && plan.sites > 1) {
    try {
      return sites_layout(plan, area);
    } catch (const InputError&) {
      // A site that is no network of its own: all together, then.
    }
  }
  if (arrangement == Arrangement::kAuto) arrangement = choose(plan);
  switch (arrangement) {
    case Arrangement::kAuto:
    case Arrangement::kTiers:
      return tiers_layout(plan, area);
    case Arrangement::kGrid:
      if (plan.coordinates.empty()) {
        throw InputError(
            fmt::format("{} is no grid: a grid's switches are named by their coordinates, and every "
                        "link changes one of them",
                        topology.name()));
      }
      return grid_layout(plan, area);
    case Arrangement::kBoards:
      return boards_layout(plan, area);
    case Arrangement::kGroups:
      return groups_layout(plan, area);
    case Arrangement::kRing:
      return ring_layout(plan, area);
    case Arrangement::kSites:
      return sites_layout(plan, area);
  }
  return ring_layout(plan, area);
}

}  // namespace weft::topologies
