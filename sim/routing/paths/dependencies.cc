#include "sim/routing/paths/dependencies.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>
#include <utility>

#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/path_graph.h"
#include "sim/units/grouped.h"
#include "sim/units/memory.h"

namespace weft::routing {
namespace {

using Word = std::uint64_t;
constexpr std::uint32_t kWordBits = 64;

struct OutOfWork {};

class Budget {
 public:
  explicit Budget(std::uint64_t most) : left_(most) {}
  void spend(std::uint64_t work) {
    if (work > left_) throw OutOfWork();
    left_ -= work;
  }
  std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

// The virtual channels around each switch, and which of them wait for which. A lane is a port's virtual
// channel; for those that come in, the port is that of the way back.
class LaneGraph {
 public:
  LaneGraph(const topologies::Topology& topology, const ChannelRule& rule)
      : topology_(topology),
        rule_(rule),
        apart_(rule.control_apart ? 1 : 0),
        // Flows keep their channel, so that all channels are alike.
        shared_(rule.selection == ChannelRule::Selection::kByFlow ? 1 : rule.channels),
        lanes_(shared_ + apart_),
        port_(topology.channels().size()),
        rows_(topology.nodes() + 1) {
    double words = 0;
    for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
      const auto out = topology.out_channels(v);
      for (std::uint32_t p = 0; p < out.size(); ++p) port_[out[p]] = p;
      rows_[v] = static_cast<std::size_t>(words);
      if (is_switch(v)) words += static_cast<double>(out.size() * lanes_) * words_of(v);
    }
    rows_.back() = static_cast<std::size_t>(words);
    expect_memory(words * sizeof(Word),
                  fmt::format("the dependencies of {} channels", grouped(directions() * lanes_)));
    bits_.resize(rows_.back());
    used_.resize(topology.channels().size() * lanes_);
  }

  bool is_switch(std::size_t v) const { return topology_.node(v).kind == topologies::NodeKind::kSwitch; }
  std::uint32_t lanes() const { return lanes_; }
  // Tells how many words a set of lanes at a switch takes.
  std::uint32_t words_of(std::size_t v) const {
    const std::size_t bits = topology_.out_channels(v).size() * lanes_;
    return static_cast<std::uint32_t>((bits + kWordBits - 1) / kWordBits);
  }
  std::uint32_t lane(std::uint32_t channel, std::uint32_t virtual_channel) const {
    return port_[channel] * lanes_ + virtual_channel;
  }
  bool crosses(std::uint32_t channel) const {
    const topologies::Channel& c = topology_.channels()[channel];
    return topology_.node(c.from).group != topology_.node(c.to).group;
  }
  // The first link between switches, and one after another that crosses groups or not.
  std::uint32_t first(const Travellers& who, const PathStep& step) const {
    if (who.control && apart_ != 0) return shared_;
    if (rule_.selection != ChannelRule::Selection::kRouted) return 0;
    return who.reversed ? 0 : std::min<std::uint32_t>(step.virtual_channel, shared_ - 1);
  }
  std::uint32_t after(std::uint32_t before, bool crossed, const Travellers& who, const PathStep& step) const {
    if (before == shared_) return before;
    switch (rule_.selection) {
      case ChannelRule::Selection::kByFlow:
        return before;
      case ChannelRule::Selection::kRouted:
        return first(who, step);
      case ChannelRule::Selection::kByHop:
        return std::min(before + 1, shared_ - 1);
      case ChannelRule::Selection::kByGroup:
        return !crossed && crosses(step.channel) ? before : std::min(before + 1, shared_ - 1);
    }
    return before;
  }

  void use(std::uint32_t channel, std::uint32_t virtual_channel) {
    used_[std::size_t{channel} * lanes_ + virtual_channel] = true;
  }
  std::span<Word> row(std::size_t v, std::uint32_t in_lane) {
    const std::uint32_t words = words_of(v);
    return {bits_.data() + rows_[v] + std::size_t{in_lane} * words, words};
  }
  std::span<const Word> row(std::size_t v, std::uint32_t in_lane) const {
    const std::uint32_t words = words_of(v);
    return {bits_.data() + rows_[v] + std::size_t{in_lane} * words, words};
  }
  // Calls visit(node) for all that a node, a channel's virtual channel, waits for.
  template <typename Visit>
  void each_next(std::uint32_t node, Visit&& visit) const {
    const std::uint32_t channel = node / lanes_;
    const std::uint32_t at = topology_.channels()[channel].to;
    if (!is_switch(at)) return;
    const auto out = topology_.out_channels(at);
    const std::span<const Word> next = row(at, lane(channel ^ 1, node % lanes_));
    for (std::uint32_t w = 0; w < next.size(); ++w) {
      for (Word left = next[w]; left != 0; left &= left - 1) {
        const std::uint32_t bit = w * kWordBits + static_cast<std::uint32_t>(std::countr_zero(left));
        visit(out[bit / lanes_] * lanes_ + bit % lanes_);
      }
    }
  }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(used_.size()); }
  bool used(std::uint32_t node) const { return used_[node]; }
  // How many channels of the rule a node stands for.
  std::uint64_t weight(std::uint32_t node) const {
    return node % lanes_ < shared_ && rule_.selection == ChannelRule::Selection::kByFlow ? rule_.channels : 1;
  }
  Dependencies::Place place(std::uint32_t node) const {
    const std::uint32_t virtual_channel = node % lanes_;
    return {node / lanes_, virtual_channel < shared_ ? virtual_channel : rule_.channels};
  }

