#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

constexpr float kGroupGap = 0.7F, kPlaneGap = 1.6F;  // in widths of a leaf
constexpr float kHostDepth = 90;                     // room below a leaf for its hosts
constexpr float kLabelDepth = 34;                    // where there are none, for the name of its group
constexpr float kWidest = 170;                       // from one switch to the next

struct Span {
  float from = HUGE_VALF, to = -HUGE_VALF;
  void add(float x) {
    from = std::min(from, x);
    to = std::max(to, x);
  }
};

// A group in a plane; what is in none has an impossible one.
using Home = std::pair<std::uint16_t, std::uint32_t>;
constexpr Home kNoHome{0xFFFF, UINT32_MAX};

class Tiers {
 public:
  Tiers(const Plan& plan, const Area& area)
      : plan_(plan), area_(area), layout_(empty_layout(plan, Arrangement::kTiers)) {}

  Layout run() {
    sort_leaves();
    find_homes();
    // Rows of switches in their order, and below them one of hosts, where they have several switches.
    const float host_pitch = area_.width() / static_cast<float>(plan_.topology.hosts());
    layout_.draws_hosts = !plan_.shared_hosts || host_pitch >= 2.5F;
    place_leaves();
    place_upper();
    if (plan_.shared_hosts) {
      place_shared_hosts();
    } else {
      place_hosts();
    }
    draw_group_boxes();
    draw_plane_boxes();
    straighten(plan_, layout_);
    for (std::size_t i = 0; i < plan_.links.size(); ++i) bow(i);
    return std::move(layout_);
  }

 private:
  Home group_of(Vertex v) const { return {plan_.node(v).plane, plan_.node(v).group}; }
  bool has_host_row() const { return plan_.shared_hosts && layout_.draws_hosts; }

  void sort_leaves() {
    unsigned lowest = plan_.tiers;
    for (const Vertex v : plan_.routers) lowest = std::min<unsigned>(lowest, plan_.node(v).tier);
    for (const Vertex v : plan_.routers) {
      (plan_.node(v).tier <= std::max(1U, lowest) ? leaves_ : upper_).push_back(v);
    }
    const auto order = [&](Vertex a, Vertex b) {
      const Node &x = plan_.node(a), &y = plan_.node(b);
      return std::tie(x.plane, x.group, x.index) < std::tie(y.plane, y.group, y.index);
    };
    std::sort(leaves_.begin(), leaves_.end(), order);
    std::stable_sort(upper_.begin(), upper_.end(), [&](Vertex a, Vertex b) {
      return plan_.node(a).tier != plan_.node(b).tier ? plan_.node(a).tier < plan_.node(b).tier : order(a, b);
    });
    std::map<Home, std::size_t> leaves;
    for (const Vertex v : leaves_) most_leaves_ = std::max(most_leaves_, ++leaves[group_of(v)]);
  }

  // A switch is at home in its group if all below it is, too. Those at home and those that join groups get
  // rows of their own, even in the same tier.
  void find_homes() {
    home_.assign(plan_.topology.nodes(), kNoHome);
    for (const Vertex v : leaves_) home_[v] = group_of(v);
    std::map<std::pair<unsigned, bool>, unsigned> rows;  // by tier and whether they join groups
    rows[{0, false}] = 0;
    for (const Vertex v : upper_) {
      const bool at_home = most_leaves_ > 1 && [&] {
        for (const std::uint32_t c : plan_.topology.out_channels(v)) {
          const Vertex to = plan_.topology.channels()[c].to;
          if (plan_.node(to).tier < plan_.node(v).tier && home_[to] != group_of(v)) return false;
        }
        return true;
      }();
      if (at_home) home_[v] = group_of(v);
      rows[{plan_.node(v).tier, !at_home}] = 0;
    }
    unsigned number = 0;
    for (auto& [key, row] : rows) row = number++;
    row_.assign(plan_.topology.nodes(), 0);
    for (const Vertex v : upper_) row_[v] = rows.at({plan_.node(v).tier, home_[v] == kNoHome});
    rows_ = number;
  }

  float row_y(unsigned row) const {
    const bool labels = most_leaves_ > 1;
    const float below = has_host_row() ? 0 : layout_.draws_hosts ? kHostDepth : labels ? kLabelDepth : 12;
    const float bottom = area_.bottom - below, top = area_.top + 30;
    const unsigned rows = rows_ + (has_host_row() ? 1 : 0), from_bottom = row + (has_host_row() ? 1 : 0);
    if (rows <= 1) return (top + bottom) / 2;
    return bottom - (bottom - top) * static_cast<float>(from_bottom) / static_cast<float>(rows - 1);
  }

