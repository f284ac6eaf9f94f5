#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

constexpr float kGroupGap = 0.7F, kPlaneGap = 1.6F;  // in widths of a leaf
constexpr float kHostDepth = 90;                     // room below a leaf for its hosts

struct Span {
  float from = HUGE_VALF, to = -HUGE_VALF;
  void add(float x) {
    from = std::min(from, x);
    to = std::max(to, x);
  }
};

class Tiers {
 public:
  Tiers(const Plan& plan, const Area& area)
      : plan_(plan), area_(area), layout_(empty_layout(plan, Arrangement::kTiers)) {}

  Layout run() {
    sort_leaves();
    rows_ = plan_.tiers + (plan_.shared_hosts ? 1 : 0);
    place_leaves();
    place_upper();
    place_hosts();
    draw_boxes();
    straighten(plan_, layout_);
    return std::move(layout_);
  }

 private:
  float row_y(unsigned tier) const {
    const float bottom = area_.bottom - kHostDepth, top = area_.top + 30;
    const unsigned from_bottom = tier - (plan_.shared_hosts ? 0 : 1);
    if (rows_ <= 1) return (top + bottom) / 2;
    return bottom - (bottom - top) * static_cast<float>(from_bottom) / static_cast<float>(rows_ - 1);
  }

  void sort_leaves() {
    for (const Vertex v : plan_.routers) {
      (plan_.node(v).tier <= 1 ? leaves_ : upper_).push_back(v);
    }
    const auto order = [&](Vertex a, Vertex b) {
      const Node &x = plan_.node(a), &y = plan_.node(b);
      return std::tie(x.plane, x.group, x.index) < std::tie(y.plane, y.group, y.index);
    };
    std::sort(leaves_.begin(), leaves_.end(), order);
    std::sort(upper_.begin(), upper_.end(), order);
    for (const auto& [group, members] : plan_.groups) {
      std::size_t leaves = 0;
      for (const Vertex v : members) leaves += plan_.node(v).tier <= 1;
      most_leaves_ = std::max(most_leaves_, leaves);
    }
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
    step_ = std::min(area_.width() / (x + 1), 170.0F);
    const float left = area_.centre().x - step_ * x / 2;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      layout_.at[leaves_[i]] = {left + offset[i] * step_, row_y(1)};
      const Node& node = plan_.node(leaves_[i]);
      of_group_[{node.plane, node.group}].add(layout_.at[leaves_[i]].x);
      of_plane_[node.plane].add(layout_.at[leaves_[i]].x);
      all_.add(layout_.at[leaves_[i]].x);
    }
    layout_.switch_radius = std::clamp(step_ * 0.36F, 1.2F, 13.0F);
  }

  // Evenly over the group's leaves, or else the plane's, or all.
  void place_upper() {
    std::map<std::tuple<unsigned, unsigned, std::uint32_t>, std::vector<Vertex>> rows;
    for (const Vertex v : upper_) {
      const Node& node = plan_.node(v);
      const bool in_group = of_group_.contains({node.plane, node.group}) && most_leaves_ > 1;
      rows[{node.tier, node.plane, in_group ? node.group + 1 : 0}].push_back(v);
    }
    for (const auto& [key, members] : rows) {
      const auto& [tier, plane, group] = key;
      Span span = group != 0 ? of_group_.at({static_cast<std::uint16_t>(plane), group - 1})
                  : of_plane_.contains(static_cast<std::uint16_t>(plane))
                      ? of_plane_.at(static_cast<std::uint16_t>(plane))
                      : all_;
      const auto count = static_cast<float>(members.size());
      // The ends stay free where there are fewer of them than below.
      const float width = span.to - span.from + step_;
      const float each = std::min(width / count, 170.0F);
      const float left = (span.from + span.to) / 2 - each * (count - 1) / 2;
      for (std::size_t i = 0; i < members.size(); ++i) {
        layout_.at[members[i]] = {left + each * static_cast<float>(i), row_y(tier)};
      }
      layout_.switch_radius = std::min(layout_.switch_radius, std::max(1.2F, each * 0.4F));
    }
  }

  void place_hosts() {
    if (plan_.shared_hosts) {
      const std::uint32_t hosts = plan_.topology.hosts();
      const float each = std::min(area_.width() / static_cast<float>(hosts), 60.0F);
      const float left = area_.centre().x - each * static_cast<float>(hosts - 1) / 2;
      for (std::uint32_t h = 0; h < hosts; ++h) {
        layout_.at[plan_.topology.host(h)] = {left + each * static_cast<float>(h), area_.bottom - 25};
      }
      layout_.host_radius = std::clamp(each * 0.35F, 0.8F, 5.0F);
      layout_.draws_hosts = each >= 1.5F;
      return;
    }
    // In rows below their leaf.
    const float pitch =
        std::min(12.0F, step_ * 0.9F / std::min<float>(8, static_cast<float>(plan_.most_hosts)));
    const auto columns =
        static_cast<std::size_t>(std::clamp(std::floor(step_ * 0.9F / std::max(pitch, 2.6F)), 1.0F, 8.0F));
    const auto rows = (plan_.most_hosts + columns - 1) / columns;
    const float down = std::min(std::max(pitch, 2.6F),
                                (kHostDepth - 50) / static_cast<float>(std::max<std::size_t>(1, rows)));
    layout_.host_radius = std::clamp(std::min(pitch, down) * 0.36F, 0.7F, 4.5F);
    layout_.draws_hosts = step_ >= 2.6F && down >= 2.0F;
    for (const Vertex v : plan_.routers) {
      const std::vector<Vertex>& hosts = plan_.hosts_of[v];
      const std::size_t across = std::min(columns, hosts.size());
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        const float column = static_cast<float>(i % across) - static_cast<float>(across - 1) / 2;
        const Point at = layout_.at[v];
        layout_.at[hosts[i]] = {at.x + column * pitch,
                                at.y + layout_.switch_radius + 22 + down * static_cast<float>(i / across)};
      }
    }
  }

  void draw_boxes() {
    for (const auto& [key, span] : of_group_) {
      if (most_leaves_ < 2 || of_group_.size() < 2) break;
      unsigned top = 1;
      for (const Vertex v : plan_.groups.at(key.second)) top = std::max<unsigned>(top, plan_.node(v).tier);
      const float margin = std::min(step_ * (0.5F + kGroupGap * 0.25F), layout_.switch_radius + 14);
      const float bottom = plan_.shared_hosts ? row_y(1) + layout_.switch_radius + 8
                                              : area_.bottom - (layout_.draws_hosts ? 0 : 20);
      Box box{{span.from - margin, row_y(top) - layout_.switch_radius - 10, span.to + margin, bottom},
              false,
              "",
              {}};
      if (box.area.width() > 26 && of_plane_.size() == 1) box.label = fmt::format("{}", key.second);
      box.label_at = {box.area.centre().x, box.area.bottom - 6};
      layout_.boxes.push_back(std::move(box));
    }
    if (of_plane_.size() < 2) return;
    for (const auto& [plane, span] : of_plane_) {
      const float margin = step_ * (0.5F + kPlaneGap * 0.25F);
      Box box{{span.from - margin, area_.top, span.to + margin, row_y(1) + layout_.switch_radius + 14},
              false,
              "",
              {}};
      box.label = fmt::format("plane {}", plane);
      box.label_at = {box.area.centre().x, box.area.top + 16};
      layout_.boxes.push_back(std::move(box));
    }
  }

  const Plan& plan_;
  const Area area_;
  Layout layout_;
  std::vector<Vertex> leaves_, upper_;
  unsigned rows_ = 1;
  std::size_t most_leaves_ = 0;  // of a group
  float step_ = 1;               // from leaf to leaf
  std::map<std::pair<std::uint16_t, std::uint32_t>, Span> of_group_;
  std::map<std::uint16_t, Span> of_plane_;
  Span all_;
};

}  // namespace

Layout tiers_layout(const Plan& plan, const Area& area) { return Tiers(plan, area).run(); }

}  // namespace weft::topologies