 private:
  double directions() const { return static_cast<double>(topology_.channels().size()); }

  const topologies::Topology& topology_;
  const ChannelRule& rule_;
  const std::uint32_t apart_, shared_, lanes_;
  std::vector<std::uint32_t> port_;  // by channel, at the node that it leaves
  std::vector<std::size_t> rows_;    // by vertex: where its rows begin
  std::vector<Word> bits_;
  std::vector<bool> used_;  // by channel and lane
};

// The lanes that packets may be in when they are at some switch in some state.
struct Presence {
  std::vector<Word> lanes;
  bool fresh = false;  // or they come from a host
};

// Follows the packets of one kind to and from all hosts, and notes what waits for what.
class Walker {
 public:
  Walker(const topologies::Topology& topology, const RoutingTable& table, const Travellers& who,
         LaneGraph& lanes, Budget& budget)
      : topology_(topology),
        who_(who),
        lanes_(lanes),
        budget_(budget),
        groups_(topology, table, who.paths->tells_hosts_apart()),
        graph_(topology, *who.paths),
        detours_(groups_.size()) {}

  void run() {
    if (who_.paths->names_ways()) return named();
    for (std::uint32_t d = 0; d < groups_.size(); ++d) find_detours(d);
    if (who_.reversed) {
      // Places first, to know where second legs begin.
      for (std::uint32_t v = 0; v < groups_.size(); ++v) first_leg(v, false);
      for (std::uint32_t d = 0; d < groups_.size(); ++d) to_host(d);
      for (std::uint32_t v = 0; v < groups_.size(); ++v) first_leg(v, true);
    } else {
      for (std::uint32_t v = 0; v < groups_.size(); ++v) first_leg(v, true);
      for (std::uint32_t d = 0; d < groups_.size(); ++d) to_host(d);
    }
  }

 private:
  struct Move {
    PathStep step;
    std::uint32_t next = 0;  // stop
  };

  // Ways hop by hop.
  void named() {
    std::vector<NamedWay> ways;
    for (std::uint32_t d = 0; d < groups_.size(); ++d) {
      for (std::uint32_t s = 0; s < groups_.size(); ++s) {
        if (!groups_.has_pair(s, d)) continue;
        ways.clear();
        who_.paths->ways(groups_.source(s, d), groups_.destination(d), ways);
        for (NamedWay& way : ways) follow(way.channels);
      }
    }
  }
  void follow(std::vector<std::uint32_t>& channels) {
    constexpr std::uint64_t kSearch = 100;  // what naming a link takes, of what a step does
    budget_.spend(kSearch * channels.size());
    if (who_.reversed) {
      std::ranges::reverse(channels);
      for (std::uint32_t& channel : channels) channel ^= 1;
    }
    std::uint32_t before = 0;
    for (std::size_t i = 1; i + 1 < channels.size(); ++i) {
      const PathStep step{.channel = channels[i]};
      const std::uint32_t now = i == 1 ? lanes_.first(who_, step)
                                       : lanes_.after(before, lanes_.crosses(channels[i - 1]), who_, step);
      lanes_.use(step.channel, now);
      if (i > 1) {
        const std::uint32_t at = topology_.channels()[step.channel].from;
        const std::uint32_t out = lanes_.lane(step.channel, now);
        lanes_.row(at, lanes_.lane(channels[i - 1] ^ 1, before))[out / kWordBits] |= Word{1}
                                                                                     << out % kWordBits;
      }
      before = now;
    }
  }

  static bool has(std::uint32_t states, PathState state) { return states >> state & 1; }

