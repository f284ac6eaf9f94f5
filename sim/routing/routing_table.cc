#include "sim/routing/routing_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "sim/core/random.h"
#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

class RoutingTable::Builder {
 public:
  Builder(const Topology& topology, const std::vector<bool>& down_links, RoutingTable& table)
      : topology_(topology), down_links_(down_links), table_(table), distance_(topology.switches()) {}

  void build() {
    table_.set_begin_ = {0};
    classify_hosts();
    collect_switch_links();
    last_set_.assign(topology_.switches(), 0);
    // Set 0 of every switch is empty: what it has for a host it can't reach and so is never asked for.
    switch_sets_.assign(topology_.switches(), {{}});
    table_.entries_.assign((topology_.switches() + classes_.size()) * classes_.size(), 0);
    for (std::uint32_t c = 0; c < classes_.size(); ++c) {
      search(c);
      for (std::uint32_t s = 0; s < topology_.switches(); ++s) entry(s, c) = switch_entry(s);
      for (std::uint32_t s = 0; s < classes_.size(); ++s) {
        entry(topology_.switches() + s, c) = host_entry(s, c);
      }
    }
    add_switch_sets();
    add_host_sets();
    compact();
  }

 private:
  static constexpr std::uint32_t kUnreached = UINT32_MAX;

  // Hosts that attach to the same switches in the same order.
  struct HostClass {
    std::uint32_t representative = 0;  // host number
    std::uint32_t members = 0;
    std::vector<std::uint32_t> neighbours;             // distinct vertices, in the order of the links
    std::vector<std::vector<std::uint32_t>> nic_sets;  // minimal subsets of NICs that occur
  };
  struct SwitchLink {
    std::uint32_t to = 0;  // switch number
    std::uint32_t channel = 0;
  };

  std::uint16_t& entry(std::uint32_t row, std::uint32_t c) {
    return table_.entries_[static_cast<std::size_t>(row) * classes_.size() + c];
  }
  bool is_down(std::uint32_t channel) const { return !down_links_.empty() && down_links_[channel / 2]; }
  bool is_switch(std::uint32_t v) const { return topology_.node(v).kind == NodeKind::kSwitch; }
  std::uint32_t switch_number(std::uint32_t v) const { return topology_.node(v).index; }

