#include "sim/flow/spread.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "sim/core/random.h"

namespace weft::sim::flow {
namespace {

using topologies::NodeKind;

// Arithmetic modulo the prime 2^61 - 1.
constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  const std::uint64_t sum =
      static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a + b >= kPrime ? a + b - kPrime : a + b; }
// Fermat: a^(p - 2).
std::uint64_t inverse(std::uint64_t a) {
  std::uint64_t result = 1;
  for (std::uint64_t power = kPrime - 2; power > 0; power >>= 1) {
    if (power & 1) result = times(result, a);
    a = times(a, a);
  }
  return result;
}

// Looking at all pairs of switches with hosts is worth so many links crossed, a few seconds.
constexpr std::uint64_t kMostCrossings = 400'000'000;
constexpr std::uint64_t kMostMaxima = 64'000'000;  // of 8 bytes

}  // namespace

Spread::Spread(const topologies::Topology& topology, const routing::RoutingTable& table,
               const std::vector<Rate>& capacity)
    : topology_(topology),
      table_(table),
      capacity_(capacity),
      part_(topology.nodes()),
      place_(topology.nodes()),
      last_(topology.nodes()),
      distance_(topology.nodes()),
      seen_(topology.nodes()),
      known_(topology.nodes(), kNone) {
  for (const topologies::Channel& channel : topology.channels()) {
    const bool at_switch = topology.node(channel.to).kind == NodeKind::kSwitch;
    switch_at_.push_back(at_switch ? channel.to : kNone);
  }
  find_units();
}

void Spread::find_units() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::uint32_t> key;
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    key.clear();
    for (const std::uint32_t channel : topology_.out_channels(topology_.host(host))) {
      if (capacity_[channel] == 0) continue;
      const std::uint32_t to = topology_.channels()[channel].to;
      if (topology_.node(to).kind == NodeKind::kSwitch) key.push_back(to);
    }
    sources_.insert(sources_.end(), key.begin(), key.end());
    std::sort(key.begin(), key.end());
    key.erase(std::unique(key.begin(), key.end()), key.end());
    const auto [position, fresh] = known.emplace(key, units());
    if (fresh) unit_host_.push_back(host);
    unit_of_host_.push_back(position->second);
  }
  std::sort(sources_.begin(), sources_.end());
  sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
}

bool Spread::is_last(std::uint32_t unit, std::uint32_t vertex) const {
  for (const std::uint32_t channel : topology_.out_channels(topology_.host(unit_host_[unit]))) {
    if (topology_.channels()[channel].to == vertex && capacity_[channel] > 0) return true;
  }
  return false;
}

bool Spread::only_last(std::uint32_t unit, std::uint32_t vertex) const {
  for (const std::uint32_t channel : topology_.out_channels(topology_.host(unit_host_[unit]))) {
    if (topology_.channels()[channel].to != vertex) return false;
  }
  return is_last(unit, vertex);
}

void Spread::last_links(std::uint32_t vertex, std::uint32_t host, std::vector<std::uint32_t>& links) const {
  links.clear();
  for (const std::uint32_t channel : topology_.out_channels(topology_.host(host))) {
    if (topology_.channels()[channel].to == vertex && capacity_[channel ^ 1] > 0)
      links.push_back(channel ^ 1);
  }
}

// Marks for the present call to stops() where is_last() holds, so that it costs one look.
void Spread::mark_last(std::uint32_t unit) {
  for (const std::uint32_t channel : topology_.out_channels(topology_.host(unit_host_[unit]))) {
    if (capacity_[channel] > 0) last_[topology_.channels()[channel].to] = call_;
  }
}

// A switch that is one link nearer; kNone: there is none. Links that stops() has found need not be looked up.
std::uint32_t Spread::next_switch(std::uint32_t unit, std::uint32_t vertex) const {
  if (seen_[vertex] == call_) {
    const Stop& stop = stops_[place_[vertex]];
    if (stop.count > 0) return switch_at_[links_[stop.first]];
  }
  const auto candidates = table_.candidates(vertex, unit_host_[unit]);
  return candidates.empty() ? kNone : switch_at_[candidates.front()];
}

