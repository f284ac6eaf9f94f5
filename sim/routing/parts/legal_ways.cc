#include "sim/routing/parts/legal_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>
#include <span>
#include <utility>

#include "sim/routing/table/parallel_search.h"
#include "sim/routing/table/switch_links.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;

constexpr std::uint8_t kNoByte = 0xFF;

// A switch by its number or name.
std::uint32_t find_switch(const Parameters& parameters, const Topology& topology, const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number < topology.switches()) return number;
  for (std::uint32_t s = 0; s < topology.switches(); ++s) {
    if (topology.node(topology.switch_at(s)).name == text) return s;
  }
  const std::string example =
      topology.switches() == 0 ? "" : fmt::format(", like '{}'", topology.node(topology.switch_at(0)).name);
  parameters.fail("root",
                  fmt::format("it must be auto, or the name or number of one of the {} switches of {}{}",
                              topology.switches(), topology.name(), example));
}

}  // namespace

// Breadth-first search from 64 destinations at once, a bit of each word for each (see ParallelSearch),
// against the direction of packets: over all legal ways, and over ways down.
class LegalWays::Search {
 public:
  explicit Search(const LegalWays& ways)
      : ways_(ways), now_(ways.arcs_.size()), next_(ways.arcs_.size()), seen_(ways.arcs_.size()) {}

  // Calls found(switch, bits over any way, bits over ways down, distance) for the destinations that have come
  // to a switch, for `count` of them from `first` on.
  template <typename Found>
  void run(std::uint32_t first, std::uint32_t count, Found&& found) {
    std::fill(seen_.begin(), seen_.end(), Bits{});
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const std::uint32_t s : ways_.destinations_.switches(first + i)) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        reach(s, {bit, bit});
      }
    }
    for (std::uint32_t distance = 0; !touched_.empty(); ++distance) {
      active_.swap(touched_);
      now_.swap(next_);
      for (const std::uint32_t s : active_) {
        seen_[s].any |= now_[s].any;
        seen_[s].down |= now_[s].down;
        found(s, now_[s].any, now_[s].down, distance);
      }
      for (const std::uint32_t s : active_) step(s);
      for (const std::uint32_t s : active_) now_[s] = {};
      active_.clear();
    }
  }

 private:
  struct Bits {
    std::uint64_t any = 0, down = 0;
  };

  void reach(std::uint32_t s, Bits fresh) {
    if ((fresh.any | fresh.down) == 0) return;
    if ((next_[s].any | next_[s].down) == 0) touched_.push_back(s);
    next_[s].any |= fresh.any;
    next_[s].down |= fresh.down;
  }
  void step(std::uint32_t s) {
    for (const Arc& arc : ways_.arcs_[s]) {
      // Packets come the other way: down by a link that leads up from here.
      if (ways_.leads_up_[arc.channel]) {
        reach(arc.to, {now_[s].down & ~seen_[arc.to].any, now_[s].down & ~seen_[arc.to].down});
      } else {
        reach(arc.to, {now_[s].any & ~seen_[arc.to].any, 0});
      }
    }
  }

  const LegalWays& ways_;
  std::vector<Bits> now_, next_, seen_;  // by switch
  std::vector<std::uint32_t> active_, touched_;
};

LegalWays::LegalWays(const PlanSetup& setup, const std::string& root, const std::vector<bool>& down_links)
    : topology_(setup.topology),
      down_links_(down_links),
      destinations_(setup.topology, down_links),
      arcs_(setup.topology.switches()),
      leads_up_(setup.topology.channels().size()) {
  const std::uint32_t given = root == "auto" ? kAuto : find_switch(setup.parameters, topology_, root);
  for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
    for (const std::uint32_t c : topology_.out_channels(topology_.switch_at(s))) {
      const topologies::Node& end = topology_.node(topology_.channels()[c].to);
      if (end.kind == NodeKind::kSwitch && !is_down(down_links_, c)) arcs_[s].push_back({end.index, c});
    }
  }
  expect_memory(2.0 * topology_.switches() * destinations_.size(),
                fmt::format("the ways up and down between {} switches", grouped(topology_.switches())));
  std::vector<std::uint32_t> rank = given == kAuto ? by_tier() : std::vector<std::uint32_t>();
  if (!rank.empty()) {
    orient(rank);
    search();
    if (reaches_all()) return;
  }
  orient(by_root(given));
  search();
}

