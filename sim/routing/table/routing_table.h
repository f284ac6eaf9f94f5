// All minimal next channels from every node to every host, looked up in constant time.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "sim/routing/table/candidates.h"
#include "sim/routing/table/host_classes.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// Minimal means the fewest links; where there are machines of several accelerators (Node::domain), what
// DomainCosts says. Hosts never forward. Nothing changes but by repair(), so that partitions may share one.
//
// Hosts attached to the same switches in the same order are one class, a destination of its own. What a
// switch has for each class takes one of three forms (README.md says when):
// - a row with a byte for each class, the number of one of the switch's sets of channels (two bytes for
//   switches with very many ports); 0 where the set is to be computed instead;
// - nothing: channels are computed from the class's column, the distances of all switches to it in two bits
//   each, as those that lead nearer;
// - nothing: they are computed from coordinates (GridHops).
class RoutingTable {
 public:
  static constexpr std::size_t kQuickBytes = 32 << 20;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A breadth-first search from every class, 64 at a time. `topology` must be finished; it is not kept.
  // Throws InputError if some host can't reach another without passing through a third host.
  // `quick_bytes`: where codes of two bytes for all switches take no more, those have them that need them,
  // and about as much again is for their sets: looking a set up is quicker than computing it.
  explicit RoutingTable(const topologies::Topology& topology, std::size_t quick_bytes = kQuickBytes);
  // As if repaired with these links down.
  RoutingTable(const topologies::Topology& topology, const std::vector<bool>& down_links);

  // From now on no path uses these links, and all others may be used; then hosts may be out of reach, and
  // candidates() is empty for them. `down_links`: by link; empty: none. What it gives is what a table built
  // without these links has, but only the columns of those classes are computed anew whose distances change.
  // Returns how many these are. A copy shares all that repairs leave alone.
  // REQUIRES: the topology that it was built for.
  std::size_t repair(const topologies::Topology& topology, const std::vector<bool>& down_links);
  // By link, those that it was repaired for; empty: none is down.
  const std::vector<bool>& down_links() const { return repairs_.down_links; }

  // The channels of `at` that lie on a minimal path to the host, in the order of Topology::out_channels.
  // At a host: its NICs. Empty only at a switch of a plane that doesn't lead there, and where links are down.
  // REQUIRES: `at` is not the destination itself.
  Candidates candidates(topologies::Vertex at, std::uint32_t destination_host) const {
    return Candidates(
        [&](Candidates& out) { expand(sets_[set_of(at, destination_host)], at, destination_host, out); });
  }
  // The candidate that choose(count) picks, count being that of the candidates: what candidates() would tell,
  // from less memory. kNone: there are no candidates. choose() is not called where there is one.
  template <typename Choose>
  std::uint32_t candidate(topologies::Vertex at, std::uint32_t destination_host, const Choose& choose) const {
    const Set& set = sets_[set_of(at, destination_host)];
    if (set.count != 0) [[likely]] {
      if (set.count == 1) return set.first;
      return set.first + choose(std::size_t{set.count}) * set.stride;
    }
    return choose_among_all(at, destination_host, choose);
  }
  // Names what a lookup finds: equal numbers, equal candidates, as long as nothing is repaired.
  std::uint32_t set_number(topologies::Vertex at, std::uint32_t destination_host) const {
    return set_of(at, destination_host);
  }
  // These candidates as channels first, first + stride …; count 0: they aren't evenly spaced.
  struct Run {
    std::uint32_t first = 0, count = 0, stride = 0;
  };
  Run run_of(std::uint32_t set_number) const {
    const Set& set = sets_[set_number];
    return {set.first, set.count, set.stride};
  }
  // Fetches the table's entry into the cache.
  [[gnu::always_inline]] void prefetch(topologies::Vertex at, std::uint32_t destination_host) const {
    __builtin_prefetch(code_address(nodes_[at], destinations_[destination_host]));
  }

  // Bytes held, for reports; what copies share is counted in each.
  std::size_t memory_bytes() const;
  // The forms in use, for reports.
  struct Forms {
    std::uint32_t rows = 0;  // switches with a row, others have none
    bool columns = false;    // some sets are computed from columns
    bool grid = false;       // all are computed from coordinates
  };
  Forms forms() const;

 private:
  class Builder;
  class Repairer;
  struct Base;

