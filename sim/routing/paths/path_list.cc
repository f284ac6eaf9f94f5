#include "sim/routing/paths/path_list.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "sim/routing/paths/path_graph.h"
#include "sim/routing/table/home_switches.h"

namespace weft::routing {
namespace {

constexpr std::uint32_t kEndless = UINT32_MAX;

class Lister {
 public:
  Lister(const topologies::Topology& topology, const RoutingTable& table, const PathModel& model,
         std::uint32_t source, std::uint32_t destination)
      : topology_(topology),
        table_(table),
        model_(model),
        homes_(topology),
        source_(source),
        destination_(destination),
        graph_(topology, model) {}

  PathList run(std::uint32_t most) {
    split_starts();
    graph_.begin(destination_, PathGraph::End::kHost);
    const Candidates nics = table_.candidates(topology_.host(source_), destination_);
    for (PathState state = 0; state < PathModel::kMostStates; ++state) {
      if (direct_[state] == 0) continue;
      for (const std::uint32_t nic : nics) {
        begin(nic, state, direct_[state] / static_cast<double>(nics.size()));
      }
    }
    look_ahead();
    list_direct(most);
    list_detours(most);
    return std::move(list_);
  }

 private:
  // A beginning of paths: the channel it ends with, and what it goes on from.
  struct Prefix {
    std::uint32_t parent = kNone, channel = 0, depth = 0;
    std::uint32_t stop = PathGraph::kArrived;
    double share = 0;
  };
  struct Root {
    std::uint32_t nic, stop;
    double share;
  };
  // Better prefixes first; of equal ones the longest, so that lists end soon.
  struct Waiting {
    float bound;
    std::uint32_t depth, prefix;
    bool operator<(const Waiting& other) const {
      if (bound != other.bound) return bound < other.bound;
      if (depth != other.depth) return depth < other.depth;
      return prefix > other.prefix;
    }
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::set<std::uint32_t> switches_of(std::uint32_t host) const {
    return {homes_.of(host).begin(), homes_.of(host).end()};
  }

  // Intermediate hosts that share a switch with either end mean the direct way.
  void split_starts() {
    std::vector<PathStart> starts;
    model_.starts(source_, destination_, starts);
    const std::set<std::uint32_t> ends[] = {switches_of(source_), switches_of(destination_)};
    const bool any = std::ranges::any_of(starts, [](const PathStart& start) { return start.by_detour; });
    std::uint32_t near = 0;
    for (std::uint32_t host = 0; any && host < topology_.hosts(); ++host) {
      const std::set<std::uint32_t> own = switches_of(host);
      const bool is_near = std::ranges::any_of(
          own, [&](std::uint32_t v) { return ends[0].contains(v) || ends[1].contains(v); });
      near += is_near;
      if (!is_near) by_switches_[{own.begin(), own.end()}].push_back(host);
    }
    for (const PathStart& start : starts) {
      if (!start.by_detour) {
        direct_[start.state] += start.share;
        continue;
      }
      detour_[start.state] += start.share;
      direct_[model_.behind_detour(start.state)] += start.share * near / topology_.hosts();
    }
  }

  void begin(std::uint32_t nic, PathState state, double share) {
    const std::uint32_t to = topology_.channels()[nic].to;
    const bool arrives = topology_.node(to).kind == topologies::NodeKind::kHost;
    roots_.push_back({nic, arrives ? PathGraph::kArrived : graph_.add(to, state), share});
  }

  // How likely the likeliest way on is, from each stop, and how many ways there are.
  void look_ahead() {
    const auto stops = graph_.stops();
    best_.assign(stops.size(), 0);
    ways_.assign(stops.size(), 0);
    const auto order = graph_.order();
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = order.size(); i-- > 0;) {
        const PathGraph::Stop& stop = stops[order[i]];
        double best = 0, ways = 0;
        const auto steps = graph_.steps(stop);
        for (std::uint32_t k = 0; k < steps.size(); ++k) {
          const std::uint32_t next = graph_.next(stop, k);
          best = std::max(best, steps[k].share * (next == PathGraph::kArrived ? 1 : best_[next]));
          ways += next == PathGraph::kArrived ? 1 : ways_[next];
        }
        again = again || best > best_[order[i]];
        best_[order[i]] = best;
        ways_[order[i]] = ways;
      }
      again = again && graph_.has_circle();
    }
  }

