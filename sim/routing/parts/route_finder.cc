#include "sim/routing/parts/route_finder.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

// Dijkstra's algorithm on arcs whose costs are small whole numbers, by what they lead away from the goal: of
// vertices that are equally good the last one found is gone on from, so that a way is followed to its end.
class RouteFinder::Search {
 public:
  explicit Search(const Topology& topology) : topology_(topology), closed_(topology.nodes(), 0) {}

  void begin() {
    ++round_;
    entries_.clear();
    done_.clear();
    for (auto& bucket : buckets_) bucket.clear();
  }
  // No way leads there.
  void close(Vertex v) { closed_[v] = round_; }
  // arcs(v, visit) calls visit(channel, cost) for each arc from v. False: there is no way of this cost at
  // most. After begin() and close().
  template <typename Arcs>
  bool run(Vertex from, Vertex to, std::uint32_t most, Arcs&& arcs) {
    if (buckets_.size() <= most) buckets_.resize(most + 1);
    entries_.push_back({.vertex = static_cast<std::uint32_t>(from)});
    buckets_[0].push_back(0);
    for (std::uint32_t cost = 0; cost <= most; ++cost) {
      while (!buckets_[cost].empty()) {
        const std::uint32_t at = buckets_[cost].back();
        buckets_[cost].pop_back();
        const Vertex v = entries_[at].vertex;
        if (closed_[v] == round_) continue;
        closed_[v] = round_;
        done_.push_back({v, cost});
        if (v == to) {
          last_ = at;
          cost_ = cost;
          return true;
        }
        arcs(v, [&](std::uint32_t channel, std::uint32_t arc_cost) {
          const std::uint32_t next = topology_.channels()[channel].to;
          if (closed_[next] == round_ || cost + arc_cost > most) return;
          buckets_[cost + arc_cost].push_back(static_cast<std::uint32_t>(entries_.size()));
          entries_.push_back({.vertex = next, .channel = channel, .parent = at});
        });
      }
    }
    return false;
  }
  // Both tell of a way that was found.
  std::uint32_t cost() const { return cost_; }
  void append_to(ChannelWay& way) const {
    const std::size_t begin = way.size();
    for (std::uint32_t at = last_; entries_[at].parent != kNone; at = entries_[at].parent) {
      way.push_back(entries_[at].channel);
    }
    std::reverse(way.begin() + static_cast<std::ptrdiff_t>(begin), way.end());
  }
  // All vertices that were reached, with what it took.
  const std::vector<std::pair<Vertex, std::uint32_t>>& done() const { return done_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Entry {
    std::uint32_t vertex = 0, channel = 0, parent = kNone;
  };

  const Topology& topology_;
  std::vector<std::uint32_t> closed_;  // by vertex: the last round in which it was
  std::uint32_t round_ = 0, last_ = 0, cost_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::vector<std::uint32_t>> buckets_;  // entries by cost
  std::vector<std::pair<Vertex, std::uint32_t>> done_;
};

namespace {

// The channels from a vertex in random order, those to hosts behind the others: what is drawn is the same for
// all hosts of a switch.
class Shuffled {
 public:
  explicit Shuffled(const Topology& topology) : topology_(topology) {}
  // REQUIRES: keep(channel) is false for all hosts but the destination.
  template <typename Keep>
  std::span<const std::uint32_t> of(Vertex at, sim::RandomStream& random, Keep&& keep) {
    channels_.clear();
    hosts_.clear();
    for (const std::uint32_t c : topology_.out_channels(at)) {
      if (!keep(c)) continue;
      const bool is_host = topology_.node(topology_.channels()[c].to).kind == NodeKind::kHost;
      (is_host ? hosts_ : channels_).push_back(c);
    }
    shuffle(channels_, random);
    shuffle(hosts_, random);
    channels_.insert(channels_.end(), hosts_.begin(), hosts_.end());
    return channels_;
  }

 private:
  static void shuffle(std::vector<std::uint32_t>& all, sim::RandomStream& random) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  }

  const Topology& topology_;
  std::vector<std::uint32_t> channels_, hosts_;
};

// How far everything is from a goal: the least number of links.
class Heights {
 public:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  Heights(const Topology& topology, const HostDistances::Distances& distances, Vertex source, Vertex goal)
      : topology_(topology), distances_(distances), source_(source), goal_(goal) {
    for (const std::uint32_t c : topology.out_channels(source)) {
      const std::uint32_t behind = of(topology.channels()[c].to);
      if (behind != kNowhere) least_ = std::min(least_, behind + 1);
    }
  }
  std::uint32_t of(Vertex v) const {
    if (v == goal_) return 0;
    if (v == source_) return least_;
    const topologies::Node& node = topology_.node(v);
    if (node.kind != NodeKind::kSwitch) return kNowhere;
    const std::uint8_t distance = distances_[node.index];
    return distance >= HostDistances::kFar ? kNowhere : distance;
  }