  // A row of codes: from first_direct on they say that the node is next to the destination, and which of its
  // distinct neighbours it is.
  struct Node {
    const std::uint8_t* codes = nullptr;  // by column
    std::uint32_t first_set = 0;          // that of code 0
    std::uint16_t first_direct = 0;
    bool wide = false;  // codes of two bytes
  };
  // Channels first, first + stride, first + 2 × stride …; count 0: `stride` channels in the pool from `first`
  // on, or none if that is 0, or those that are computed.
  struct Set {
    std::uint32_t first = 0;
    std::uint16_t count = 0, stride = 0;
  };
  static constexpr std::uint32_t kComputed = 1;  // `first` of those that are computed
  static bool is_computed(const Set& set) {
    return set.count == 0 && set.stride == 0 && set.first == kComputed;
  }
  struct Destination {
    std::uint32_t column = 0;            // its class, or one behind the last: all rows have code 0 there
    std::uint32_t first_direct_set = 0;  // one set per distinct neighbour
  };
  // What differs from the table without links that are down.
  struct Repairs {
    std::vector<bool> down_links;  // by link; empty: none
    // By class, those that exist only now behind the others: the column, if it is not the original.
    std::vector<std::vector<std::uint8_t>> columns;
    std::vector<HostClass> cut_classes;                               // of hosts with links that are down
    std::vector<std::uint32_t> class_of;                              // by host; empty: as built
    std::vector<std::pair<topologies::Vertex, Node>> nodes;           // as they were
    std::vector<std::pair<std::uint32_t, Destination>> destinations;  // by host, as they were
  };

  static const std::uint8_t* code_address(const Node& node, const Destination& destination) {
    return node.codes + (std::size_t{destination.column} << (node.wide ? 1 : 0));
  }
  static std::uint32_t code_at(const Node& node, const Destination& destination) {
    if (!node.wide) [[likely]]
      return node.codes[destination.column];
    std::uint16_t code;
    std::memcpy(&code, code_address(node, destination), sizeof code);
    return code;
  }
  std::uint32_t set_of(topologies::Vertex at, std::uint32_t destination_host) const {
    const Node& node = nodes_[at];
    const Destination& destination = destinations_[destination_host];
    const std::uint32_t code = code_at(node, destination);
    return code >= node.first_direct ? destination.first_direct_set + (code - node.first_direct)
                                     : node.first_set + code;
  }

  // Out of line: a list on the stack is not for the way that most lookups take.
  template <typename Choose>
  [[gnu::noinline]] std::uint32_t choose_among_all(topologies::Vertex at, std::uint32_t destination_host,
                                                   const Choose& choose) const {
    const Candidates all = candidates(at, destination_host);
    return all.empty() ? kNone : all[choose(all.size())];
  }
  // The channels of a set, which may be one to compute.
  void expand(const Set& set, topologies::Vertex at, std::uint32_t destination_host, Candidates& out) const;
  void expand_stored(const Set& set, Candidates& out) const;
  void compute(topologies::Vertex at, std::uint32_t destination_host, Candidates& out) const;
  void compute_at_host(topologies::Vertex at, std::uint32_t destination_host, Candidates& out) const;
  // At switch s towards hosts of a class that it is not next to.
  void compute_at_switch(std::uint32_t s, std::uint32_t host_class, Candidates& out) const;
  // Gives what compute_at_switch() gave before any repair.
  void original(std::uint32_t s, std::uint32_t host_class, Candidates& out) const;
  // Those that lead nearer by a column of the class.
  void gather(std::uint32_t s, std::uint32_t host_class, const std::uint8_t* column,
              const std::vector<bool>& down_links, Candidates& out) const;
  std::uint32_t class_of(std::uint32_t host) const;
  const std::vector<std::uint32_t>& neighbours_of(std::uint32_t host_class) const;
  // Gives the domain of a class's hosts.
  std::uint32_t domain_of(std::uint32_t host_class) const;
  // Gives the cost of a link from a switch to a node of this domain, on the way to hosts of `destination`.
  std::uint32_t cost(std::uint32_t s, std::uint32_t domain, std::uint32_t destination) const;
  // Links from a switch to the host, or what they cost; UINT32_MAX: it is out of reach.
  std::uint32_t distance(std::uint32_t s, std::uint32_t destination_host) const;
  // Appends a set, in the compact form if it has one.
  void add_set(const std::vector<std::uint32_t>& channels);
  // Appends the sets of the last links to a host, which are down or not.
  void add_last_hops(std::uint32_t host, const HostClass& host_class, const std::vector<bool>& down_links,
                     const Base& base);

  std::shared_ptr<const Base> base_;       // what repairs leave alone
  std::vector<Node> nodes_;                // by vertex
  std::vector<Destination> destinations_;  // by host number
  std::vector<Set> sets_;                  // the first one is a computed one
  std::vector<std::uint32_t> pool_;        // channel numbers
  Repairs repairs_;
};

}  // namespace weft::routing
