// Dependencies between virtual channels, by hand and against every way of every pair.
#include "sim/routing/paths/dependencies.h"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/module.h"
#include "tests/sim/routing/path_models.h"
#include "tests/topologies/analysis/random_network.h"
#include "topologies/families.h"

namespace weft::routing {
namespace {

using Selection = ChannelRule::Selection;
using topologies::Topology;

constexpr Selection kSelections[] = {Selection::kByHop, Selection::kByFlow, Selection::kRouted,
                                     Selection::kByGroup};

ChannelRule rule(std::uint32_t channels, Selection selection) {
  return {.channels = channels, .selection = selection};
}

struct Net {
  explicit Net(const std::string& choice) : Net(topologies::build(parse_module_choice(choice))) {}
  explicit Net(Topology built) : topology(std::move(built)), table(topology) {}
  Topology topology;
  RoutingTable table;

  Dependencies data(const PathModel& model, const ChannelRule& how) const {
    return find_dependencies(topology, table, {{.paths = &model}}, how);
  }
  Dependencies minimal(std::uint32_t channels, Selection selection) const {
    return data(MinimalPaths(table), rule(channels, selection));
  }
};

// The plainest way: all ways from all hosts to all others, hop by hop.
class Plain {
 public:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // channel, virtual channel

  Plain(const Net& net, const ChannelRule& how) : net_(net), how_(how) {}

  void add(const Travellers& who) {
    const Topology& t = net_.topology;
    for (std::uint32_t s = 0; s < t.hosts(); ++s) {
      std::set<PathState> detours;
      for (std::uint32_t d = 0; d < t.hosts(); ++d) {
        if (s == d) continue;
        std::vector<PathStart> starts;
        who.paths->starts(s, d, starts);
        for (const PathStart& start : starts) {
          if (start.by_detour) detours.insert(start.state);
          const PathState state = start.by_detour ? who.paths->behind_detour(start.state) : start.state;
          each_nic(s, [&](std::uint32_t to) { to_host(who, to, state, d, {}); });
        }
      }
      for (const PathState state : detours) {
        for (std::uint32_t v = 0; v < t.hosts(); ++v) {
          if (share_switch(t, s, v)) continue;
          each_nic(s, [&](std::uint32_t to) { by_host(who, to, state, v); });
        }
      }
    }
  }

  std::set<Place> channels;
  std::map<Place, std::set<Place>> next;

  std::uint64_t dependencies() const {
    std::uint64_t count = 0;
    for (const auto& [from, to] : next) count += to.size();
    return count;
  }
  bool acyclic() const {
    std::map<Place, int> seen;  // 1: on the way, 2: done
    std::function<bool(const Place&)> visit = [&](const Place& at) {
      int& mark = seen[at];
      if (mark != 0) return mark == 2;
      mark = 1;
      if (const auto found = next.find(at); found != next.end()) {
        for (const Place& to : found->second) {
          if (!visit(to)) return false;
        }
      }
      seen[at] = 2;
      return true;
    };
    return std::ranges::all_of(channels, visit);
  }

 private:
  template <typename Visit>
  void each_nic(std::uint32_t host, Visit&& visit) {
    for (const std::uint32_t c : net_.topology.out_channels(net_.topology.host(host))) {
      const std::uint32_t to = net_.topology.channels()[c].to;
      if (net_.topology.node(to).kind == topologies::NodeKind::kSwitch) visit(to);
    }
  }
  void to_host(const Travellers& who, std::uint32_t at, PathState state, std::uint32_t d,
               std::vector<PlainWalk::Hop> hops) {
    PlainWalk{net_.topology, *who.paths, d, [](std::uint32_t) { return false; },
              [&](const auto& way, std::uint32_t, PathState, double) { note(who, way); }}
        .go(at, state, 1, hops);
  }
  void by_host(const Travellers& who, std::uint32_t at, PathState state, std::uint32_t v) {
    const Topology& t = net_.topology;
    const auto at_v = [&](std::uint32_t vertex) {
      return std::ranges::any_of(t.out_channels(t.host(v)),
                                 [&](std::uint32_t c) { return t.channels()[c].to == vertex; });
    };
    std::vector<PlainWalk::Hop> hops;
    PlainWalk{t, *who.paths, v, at_v,
              [&](const auto& way, std::uint32_t there, PathState left, double) {
                for (std::uint32_t d = 0; d < t.hosts(); ++d) {
                  to_host(who, there, who.paths->behind_detour(left), d, way);
                }
              }}
        .go(at, state, 1, hops);
  }
  void note(const Travellers& who, std::vector<PlainWalk::Hop> way) {
    way.pop_back();  // to the host
    if (who.reversed) {
      std::ranges::reverse(way);
      for (auto& [channel, lane] : way) {
        channel ^= 1;
        lane = 0;
      }
    }
    std::vector<Place> places;
    for (const auto& [channel, chosen] : way) {
      const auto& ends = net_.topology.channels()[channel];
      const bool crosses = net_.topology.node(ends.from).group != net_.topology.node(ends.to).group;
      std::uint32_t lane = 0;
      if (how_.selection == Selection::kRouted) lane = chosen;
      if (how_.selection == Selection::kByHop) lane = static_cast<std::uint32_t>(places.size());
      if (how_.selection == Selection::kByGroup && !places.empty()) {
        lane = places.back().second + (crosses && !crossed_ ? 0 : 1);
      }
      crossed_ = crosses;
      lane = std::min(lane, how_.channels - 1);
      if (who.control && how_.control_apart) lane = how_.channels;
      places.push_back({channel, lane});
      channels.insert(places.back());
      if (places.size() > 1) next[places[places.size() - 2]].insert(places.back());
    }
  }