// Every candidate is one link nearer, so any chain of them tells. Of the unit of the present call to stops().
std::uint32_t Spread::distance(std::uint32_t unit, std::uint32_t vertex) {
  chain_.clear();
  std::uint32_t at = vertex, next = 0;
  while (known_[at] != unit) {
    chain_.push_back(at);
    const std::uint32_t to = last_[at] == call_ ? kNone : next_switch(unit, at);
    if (to == kNone) break;
    at = to;
  }
  if (known_[at] == unit) next = distance_[at] + 1;
  for (std::size_t i = chain_.size(); i-- > 0;) {
    known_[chain_[i]] = unit;
    distance_[chain_[i]] = next++;
  }
  return distance_[vertex];
}

std::span<const Spread::Stop> Spread::stops(std::uint32_t unit, std::span<const std::uint32_t> from) {
  ++call_;
  stops_.clear();
  links_.clear();
  mark_last(unit);
  const auto reach = [&](std::uint32_t vertex) {
    if (seen_[vertex] == call_) return;
    seen_[vertex] = call_;
    place_[vertex] = static_cast<std::uint32_t>(stops_.size());
    stops_.push_back({.vertex = vertex});
  };
  for (const std::uint32_t vertex : from) reach(vertex);
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    const std::uint32_t vertex = stops_[i].vertex;
    stops_[i].first = static_cast<std::uint32_t>(links_.size());
    if (last_[vertex] == call_) continue;
    for (const std::uint32_t channel : table_.candidates(vertex, unit_host_[unit])) {
      const std::uint32_t to = switch_at_[channel];
      // A cable to the host itself is one that is down.
      if (to == kNone || capacity_[channel] == 0) continue;
      links_.push_back(channel);
      reach(to);
    }
    stops_[i].count = static_cast<std::uint32_t>(links_.size()) - stops_[i].first;
  }
  // From one switch those reached sooner are farther.
  if (from.size() == 1) return stops_;
  for (Stop& stop : stops_) stop.distance = distance(unit, stop.vertex);
  sort_by_distance();
  return stops_;
}

// The farthest first, those of one distance in the order in which they were reached.
void Spread::sort_by_distance() {
  counts_.clear();
  for (const Stop& stop : stops_) {
    if (stop.distance >= counts_.size()) counts_.resize(stop.distance + 1);
    ++counts_[stop.distance];
  }
  std::uint32_t farther = 0;
  for (std::size_t d = counts_.size(); d-- > 0;) {
    farther += std::exchange(counts_[d], farther);
  }
  sorted_.resize(stops_.size());
  for (const Stop& stop : stops_) sorted_[counts_[stop.distance]++] = stop;
  stops_.swap(sorted_);
}

std::uint32_t Spread::first_link(std::uint32_t unit, std::uint32_t vertex) const {
  if (is_last(unit, vertex)) return kNone;
  for (const std::uint32_t channel : table_.candidates(vertex, unit_host_[unit])) {
    if (capacity_[channel] > 0 && topology_.node(topology_.channels()[channel].to).kind == NodeKind::kSwitch)
      return channel;
  }
  return kNone;
}

// Units to come only tell more channels apart. Where most differ by now, and those are too many for
// mark_free(), neither saves any of the work that is left.
bool Spread::differ_too_much(const std::vector<std::uint64_t>& sums, const std::vector<bool>& used) const {
  std::vector<std::pair<std::uint64_t, Rate>> loads;
  for (std::uint32_t channel = 0; channel < sums.size(); ++channel) {
    if (used[channel]) loads.emplace_back(sums[channel], capacity_[channel]);
  }
  const std::size_t all = loads.size();
  std::sort(loads.begin(), loads.end());
  loads.erase(std::unique(loads.begin(), loads.end()), loads.end());
  return loads.size() * sources_.size() > kMostMaxima && 2 * loads.size() > all;
}