  void classify_hosts() {
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    table_.destinations_.resize(topology_.hosts());
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const auto vertex = static_cast<std::uint32_t>(topology_.host(h));
      std::vector<std::uint32_t> key;
      bool beside_host = false;
      for (const std::uint32_t channel : topology_.out_channels(vertex)) {
        key.push_back(is_down(channel) ? kUnreached : topology_.channels()[channel].to);
        beside_host |= key.back() != kUnreached && !is_switch(key.back());
      }
      // A host cabled to a host differs from all others: its neighbour reaches it directly.
      if (beside_host) key.push_back(vertex);
      const auto [position, is_new] = known.emplace(key, static_cast<std::uint32_t>(classes_.size()));
      if (is_new) {
        HostClass& host_class = classes_.emplace_back();
        host_class.representative = h;
        if (beside_host) key.pop_back();
        for (const std::uint32_t v : key) {
          if (v == kUnreached) continue;  // this link is down
          if (std::find(host_class.neighbours.begin(), host_class.neighbours.end(), v) ==
              host_class.neighbours.end()) {
            host_class.neighbours.push_back(v);
          }
        }
      }
      ++classes_[position->second].members;
      table_.destinations_[h].host_class = position->second;
    }
    table_.classes_ = static_cast<std::uint32_t>(classes_.size());
  }

  void collect_switch_links() {
    switch_begin_ = {0};
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
      for (const std::uint32_t channel : topology_.out_channels(topology_.switch_at(s))) {
        const std::uint32_t to = topology_.channels()[channel].to;
        if (is_switch(to) && !is_down(channel)) switch_links_.push_back({switch_number(to), channel});
      }
      switch_begin_.push_back(static_cast<std::uint32_t>(switch_links_.size()));
    }
  }

  std::span<const SwitchLink> switch_links(std::uint32_t s) const {
    return {switch_links_.data() + switch_begin_[s], switch_links_.data() + switch_begin_[s + 1]};
  }

  // Links from every switch to the hosts of class c.
  void search(std::uint32_t c) {
    std::fill(distance_.begin(), distance_.end(), kUnreached);
    frontier_.clear();
    direct_.assign(topology_.switches(), 0);
    for (std::uint32_t i = 0; i < classes_[c].neighbours.size(); ++i) {
      const std::uint32_t v = classes_[c].neighbours[i];
      if (!is_switch(v)) continue;
      distance_[switch_number(v)] = 1;
      direct_[switch_number(v)] = direct(i);
      frontier_.push_back(switch_number(v));
    }
    for (std::size_t next = 0; next < frontier_.size(); ++next) {
      const std::uint32_t s = frontier_[next];
      for (const SwitchLink& link : switch_links(s)) {
        if (distance_[link.to] != kUnreached) continue;
        distance_[link.to] = distance_[s] + 1;
        frontier_.push_back(link.to);
      }
    }
  }

  std::uint16_t switch_entry(std::uint32_t s) {
    if (distance_[s] == 1) return direct_[s];
    if (distance_[s] == kUnreached) return 0;
    scratch_.clear();
    for (const SwitchLink& link : switch_links(s)) {
      if (distance_[link.to] == distance_[s] - 1) scratch_.push_back(link.channel);
    }
    // Towards most destinations a switch has the same set as towards the one before.
    if (switch_sets_[s][last_set_[s]] != scratch_) last_set_[s] = intern(s, scratch_);
    return last_set_[s];
  }

  std::uint16_t host_entry(std::uint32_t source, std::uint32_t destination) {
    const std::uint32_t from = classes_[source].representative, to = classes_[destination].representative;
    const auto from_vertex = static_cast<std::uint32_t>(topology_.host(from));
    const std::vector<std::uint32_t>& neighbours = classes_[destination].neighbours;
    for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] == from_vertex) return direct(i);
    }
    std::vector<std::uint32_t> nics;
    std::uint32_t least = kUnreached;
    const auto channels = topology_.out_channels(from_vertex);
    for (std::uint32_t nic = 0; nic < channels.size(); ++nic) {
      const std::uint32_t v = topology_.channels()[channels[nic]].to;
      if (is_down(channels[nic])) continue;
      const std::uint32_t distance = is_switch(v) ? distance_[switch_number(v)] : kUnreached;
      if (distance == kUnreached || distance > least) continue;
      if (distance < least) nics.clear();
      least = distance;
      nics.push_back(nic);
    }
    if (nics.empty() && down_links_.empty() && (source != destination || classes_[source].members > 1)) {
      throw InputError(fmt::format("{}: '{}' cannot reach '{}' through switches", topology_.name(),
                                   topology_.node(from_vertex).name,
                                   topology_.node(topology_.host(to)).name));
    }
    std::vector<std::vector<std::uint32_t>>& sets = classes_[source].nic_sets;
    const auto found = std::find(sets.begin(), sets.end(), nics);
    if (found != sets.end()) return small(static_cast<std::size_t>(found - sets.begin()));
    sets.push_back(nics);
    return small(sets.size() - 1);
  }

  void add_switch_sets() {
    table_.nodes_.resize(topology_.nodes());
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
      table_.nodes_[topology_.switch_at(s)] = {s, sets()};
      for (const std::vector<std::uint32_t>& set : switch_sets_[s]) append(set);
    }
  }

  // The sets that belong to one host: its NICs as a source, and its last hops as a destination.
  void add_host_sets() {
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const Vertex vertex = topology_.host(h);
      const auto channels = topology_.out_channels(vertex);
      const HostClass& host_class = classes_[table_.destinations_[h].host_class];
      table_.nodes_[vertex] = {topology_.switches() + table_.destinations_[h].host_class, sets()};
      for (const std::vector<std::uint32_t>& nics : host_class.nic_sets) {
        scratch_.clear();
        for (const std::uint32_t nic : nics) scratch_.push_back(channels[nic]);
        append(scratch_);
      }
      table_.destinations_[h].first_direct_set = sets();
      for (const std::uint32_t neighbour : host_class.neighbours) {
        scratch_.clear();
        for (const std::uint32_t channel : channels) {
          if (is_down(channel)) continue;
          if (topology_.channels()[channel].to == neighbour) scratch_.push_back(channel ^ 1);
        }
        append(scratch_);
      }
    }
  }

  std::uint32_t sets() const { return static_cast<std::uint32_t>(table_.set_begin_.size() - 1); }

  void append(const std::vector<std::uint32_t>& channels) {
    table_.pool_.insert(table_.pool_.end(), channels.begin(), channels.end());
    table_.set_begin_.push_back(static_cast<std::uint32_t>(table_.pool_.size()));
  }

  // Cables of a switch to the next tier mostly have consecutive numbers.
  void compact() {
    table_.sets_.resize(sets());
    for (std::uint32_t set = 0; set < sets(); ++set) {
      const std::span<const std::uint32_t> channels{table_.pool_.data() + table_.set_begin_[set],
                                                    table_.pool_.data() + table_.set_begin_[set + 1]};
      if (channels.empty() || channels.size() > UINT16_MAX) continue;
      const std::uint32_t stride = channels.size() > 1 ? channels[1] - channels[0] : 0;
      if (stride > UINT16_MAX) continue;
      bool regular = true;
      for (std::size_t i = 1; i < channels.size(); ++i) regular &= channels[i] - channels[i - 1] == stride;
      if (!regular) continue;
      table_.sets_[set] = {channels[0], static_cast<std::uint16_t>(channels.size()),
                           static_cast<std::uint16_t>(stride)};
    }
  }

  // An entry for the set or neighbour of this number.
  std::uint16_t small(std::size_t number) const {
    if (number >= kDirect) {
      throw InputError(
          fmt::format("{}: a node has more than {} different sets of next links; expected a more "
                      "regular topology",
                      topology_.name(), kDirect - 1));
    }
    return static_cast<std::uint16_t>(number);
  }
  std::uint16_t direct(std::size_t neighbour) const {
    return static_cast<std::uint16_t>(kDirect | small(neighbour));
  }

  // The number, among those of switch s, of the set with these channels; added if new.
  std::uint16_t intern(std::uint32_t s, const std::vector<std::uint32_t>& channels) {
    std::uint64_t hash = s;
    for (const std::uint32_t channel : channels) hash = sim::mix64(hash * 31 + channel + 1);
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto candidate = begin; candidate != end; ++candidate) {
      const auto [owner, set] = candidate->second;
      if (owner == s && switch_sets_[s][set] == channels) return set;
    }
    const std::uint16_t set = small(switch_sets_[s].size());
    switch_sets_[s].push_back(channels);
    by_hash_.emplace(hash, std::pair(s, set));
    return set;
  }

  const Topology& topology_;
  const std::vector<bool>& down_links_;  // by link; empty: none
  RoutingTable& table_;
  std::vector<HostClass> classes_;
  std::vector<std::uint32_t> switch_begin_;
  std::vector<SwitchLink> switch_links_;  // between switches, by switch
  std::vector<std::uint32_t> distance_;   // by switch, of the present search
  std::vector<std::uint16_t> direct_;     // by switch: the entry of one next to the destination
  std::vector<std::uint32_t> frontier_, scratch_;
  std::vector<std::uint16_t> last_set_;                               // by switch
  std::vector<std::vector<std::vector<std::uint32_t>>> switch_sets_;  // by switch
  std::unordered_multimap<std::uint64_t, std::pair<std::uint32_t, std::uint16_t>> by_hash_;
};

RoutingTable::RoutingTable(const Topology& topology, const std::vector<bool>& down_links) {
  Builder(topology, down_links, *this).build();
}

std::size_t RoutingTable::memory_bytes() const {
  return nodes_.capacity() * sizeof(Node) + destinations_.capacity() * sizeof(Destination) +
         entries_.capacity() * sizeof(std::uint16_t) + sets_.capacity() * sizeof(Set) +
         (set_begin_.capacity() + pool_.capacity()) * sizeof(std::uint32_t);
}

}  // namespace weft::routing