  void list_direct(std::uint32_t most) {
    for (const Root& root : roots_) {
      list_.paths_left += root.stop == PathGraph::kArrived ? 1 : ways_[root.stop];
      list_.share_left += root.share;
      push({kNone, root.nic, 0, root.stop, root.share});
    }
    if (graph_.has_circle()) list_.paths_left = std::numeric_limits<double>::infinity();
    std::map<std::vector<std::uint32_t>, std::size_t> known;  // the same path in several states
    while (!waiting_.empty()) {
      const std::uint32_t at = waiting_.top().prefix;
      if (prefixes_[at].stop == PathGraph::kArrived && !add_path(at, most, known)) break;
      waiting_.pop();
      if (prefixes_[at].stop != PathGraph::kArrived) expand(at);
    }
    if (waiting_.empty()) list_.paths_left = list_.share_left = 0;
    std::ranges::stable_sort(list_.paths, std::greater<>(), &ListedPath::share);
  }
  // False: it would be one too many.
  bool add_path(std::uint32_t at, std::uint32_t most,
                std::map<std::vector<std::uint32_t>, std::size_t>& known) {
    std::vector<std::uint32_t> channels;
    for (std::uint32_t p = at; p != kNone; p = prefixes_[p].parent) channels.push_back(prefixes_[p].channel);
    std::reverse(channels.begin(), channels.end());
    const auto [position, is_new] = known.try_emplace(channels, list_.paths.size());
    if (is_new && list_.paths.size() == most) return false;
    if (is_new) list_.paths.push_back({0, std::move(channels)});
    list_.paths[position->second].share += prefixes_[at].share;
    list_.paths_left -= 1;
    list_.share_left -= prefixes_[at].share;
    return true;
  }
  void expand(std::uint32_t at) {
    const Prefix from = prefixes_[at];
    const PathGraph::Stop& stop = graph_.stops()[from.stop];
    const auto steps = graph_.steps(stop);
    for (std::uint32_t k = 0; k < steps.size(); ++k) {
      push({at, steps[k].channel, from.depth + 1, graph_.next(stop, k), from.share * steps[k].share});
    }
  }
  void push(const Prefix& prefix) {
    const double ahead = prefix.stop == PathGraph::kArrived ? 1 : best_[prefix.stop];
    if (prefix.share * ahead == 0) return;  // it leads nowhere
    waiting_.push({static_cast<float>(prefix.share * ahead), prefix.depth,
                   static_cast<std::uint32_t>(prefixes_.size())});
    prefixes_.push_back(prefix);
  }