  void find_detours(std::uint32_t d) {
    for (std::uint32_t s = 0; s < groups_.size(); ++s) {
      if (!groups_.has_pair(s, d)) continue;
      starts_.clear();
      who_.paths->starts(groups_.source(s, d), groups_.destination(d), starts_);
      budget_.spend(1);
      for (const PathStart& start : starts_) {
        if (start.by_detour) detours_[s] |= 1u << start.state;
      }
    }
  }

  bool is_switch(const Entry& entry) const { return lanes_.is_switch(entry.to); }

  void first_leg(std::uint32_t v, bool follow) {
    graph_.begin(groups_.destination(v), PathGraph::End::kSwitch);
    begin_.clear();
    bool any = false;
    for (std::uint32_t s = 0; s < groups_.size(); ++s) {
      if (detours_[s] == 0 || groups_.is_near(s, v)) continue;
      any = true;
      for (PathState state = 0; state < PathModel::kMostStates; ++state) {
        for (const Entry& entry : groups_.nics(s)) {
          if (has(detours_[s], state) && is_switch(entry)) begin_at(entry.to, state);
        }
      }
    }
    if (!any) return;
    if (!follow) {
      for (const PathGraph::Stop& stop : graph_.stops()) {
        if (stop.last) second_[place_behind(stop)];
      }
      return;
    }
    prepare();
    if (who_.reversed) {
      for (std::uint32_t i = 0; i < graph_.stops().size(); ++i) {
        if (graph_.stops()[i].last) add(i, second_[place_behind(graph_.stops()[i])]);
      }
      carry();
      return;
    }
    for (const std::uint32_t stop : begin_) presence_[stop].fresh = true;
    carry();
    for (std::uint32_t i = 0; i < graph_.stops().size(); ++i) {
      if (graph_.stops()[i].last) merge(presence_[i], second_[place_behind(graph_.stops()[i])]);
    }
  }

  void to_host(std::uint32_t d) {
    graph_.begin(groups_.destination(d), PathGraph::End::kHost);
    begin_.clear();
    for (std::uint32_t s = 0; s < groups_.size(); ++s) {
      if (!groups_.has_pair(s, d)) continue;
      starts_.clear();
      who_.paths->starts(groups_.source(s, d), groups_.destination(d), starts_);
      for (const PathStart& start : starts_) {
        // By an intermediate host nearby it is none.
        const PathState state = start.by_detour ? who_.paths->behind_detour(start.state) : start.state;
        for (const Entry& entry : groups_.nics(s)) {
          if (is_switch(entry)) begin_at(entry.to, state);
        }
      }
    }
    second_stops_.clear();
    for (auto& [place, presence] : second_) {
      second_stops_.push_back({graph_.add(place.first, place.second), &presence});
    }
    prepare();
    if (who_.reversed) {
      carry();
      for (const auto& [stop, presence] : second_stops_) merge(presence_[stop], *presence);
      return;
    }
    for (const std::uint32_t stop : begin_) presence_[stop].fresh = true;
    for (const auto& [stop, presence] : second_stops_) add(stop, *presence);
    carry();
  }

  std::pair<std::uint32_t, PathState> place_behind(const PathGraph::Stop& stop) const {
    return {stop.at, who_.paths->behind_detour(stop.state)};
  }
  void begin_at(std::uint32_t vertex, PathState state) {
    const std::uint32_t stop = graph_.add(vertex, state);
    budget_.spend(1);
    begin_.push_back(stop);
  }
  static void merge(const Presence& from, Presence& into) {
    into.lanes.resize(from.lanes.size());
    for (std::size_t w = 0; w < from.lanes.size(); ++w) into.lanes[w] |= from.lanes[w];
    into.fresh = into.fresh || from.fresh;
  }
  void add(std::uint32_t stop, const Presence& presence) {
    Presence& here = presence_[stop];
    for (std::size_t w = 0; w < presence.lanes.size(); ++w) here.lanes[w] |= presence.lanes[w];
    here.fresh = here.fresh || presence.fresh;
  }