  void place_leaves() {
    std::vector<float> offset;
    float x = 0;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      if (i > 0) {
        const Node &before = plan_.node(leaves_[i - 1]), &now = plan_.node(leaves_[i]);
        x += 1;
        if (before.plane != now.plane) {
          x += kPlaneGap;
        } else if (before.group != now.group && most_leaves_ > 1) {
          x += kGroupGap;
        }
      }
      offset.push_back(x);
    }
    const bool planes =
        !leaves_.empty() && plan_.node(leaves_.front()).plane != plan_.node(leaves_.back()).plane;
    step_ = std::min(area_.width() / (x + 1 +
                                      (planes             ? kPlaneGap / 2
                                       : most_leaves_ > 1 ? kGroupGap / 2
                                                          : 0)),
                     kWidest);
    // Hosts are wanted in the picture, even if that leaves them small.
    if (!plan_.shared_hosts) layout_.draws_hosts = step_ >= 2.6F && host_rows().second >= 2;
    const float left = area_.centre().x - step_ * x / 2;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      layout_.at[leaves_[i]] = {left + offset[i] * step_, row_y(0)};
      of_group_[group_of(leaves_[i])].add(layout_.at[leaves_[i]].x);
      of_plane_[plan_.node(leaves_[i]).plane].add(layout_.at[leaves_[i]].x);
      all_.add(layout_.at[leaves_[i]].x);
    }
    layout_.switch_radius = std::clamp(step_ * 0.36F, 0.6F, 13.0F);
  }

  // Evenly over their group's leaves, or else the plane's, or all.
  void place_upper() {
    std::map<std::tuple<unsigned, std::uint16_t, Home>, std::vector<Vertex>> rows;
    for (const Vertex v : upper_) rows[{row_[v], plan_.node(v).plane, home_[v]}].push_back(v);
    for (auto& [key, members] : rows) {
      const auto& [row, plane, home] = key;
      const Span span = home != kNoHome             ? of_group_.at(home)
                        : of_plane_.contains(plane) ? of_plane_.at(plane)
                                                    : all_;
      const float width = span.to - span.from + step_;
      const bool spread = home == kNoHome && sort_by_what_is_below(members, width);
      // The ends stay free where there are fewer of them than below.
      const float each = std::min(width / static_cast<float>(members.size()), spread ? width : kWidest);
      const float left = (span.from + span.to) / 2 - each * static_cast<float>(members.size() - 1) / 2;
      for (std::size_t i = 0; i < members.size(); ++i) {
        layout_.at[members[i]] = {left + each * static_cast<float>(i), row_y(row)};
      }
      layout_.switch_radius = std::min(layout_.switch_radius, std::max(0.6F, each * 0.4F));
    }
  }

  // If they serve different parts of what is below, each goes above its own. Returns whether they do.
  bool sort_by_what_is_below(std::vector<Vertex>& members, float width) const {
    std::vector<std::pair<float, Vertex>> places;
    for (const Vertex v : members) {
      float sum = 0;
      int count = 0;
      for (const std::uint32_t c : plan_.topology.out_channels(v)) {
        const Vertex to = plan_.topology.channels()[c].to;
        if (plan_.is_host(to) || plan_.node(to).tier >= plan_.node(v).tier) continue;
        sum += layout_.at[to].x;
        ++count;
      }
      if (count == 0) return false;
      places.emplace_back(std::round(sum / static_cast<float>(count)), v);
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (places.back().first - places.front().first < 0.6F * width) return false;
    for (std::size_t i = 0; i < places.size(); ++i) members[i] = places[i].second;
    return true;
  }

  // Below the leaves of their group, if those are in one plane, else below all.
  void place_shared_hosts() {
    std::map<std::uint32_t, std::vector<Home>> homes;
    for (const auto& [home, span] : of_group_) homes[home.second].push_back(home);
    std::map<Home, std::vector<Vertex>> rows;
    for (std::uint32_t h = 0; h < plan_.topology.hosts(); ++h) {
      const Vertex v = plan_.topology.host(h);
      const auto found = homes.find(plan_.node(v).group);
      const bool one = most_leaves_ > 1 && found != homes.end() && found->second.size() == 1;
      if (one) home_[v] = found->second.front();
      rows[home_[v]].push_back(v);
    }
    float least = 60;
    for (const auto& [home, hosts] : rows) {
      const Span span = home == kNoHome ? Span{area_.left + 10, area_.right - 10} : of_group_.at(home);
      const float each = std::min((span.to - span.from) / static_cast<float>(hosts.size()), 60.0F);
      const float left = (span.from + span.to) / 2 - each * static_cast<float>(hosts.size() - 1) / 2;
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        layout_.at[hosts[i]] = {left + each * static_cast<float>(i), area_.bottom - 25};
      }
      least = std::min(least, each);
    }
    layout_.host_radius = std::clamp(least * 0.35F, 0.8F, 5.0F);
  }

  // Columns of hosts below a leaf, and from one row of them to the next.
  std::pair<std::size_t, float> host_rows() const {
    const auto columns = static_cast<std::size_t>(
        std::clamp(std::floor(step_ * 0.9F / std::max(host_pitch(), 2.6F)), 1.0F, 8.0F));
    const std::size_t rows = (plan_.most_hosts + columns - 1) / columns;
    return {columns, std::min(std::max(host_pitch(), 2.6F),
                              (kHostDepth - 50) / static_cast<float>(std::max<std::size_t>(1, rows)))};
  }
  float host_pitch() const {
    return std::min(12.0F, step_ * 0.9F / std::min<float>(8, static_cast<float>(plan_.most_hosts)));
  }

  // In rows below their leaf.
  void place_hosts() {
    const auto [columns, down] = host_rows();
    layout_.host_radius = std::clamp(std::min(host_pitch(), down) * 0.36F, 0.7F, 4.5F);
    for (const Vertex v : plan_.routers) {
      const std::vector<Vertex>& hosts = plan_.hosts_of[v];
      const std::size_t across = std::min(columns, hosts.size());
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        const float column = static_cast<float>(i % across) - static_cast<float>(across - 1) / 2;
        const Point at = layout_.at[v];
        layout_.at[hosts[i]] = {at.x + column * host_pitch(),
                                at.y + layout_.switch_radius + 22 + down * static_cast<float>(i / across)};
      }
    }
  }

  void draw_group_boxes() {
    if (most_leaves_ < 2 || of_group_.size() < 2) return;
    std::map<Home, unsigned> top;  // row
    for (const Vertex v : plan_.routers) {
      if (home_[v] != kNoHome) top[home_[v]] = std::max(top[home_[v]], row_[v]);
    }
    std::set<Home> with_hosts;
    for (std::uint32_t h = 0; h < plan_.topology.hosts(); ++h)
      with_hosts.insert(home_[plan_.topology.host(h)]);
    for (const auto& [home, span] : of_group_) {
      const float margin = std::min(step_ * (0.5F + kGroupGap * 0.25F), layout_.switch_radius + 14);
      const bool whole = !plan_.shared_hosts || !layout_.draws_hosts || with_hosts.contains(home);
      // A row of switches alone has no room for a label.
      const float bottom = whole ? area_.bottom : row_y(0) + layout_.switch_radius + 8;
      Box box{{span.from - margin, row_y(top[home]) - layout_.switch_radius - 10, span.to + margin, bottom},
              false,
              "",
              {}};
      if (box.area.width() > 26 && of_plane_.size() == 1 && whole) box.label = fmt::format("{}", home.second);
      box.label_at = {box.area.centre().x, box.area.bottom - 6};
      layout_.boxes.push_back(std::move(box));
    }
  }

  void draw_plane_boxes() {
    if (of_plane_.size() < 2) return;
    std::vector<Box> planes;
    for (const auto& [plane, span] : of_plane_) {
      const float margin = step_ * (0.5F + kPlaneGap * 0.25F);
      const float bottom = layout_.draws_hosts ? row_y(0) + layout_.switch_radius + 14 : area_.bottom;
      Box box{{span.from - margin, area_.top, span.to + margin, bottom}, false, "", {}};
      box.label = fmt::format("plane {}", plane);
      box.label_at = {box.area.centre().x, box.area.top + 16};
      planes.push_back(std::move(box));
    }
    layout_.boxes.insert(layout_.boxes.begin(), planes.begin(), planes.end());
  }

  // Links within a row pass over what stands between.
  void bow(std::size_t link) {
    const Point a = layout_.at[plan_.links[link].first], b = layout_.at[plan_.links[link].second];
    if (a.y != b.y || plan_.is_host(plan_.links[link].first) != plan_.is_host(plan_.links[link].second))
      return;
    const float room = rows_ > 1 ? row_y(0) - row_y(1) : row_y(0) - area_.top;
    layout_.control[link].y -= std::min(0.6F * std::abs(a.x - b.x), 0.8F * room);
  }

  const Plan& plan_;
  const Area area_;
  Layout layout_;
  std::vector<Vertex> leaves_, upper_;
  std::vector<Home> home_;       // of each vertex
  std::vector<unsigned> row_;    // of each switch, from below
  unsigned rows_ = 1;            // of switches
  std::size_t most_leaves_ = 0;  // of a group
  float step_ = 1;               // from leaf to leaf
  std::map<Home, Span> of_group_;
  std::map<std::uint16_t, Span> of_plane_;
  Span all_;
};

}  // namespace

Layout tiers_layout(const Plan& plan, const Area& area) { return Tiers(plan, area).run(); }

}  // namespace weft::topologies
