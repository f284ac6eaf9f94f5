// How a routing table follows links that fail and recover.
#include <algorithm>
#include <array>
#include <limits>

#include "sim/routing/table/parallel_search.h"
#include "sim/routing/table/routing_table.h"
#include "sim/routing/table/table_base.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

// Only failures are to be dealt with, because the table without repairs has all links:
// - Distances to a class change if and only if some switch loses the last of its next links there. Its column
//   is searched anew, and lookups towards the class are computed from it.
// - Elsewhere a switch that lost links has what is left of its original set; its lookups are computed.
// - Hosts that lost links make classes of their own, with columns of their own.
// Links that recover make the first rule hold for fewer classes. A column that stays in use is searched anew
// if one of its switches has again lost its last next link, or if a link is back that shortens a way.
class RoutingTable::Repairer {
 public:
  Repairer(const Topology& topology, RoutingTable& table)
      : topology_(topology),
        table_(table),
        base_(*table.base_),
        repairs_(table.repairs_),
        classes_(static_cast<std::uint32_t>(base_.classes.size())) {}

  std::size_t repair(const std::vector<bool>& down_links) {
    std::vector<bool> down = down_links;
    if (std::find(down.begin(), down.end(), true) == down.end()) down.clear();
    if (down == repairs_.down_links) return 0;
    old_down_ = std::move(repairs_.down_links);
    repairs_.down_links = std::move(down);
    if (repairs_.columns.empty()) repairs_.columns.resize(classes_);
    restore();
    sort_links();
    choose_columns();
    classify_cut_hosts();
    search();
    redirect();
    if (repairs_.down_links.empty()) repairs_ = {};
    return wanted_.size();
  }

 private:
  static constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

  // Rows, destinations and sets as built; columns stay.
  void restore() {
    for (const auto& [vertex, node] : repairs_.nodes) table_.nodes_[vertex] = node;
    for (const auto& [host, destination] : repairs_.destinations) table_.destinations_[host] = destination;
    repairs_.nodes.clear();
    repairs_.destinations.clear();
    repairs_.class_of.clear();
    repairs_.cut_classes.clear();
    repairs_.columns.resize(classes_);
    table_.sets_.resize(base_.sets);
    table_.pool_.resize(base_.pool);
  }

  void sort_links() {
    const std::vector<bool>& down = repairs_.down_links;
    const auto links = static_cast<std::uint32_t>(std::max(down.size(), old_down_.size()));
    for (std::uint32_t link = 0; link < links; ++link) {
      const bool is = is_down(down, 2 * link), was = is_down(old_down_, 2 * link);
      if (!is && !was) continue;
      const topologies::Channel& channel = topology_.channels()[2 * link];
      std::array<std::uint32_t, 2> ends{};
      bool has_host = false;
      for (std::size_t i = 0; i < 2; ++i) {
        const std::uint32_t v = i == 0 ? channel.from : channel.to;
        ends[i] = base_.number[v];
        if (!base_.is_host(v)) continue;
        has_host = true;
        if (is) cut_hosts_.push_back(base_.host_number(v));
      }
      if (has_host) continue;
      if (is) down_ends_.insert(down_ends_.end(), ends.begin(), ends.end());
      if (is && !was) lost_ends_.insert(lost_ends_.end(), ends.begin(), ends.end());
      if (!is && was) recovered_.push_back(ends);
    }
    for (std::vector<std::uint32_t>* numbers : {&down_ends_, &lost_ends_, &cut_hosts_}) {
      std::sort(numbers->begin(), numbers->end());
      numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
    }
  }

  // Looks at the classes as built: drops columns that are no longer needed, and notes which are to be
  // searched.
  void choose_columns() {
    const std::vector<std::vector<std::uint32_t>> from_ends = distances_from_recovered();
    for (std::uint32_t c = 0; c < classes_; ++c) {
      const auto original = [&](std::uint32_t s, Candidates& out) { table_.original(s, c, out); };
      if (repairs_.columns[c].empty()) {
        // It was as built, and links that are back take part in that.
        if (loses_last(lost_ends_, c, original)) wanted_.push_back(c);
        continue;
      }
      if (!recovered_.empty() && !loses_last(down_ends_, c, original)) {
        repairs_.columns[c] = {};
        continue;
      }
      const auto present = [&](std::uint32_t s, Candidates& out) {
        table_.gather(s, c, repairs_.columns[c].data(), old_down_, out);
      };
      if (loses_last(lost_ends_, c, present) || is_shortened(c, from_ends)) wanted_.push_back(c);
    }
  }

  // Whether one of these switches had next links to the class, all of which are down now.
  template <typename NextLinks>
  bool loses_last(const std::vector<std::uint32_t>& switches, std::uint32_t c, NextLinks&& next_links) const {
    const std::vector<std::uint32_t>& neighbours = base_.classes[c].neighbours;
    return std::any_of(switches.begin(), switches.end(), [&](std::uint32_t s) {
      if (std::find(neighbours.begin(), neighbours.end(), topology_.switch_at(s)) != neighbours.end())
        return false;
      const Candidates next([&](Candidates& out) { next_links(s, out); });
      return !next.empty() && std::all_of(next.begin(), next.end(), [&](std::uint32_t channel) {
        return is_down(repairs_.down_links, channel);
      });
    });
  }

