// How a routing table is built.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "sim/routing/table/parallel_search.h"
#include "sim/routing/table/routing_table.h"
#include "sim/routing/table/row_builder.h"
#include "sim/routing/table/table_base.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

RoutingTable::Base::Base(const Topology& topology) : links(topology), number(topology.nodes()) {
  for (std::uint32_t s = 0; s < topology.switches(); ++s) number[topology.switch_at(s)] = s;
  host_begin = {0};
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    number[topology.host(h)] = kHost | h;
    for (const std::uint32_t channel : topology.out_channels(topology.host(h))) {
      host_links.push_back({topology.channels()[channel].to, channel});
    }
    host_begin.push_back(static_cast<std::uint32_t>(host_links.size()));
  }
  std::vector<std::uint32_t> hosts(topology.hosts());
  std::iota(hosts.begin(), hosts.end(), 0);
  classes = classify(topology, {}, hosts, class_of);
  costs = DomainCosts::make(topology);
}

class RoutingTable::Builder {
 public:
  Builder(const Topology& topology, std::size_t quick_bytes, RoutingTable& table)
      : topology_(topology),
        quick_bytes_(quick_bytes),
        table_(table),
        base_(std::make_shared<Base>(topology)),
        classes_(static_cast<std::uint32_t>(base_->classes.size())),
        search_(base_->links, none_down_) {
    if (base_->costs != nullptr) domain_search_.emplace(base_->links, *base_->costs, none_down_);
  }

  void build() {
    table_.sets_.push_back({.first = kComputed});
    base_->rows.emplace_back(std::size_t{classes_} + 1);
    base_->switch_nodes.assign(topology_.switches(), base_->computed());
    table_.nodes_.assign(topology_.nodes(), base_->computed());
    const bool one_way = std::all_of(base_->classes.begin(), base_->classes.end(),
                                     [](const HostClass& host_class) { return host_class.has_one_way(); });
    const std::size_t rows_bytes = std::size_t{topology_.switches()} * classes_;
    if (one_way && base_->costs == nullptr) base_->grid = GridHops::make(topology_, base_->links, rows_bytes);
    prepare_rows();
    if (base_->grid == nullptr) search_all();
    add_switches();
    add_hosts();
    base_->sets = table_.sets_.size();
    base_->pool = table_.pool_.size();
    table_.sets_.shrink_to_fit();
    table_.pool_.shrink_to_fit();
    table_.base_ = std::move(base_);
  }

 private:
  // A switch with more ports than this has codes of two bytes, as one for each port alone would take most of
  // a byte's; it may have so many sets for each port.
  static constexpr std::size_t kManyPorts = 200, kSetsPerPort = 4;
  static constexpr std::size_t kSetBytes = 24;  // a set, and what it has in the pool, in most networks
  // Hosts with more distinct neighbours have the last hops from the others computed.
  static constexpr std::uint32_t kMostDirect = 64;

  // Hosts of a class that choose among their NICs; they have a row, but forward nothing.
  struct Chooser {
    std::uint32_t host_class = 0;
    RowBuilder row;
    std::span<const SwitchLink> nics;
    std::vector<std::uint64_t> nearest;  // by NIC: the destinations that it is on the way to
    std::uint64_t reached = 0;
  };
  // A node that is next to a destination of the present search.
  struct Direct {
    RowBuilder* row = nullptr;
    std::uint32_t destination = 0, neighbour = 0;
  };

  // ---- Rows ----

