#include "sim/routing/paths/ascent.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/path_graph.h"

namespace weft::routing {
namespace {

struct NoAscent {};  // ways go round in circles, or are too many

// The highest numbers of channels that packets at some switch may hold; -1: none, they come from a host.
struct Held {
  std::int32_t hop = -1, by_group = -1, level = -1;

  void raise_to(const Held& other) {
    hop = std::max(hop, other.hop);
    by_group = std::max(by_group, other.by_group);
    level = std::max(level, other.level);
  }
};

// The numbers of links where they ascend on ways up, then down.
class Levels {
 public:
  static constexpr std::int32_t kNone = -1;  // of links between switches equally far from hosts

  explicit Levels(const topologies::Topology& topology) : of_(topology.channels().size(), kNone) {
    const std::vector<std::int32_t> distance = distances(topology);
    const std::int32_t top = *std::max_element(distance.begin(), distance.end());
    for (std::uint32_t c = 0; c < of_.size(); ++c) {
      const std::int32_t from = distance[topology.channels()[c].from],
                         to = distance[topology.channels()[c].to];
      if (from != to) of_[c] = from < to ? from : 2 * top - to;
    }
  }
  std::int32_t of(std::uint32_t channel) const { return of_[channel]; }

 private:
  // In links to the nearest host.
  static std::vector<std::int32_t> distances(const topologies::Topology& topology) {
    std::vector<std::int32_t> distance(topology.nodes(), kNone);
    std::vector<std::uint32_t> queue;
    for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
      queue.push_back(static_cast<std::uint32_t>(topology.host(host)));
      distance[queue.back()] = 0;
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const std::uint32_t c : topology.out_channels(queue[i])) {
        const auto to = static_cast<std::uint32_t>(topology.channels()[c].to);
        if (distance[to] != kNone) continue;
        distance[to] = distance[queue[i]] + 1;
        queue.push_back(to);
      }
    }
    return distance;
  }

  std::vector<std::int32_t> of_;  // by channel
};

// Follows all packets of one kind, as find_dependencies() does, but keeps the highest numbers only.
class Climb {
 public:
  Climb(const topologies::Topology& topology, const RoutingTable& table, const Travellers& who,
        const Levels& levels, std::uint64_t most_work, Ascent& ascent)
      : topology_(topology),
        who_(who),
        levels_(levels),
        most_work_(most_work),
        ascent_(ascent),
        groups_(topology, table, who.paths->tells_hosts_apart()),
        graph_(topology, *who.paths),
        begins_(std::size_t{topology.nodes()} * PathModel::kMostStates) {}

  void run() {
    if (who_.paths->names_ways()) return named();
    each_group([&](std::uint32_t d) { find_detours(d); });
    if (!detours_.empty()) each_group([&](std::uint32_t v) { first_leg(v); });
    each_group([&](std::uint32_t d) { to_host(d); });
  }

 private:
  using Place = std::pair<std::uint32_t, PathState>;

