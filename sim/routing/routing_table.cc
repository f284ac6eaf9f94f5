#include "sim/routing/routing_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/random.h"
#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

namespace {

// Different sets among one switch's links, each a mask with a bit for a link, numbered as they come. Number 0
// is the empty set: what a switch has for a host it can't reach and so is never asked for.
class LinkSets {
 public:
  explicit LinkSets(std::size_t words) : words_(words), masks_(words), places_(4, kFree) {
    places_[place_of(masks_.data())] = 0;
  }

  std::size_t size() const { return masks_.size() / words_; }
  const std::uint64_t* mask(std::size_t number) const { return masks_.data() + number * words_; }
  // Of a set with these links; it is added if it is new.
  std::size_t number_of(const std::uint64_t* mask) {
    // Towards most destinations a switch has the same set as towards the one before.
    if (is_at(last_, mask)) return last_;
    std::size_t place = place_of(mask);
    if (places_[place] == kFree) {
      if (size() * 2 >= places_.size()) {
        grow();
        place = place_of(mask);
      }
      places_[place] = static_cast<std::uint32_t>(size());
      masks_.insert(masks_.end(), mask, mask + words_);
    }
    return last_ = places_[place];
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;

  bool is_at(std::size_t number, const std::uint64_t* mask) const {
    return std::equal(mask, mask + words_, masks_.data() + number * words_);
  }
  // Where it is, or the free place where it belongs: open addressing.
  std::size_t place_of(const std::uint64_t* mask) const {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < words_; ++i) hash = sim::mix64(hash ^ mask[i]);
    std::size_t place = hash & (places_.size() - 1);
    while (places_[place] != kFree && !is_at(places_[place], mask))
      place = (place + 1) & (places_.size() - 1);
    return place;
  }
  void grow() {
    places_.assign(places_.size() * 2, kFree);
    for (std::size_t number = 0; number < size(); ++number) {
      places_[place_of(mask(number))] = static_cast<std::uint32_t>(number);
    }
  }

  std::size_t words_;
  std::vector<std::uint64_t> masks_;
  std::vector<std::uint32_t> places_;
  std::size_t last_ = 0;
};

}  // namespace

class RoutingTable::Builder {
 public:
  Builder(const Topology& topology, const std::vector<bool>& down_links, RoutingTable& table)
      : topology_(topology), down_links_(down_links), table_(table), distance_(topology.switches()) {}

  void build() {
    table_.set_begin_ = {0};
    classify_hosts();
    collect_switch_links();
    give_rows();
    table_.entries_.assign(static_cast<std::size_t>(rows_) * classes_.size(), 0);
    for (std::uint32_t c = 0; c < classes_.size(); ++c) {
      search(c);
      for (std::uint32_t s = 0; s < topology_.switches(); ++s) entry(s, c) = switch_entry(s);
      for (std::uint32_t s = 0; s < classes_.size(); ++s) {
        const std::uint16_t nics = host_entry(s, c);
        if (classes_[s].row != constant_row_) entry(classes_[s].row, c) = nics;
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
    std::uint32_t row = 0;
    bool beside_host = false;                          // cabled to a host
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
        host_class.beside_host = beside_host;
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

  // Hosts with all their NICs at one switch take them all, wherever a message goes: they share a row of
  // zeros.
  void give_rows() {
    constant_row_ = topology_.switches();
    rows_ = constant_row_ + 1;
    for (HostClass& host_class : classes_) {
      const bool is_constant =
          host_class.neighbours.size() == 1 && !host_class.beside_host && down_links_.empty();
      host_class.row = is_constant ? constant_row_ : rows_++;
    }
  }

  void collect_switch_links() {
    switch_begin_ = {0};
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
      for (const std::uint32_t channel : topology_.out_channels(topology_.switch_at(s))) {
        const std::uint32_t to = topology_.channels()[channel].to;
        if (is_switch(to) && !is_down(channel)) switch_links_.push_back({switch_number(to), channel});
      }
      switch_begin_.push_back(static_cast<std::uint32_t>(switch_links_.size()));
      mask_words_ = std::max<std::size_t>(mask_words_, (switch_links(s).size() + 63) / 64);
    }
    mask_.resize(mask_words_);
    sets_of_.reserve(topology_.switches());
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) sets_of_.emplace_back(mask_words_);
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
    const std::span<const SwitchLink> links = switch_links(s);
    const std::uint32_t nearer = distance_[s] - 1;
    for (std::size_t word = 0, first = 0; word < mask_words_; ++word, first += 64) {
      const std::size_t end = std::min(links.size(), first + 64);
      std::uint64_t bits = 0;
      for (std::size_t i = first; i < end; ++i) {
        bits |= static_cast<std::uint64_t>(distance_[links[i].to] == nearer) << (i - first);
      }
      mask_[word] = bits;
    }
    return small(sets_of_[s].number_of(mask_.data()));
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
      const std::span<const SwitchLink> links = switch_links(s);
      for (std::size_t set = 0; set < sets_of_[s].size(); ++set) {
        scratch_.clear();
        for (std::size_t i = 0; i < links.size(); ++i) {
          if (sets_of_[s].mask(set)[i / 64] >> (i % 64) & 1) scratch_.push_back(links[i].channel);
        }
        append(scratch_);
      }
    }
  }

  // The sets that belong to one host: its NICs as a source, and its last hops as a destination.
  void add_host_sets() {
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const Vertex vertex = topology_.host(h);
      const auto channels = topology_.out_channels(vertex);
      const HostClass& host_class = classes_[table_.destinations_[h].host_class];
      table_.nodes_[vertex] = {host_class.row, sets()};
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

  const Topology& topology_;
  const std::vector<bool>& down_links_;  // by link; empty: none
  RoutingTable& table_;
  std::vector<HostClass> classes_;
  std::vector<std::uint32_t> switch_begin_;
  std::vector<SwitchLink> switch_links_;  // between switches, by switch
  std::vector<std::uint32_t> distance_;   // by switch, of the present search
  std::vector<std::uint16_t> direct_;     // by switch: the entry of one next to the destination
  std::vector<std::uint32_t> frontier_, scratch_;
  std::uint32_t rows_ = 0, constant_row_ = 0;
  std::size_t mask_words_ = 1;
  std::vector<std::uint64_t> mask_;
  std::vector<LinkSets> sets_of_;  // by switch
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