 private:
  const Topology& topology_;
  const HostDistances::Distances& distances_;
  const Vertex source_, goal_;
  std::uint32_t least_ = kNowhere;
};

}  // namespace

// What a search for several ways between two hosts goes by.
class RouteFinder::Task {
 public:
  Task(const Topology& topology, Search& search, const Heights& heights, Vertex from, Vertex to,
       std::uint32_t most_links, sim::RandomStream& random)
      : topology_(topology),
        search_(search),
        heights_(heights),
        from_(from),
        to_(to),
        most_(most_links),
        random_(random),
        shuffled_(topology) {}

 protected:
  const Topology& topology_;
  Search& search_;
  const Heights& heights_;
  const Vertex from_, to_;
  const std::uint32_t most_;
  sim::RandomStream& random_;
  Shuffled shuffled_;
};

class RouteFinder::Yen : private Task {
 public:
  using Task::Task;

  std::vector<ChannelWay> run(std::size_t count) {
    std::vector<ChannelWay> ways;
    propose({}, 0, {});
    while (!proposed_.empty() && ways.size() < count) {
      const Proposal best = std::move(proposed_.extract(proposed_.begin()).mapped());
      ways.push_back(best.way);
      if (ways.size() == count) break;
      // What is left of the set that it was the best of: those that leave it at some place.
      for (std::size_t i = best.fixed; i < best.way.size(); ++i) {
        std::vector<std::uint32_t> barred;
        if (i == best.fixed) barred = best.barred;
        barred.push_back(best.way[i]);
        propose(best.way, i, std::move(barred));
      }
    }
    return ways;
  }

 private:
  // The best of all ways that begin with the first `fixed` channels of `way`, and don't go on by those
  // barred.
  struct Proposal {
    ChannelWay way;
    std::size_t fixed = 0;
    std::vector<std::uint32_t> barred;
  };

  void propose(const ChannelWay& way, std::size_t fixed, std::vector<std::uint32_t> barred) {
    ChannelWay found(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(fixed));
    const Vertex at = fixed == 0 ? from_ : topology_.channels()[way[fixed - 1]].to;
    const std::uint32_t height = heights_.of(at);
    if (height == Heights::kNowhere || fixed + height > most_) return;
    if (!is_open(way, fixed, at, barred)) return;
    search_.begin();
    for (std::size_t i = 0; i < fixed; ++i) search_.close(topology_.channels()[way[i]].from);
    const auto arcs = [&](Vertex v, auto&& visit) {
      const std::uint32_t here = heights_.of(v);
      const auto keep = [&](std::uint32_t channel) {
        return heights_.of(topology_.channels()[channel].to) != Heights::kNowhere &&
               (v != at || std::find(barred.begin(), barred.end(), channel) == barred.end());
      };
      for (const std::uint32_t channel : shuffled_.of(v, random_, keep)) {
        visit(channel, 1 + heights_.of(topology_.channels()[channel].to) - here);
      }
    };
    if (!search_.run(at, to_, most_ - static_cast<std::uint32_t>(fixed) - height, arcs)) return;
    search_.append_to(found);
    const std::pair<std::size_t, std::uint64_t> order{found.size(), random_.next()};
    proposed_.emplace(order, Proposal{std::move(found), fixed, std::move(barred)});
  }

  // Some link to the destination comes from where the way hasn't been, or may go on from here. Else it would
  // be looked for everywhere.
  bool is_open(const ChannelWay& way, std::size_t fixed, Vertex at,
               const std::vector<std::uint32_t>& barred) const {
    const auto last = topology_.out_channels(to_);
    return std::any_of(last.begin(), last.end(), [&](std::uint32_t back) {
      const Vertex end = topology_.channels()[back].to;
      if (end == at) return std::find(barred.begin(), barred.end(), back ^ 1) == barred.end();
      return std::none_of(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(fixed),
                          [&](std::uint32_t c) { return topology_.channels()[c].from == end; });
    });
  }

  std::multimap<std::pair<std::size_t, std::uint64_t>, Proposal> proposed_;  // by length, then at random
};

// A flow of one unit a way, over links that take one unit each.
class RouteFinder::Disjoint : private Task {
 public:
  using Task::Task;

  std::vector<ChannelWay> run(std::size_t count) {
    std::size_t found = 0;
    while (found < count && augment()) ++found;
    std::vector<ChannelWay> ways;
    for (std::size_t i = 0; i < found; ++i) {
      ChannelWay way = take_way();
      if (way.size() <= most_) ways.push_back(std::move(way));
    }
    std::stable_sort(ways.begin(), ways.end(),
                     [](const ChannelWay& a, const ChannelWay& b) { return a.size() < b.size(); });
    return ways;
  }

