// Minimal routes in networks of linked groups: as few links between groups as can be, then as few links.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/routing/switch_plan.h"
#include "sim/routing/table/host_classes.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// In a dragonfly "minimal" means at most one link between groups (J. Kim et al., ISCA 2008); the fewest links
// may be two of these. A search for each class of hosts; what is kept takes 5 bytes for each pair of a switch
// and a class, which is estimated first. With machines of several accelerators it is about outer switches
// (HomeSwitches): hosts are cabled to their homes, and switches inside machines aren't to be asked for.
class GroupRoutes {
 public:
  static constexpr std::uint8_t kNoWay = 0xFF;

  explicit GroupRoutes(const topologies::Topology& topology);
  // Anew, without these links. `down_links`: by link.
  void rebuild(const std::vector<bool>& down_links);

  // The ports of a switch on the way to a host that isn't cabled to it; none if there is no way.
  std::span<const std::uint32_t> ports(std::uint32_t switch_index, std::uint32_t host) const {
    const std::uint32_t code = code_of_[index(switch_index, host)];
    if (code < kSets) [[likely]]
      return {numbers_.data() + code, 1};
    const Set& set = sets_[code - kSets];
    return {pool_.data() + set.first, set.count};
  }
  // Where ports() looks.
  Lookup lookup() const {
    if (first_ > 0) return {};
    return {.table = code_of_.data(),
            .row_bytes = classes_ * sizeof(code_of_[0]),
            .entry_bytes = sizeof(code_of_[0]),
            .entry_of = class_of_.data()};
  }
  // Links from a switch to the switch that the host is cabled to; kNoWay.
  std::uint8_t distance(std::uint32_t switch_index, std::uint32_t host) const {
    return distance_[index(switch_index, host)];
  }
  // The most that distance() can be.
  std::uint32_t most_links() const;

 private:
  struct Set {
    std::uint32_t first = 0, count = 0;
  };
  std::size_t index(std::uint32_t switch_index, std::uint32_t host) const {
    return std::size_t{switch_index - first_} * classes_ + class_of_[host];
  }
  // A link to another switch that is up.
  struct Arc {
    std::uint32_t to = 0;
    std::uint16_t port = 0;
    bool between = false;  // groups
  };
  std::span<const Arc> arcs(std::uint32_t s) const {
    return {arcs_.data() + begin_[s], arcs_.data() + begin_[s + 1]};
  }
  std::vector<HostClass> find_classes(const std::vector<bool>& down_links);
  void list_arcs(const std::vector<bool>& down_links);
  void search(std::uint32_t host_class, const HostClass& hosts);
  void note_ports(std::uint32_t host_class);
  std::uint32_t code(const std::vector<std::uint32_t>& ports);
  std::uint32_t look_up(const std::vector<std::uint32_t>& ports);
  bool is_left_out(const topologies::Node& node) const {
    return outer_ && node.domain != topologies::kNoDomain;
  }

  const topologies::Topology& topology_;
  std::vector<std::uint32_t> begin_;  // into arcs_, one more than there are switches
  std::vector<Arc> arcs_;
  std::uint32_t classes_ = 0;
  std::uint32_t first_ = 0;              // the first switch with routes: those inside machines come before
  std::vector<std::uint32_t> class_of_;  // by host
  bool outer_ = false;                   // HomeSwitches::outer()
  // A code stands for ports: it is the only one's number, or kSets and that of a set.
  static constexpr std::uint32_t kSets = 1 << 16;
  std::vector<std::uint32_t> code_of_;  // [switch][class]
  std::vector<std::uint8_t> distance_;  // the same
  std::vector<Set> sets_;
  std::vector<std::uint32_t> pool_;
  std::vector<std::uint32_t> numbers_;                           // 0, 1, 2 …, to the last port
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;  // sets, by hash
  // A search counts here: links between groups, and links of all kinds, by switch.
  std::vector<std::uint32_t> cost_;
  // Switches to go on from, by links so far: of this number of links between groups, and of the next.
  std::vector<std::vector<std::uint32_t>> open_, open_beyond_;
};

}  // namespace weft::routing