// Each channel between switches is a group.
std::vector<std::uint32_t> Spread::apart() const {
  const auto& channels = topology_.channels();
  std::vector<std::uint32_t> group(channels.size(), kNone);
  std::uint32_t next = 0;
  for (std::uint32_t channel = 0; channel < channels.size(); ++channel) {
    if (switch_at_[channel] != kNone && switch_at_[channel ^ 1] != kNone) group[channel] = next++;
  }
  return group;
}

// The switch that hosts of a unit are cabled to, if there is one only; else kNone.
std::uint32_t Spread::last_of(std::uint32_t unit) const {
  const auto cables = topology_.out_channels(topology_.host(unit_host_[unit]));
  const std::uint32_t to = switch_at_[cables.front()];
  return to != kNone && only_last(unit, to) ? to : kNone;
}

// Units at switches that have the same neighbours, over as many links each: but for those links, flows to
// them have the same shares everywhere, and so have flows from them. The others are alone.
std::vector<std::vector<std::uint32_t>> Spread::twins() const {
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> found;
  std::vector<std::vector<std::uint32_t>> all;
  // Ways go by more than their links inside nodes, and by those that were before, where some are down.
  const bool by_links =
      !topology_.has_domains() && std::ranges::all_of(capacity_, [](Rate rate) { return rate > 0; });
  std::vector<std::uint32_t> neighbours;
  for (std::uint32_t unit = 0; unit < units(); ++unit) {
    neighbours.clear();
    if (const std::uint32_t last = by_links ? last_of(unit) : kNone; last != kNone) {
      for (const std::uint32_t channel : topology_.out_channels(last)) {
        if (switch_at_[channel] != kNone) neighbours.push_back(switch_at_[channel]);
      }
    }
    if (neighbours.empty()) {
      all.push_back({unit});
      continue;
    }
    std::sort(neighbours.begin(), neighbours.end());
    found[neighbours].push_back(unit);
  }
  for (auto& [key, units] : found) all.push_back(std::move(units));
  return all;
}

// Two channels are loaded alike if for each pair of a switch and a unit they have the same share. Each switch
// and each unit is given a random number, and the shares, which are exact modulo a prime, times those numbers
// are added up: channels that differ anywhere have the same sum with a probability of 2^-60.
class LoadSums {
 public:
  explicit LoadSums(Spread& spread)
      : spread_(spread),
        channels_(spread.topology_.channels()),
        sums_(channels_.size()),
        used_(channels_.size()),
        value_(spread.topology_.nodes()),
        from_twins_(spread.topology_.nodes()),
        mark_(spread.topology_.nodes(), Spread::kNone) {}

  void add(const std::vector<std::uint32_t>& units) {
    if (units.size() == 1) return add_alone(units.front());
    add_twins(units);
  }
  const std::vector<std::uint64_t>& sums() const { return sums_; }
  const std::vector<bool>& used() const { return used_; }

 private:
  static std::uint64_t of_source(std::uint32_t vertex) { return mix64(vertex + 1) % (kPrime - 1) + 1; }
  static std::uint64_t of_unit(std::uint32_t unit) { return mix64(~std::uint64_t{unit}) % (kPrime - 1) + 1; }

  std::uint64_t part(std::uint64_t of, std::size_t parts) {
    for (auto n = inverses_.size(); n <= parts; ++n) inverses_.push_back(n == 0 ? 0 : inverse(n));
    return times(of, inverses_[parts]);
  }
  void load(std::uint32_t channel, std::uint64_t with) {
    sums_[channel] = plus(sums_[channel], with);
    used_[channel] = true;
  }

  void add_alone(std::uint32_t unit) {
    for (const std::uint32_t source : spread_.sources_)
      value_[source] = times(of_source(source), of_unit(unit));
    for (const Spread::Stop& stop : spread_.stops(unit, spread_.sources_)) {
      const std::uint64_t here = std::exchange(value_[stop.vertex], 0);
      if (stop.count == 0) continue;
      const std::uint64_t each = part(here, stop.count);
      for (const std::uint32_t channel : spread_.links(stop)) {
        load(channel, each);
        value_[channels_[channel].to] = plus(value_[channels_[channel].to], each);
      }
    }
  }

