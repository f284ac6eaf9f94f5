#include "topologies/cost/placement.h"

#include <algorithm>
#include <map>

namespace weft::topologies {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

// A switch with hosts, and those that stand with it.
struct Cell {
  Vertex head = 0;
  std::vector<Vertex> hosts;
};

// Fills racks one after the other. A rack is named by its place in the sequence, which is only known when all
// are there, so until then by the order in which it was opened; `after_` holds the sequence.
class Filler {
 public:
  Filler(const Topology& topology, const RackRules& rules)
      : topology_(topology), rules_(rules), rack_(topology.nodes(), kNone) {}

  Placement run() {
    gather();
    place_given();
    place_cells();
    place_others();
    return number();
  }

 private:
  const Node& node(Vertex v) const { return topology_.node(v); }

  std::uint32_t open(std::vector<std::uint32_t>& sequence) {
    sequence.push_back(opened_);
    return opened_++;
  }

  void gather() {
    std::vector<std::uint32_t> cell_of(topology_.nodes(), kNone);
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const Vertex host = topology_.host(h);
      const Vertex head = topology_.channels()[topology_.out_channels(host)[0]].to;
      for (const std::uint32_t c : topology_.out_channels(host)) has_hosts(topology_.channels()[c].to);
      if (cell_of[head] == kNone) {
        cell_of[head] = static_cast<std::uint32_t>(cells_.size());
        cells_.push_back({head, {}});
      }
      cells_[cell_of[head]].hosts.push_back(host);
    }
    std::stable_sort(cells_.begin(), cells_.end(),
                     [&](const Cell& a, const Cell& b) { return node(a.head).index < node(b.head).index; });
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
      tiered_ = tiered_ || !serves_[topology_.switch_at(s)];
    }
  }

  void has_hosts(Vertex v) {
    serves_.resize(topology_.nodes(), false);
    serves_[v] = true;
  }

  // Racks that the family gave.
  void place_given() {
    std::map<std::uint32_t, std::uint32_t> given;
    for (Vertex v = 0; v < topology_.nodes(); ++v) {
      if (node(v).rack != kNoRack) given.emplace(node(v).rack, 0);
    }
    for (auto& [name, rack] : given) rack = open(sequence_);
    for (Vertex v = 0; v < topology_.nodes(); ++v) {
      if (node(v).rack != kNoRack) rack_[v] = given.at(node(v).rack);
    }
    for (const Cell& cell : cells_) {
      if (rack_[cell.head] == kNone) continue;
      for (const Vertex host : cell.hosts) {
        if (rack_[host] == kNone) rack_[host] = rack_[cell.head];
      }
    }
  }

  // Does a group stand together, or does each of its switches with hosts stand for itself?
  bool by_group(const Cell& cell) const { return !tiered_ || node(cell.head).in_host; }

  // What a cell takes of a rack: its hosts, but of all accelerators of a node the first alone stands for it.
  std::uint64_t room_of(std::size_t cell) const {
    const Vertex head = cells_[cell].head;
    if (node(head).domain == kNoDomain) return cells_[cell].hosts.size();
    return cell > 0 && topology_.is_inside(cells_[cell - 1].head, head) ? 0 : 1;
  }

  void place_cells() {
    std::uint32_t rack = kNone;
    std::uint64_t room = 0;
    for (std::size_t i = 0; i < cells_.size();) {
      std::size_t end = i + 1;
      std::uint64_t hosts = room_of(i);
      while (end < cells_.size() && by_group(cells_[i]) &&
             node(cells_[end].head).group == node(cells_[i].head).group) {
        hosts += room_of(end++);
      }
      if (rack_[cells_[i].head] != kNone) {
        i = end;
        continue;
      }
      // A unit that fits a rack is not divided, and racks stand in one site.
      const bool elsewhere = i > 0 && node(cells_[i].head).site != node(cells_[i - 1].head).site;
      if (rules_.hosts == 0 || hosts > room || elsewhere) rack = kNone;
      for (; i < end; ++i) {
        const std::uint64_t size = room_of(i);
        if (rack == kNone || (rules_.hosts != 0 && size > room)) {
          rack = open(sequence_);
          room = rules_.hosts;
        }
        room -= std::min(room, size);
        put(cells_[i], rack);
      }
    }
  }

  void put(const Cell& cell, std::uint32_t rack) {
    rack_[cell.head] = rack;
    for (const Vertex host : cell.hosts) {
      if (rack_[host] == kNone) rack_[host] = rack;
    }
    racks_of_group_[node(cell.head).group].push_back(rack);
  }

  // Switches that no host stands with: those of further planes beside the hosts they serve, those of a group
  // in racks in its middle, the rest in the middle of their site.
  void place_others() {
    std::map<std::pair<std::uint32_t, unsigned>, std::vector<Vertex>> of_group;
    std::map<std::uint16_t, std::map<unsigned, std::vector<Vertex>>> central;
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
      const Vertex v = topology_.switch_at(s);
      if (rack_[v] != kNone) continue;
      if (serves_[v]) {
        rack_[v] = rack_of_first_host(v);
      } else if (racks_of_group_.contains(node(v).group)) {
        of_group[{node(v).group, node(v).tier}].push_back(v);
      } else {
        central[node(v).site][node(v).tier].push_back(v);
      }
    }
    for (const auto& [key, switches] : of_group) {
      const std::vector<std::uint32_t>& racks = racks_of_group_.at(key.first);
      const bool one_rack = racks.front() == racks.back();
      if (rules_.hosts != 0 && one_rack) {
        for (const Vertex v : switches) rack_[v] = racks.front();
        continue;
      }
      std::vector<std::uint32_t> own;
      fill(switches, own);
      const auto middle = std::find(sequence_.begin(), sequence_.end(), racks[racks.size() / 2]);
      sequence_.insert(middle, own.begin(), own.end());
    }
    divide_by_site();
    for (const auto& [site, tiers] : central) {
      std::vector<std::uint32_t>& racks = of_site_[site];
      std::vector<std::uint32_t> own;
      for (const auto& [tier, switches] : tiers) {
        // A network that fits one rack stands in one.
        if (rules_.hosts != 0 && racks.size() == 1 && switches.size() <= rules_.switches) {
          for (const Vertex v : switches) rack_[v] = racks.front();
        } else {
          fill(switches, own);
        }
      }
      racks.insert(racks.begin() + static_cast<std::ptrdiff_t>(racks.size() / 2), own.begin(), own.end());
    }
  }

  // Each site has racks of its own, in the order of the sequence.
  void divide_by_site() {
    std::vector<std::uint16_t> site_of(opened_, 0);
    for (Vertex v = 0; v < topology_.nodes(); ++v) {
      if (rack_[v] != kNone) site_of[rack_[v]] = node(v).site;
    }
    for (const std::uint32_t rack : sequence_) of_site_[site_of[rack]].push_back(rack);
  }

  std::uint32_t rack_of_first_host(Vertex v) const {
    for (const std::uint32_t c : topology_.out_channels(v)) {
      const Vertex to = topology_.channels()[c].to;
      if (node(to).kind == NodeKind::kHost) return rack_[to];
    }
    return 0;
  }

  void fill(const std::vector<Vertex>& switches, std::vector<std::uint32_t>& racks) {
    std::uint32_t rack = kNone, room = 0;
    for (const Vertex v : switches) {
      if (rack == kNone || (rules_.switches != 0 && room == 0)) {
        rack = open(racks);
        room = rules_.switches;
      }
      rack_[v] = rack;
      if (room > 0) --room;
    }
  }

  Placement number() {
    Placement result;
    result.racks = opened_;
    std::vector<std::uint32_t> place_of(opened_);
    std::uint32_t next = 0;
    for (const auto& [site, racks] : of_site_) {
      std::uint32_t columns = 0;
      while (columns * columns < racks.size()) ++columns;
      result.columns = std::max(result.columns, columns);
      for (std::uint32_t i = 0; i < racks.size(); ++i) {
        place_of[racks[i]] = next++;
        spots_.push_back({i % columns, i / columns});
      }
    }
    result.rack.reserve(rack_.size());
    for (const std::uint32_t rack : rack_) result.rack.push_back(place_of[rack]);
    for (const Edge& edge : topology_.edges()) {
      const float known = edge.link.length_m;
      const double length = known > 0 ? known : distance(result.rack[edge.from], result.rack[edge.to]);
      result.length_m.push_back(static_cast<float>(length));
    }
    return result;
  }

  double distance(std::uint32_t a, std::uint32_t b) const {
    if (a == b) return rules_.within_m;
    const auto along = [](std::uint32_t x, std::uint32_t y) { return x < y ? y - x : x - y; };
    return along(spots_[a].column, spots_[b].column) * rules_.width_m +
           along(spots_[a].row, spots_[b].row) * rules_.depth_m + rules_.overhead_m;
  }

  const Topology& topology_;
  const RackRules& rules_;
  std::vector<std::uint32_t> rack_;  // by the order of opening
  std::vector<std::uint32_t> sequence_;
  std::map<std::uint16_t, std::vector<std::uint32_t>> of_site_;  // racks in their sequence
  struct Spot {
    std::uint32_t column = 0, row = 0;
  };
  std::vector<Spot> spots_;  // of each rack, in the grid of its site
  std::uint32_t opened_ = 0;
  std::vector<Cell> cells_;
  std::vector<bool> serves_;  // has hosts
  bool tiered_ = false;       // some switch has none
  std::map<std::uint32_t, std::vector<std::uint32_t>> racks_of_group_;
};

}  // namespace

Placement place(const Topology& topology, const RackRules& rules) { return Filler(topology, rules).run(); }

}  // namespace weft::topologies