// The highest tier first; empty: all are in one.
std::vector<std::uint32_t> LegalWays::by_tier() const {
  std::vector<std::uint32_t> order(arcs_.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto tier = [&](std::uint32_t s) { return topology_.node(topology_.switch_at(s)).tier; };
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return tier(a) > tier(b); });
  if (order.empty() || tier(order.front()) == tier(order.back())) return {};
  std::vector<std::uint32_t> rank(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

std::vector<std::uint32_t> LegalWays::eccentricities() const {
  const SwitchLinks links(topology_);
  ParallelSearch search(links, down_links_);
  std::vector<std::uint32_t> farthest(arcs_.size());
  for (std::uint32_t first = 0; first < arcs_.size(); first += ParallelSearch::kWidth) {
    const auto count =
        std::min<std::uint32_t>(ParallelSearch::kWidth, static_cast<std::uint32_t>(arcs_.size()) - first);
    search.start();
    for (std::uint32_t i = 0; i < count; ++i) search.seed(first + i, i);
    std::uint32_t distance = 0;
    search.run([&](std::span<const std::uint64_t> reached) {
      std::uint64_t any = 0;
      for (const std::uint64_t bits : reached) any |= bits;
      for (; any != 0; any &= any - 1) farthest[first + std::countr_zero(any)] = distance;
      ++distance;
    });
  }
  return farthest;
}

// Breadth first; each part of the network has a root of its own, where one is given that in its part.
std::vector<std::uint32_t> LegalWays::by_root(std::uint32_t root) const {
  constexpr std::uint32_t kNone = UINT32_MAX;
  const std::vector<std::uint32_t> farthest = eccentricities();
  std::vector<std::uint32_t> roots(arcs_.size());
  std::iota(roots.begin(), roots.end(), 0u);
  std::ranges::stable_sort(roots, {}, [&](std::uint32_t s) { return std::pair(s != root, farthest[s]); });
  std::vector<std::uint32_t> rank(arcs_.size(), kNone), order;
  for (const std::uint32_t start : roots) {
    if (rank[start] != kNone) continue;
    std::size_t next = order.size();
    rank[start] = static_cast<std::uint32_t>(order.size());
    order.push_back(start);
    for (; next < order.size(); ++next) {
      for (const Arc& arc : arcs_[order[next]]) {
        if (rank[arc.to] != kNone) continue;
        rank[arc.to] = static_cast<std::uint32_t>(order.size());
        order.push_back(arc.to);
      }
    }
  }
  return rank;
}

void LegalWays::orient(const std::vector<std::uint32_t>& rank) {
  for (std::uint32_t s = 0; s < arcs_.size(); ++s) {
    for (const Arc& arc : arcs_[s]) leads_up_[arc.channel] = rank[arc.to] < rank[s];
  }
}

void LegalWays::search() {
  const std::size_t pairs = arcs_.size() * destinations_.size();
  constexpr std::uint32_t kMostNarrow = 254, kMostWide = 65534;
  wide_ = false;
  Search search(*this);
  for (std::uint32_t longest = UINT32_MAX; longest > kMostNarrow;) {
    wide_ = longest != UINT32_MAX;
    any_.assign(pairs << wide_, kNoByte);
    down_.assign(pairs << wide_, kNoByte);
    longest = 0;
    for (std::uint32_t first = 0; first < destinations_.size(); first += 64) {
      const std::uint32_t count = std::min(64u, destinations_.size() - first);
      search.run(first, count,
                 [&](std::uint32_t s, std::uint64_t any, std::uint64_t down, std::uint32_t distance) {
                   longest = std::max(longest, distance);
                   for (; any != 0; any &= any - 1) {
                     write(any_, place(s, first + std::countr_zero(any)), distance);
                   }
                   for (; down != 0; down &= down - 1) {
                     write(down_, place(s, first + std::countr_zero(down)), distance);
                   }
                 });
    }
    if (longest > kMostWide) {
      throw InputError(
          fmt::format("{}: the longest legal way between two switches has {} links; the most is {}",
                      topology_.name(), longest, kMostWide));
    }
    if (wide_) return;
  }
}

void LegalWays::write(std::vector<std::uint8_t>& distances, std::size_t place, std::uint32_t distance) const {
  if (!wide_) {
    distances[place] = static_cast<std::uint8_t>(std::min(distance, 254u));
    return;
  }
  const auto value = static_cast<std::uint16_t>(distance);
  std::memcpy(distances.data() + 2 * place, &value, sizeof value);
}

std::uint32_t LegalWays::read(const std::vector<std::uint8_t>& distances, std::size_t place) const {
  if (!wide_) return distances[place] == kNoByte ? kNoWay : distances[place];
  std::uint16_t value;
  std::memcpy(&value, distances.data() + 2 * place, sizeof value);
  return value == 0xFFFF ? kNoWay : value;
}

// Every destination from every switch with hosts, as far as links lead there at all.
bool LegalWays::reaches_all() const {
  std::vector<std::uint32_t> part(arcs_.size(), UINT32_MAX), open;
  for (std::uint32_t start = 0; start < arcs_.size(); ++start) {
    if (part[start] != UINT32_MAX) continue;
    part[start] = start;
    for (open.push_back(start); !open.empty();) {
      const std::uint32_t s = open.back();
      open.pop_back();
      for (const Arc& arc : arcs_[s]) {
        if (part[arc.to] == UINT32_MAX) open.push_back(arc.to);
        part[arc.to] = start;
      }
    }
  }
  for (std::uint32_t d = 0; d < destinations_.size(); ++d) {
    const auto ends = destinations_.switches(d);
    for (std::uint32_t s = 0; s < arcs_.size(); ++s) {
      if (!destinations_.is_source(s) || distance(s, false, d) != kNoWay) continue;
      if (std::ranges::any_of(ends, [&](std::uint32_t end) { return part[end] == part[s]; })) return false;
    }
  }
  return true;
}

std::uint32_t LegalWays::distance(std::uint32_t s, bool descending, std::uint32_t destination) const {
  return read(descending ? down_ : any_, place(s, destination));
}

void LegalWays::next(std::uint32_t s, bool descending, std::uint32_t destination,
                     std::vector<std::uint32_t>& channels) const {
  const std::uint32_t here = distance(s, descending, destination);
  if (here == kNoWay) return;
  for (const Arc& arc : arcs_[s]) {
    const bool up = leads_up_[arc.channel];
    if (up && descending) continue;
    if (distance(arc.to, !up, destination) == here - 1) channels.push_back(arc.channel);
  }
}

}  // namespace weft::routing