  // The moves from each stop, backwards if packets go so, and nobody anywhere yet.
  void prepare() {
    const auto stops = graph_.stops();
    if (presence_.size() < stops.size()) presence_.resize(stops.size());
    if (moves_.size() < stops.size()) moves_.resize(stops.size());
    std::uint64_t work = 0;
    for (std::uint32_t i = 0; i < stops.size(); ++i) {
      presence_[i].lanes.assign(lanes_.words_of(stops[i].at), 0);
      presence_[i].fresh = false;
      moves_[i].clear();
      work += 1 + stops[i].steps;
    }
    budget_.spend(work);
    for (std::uint32_t i = 0; i < stops.size(); ++i) {
      const auto steps = graph_.steps(stops[i]);
      for (std::uint32_t k = 0; k < steps.size(); ++k) {
        const std::uint32_t next = graph_.next(stops[i], k);
        if (next == PathGraph::kArrived) {
          if (who_.reversed) presence_[i].fresh = true;
          continue;
        }
        if (!who_.reversed) {
          moves_[i].push_back({steps[k], next});
          continue;
        }
        PathStep back = steps[k];
        back.channel ^= 1;
        moves_[next].push_back({back, i});
      }
    }
  }

  void carry() {
    const auto order = graph_.order();
    const std::size_t count = order.size();
    // Paths that come round again need several rounds, until nothing is new.
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < count; ++i) {
        again = leave(order[who_.reversed ? count - 1 - i : i]) || again;
      }
      again = again && graph_.has_circle();
    }
  }
  // Moves all that are at a stop on. True: that was new to someone.
  bool leave(std::uint32_t stop) {
    if (moves_[stop].empty()) return false;
    const std::uint32_t at = graph_.stops()[stop].at;
    const auto out = topology_.out_channels(at);
    // Lanes of one kind go on alike: virtual channel, and whether the last link crossed groups.
    const std::uint32_t kinds = 2 * lanes_.lanes();
    masks_.assign(std::size_t{kinds} * presence_[stop].lanes.size(), 0);
    known_.assign(kinds, false);
    const std::size_t words = presence_[stop].lanes.size();
    bool news = false;
    if (presence_[stop].fresh) {
      for (const Move& move : moves_[stop]) {
        news = enter(move, lanes_.first(who_, move.step)) || news;
      }
    }
    std::uint64_t work = moves_[stop].size();
    for (std::uint32_t w = 0; w < words; ++w) {
      for (Word left = presence_[stop].lanes[w]; left != 0; left &= left - 1) {
        const std::uint32_t lane = w * kWordBits + static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint32_t virtual_channel = lane % lanes_.lanes();
        const bool crossed = lanes_.crosses(out[lane / lanes_.lanes()]);
        const std::uint32_t kind = 2 * virtual_channel + (crossed ? 1 : 0);
        Word* const mask = masks_.data() + kind * words;
        if (!known_[kind]) {
          known_[kind] = true;
          for (const Move& move : moves_[stop]) {
            const std::uint32_t next = lanes_.after(virtual_channel, crossed, who_, move.step);
            const std::uint32_t to = lanes_.lane(move.step.channel, next);
            mask[to / kWordBits] |= Word{1} << to % kWordBits;
            news = enter(move, next) || news;
          }
          work += moves_[stop].size();
        }
        const std::span<Word> row = lanes_.row(at, lane);
        for (std::size_t k = 0; k < words; ++k) row[k] |= mask[k];
        work += words;
      }
    }
    budget_.spend(work);
    return news;
  }
  bool enter(const Move& move, std::uint32_t virtual_channel) {
    lanes_.use(move.step.channel, virtual_channel);
    const std::uint32_t lane = lanes_.lane(move.step.channel ^ 1, virtual_channel);
    Word& word = presence_[move.next].lanes[lane / kWordBits];
    const Word before = word;
    word |= Word{1} << lane % kWordBits;
    return word != before;
  }

  const topologies::Topology& topology_;
  const Travellers& who_;
  LaneGraph& lanes_;
  Budget& budget_;
  const HostGroups groups_;
  PathGraph graph_;
  std::vector<std::uint32_t> detours_;  // by group: the states in which its packets begin a detour, as bits
  // Who is there where second legs begin: by switch and state behind the detour.
  std::map<std::pair<std::uint32_t, PathState>, Presence> second_;
  // These are for the host at hand only.
  std::vector<Presence> presence_;        // by stop
  std::vector<std::vector<Move>> moves_;  // by stop
  std::vector<std::uint32_t> begin_;
  std::vector<std::pair<std::uint32_t, Presence*>> second_stops_;
  std::vector<PathStart> starts_;
  std::vector<Word> masks_;
  std::vector<bool> known_;
};