  // By end of a recovered link: the distances to all switches, over the links that were up before.
  std::vector<std::vector<std::uint32_t>> distances_from_recovered() const {
    std::vector<std::vector<std::uint32_t>> all;
    std::vector<std::uint32_t> frontier;
    if (base_.costs != nullptr) return all;
    const bool is_used = std::any_of(repairs_.columns.begin(), repairs_.columns.end(),
                                     [](const auto& column) { return !column.empty(); });
    for (std::size_t end = 0; is_used && end < 2 * recovered_.size(); ++end) {
      std::vector<std::uint32_t>& distance = all.emplace_back(topology_.switches(), kFar);
      frontier.assign(1, recovered_[end / 2][end % 2]);
      distance[frontier.front()] = 0;
      for (std::size_t next = 0; next < frontier.size(); ++next) {
        for (const SwitchLink& link : base_.links.of(frontier[next])) {
          if (distance[link.to] != kFar || is_down(old_down_, link.channel)) continue;
          distance[link.to] = distance[frontier[next]] + 1;
          frontier.push_back(link.to);
        }
      }
    }
    return all;
  }

  // Where links cost different amounts, any that is back may shorten a way.
  bool is_shortened(std::uint32_t c, const std::vector<std::vector<std::uint32_t>>& from_ends) const {
    if (base_.costs != nullptr) return !recovered_.empty();
    const auto distance = [&](std::size_t end) {
      std::uint32_t least = kFar;
      for (const std::uint32_t v : base_.classes[c].neighbours) {
        if (!base_.is_host(v)) least = std::min(least, from_ends[end][base_.number[v]]);
      }
      return least;
    };
    for (std::size_t end = 0; end < from_ends.size(); end += 2) {
      const std::uint32_t a = distance(end), b = distance(end + 1);
      if (std::max(a, b) - std::min(a, b) > 1) return true;
    }
    return false;
  }

  void classify_cut_hosts() {
    if (repairs_.down_links.empty()) return;
    repairs_.class_of = base_.class_of;
    std::vector<std::uint32_t> class_of;
    repairs_.cut_classes = classify(topology_, repairs_.down_links, cut_hosts_, class_of);
    for (std::size_t i = 0; i < cut_hosts_.size(); ++i) {
      repairs_.class_of[cut_hosts_[i]] = classes_ + class_of[i];
    }
    repairs_.columns.resize(classes_ + repairs_.cut_classes.size());
    for (std::uint32_t c = 0; c < repairs_.cut_classes.size(); ++c) {
      if (!repairs_.cut_classes[c].neighbours.empty()) wanted_.push_back(classes_ + c);
    }
  }

  void search() {
    if (base_.costs != nullptr) {
      DomainSearch search(base_.links, *base_.costs, repairs_.down_links);
      return search_with(
          [&](std::vector<std::uint32_t> domains, auto&& seed_all, std::span<std::uint8_t* const> columns) {
            search.start(std::move(domains));
            seed_all(search);
            search.run();
            search.write_columns(columns);
          });
    }
    ParallelSearch search(base_.links, repairs_.down_links);
    search_with([&](std::vector<std::uint32_t>, auto&& seed_all, std::span<std::uint8_t* const> columns) {
      search.start();
      seed_all(search);
      search.run([](std::span<const std::uint64_t>) {});
      write_columns(search.distances(), columns);
    });
  }

  // Calls one(domains of destinations, what seeds a search, their columns) for up to 64 destinations at once.
  template <typename One>
  void search_with(One&& one) {
    std::vector<std::uint8_t*> columns;
    for (std::size_t first = 0; first < wanted_.size(); first += ParallelSearch::kWidth) {
      const std::size_t end = std::min(wanted_.size(), first + ParallelSearch::kWidth);
      columns.clear();
      std::vector<std::uint32_t> domains;
      for (std::size_t i = first; i < end; ++i) {
        repairs_.columns[wanted_[i]].resize(base_.bytes_of_column());
        columns.push_back(repairs_.columns[wanted_[i]].data());
        domains.push_back(table_.domain_of(wanted_[i]));
      }
      const auto seed_all = [&](auto& search) {
        for (std::size_t i = first; i < end; ++i) {
          for (const std::uint32_t v : table_.neighbours_of(wanted_[i])) {
            if (!base_.is_host(v)) search.seed(base_.number[v], static_cast<std::uint32_t>(i - first));
          }
        }
      };
      one(std::move(domains), seed_all, columns);
    }
  }

  // Sends lookups that rows don't answer any more to where they are computed.
  void redirect() {
    const auto compute_at = [&](Vertex v) {
      repairs_.nodes.emplace_back(v, table_.nodes_[v]);
      table_.nodes_[v] = base_.computed();
    };
    for (const std::uint32_t s : down_ends_) compute_at(topology_.switch_at(s));
    for (const std::uint32_t h : cut_hosts_) compute_at(topology_.host(h));
    for (std::uint32_t h = 0; h < topology_.hosts() && !repairs_.class_of.empty(); ++h) {
      const std::uint32_t c = repairs_.class_of[h];
      if (c < classes_ && repairs_.columns[c].empty()) continue;
      Destination& destination = table_.destinations_[h];
      repairs_.destinations.emplace_back(h, destination);
      destination.column = classes_;
      if (c < classes_) continue;
      destination.first_direct_set = static_cast<std::uint32_t>(table_.sets_.size());
      table_.add_last_hops(h, repairs_.cut_classes[c - classes_], repairs_.down_links, base_);
    }
  }

  const Topology& topology_;
  RoutingTable& table_;
  const Base& base_;
  Repairs& repairs_;
  const std::uint32_t classes_;
  std::vector<bool> old_down_;
  std::vector<std::uint32_t> down_ends_,
      lost_ends_;  // switches at links that are down, that have just failed
  std::vector<std::array<std::uint32_t, 2>> recovered_;  // between switches
  std::vector<std::uint32_t> cut_hosts_;                 // hosts with links that are down
  std::vector<std::uint32_t> wanted_;                    // classes whose columns are to be searched
};

std::size_t RoutingTable::repair(const Topology& topology, const std::vector<bool>& down_links) {
  return Repairer(topology, *this).repair(down_links);
}

}  // namespace weft::routing