  // Flows to all of them at once as far as their neighbours, then to each for itself, less its own.
  void add_twins(const std::vector<std::uint32_t>& units) {
    ++call_;
    std::uint64_t all = 0;
    for (const std::uint32_t unit : units) {
      all = plus(all, of_unit(unit));
      mark_[spread_.last_of(unit)] = call_;
    }
    others_.clear();
    for (const std::uint32_t source : spread_.sources_) {
      if (mark_[source] == call_) continue;
      others_.push_back(source);
      value_[source] = of_source(source);
    }
    find_ups(spread_.last_of(units.front()));
    for (const std::uint32_t a : neighbours_) mark_[a] = call_ | kNeighbour;
    for (const Spread::Stop& stop : spread_.stops(units.front(), others_)) {
      if (mark_[stop.vertex] == (call_ | kNeighbour)) continue;
      const std::uint64_t here = std::exchange(value_[stop.vertex], 0);
      if (stop.count == 0) continue;
      const std::uint64_t each = part(here, stop.count), sum = times(each, all);
      for (const std::uint32_t channel : spread_.links(stop)) {
        load(channel, sum);
        value_[channels_[channel].to] = plus(value_[channels_[channel].to], each);
      }
    }
    for (const std::uint32_t unit : units) {
      const std::uint32_t last = spread_.last_of(unit);
      find_ups(last);
      const std::uint64_t each = part(of_source(last), ups_.size());
      const std::uint64_t to_others = times(each, plus(all, kPrime - of_unit(unit)));
      for (const std::uint32_t up : ups_) {
        load(up, to_others);
        value_[channels_[up].to] = plus(value_[channels_[up].to], each);
      }
    }
    for (const std::uint32_t unit : units) {
      const std::uint32_t last = spread_.last_of(unit);
      find_ups(last);
      const std::uint64_t own = part(of_source(last), ups_.size());
      for (const std::uint32_t up : ups_) ++from_twins_[channels_[up].to];
      for (const std::uint32_t up : ups_) {
        const std::uint32_t a = channels_[up].to;
        const std::uint64_t links = from_twins_[a], own_here = times(own, links);
        load(up ^ 1, times(of_unit(unit), part(plus(value_[a], kPrime - own_here), links)));
      }
      for (const std::uint32_t up : ups_) from_twins_[channels_[up].to] = 0;
    }
    for (const std::uint32_t a : neighbours_) value_[a] = 0;
  }

  // The links of a switch to others, and those others.
  void find_ups(std::uint32_t vertex) {
    ups_.clear();
    neighbours_.clear();
    for (const std::uint32_t channel : spread_.topology_.out_channels(vertex)) {
      if (spread_.switch_at_[channel] == Spread::kNone) continue;
      ups_.push_back(channel);
      neighbours_.push_back(spread_.switch_at_[channel]);
    }
  }

  static constexpr std::uint32_t kNeighbour = 1U << 31;

  Spread& spread_;
  const std::vector<topologies::Channel>& channels_;
  std::vector<std::uint64_t> sums_;
  std::vector<bool> used_;
  std::vector<std::uint64_t> value_, inverses_;  // value_: by vertex; 0 between calls
  std::vector<std::uint32_t> from_twins_;        // by vertex: links to it from the twin at hand
  std::vector<std::uint32_t> mark_;              // by vertex: the call of whose twins, or neighbours, it is
  std::vector<std::uint32_t> others_, ups_, neighbours_;
  std::uint32_t call_ = 0;
};