  void prepare_rows() {
    std::size_t most_neighbours = 1;
    for (const HostClass& c : base_->classes)
      most_neighbours = std::max(most_neighbours, c.neighbours.size());
    directs_ = static_cast<std::uint32_t>(std::min<std::size_t>(most_neighbours, kMostDirect));
    if (base_->grid == nullptr) {
      const std::size_t switches = topology_.switches();
      expect_memory(static_cast<double>(switches) * classes_,
                    fmt::format("the routing table of {} switches and {} destinations",
                                grouped(static_cast<double>(switches)), grouped(classes_)));
      rows_.reserve(switches);
      const bool may_be_wide = 2 * switches * classes_ <= quick_bytes_;
      const std::size_t sets_of_wide = quick_bytes_ / (kSetBytes * std::max<std::size_t>(1, switches));
      for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
        const std::size_t ports = base_->links.of(s).size();
        const bool wide = ports > kManyPorts;
        const std::size_t most = !wide ? SIZE_MAX : may_be_wide ? sets_of_wide : kSetsPerPort * ports;
        rows_.emplace_back(new_row(ports, wide, most));
        if (may_be_wide) {
          rows_.back()->may_widen(
              static_cast<std::uint32_t>(std::min<std::size_t>(sets_of_wide, first_direct(true) - 1)),
              first_direct(false));
        }
      }
    }
    chooser_of_.assign(classes_, kNone);
    for (std::uint32_t c = 0; c < classes_; ++c) {
      if (base_->classes[c].has_one_way()) continue;
      chooser_of_[c] = static_cast<std::uint32_t>(choosers_.size());
      const std::span<const SwitchLink> nics = base_->nics(base_->classes[c].representative);
      choosers_.push_back({c, new_row(nics.size(), false, SIZE_MAX), nics, {}, 0});
    }
  }

  // There is one more column, of computed sets.
  RowBuilder new_row(std::size_t ports, bool wide, std::size_t most) const {
    return {ports, classes_ + 1, wide,
            static_cast<std::uint32_t>(std::min<std::size_t>(most, first_direct(wide) - 1))};
  }
  std::uint32_t first_direct(bool wide) const { return (wide ? 0x10000U : 0x100U) - directs_; }

  // ---- Searches ----

  void search_all() {
    constexpr std::uint32_t kWidth = ParallelSearch::kWidth;
    std::optional<std::uint32_t> columns_from;  // the first destination whose column has been written
    for (std::uint32_t first = 0; first < classes_; first += kWidth) {
      search(first);
      fill_rows(first);
      if (!columns_from && needs_columns_) {
        base_->columns.resize(classes_ * base_->bytes_of_column());
        columns_from = first;
      }
      if (columns_from) keep_columns(first);
    }
    for (std::uint32_t first = 0; columns_from && first < *columns_from; first += kWidth) {
      search(first);
      keep_columns(first);
    }
  }

  std::uint32_t width(std::uint32_t first) const {
    return std::min(ParallelSearch::kWidth, classes_ - first);
  }

  void search(std::uint32_t first) {
    start(first);
    direct_.clear();
    for (std::uint32_t d = 0; d < width(first); ++d) {
      const std::vector<std::uint32_t>& neighbours = base_->classes[first + d].neighbours;
      for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
        const std::uint32_t number = base_->number[neighbours[i]];
        if (base_->is_host(neighbours[i])) {
          direct_.push_back({&choosers_[chooser_of_[base_->class_of[number & ~Base::kHost]]].row, d, i});
        } else {
          domain_search_ ? domain_search_->seed(number, d) : search_.seed(number, d);
          if (rows_[number]) direct_.push_back({&*rows_[number], d, i});
        }
      }
    }
    for (Chooser& chooser : choosers_) {
      chooser.nearest.assign(chooser.nics.size(), 0);
      chooser.reached = 0;
    }
    if (domain_search_) {
      domain_search_->run();
      for (Chooser& chooser : choosers_) choose(first, chooser);
      return;
    }
    search_.run([&](std::span<const std::uint64_t> reached) {
      for (Chooser& chooser : choosers_) reach(chooser, reached);
    });
  }

  void start(std::uint32_t first) {
    if (!domain_search_) return search_.start();
    std::vector<std::uint32_t> domains;
    for (std::uint32_t d = 0; d < width(first); ++d) domains.push_back(base_->classes[first + d].domain);
    domain_search_->start(std::move(domains));
  }

  // A host takes all NICs over which the ways cost least.
  void choose(std::uint32_t first, Chooser& chooser) const {
    const std::uint32_t host = base_->classes[chooser.host_class].representative;
    for (std::uint32_t d = 0; d < width(first); ++d) {
      const std::uint32_t to = base_->classes[first + d].representative;
      std::uint32_t least = DomainCosts::kFar;
      for (std::size_t nic = 0; nic < chooser.nics.size(); ++nic) {
        if (base_->is_host(chooser.nics[nic].to)) continue;
        const std::uint32_t s = base_->number[chooser.nics[nic].to], further = domain_search_->cost(s, d);
        if (further == DomainCosts::kFar) continue;
        const std::uint32_t cost = base_->costs->from_host(host, s, further, to);
        const std::uint64_t bit = std::uint64_t{1} << d;
        if (cost < least) {
          for (std::uint64_t& nearest : chooser.nearest) nearest &= ~bit;
        }
        least = std::min(least, cost);
        if (cost == least) chooser.nearest[nic] |= bit;
        chooser.reached |= bit;
      }
    }
  }

  // A host takes all NICs over which it is reached first.
  void reach(Chooser& chooser, std::span<const std::uint64_t> reached) const {
    std::uint64_t fresh = 0;
    for (std::size_t nic = 0; nic < chooser.nics.size(); ++nic) {
      const Vertex to = chooser.nics[nic].to;
      if (base_->is_host(to)) continue;
      const std::uint64_t over = reached[base_->number[to]] & ~chooser.reached;
      chooser.nearest[nic] |= over;
      fresh |= over;
    }
    chooser.reached |= fresh;
  }

  void fill_rows(std::uint32_t first) {
    check_reached(first);
    const std::span<const Distances> distances = search_.distances();
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
      if (!rows_[s]) continue;
      RowBuilder& row = *rows_[s];
      ports_.clear();
      for (const SwitchLink& link : base_->links.of(s)) {
        ports_.push_back(domain_search_ ? domain_search_->nearer(s, link)
                                        : distances[s].nearer(distances[link.to]));
      }
      row.fill(first, width(first), ports_);
    }
    for (Chooser& chooser : choosers_) chooser.row.fill(first, width(first), chooser.nearest);
    for (const Direct& direct : direct_) {
      const std::uint32_t code = first_direct(direct.row->wide()) + direct.neighbour;
      direct.row->set(first + direct.destination, direct.neighbour < directs_ ? code : 0);
    }
    for (std::optional<RowBuilder>& row : rows_) {
      if (!row) continue;
      needs_columns_ |= row->has_computed();
      if (row->is_futile()) row.reset();
    }
  }

  void check_reached(std::uint32_t first) const {
    if (topology_.in_parts()) return;
    const auto reached = [&](std::uint32_t c) {
      if (chooser_of_[c] != kNone) return choosers_[chooser_of_[c]].reached;
      const std::uint32_t s = base_->number[base_->classes[c].neighbours.front()];
      return domain_search_ ? domain_search_->reached(s) : search_.reached(s);
    };
    std::uint64_t by_all = ~std::uint64_t{0};
    for (std::uint32_t c = 0; c < classes_; ++c) by_all &= reached(c);
    for (std::uint32_t d = 0; d < width(first); ++d) {
      if (by_all >> d & 1) continue;
      const HostClass& to = base_->classes[first + d];
      for (std::uint32_t c = 0; c < classes_; ++c) {
        if (reached(c) >> d & 1) continue;
        const HostClass& from = base_->classes[c];
        if (c == first + d && from.members == 1) continue;
        const Vertex vertex = topology_.host(from.representative);
        if (std::find(to.neighbours.begin(), to.neighbours.end(), vertex) != to.neighbours.end()) continue;
        throw InputError(fmt::format("{}: '{}' cannot reach '{}' through switches", topology_.name(),
                                     topology_.node(vertex).name,
                                     topology_.node(topology_.host(to.representative)).name));
      }
    }
  }

  void keep_columns(std::uint32_t first) {
    std::vector<std::uint8_t*> columns;
    for (std::uint32_t d = 0; d < width(first); ++d) {
      columns.push_back(base_->columns.data() + (first + d) * base_->bytes_of_column());
    }
    domain_search_ ? domain_search_->write_columns(columns) : write_columns(search_.distances(), columns);
  }

  // ---- What the table keeps of it ----

  Node keep_row(RowBuilder& row) {
    base_->rows.push_back(row.release());
    return {.codes = base_->rows.back().data(),
            .first_direct = static_cast<std::uint16_t>(first_direct(row.wide())),
            .wide = row.wide()};
  }

  std::uint32_t sets() const { return static_cast<std::uint32_t>(table_.sets_.size()); }

  // Adds the sets of a row, by the channel of each port.
  template <typename ChannelOf>
  void add_sets(const PortSets& port_sets, ChannelOf&& channel_of) {
    table_.sets_.push_back({.first = kComputed});
    for (std::uint32_t set = 0; set < port_sets.size(); ++set) add_set(port_sets, set, channel_of);
  }

  template <typename ChannelOf>
  void add_set(const PortSets& port_sets, std::uint32_t set, ChannelOf&& channel_of) {
    scratch_.clear();
    const std::span<const std::uint64_t> mask = port_sets.mask(set);
    for (std::uint32_t word = 0; word < mask.size(); ++word) {
      for (std::uint64_t bits = mask[word]; bits != 0; bits &= bits - 1) {
        scratch_.push_back(channel_of(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))));
      }
    }
    table_.add_set(scratch_);
  }

  void add_switches() {
    for (std::uint32_t s = 0; s < rows_.size(); ++s) {
      if (!rows_[s]) continue;
      const std::uint32_t first_set = sets();
      const auto channel_of = [&](std::uint32_t port) { return base_->links.of(s)[port].channel; };
      if (rows_[s]->has_computed()) {
        add_compact_sets(*rows_[s], channel_of);
      } else {
        add_sets(rows_[s]->sets(), channel_of);
      }
      Node node = keep_row(*rows_[s]);
      node.first_set = first_set;
      table_.nodes_[topology_.switch_at(s)] = base_->switch_nodes[s] = node;
      rows_[s].reset();
    }
  }

  // Where some sets have to be computed anyway, so are those that would take room in the pool.
  template <typename ChannelOf>
  void add_compact_sets(RowBuilder& row, ChannelOf&& channel_of) {
    std::vector<std::uint32_t> code_of_set;
    const std::uint32_t first_set = sets();
    table_.sets_.push_back({.first = kComputed});
    for (std::uint32_t set = 0; set < row.sets().size(); ++set) {
      add_set(row.sets(), set, channel_of);
      const Set added = table_.sets_.back();
      const bool is_pooled = added.count == 0 && added.stride > 0;
      code_of_set.push_back(is_pooled ? 0 : sets() - 1 - first_set);
      if (!is_pooled) continue;
      table_.pool_.resize(added.first);
      table_.sets_.pop_back();
    }
    row.renumber(code_of_set);
  }

  // Hosts that have no choice take all their NICs, wherever a message goes, and share a row of codes 1. What
  // belongs to one host alone: the sets of its NICs, and its last hops as a destination.
  void add_hosts() {
    RowBuilder no_choice = new_row(0, false, 1);
    for (std::uint32_t c = 0; c < classes_; ++c) no_choice.set(c, 1);
    const Node no_choice_node = keep_row(no_choice);
    std::vector<Node> chooser_nodes;
    for (Chooser& chooser : choosers_) chooser_nodes.push_back(keep_row(chooser.row));
    table_.destinations_.resize(topology_.hosts());
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const std::span<const SwitchLink> nics = base_->nics(h);
      const std::uint32_t host_class = base_->class_of[h], chooser = chooser_of_[host_class];
      Node& node = table_.nodes_[topology_.host(h)];
      node = chooser == kNone ? no_choice_node : chooser_nodes[chooser];
      node.first_set = sets();
      if (chooser == kNone) {
        table_.sets_.push_back({.first = kComputed});
        scratch_.clear();
        for (const SwitchLink& nic : nics) scratch_.push_back(nic.channel);
        table_.add_set(scratch_);
      } else {
        add_sets(choosers_[chooser].row.sets(), [&](std::uint32_t nic) { return nics[nic].channel; });
      }
      table_.destinations_[h] = {host_class, sets()};
      table_.add_last_hops(h, base_->classes[host_class], {}, *base_);
    }
  }

  static constexpr std::uint32_t kNone = UINT32_MAX;

  const Topology& topology_;
  const std::size_t quick_bytes_;
  RoutingTable& table_;
  std::shared_ptr<Base> base_;
  std::uint32_t classes_;
  const std::vector<bool> none_down_;
  ParallelSearch search_;
  std::optional<DomainSearch> domain_search_;    // in place of the other, if there are domains
  std::uint32_t directs_ = 1;                    // codes for last hops
  std::vector<std::optional<RowBuilder>> rows_;  // by switch; none: all is computed
  std::vector<std::uint32_t> chooser_of_;        // by class; kNone: its hosts have no choice
  std::vector<Chooser> choosers_;
  std::vector<Direct> direct_;
  std::vector<std::uint64_t> ports_;
  std::vector<std::uint32_t> scratch_;
  bool needs_columns_ = false;
};

RoutingTable::RoutingTable(const Topology& topology, std::size_t quick_bytes) {
  Builder(topology, quick_bytes, *this).build();
}

}  // namespace weft::routing