  void spend(std::uint64_t work) {
    ascent_.work += work;
    if (ascent_.work > most_work_) throw NoAscent();
  }
  // Ends where the first ones take so much that all would take far more than is allowed.
  template <typename Visit>
  void each_group(Visit&& visit) {
    constexpr std::uint32_t kFirst = 16;
    const std::uint64_t before = ascent_.work;
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      if (g == kFirst) {
        const double all = static_cast<double>(ascent_.work - before) / kFirst * groups_.size();
        if (static_cast<double>(before) + all > 1.5 * static_cast<double>(most_work_)) throw NoAscent();
      }
      visit(g);
    }
  }
  template <typename Visit>
  void each_entry(std::uint32_t group, Visit&& visit) const {
    for (const Entry& entry : groups_.nics(group)) {
      if (topology_.node(entry.to).kind == topologies::NodeKind::kSwitch) visit(entry.to);
    }
  }
  template <typename Visit>
  void each_start_to(std::uint32_t d, Visit&& visit) {
    spend(groups_.size());
    for (std::uint32_t s = 0; s < groups_.size(); ++s) {
      if (!groups_.has_pair(s, d)) continue;
      starts_.clear();
      who_.paths->starts(groups_.source(s, d), groups_.destination(d), starts_);
      for (const PathStart& start : starts_) visit(s, start);
    }
  }
  // Once for each place, not for each pair.
  void find_detours(std::uint32_t d) {
    each_start_to(d, [&](std::uint32_t s, const PathStart& start) {
      if (!start.by_detour) return;
      each_entry(s, [&](std::uint32_t at) {
        const std::size_t place = std::size_t{at} * PathModel::kMostStates + start.state;
        if (begins_[place]) return;
        begins_[place] = true;
        detours_.push_back({at, start.state});
      });
    });
  }

  void first_leg(std::uint32_t v) {
    graph_.begin(groups_.destination(v), PathGraph::End::kSwitch);
    for (const auto& [at, state] : detours_) graph_.add(at, state);
    held_.assign(graph_.stops().size(), {});
    carry();
    for (std::uint32_t i = 0; i < graph_.stops().size(); ++i) {
      const PathGraph::Stop& stop = graph_.stops()[i];
      if (stop.last) second_[{stop.at, who_.paths->behind_detour(stop.state)}].raise_to(held_[i]);
    }
  }

  void to_host(std::uint32_t d) {
    graph_.begin(groups_.destination(d), PathGraph::End::kHost);
    each_start_to(d, [&](std::uint32_t s, const PathStart& start) {
      // By an intermediate host nearby it is none.
      const PathState state = start.by_detour ? who_.paths->behind_detour(start.state) : start.state;
      each_entry(s, [&](std::uint32_t at) { graph_.add(at, state); });
    });
    for (const auto& [place, held] : second_) graph_.add(place.first, place.second);
    held_.assign(graph_.stops().size(), {});
    for (const auto& [place, held] : second_) held_[graph_.add(place.first, place.second)].raise_to(held);
    carry();
  }

  void carry() {
    if (graph_.has_circle()) throw NoAscent();
    std::uint64_t work = 0;
    for (const std::uint32_t i : graph_.order()) {
      const PathGraph::Stop& stop = graph_.stops()[i];
      const auto steps = graph_.steps(stop);
      work += 1 + steps.size();
      for (std::uint32_t k = 0; k < steps.size(); ++k) {
        const std::uint32_t next = graph_.next(stop, k);
        if (next != PathGraph::kArrived) held_[next].raise_to(behind(held_[i], steps[k].channel));
      }
    }
    spend(work);
  }

  void named() {
    std::vector<NamedWay> ways;
    for (std::uint32_t d = 0; d < groups_.size(); ++d) {
      for (std::uint32_t s = 0; s < groups_.size(); ++s) {
        if (!groups_.has_pair(s, d)) continue;
        ways.clear();
        who_.paths->ways(groups_.source(s, d), groups_.destination(d), ways);
        for (const NamedWay& way : ways) follow(way.channels);
      }
    }
  }
  void follow(const std::vector<std::uint32_t>& channels) {
    constexpr std::uint64_t kNaming = 50;  // what naming a link takes, of what a step does
    spend(kNaming * channels.size());
    Held held;
    for (std::size_t i = 1; i + 1 < channels.size(); ++i) held = behind(held, channels[i]);
  }

  // What who held that holds when it has gone through this channel. Ways that are gone backwards keep their
  // channel where one within a group comes after one that leaves it, as seen forwards; levels ascend on the
  // way back if they do on the way there.
  Held behind(const Held& held, std::uint32_t channel) {
    const topologies::Channel& wire = topology_.channels()[channel];
    const bool crosses = topology_.node(wire.from).group != topology_.node(wire.to).group;
    const std::int32_t upper = crosses != who_.reversed ? 1 : 0;
    const Held next{
        .hop = held.hop + 1,
        .by_group =
            (held.by_group % 2 == 0 && upper == 1 ? held.by_group : 2 * ((held.by_group + 2) / 2)) + upper,
        .level = levels_.of(channel)};
    ascent_.hops = std::max(ascent_.hops, static_cast<std::uint32_t>(next.hop + 1));
    ascent_.by_group = std::max(ascent_.by_group, static_cast<std::uint32_t>(next.by_group / 2 + 1));
    ascent_.up_then_down = ascent_.up_then_down && next.level > held.level;
    return next;
  }

  const topologies::Topology& topology_;
  const Travellers& who_;
  const Levels& levels_;
  const std::uint64_t most_work_;
  Ascent& ascent_;
  const HostGroups groups_;
  PathGraph graph_;
  std::vector<Place> detours_;    // where they begin
  std::vector<bool> begins_;      // is it there, by vertex and state
  std::map<Place, Held> second_;  // of who is there where second legs begin
  std::vector<Held> held_;        // by stop, of the host at hand
  std::vector<PathStart> starts_;
};

}  // namespace

std::optional<Ascent> find_ascent(const topologies::Topology& topology, const RoutingTable& table,
                                  const std::vector<Travellers>& travellers, std::uint64_t most_work) {
  Ascent ascent;
  const Levels levels(topology);
  try {
    for (auto who = travellers.begin(); who != travellers.end(); ++who) {
      // ACKs that go as data do climb the same channels.
      const bool again = std::any_of(travellers.begin(), who, [&](const Travellers& other) {
        return other.paths == who->paths && other.reversed == who->reversed;
      });
      if (!again) Climb(topology, table, *who, levels, most_work, ascent).run();
    }
  } catch (const NoAscent&) {
    return std::nullopt;
  }
  return ascent;
}

}  // namespace weft::routing