  void list_detours(std::uint32_t most) {
    double share = 0;
    for (const double each : detour_) share += each;
    if (share == 0) return;
    std::vector<ListedDetour> all;
    for (const auto& [switches, hosts] : by_switches_) {
      const auto count = static_cast<std::uint32_t>(hosts.size());
      all.push_back({share * count / topology_.hosts(), switches, count, 0, 0});
    }
    std::ranges::stable_sort(all, std::greater<>(), &ListedDetour::hosts);
    for (std::size_t i = most; i < all.size(); ++i) {
      ++list_.detours_left;
      list_.detour_share_left += all[i].share;
    }
    if (all.size() > most) all.resize(most);
    for (ListedDetour& detour : all) measure(detour);
    list_.detours = std::move(all);
  }
  // How long ways by there are.
  void measure(ListedDetour& detour) {
    detour.least_hops = kEndless;
    const std::uint32_t via = by_switches_[detour.via].front();
    graph_.begin(via, PathGraph::End::kSwitch);
    std::vector<std::uint32_t> first;
    const Candidates nics = table_.candidates(topology_.host(source_), via);
    for (PathState state = 0; state < PathModel::kMostStates; ++state) {
      for (const std::uint32_t nic : nics) {
        if (detour_[state] > 0) first.push_back(graph_.add(topology_.channels()[nic].to, state));
      }
    }
    std::map<std::pair<std::uint32_t, PathState>, Length> arrived;
    for (const auto& [stop, length] : lengths(first, {1, 1})) {
      const PathGraph::Stop& there = graph_.stops()[stop];
      if (there.last) widen(arrived[{there.at, model_.behind_detour(there.state)}], length);
    }
    graph_.begin(destination_, PathGraph::End::kHost);
    for (const auto& [place, length] : arrived) {
      const std::uint32_t start = graph_.add(place.first, place.second);
      for (const auto& [stop, so_far] : lengths({start}, length)) {
        const PathGraph::Stop& there = graph_.stops()[stop];
        for (std::uint32_t k = 0; k < there.steps; ++k) {
          if (graph_.next(there, k) != PathGraph::kArrived) continue;
          detour.least_hops = std::min(detour.least_hops, so_far.least + 1);
          detour.most_hops = std::max(detour.most_hops, so_far.most == kEndless ? kEndless : so_far.most + 1);
        }
      }
    }
  }
  struct Length {
    std::uint32_t least = kEndless, most = 0;
  };
  static void widen(Length& length, Length other) {
    length.least = std::min(length.least, other.least);
    length.most = std::max(length.most, other.most);
  }
  // Links from the beginning to each stop.
  std::map<std::uint32_t, Length> lengths(const std::vector<std::uint32_t>& from, Length begin) {
    std::map<std::uint32_t, Length> found;
    for (const std::uint32_t stop : from) widen(found[stop], begin);
    const auto order = graph_.order();
    // In circles the least is found in as many rounds as there are stops at most.
    for (std::size_t round = 0; round < (graph_.has_circle() ? order.size() : 1); ++round) {
      for (const std::uint32_t number : order) {
        const auto here = found.find(number);
        if (here == found.end()) continue;
        const PathGraph::Stop& stop = graph_.stops()[number];
        Length next = here->second;
        ++next.least;
        next.most = graph_.has_circle() ? kEndless : next.most + 1;
        for (std::uint32_t k = 0; k < stop.steps; ++k) {
          if (graph_.next(stop, k) != PathGraph::kArrived) widen(found[graph_.next(stop, k)], next);
        }
      }
    }
    return found;
  }

  const topologies::Topology& topology_;
  const RoutingTable& table_;
  const PathModel& model_;
  const HomeSwitches homes_;
  const std::uint32_t source_, destination_;
  PathGraph graph_;
  PathList list_;
  std::array<double, PathModel::kMostStates> direct_{}, detour_{};  // shares by the state of the start
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> by_switches_;  // intermediate hosts
  std::vector<Root> roots_;
  std::vector<double> best_, ways_;  // by stop
  std::vector<Prefix> prefixes_;
  std::priority_queue<Waiting> waiting_;
};

PathList list_named(const PathModel& model, std::uint32_t source, std::uint32_t destination,
                    std::uint32_t most) {
  std::vector<NamedWay> ways;
  model.ways(source, destination, ways);
  std::map<std::vector<std::uint32_t>, double> shares;
  for (const NamedWay& way : ways) shares[way.channels] += way.share;
  PathList list;
  for (const auto& [channels, share] : shares) list.paths.push_back({share, channels});
  std::ranges::stable_sort(list.paths, [](const ListedPath& a, const ListedPath& b) {
    if (a.share != b.share) return a.share > b.share;
    return a.channels.size() < b.channels.size();
  });
  while (list.paths.size() > most) {
    list.paths_left += 1;
    list.share_left += list.paths.back().share;
    list.paths.pop_back();
  }
  return list;
}

}  // namespace

PathList list_paths(const topologies::Topology& topology, const RoutingTable& table, const PathModel& model,
                    std::uint32_t source, std::uint32_t destination, std::uint32_t most) {
  if (model.names_ways()) return list_named(model, source, destination, most);
  return Lister(topology, table, model, source, destination).run(most);
}

}  // namespace weft::routing