  const Net& net_;
  const ChannelRule& how_;
  bool crossed_ = false;
};

}  // namespace

TEST_CASE("dependencies: a ring of eight, by hand") {
  const Net net("torus:dims=8");
  // Up to 4 links, in both directions: every one of 16 channels waits for the next.
  const Dependencies one = net.minimal(1, Selection::kByFlow);
  CHECK(one.finished);
  CHECK_FALSE(one.acyclic());
  CHECK(one.channels == 16);
  CHECK(one.dependencies == 16);
  REQUIRE(one.cycle.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto& channels = net.topology.channels();
    CHECK(channels[one.cycle[i].channel].to == channels[one.cycle[(i + 1) % 8].channel].from);
  }
  // As many channels as links, or the last one is a ring again.
  const Dependencies three = net.minimal(3, Selection::kByHop), four = net.minimal(4, Selection::kByHop);
  CHECK_FALSE(three.acyclic());
  CHECK(three.cycle.size() == 8);
  CHECK(std::ranges::all_of(three.cycle, [](const auto& place) { return place.virtual_channel == 2; }));
  CHECK(four.acyclic());
  CHECK(four.channels == 4 * 16);
  CHECK(four.dependencies == 3 * 16);
  // Flows that keep their channel have a ring in each.
  const Dependencies kept = net.minimal(4, Selection::kByFlow);
  CHECK_FALSE(kept.acyclic());
  CHECK(kept.channels == 4 * 16);
  CHECK(kept.dependencies == 4 * 16);
}

TEST_CASE("dependencies: a dateline makes a ring safe with two channels") {
  for (const bool shorter : {false, true}) {
    const Net net("torus:dims=6");
    const DatelinePaths model(net.topology, shorter);
    const Dependencies one = net.data(model, rule(1, Selection::kRouted));
    CHECK(one.cycle.size() == 6);
    const Dependencies two = net.data(model, rule(2, Selection::kRouted));
    CHECK(two.acyclic());
    CHECK(two.cycle.empty());
    // ACKs by other paths in channel 0 spoil it; by the same ones they don't, nor in a class of their own
    // that has no ring.
    const MinimalPaths minimal(net.table);
    const auto both = [&](const PathModel& acks) {
      return find_dependencies(net.topology, net.table,
                               {{.paths = &model}, {.paths = &acks, .control = true}},
                               rule(2, Selection::kRouted));
    };
    CHECK_FALSE(both(minimal).acyclic());
    CHECK(both(model).acyclic());
  }
}

TEST_CASE("dependencies: trees need one channel") {
  for (const char* choice :
       {"fat_tree:k=4", "fat_tree2:k=4", "k_ary_n_tree:k=2,n=3", "single_switch:hosts=4"}) {
    INFO(choice);
    CHECK(Net(choice).minimal(1, Selection::kByFlow).acyclic());
  }
}

TEST_CASE("dependencies: classes of ACKs, and checks that would take too long") {
  const Net net("torus:dims=8");
  const MinimalPaths minimal(net.table);
  const ChannelRule apart{.channels = 1, .selection = Selection::kByFlow, .control_apart = true};
  const Dependencies both = find_dependencies(
      net.topology, net.table, {{.paths = &minimal}, {.paths = &minimal, .control = true}}, apart);
  CHECK(both.channels == 32);
  CHECK(both.dependencies == 32);
  CHECK(both.cycle.size() == 8);
  CHECK(name_of(net.topology, {0, 1}, apart).ends_with(" (ACKs)"));
  CHECK(name_of(net.topology, {0, 2}, rule(4, Selection::kByHop)).ends_with(" (virtual channel 2)"));

  const Dependencies cut = find_dependencies(net.topology, net.table, {{.paths = &minimal}}, apart, 100);
  CHECK_FALSE(cut.finished);
  CHECK_FALSE(cut.acyclic());
}

TEST_CASE("dependencies: of random networks, as every way of every pair has them") {
  rc::check("all rules, data and ACKs, with detours and without", [] {
    const Net net(topologies::random_network());
    const auto below = [](std::size_t n) {
      return static_cast<std::uint32_t>(*rc::gen::resize(100, rc::gen::inRange<std::size_t>(0, n)));
    };
    const DetourPaths detours(net.topology, net.table, 0.5);
    const NumberedPaths numbered(net.table);
    const MinimalPaths minimal(net.table);
    const PathModel* models[] = {&detours, &numbered, &minimal};
    const Travellers data{.paths = models[below(3)]};
    const Travellers acks{.paths = models[below(3)], .control = true, .reversed = below(2) == 1};
    ChannelRule how = rule(1 + below(4), kSelections[below(4)]);
    if (how.selection == Selection::kByFlow) how = {.channels = 1, .control_apart = below(2) == 1};
    Plain plain(net, how);
    plain.add(data);
    plain.add(acks);
    const Dependencies found = find_dependencies(net.topology, net.table, {data, acks}, how);
    RC_ASSERT(found.finished);
    RC_ASSERT(found.channels == plain.channels.size());
    RC_ASSERT(found.dependencies == plain.dependencies());
    RC_ASSERT(found.acyclic() == plain.acyclic());
    for (std::size_t i = 0; i < found.cycle.size(); ++i) {
      const auto& at = found.cycle[i];
      const auto& then = found.cycle[(i + 1) % found.cycle.size()];
      RC_ASSERT(plain.next[Plain::Place(at.channel, at.virtual_channel)].contains(
          Plain::Place(then.channel, then.virtual_channel)));
    }
  });
}

TEST_CASE("dependencies: in networks of groups, as every way of every pair has them") {
  for (const char* choice : {"dragonfly:p=1", "megafly:p=2,h=1,hosts=1", "fat_tree:k=4"}) {
    INFO(choice);
    const Net net(choice);
    const MinimalPaths minimal(net.table);
    const DetourPaths detours(net.topology, net.table);
    for (const PathModel* model :
         {static_cast<const PathModel*>(&minimal), static_cast<const PathModel*>(&detours)}) {
      for (std::uint32_t channels = 1; channels <= 4; ++channels) {
        const ChannelRule how = rule(channels, Selection::kByGroup);
        Plain plain(net, how);
        plain.add({.paths = model});
        const Dependencies found = net.data(*model, how);
        CHECK(found.channels == plain.channels.size());
        CHECK(found.dependencies == plain.dependencies());
        CHECK(found.acyclic() == plain.acyclic());
      }
    }
  }
}

TEST_CASE("dependencies: channels that a dragonfly needs, by hops and by groups") {
  // With one link between groups at most for each leg: local, global, local. By groups the first two share a
  // channel, 0 0 1; by way of a third group 0 0 1 1 2, and of a host's switch there, with one more link
  // within its group, 0 0 1 2 2 3. By hops the last two links can share one too: nothing follows the last.
  const Net net("dragonfly:p=2");
  const auto least = [&](const PathModel& model, Selection selection) {
    std::uint32_t channels = 1;
    while (!net.data(model, rule(channels, selection)).acyclic()) ++channels;
    return channels;
  };
  using By = GroupPaths::Detour;
  const GroupPaths direct(net.topology, By::kNone), by_group(net.topology, By::kGroup),
      by_host(net.topology, By::kHost);
  CHECK(least(direct, Selection::kByHop) == 2);
  CHECK(least(direct, Selection::kByGroup) == 2);
  CHECK(least(by_group, Selection::kByHop) == 4);
  CHECK(least(by_group, Selection::kByGroup) == 3);
  CHECK(least(by_host, Selection::kByHop) == 5);
  CHECK(least(by_host, Selection::kByGroup) == 4);
  // With the fewest links in all, two between groups may be as short.
  const MinimalPaths minimal(net.table);
  CHECK(least(minimal, Selection::kByHop) == 3);
  CHECK(least(minimal, Selection::kByGroup) == 3);
}

}  // namespace weft::routing