// What is left when everything that waits for nothing that is left was taken away, again and again: all
// cycles, and what leads to them.
std::vector<bool> without_ends(const LaneGraph& lanes) {
  const std::uint32_t count = lanes.nodes();
  std::vector<std::uint32_t> waited_for(count, 0), ready;
  std::vector<bool> left(count, true);
  for (std::uint32_t node = 0; node < count; ++node) {
    lanes.each_next(node, [&](std::uint32_t next) { ++waited_for[next]; });
  }
  for (std::uint32_t node = 0; node < count; ++node) {
    if (waited_for[node] == 0) ready.push_back(node);
  }
  while (!ready.empty()) {
    const std::uint32_t node = ready.back();
    ready.pop_back();
    left[node] = false;
    lanes.each_next(node, [&](std::uint32_t next) {
      if (--waited_for[next] == 0) ready.push_back(next);
    });
  }
  return left;
}

// The shortest cycle through one of the first nodes that are on any.
std::vector<std::uint32_t> short_cycle(const LaneGraph& lanes, const std::vector<bool>& left) {
  constexpr std::uint64_t kMostLooks = 20'000'000;
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> best, came_from(lanes.nodes(), kNone), queue;
  std::uint64_t looks = 0;
  for (std::uint32_t root = 0; root < lanes.nodes() && (best.empty() || looks < kMostLooks); ++root) {
    if (!left[root]) continue;
    queue.assign(1, root);
    std::uint32_t last = kNone;
    std::size_t depth_end = 1, depth = 0;
    for (std::size_t i = 0; i < queue.size() && last == kNone; ++i) {
      if (i == depth_end) depth_end = queue.size(), ++depth;
      if (!best.empty() && depth + 1 >= best.size()) break;
      const std::uint32_t node = queue[i];
      lanes.each_next(node, [&](std::uint32_t next) {
        ++looks;
        if (next == root && last == kNone) last = node;
        if (!left[next] || next == root || came_from[next] != kNone) return;
        came_from[next] = node;
        queue.push_back(next);
      });
    }
    if (last != kNone) {
      std::vector<std::uint32_t> cycle;
      for (std::uint32_t node = last; node != root; node = came_from[node]) cycle.push_back(node);
      cycle.push_back(root);
      std::reverse(cycle.begin(), cycle.end());
      best = std::move(cycle);
    }
    for (const std::uint32_t node : queue) came_from[node] = kNone;
  }
  return best;
}

// Everything that waits for something. Throws OutOfWork.
LaneGraph all_lanes(const topologies::Topology& topology, const RoutingTable& table,
                    const std::vector<Travellers>& travellers, const ChannelRule& rule, Budget& budget) {
  budget.spend(topology.channels().size() * rule.channels);
  LaneGraph lanes(topology, rule);
  for (const Travellers& who : travellers) Walker(topology, table, who, lanes, budget).run();
  return lanes;
}

}  // namespace

Dependencies find_dependencies(const topologies::Topology& topology, const RoutingTable& table,
                               const std::vector<Travellers>& travellers, const ChannelRule& rule,
                               std::uint64_t most_work) {
  Dependencies result;
  Budget budget(most_work);
  try {
    const LaneGraph lanes = all_lanes(topology, table, travellers, rule, budget);
    for (std::uint32_t node = 0; node < lanes.nodes(); ++node) {
      if (!lanes.used(node)) continue;
      result.channels += lanes.weight(node);
      lanes.each_next(node, [&](std::uint32_t) { result.dependencies += lanes.weight(node); });
    }
    const std::vector<bool> left = without_ends(lanes);
    for (const std::uint32_t node : short_cycle(lanes, left)) result.cycle.push_back(lanes.place(node));
  } catch (const OutOfWork&) {
    return {.finished = false};
  }
  return result;
}

std::optional<bool> is_acyclic(const topologies::Topology& topology, const RoutingTable& table,
                               const std::vector<Travellers>& travellers, const ChannelRule& rule,
                               std::uint64_t& work_left) {
  Budget budget(work_left);
  try {
    const LaneGraph lanes = all_lanes(topology, table, travellers, rule, budget);
    work_left = budget.left();
    const std::vector<bool> left = without_ends(lanes);
    return std::ranges::none_of(left, [](bool is_left) { return is_left; });
  } catch (const OutOfWork&) {
    work_left = 0;
    return std::nullopt;
  }
}

std::string name_of(const topologies::Topology& topology, const Dependencies::Place& place,
                    const ChannelRule& rule) {
  const topologies::Channel& channel = topology.channels()[place.channel];
  const std::string link =
      fmt::format("{} -> {}", topology.node(channel.from).name, topology.node(channel.to).name);
  if (place.virtual_channel >= rule.channels) return link + " (ACKs)";
  if (rule.channels == 1 && !rule.control_apart) return link;
  return fmt::format("{} ({} {})", link, rule.control_apart ? "class" : "virtual channel",
                     place.virtual_channel);
}

}  // namespace weft::routing