std::vector<std::uint32_t> Spread::groups() {
  const auto& channels = topology_.channels();
  LoadSums loads(*this);
  std::uint32_t done = 0;
  for (const std::vector<std::uint32_t>& units : twins()) {
    const std::uint32_t before = done;
    loads.add(units);
    done += static_cast<std::uint32_t>(units.size());
    if (std::bit_floor(done + 1) != std::bit_floor(before + 1) &&
        differ_too_much(loads.sums(), loads.used())) {
      return apart();
    }
  }
  const std::vector<std::uint64_t>& sum = loads.sums();
  const std::vector<bool>& used = loads.used();
  std::map<std::pair<std::uint64_t, Rate>, std::uint32_t> known;
  std::vector<std::uint32_t> group(channels.size(), kNone);
  for (std::uint32_t channel = 0; channel < channels.size(); ++channel) {
    if (!used[channel]) continue;
    const auto [position, fresh] =
        known.emplace(std::pair(sum[channel], capacity_[channel]), static_cast<std::uint32_t>(known.size()));
    group[channel] = position->second;
  }
  mark_free(group, static_cast<std::uint32_t>(known.size()));
  // Numbers without gaps again.
  std::vector<std::uint32_t> renamed(known.size(), kNone);
  std::uint32_t next = 0;
  for (std::uint32_t& number : group) {
    if (number == kNone) continue;
    if (renamed[number] == kNone) renamed[number] = next++;
    number = renamed[number];
  }
  return group;
}

// A channel can't be full before hosts' links are if it could carry, all at once, either all that hosts can
// send or all that hosts can take, each in the largest share of it that ever comes this way.
void Spread::mark_free(std::vector<std::uint32_t>& group, std::uint32_t groups) {
  const auto& channels = topology_.channels();
  if (std::uint64_t{groups} * sources_.size() > kMostMaxima) return;
  std::vector<double> sends(topology_.nodes()), takes(units());
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    for (const std::uint32_t channel : topology_.out_channels(topology_.host(host))) {
      sends[channels[channel].to] += static_cast<double>(capacity_[channel]);
      takes[unit_of(host)] += static_cast<double>(capacity_[channel ^ 1]);
    }
  }
  // The largest shares: of each source in each group, and of the unit at hand.
  std::vector<double> of_source(groups * sources_.size()), of_unit(groups), to_takers(groups);
  std::vector<std::uint32_t> place(topology_.nodes());
  std::uint64_t crossings = 0;
  for (std::uint32_t unit = 0; unit < units(); ++unit) {
    const std::span<const Stop> all = stops(unit, sources_);
    for (std::uint32_t i = 0; i < all.size(); ++i) place[all[i].vertex] = i;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      part_[sources_[s]] = 1;
      double* const most = of_source.data() + s * groups;
      for (std::size_t i = place[sources_[s]]; i < all.size(); ++i) {
        const double part = part_[all[i].vertex];
        if (part == 0) continue;
        part_[all[i].vertex] = 0;
        const double each = part / all[i].count;
        for (const std::uint32_t channel : links(all[i])) {
          part_[channels[channel].to] += each;
          const std::uint32_t g = group[channel];
          most[g] = std::max(most[g], each);
          of_unit[g] = std::max(of_unit[g], each);
        }
        crossings += all[i].count;
      }
    }
    for (std::uint32_t g = 0; g < groups; ++g) to_takers[g] += std::exchange(of_unit[g], 0.0) * takes[unit];
    // Units have about as many each: what would take far too long isn't begun.
    if (crossings > kMostCrossings || (unit == 0 && crossings * units() > 4 * kMostCrossings)) return;
  }
  std::vector<double> from_senders(groups);
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    for (std::uint32_t g = 0; g < groups; ++g) {
      from_senders[g] += of_source[s * groups + g] * sends[sources_[s]];
    }
  }
  constexpr double kRounding = 1 + 1e-9;
  for (std::uint32_t channel = 0; channel < channels.size(); ++channel) {
    if (group[channel] == kNone) continue;
    const double capacity = static_cast<double>(capacity_[channel]) * kRounding;
    const std::uint32_t g = group[channel];
    if (from_senders[g] <= capacity || to_takers[g] <= capacity) group[channel] = kNone;
  }
}

}  // namespace weft::sim::flow