 private:
  bool is_shared(std::uint32_t channel) const {
    const topologies::Channel& c = topology_.channels()[channel];
    return topology_.node(c.from).kind == NodeKind::kHost || topology_.node(c.to).kind == NodeKind::kHost;
  }
  // The length of the shortest way on, if the units there are may be sent otherwise: the distance, and what
  // was added since.
  std::uint32_t height(Vertex v) const {
    const std::uint32_t distance = heights_.of(v);
    if (distance == Heights::kNowhere) return distance;
    const auto raised = raised_.find(v);
    return distance + (raised == raised_.end() ? 0 : raised->second);
  }
  bool carries(std::uint32_t channel) const { return flow_.contains(channel); }

  // One more unit by the shortest way there is in what is left.
  bool augment() {
    const std::uint32_t all = height(from_);
    if (all == Heights::kNowhere || all > most_) return false;
    search_.begin();
    const auto arcs = [&](Vertex v, auto&& visit) {
      const std::uint32_t here = height(v);
      const auto keep = [&](std::uint32_t channel) {
        const std::uint32_t next = topology_.channels()[channel].to;
        if (next == from_ || height(next) == Heights::kNowhere) return false;
        return is_shared(channel) ? !used_up_.contains(channel) : !carries(channel);
      };
      for (const std::uint32_t channel : shuffled_.of(v, random_, keep)) {
        const std::uint32_t next = height(topology_.channels()[channel].to);
        // Against a unit, it sends that back.
        const bool back = !is_shared(channel) && carries(channel ^ 1);
        visit(channel, back ? next - here - 1 : 1 + next - here);
      }
    };
    if (!search_.run(from_, to_, most_ - all, arcs)) return false;
    for (const auto& [v, cost] : search_.done()) {
      if (cost < search_.cost()) raised_[v] += search_.cost() - cost;
    }
    ChannelWay way;
    search_.append_to(way);
    // Over one switch: nothing keeps it from being found again.
    if (way.size() <= 2) used_up_.insert(way.back());
    for (const std::uint32_t channel : way) {
      if (!is_shared(channel) && carries(channel ^ 1)) {
        flow_.erase(channel ^ 1);
      } else {
        ++flow_[channel];
      }
    }
    return true;
  }

  // One unit's way, which is taken out of the flow.
  ChannelWay take_way() {
    ChannelWay way;
    for (Vertex at = from_; at != to_; at = topology_.channels()[way.back()].to) {
      const auto out = topology_.out_channels(at);
      const std::uint32_t channel = *std::ranges::find_if(out, [&](std::uint32_t c) { return carries(c); });
      way.push_back(channel);
      if (--flow_[channel] == 0) flow_.erase(channel);
    }
    return way;
  }

  std::map<std::uint32_t, std::uint32_t> flow_;  // units by channel
  std::map<Vertex, std::uint32_t> raised_;
  std::set<std::uint32_t> used_up_;  // links of hosts
};

RouteFinder::RouteFinder(const Topology& topology, std::uint32_t most)
    : topology_(topology), most_(most), distances_(topology, {}) {}

RouteFinder::~RouteFinder() = default;

template <typename Kind>
std::vector<ChannelWay> RouteFinder::find(std::uint32_t source, std::uint32_t destination, std::size_t count,
                                          sim::RandomStream random) {
  const Vertex from = topology_.host(source), to = topology_.host(destination);
  const Heights heights(topology_, distances_.towards(to), from, to);
  std::unique_ptr<Search> search;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      search = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (search == nullptr) search = std::make_unique<Search>(topology_);
  std::vector<ChannelWay> ways = Kind(topology_, *search, heights, from, to, most_ + 1, random).run(count);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(search));
  return ways;
}

std::vector<ChannelWay> RouteFinder::k_shortest(std::uint32_t source, std::uint32_t destination,
                                                std::size_t count, sim::RandomStream random) {
  return find<Yen>(source, destination, count, random);
}

std::vector<ChannelWay> RouteFinder::edge_disjoint(std::uint32_t source, std::uint32_t destination,
                                                   std::size_t count, sim::RandomStream random) {
  return find<Disjoint>(source, destination, count, random);
}

std::uint8_t RouteFinder::distance(std::uint32_t source, std::uint32_t destination) {
  const HostDistances::Distances& distances = distances_.towards(topology_.host(destination));
  std::uint8_t least = HostDistances::kNoWay;
  for (const std::uint32_t c : topology_.out_channels(topology_.host(source))) {
    const std::uint32_t next = topology_.channels()[c].to;
    if (next == topology_.host(destination)) return 0;
    const topologies::Node& node = topology_.node(next);
    if (node.kind == NodeKind::kSwitch) least = std::min(least, distances[node.index]);
  }
  return least;
}

}  // namespace weft::routing
