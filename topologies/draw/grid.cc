#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

// In two or three dimensions a cell may be that much wider than high, or the other way, to fill the picture.
constexpr float kLongest = 1.7F;
// Further away from each other: dimensions that repeat the picture, and routers of different groups.
constexpr float kRepeatGap = 1.2F, kGroupGap = 0.5F;

// Where the routers of a grid go, in cells and then in the picture.
class Grid {
 public:
  Grid(const Plan& plan, const Area& area)
      : plan_(plan), area_(area), layout_(empty_layout(plan, Arrangement::kGrid)) {
    for (std::size_t d = plan.dims.size(); d-- > 0;) {
      if (plan.dims[d] > 1) order_.push_back(d);
    }
    grouped_ = plan.groups.size() > 1 && plan.groups.size() < plan.routers.size();
  }

  Layout run() {
    sort_dimensions();
    find_places();
    find_directions();
    place_switches();
    place_hosts();
    straighten(plan_, layout_);
    name_kinds();
    layout_.flat = true;
    for (std::size_t i = 0; i < plan_.links.size(); ++i) shape_link(i);
    draw_boxes();
    return std::move(layout_);
  }

 private:
  // The longest from left to right, the shortest into depth; if there are more than three, the last
  // dimensions are the innermost.
  void sort_dimensions() {
    if (order_.size() > 3) return;
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return plan_.dims[a] > plan_.dims[b]; });
    if (area_.width() < area_.height() && order_.size() > 1) std::swap(order_[0], order_[1]);
  }

  // The place of each coordinate along its dimension, in cells.
  void find_places() {
    place_.resize(plan_.dims.size());
    std::size_t stride = plan_.routers.size();
    for (std::size_t d = 0; d < plan_.dims.size(); ++d) {
      stride /= plan_.dims[d];
      place_[d].push_back(0);
      for (std::uint32_t i = 1; i < plan_.dims[d]; ++i) {
        const bool same =
            plan_.node(plan_.routers[i * stride]).group == plan_.node(plan_.routers[(i - 1) * stride]).group;
        place_[d].push_back(place_[d].back() + 1 + (grouped_ && !same ? kGroupGap : 0));
      }
    }
  }

  // What a cell along each dimension moves by. Two dimensions lie in the plane, a third goes into depth, and
  // further ones repeat all of that side by side and below each other.
  void find_directions() {
    step_.resize(plan_.dims.size());
    float width = 0, height = 0;  // of what is placed so far
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const float reach = place_[order_[i]].back();
      Point& to = step_[order_[i]];
      if (i == 0) {
        to = {1, 0};
      } else if (i == 1) {
        to = {0, 1};
      } else if (i == 2) {
        const float depth = std::min(0.42F, 0.72F / reach);
        to = {depth, -0.8F * depth};
      } else if (width <= height * area_.width() / area_.height()) {
        to = {width + kRepeatGap, 0};
      } else {
        to = {0, height + kRepeatGap};
      }
      width += std::abs(to.x) * reach;
      height += std::abs(to.y) * reach;
    }
  }

  void place_switches() {
    std::vector<Point> raw;
    Point low{HUGE_VALF, HUGE_VALF}, high{-HUGE_VALF, -HUGE_VALF};
    for (const auto& coordinates : plan_.coordinates) {
      Point at;
      for (std::size_t d = 0; d < coordinates.size(); ++d) {
        at.x += step_[d].x * place_[d][coordinates[d]];
        at.y += step_[d].y * place_[d][coordinates[d]];
      }
      low = {std::min(low.x, at.x), std::min(low.y, at.y)};
      high = {std::max(high.x, at.x), std::max(high.y, at.y)};
      raw.push_back(at);
    }
    // A cell of room around for links that bow out.
    constexpr float kLargest = 260;
    cell_.x = std::min(area_.width() / (high.x - low.x + 1), kLargest);
    cell_.y = std::min(area_.height() / (high.y - low.y + 1), kLargest);
    cell_ = {std::min(cell_.x, kLongest * cell_.y), std::min(cell_.y, kLongest * cell_.x)};
    const Point centre = area_.centre();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      layout_.at[plan_.routers[i]] = {centre.x + (raw[i].x - (low.x + high.x) / 2) * cell_.x,
                                      centre.y + (raw[i].y - (low.y + high.y) / 2) * cell_.y};
    }
    float least = kLargest;  // the shortest step
    for (const std::size_t d : order_) {
      least = std::min(least, std::hypot(step_[d].x * cell_.x, step_[d].y * cell_.y));
    }
    const float most = order_.size() == 1 ? 24 : 15;
    layout_.switch_radius = std::clamp(least * (plan_.routers.size() > 256 ? 0.2F : 0.3F), 1.2F, most);
  }

  // In an arc to the lower right.
  void place_hosts() {
    layout_.host_radius = std::clamp(layout_.switch_radius * 0.28F, 0.8F, 4.0F);
    layout_.draws_hosts = layout_.switch_radius >= 6 && plan_.most_hosts <= 12;
    for (const Vertex v : plan_.routers) {
      const std::vector<Vertex>& hosts = plan_.hosts_of[v];
      const float away = layout_.switch_radius + 2.5F * layout_.host_radius + 3;
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        const float angle =
            0.785F + 0.5F * (static_cast<float>(i) - static_cast<float>(hosts.size() - 1) / 2);
        layout_.at[hosts[i]] = {layout_.at[v].x + away * std::cos(angle),
                                layout_.at[v].y + away * std::sin(angle)};
      }
    }
  }

  void name_kinds() {
    layout_.kinds.pop_back();
    if (grouped_) {
      layout_.kinds.insert(layout_.kinds.end(), {"within a group", "between groups"});
      return;
    }
    for (std::size_t d = 0; d < plan_.dims.size(); ++d)
      layout_.kinds.push_back(fmt::format("dimension {}", d));
  }

  void shape_link(std::size_t link) {
    const auto& [a, b] = plan_.links[link];
    if (plan_.is_host(a) || plan_.is_host(b)) return;
    const auto &from = plan_.coordinates[plan_.node(a).index], &to = plan_.coordinates[plan_.node(b).index];
    for (std::size_t d = 0; d < plan_.dims.size(); ++d) {
      const auto steps = std::abs(static_cast<float>(to[d]) - static_cast<float>(from[d]));
      if (steps == 0) continue;
      layout_.kind[link] =
          grouped_ ? (plan_.node(a).group == plan_.node(b).group ? 1 : 2) : static_cast<unsigned>(d + 1);
      const float cells = std::hypot(step_[d].x, step_[d].y);
      if (steps < 2 && cells < 1.5F) continue;
      // Past others on the line: the further, the higher the bow, up to the middle between two lines.
      const float bow = std::min(0.9F, 0.3F + 0.12F * steps) * std::min(1.0F, cells * 1.5F);
      const Point along{step_[d].x * cell_.x, step_[d].y * cell_.y};
      const float length = std::hypot(along.x, along.y);
      layout_.control[link].x += bow * cell_.x * std::abs(along.y) / length;
      layout_.control[link].y -= bow * cell_.y * std::abs(along.x) / length;
    }
  }

  // Around what the fourth and further dimensions repeat, and around groups that don't lie in each other.
  void draw_boxes() {
    std::map<std::uint64_t, Area> areas;
    for (const Vertex v : plan_.routers) {
      std::uint64_t block = plan_.node(v).group;
      if (!grouped_) {
        if (order_.size() < 4) return;
        block = 0;
        const auto& coordinates = plan_.coordinates[plan_.node(v).index];
        for (std::size_t i = 3; i < order_.size(); ++i)
          block = block * plan_.dims[order_[i]] + coordinates[order_[i]];
      }
      const Point at = layout_.at[v];
      Area& area = areas.try_emplace(block, Area{at.x, at.y, at.x, at.y}).first->second;
      area = {std::min(area.left, at.x), std::min(area.top, at.y), std::max(area.right, at.x),
              std::max(area.bottom, at.y)};
    }
    const float margin = std::min(0.24F * std::min(cell_.x, cell_.y),
                                  2 * layout_.switch_radius + (layout_.draws_hosts ? 14.0F : 2.0F));
    std::vector<Box> boxes;
    for (const auto& [block, area] : areas) {
      const Area wider{area.left - margin, area.top - margin, area.right + margin, area.bottom + margin};
      for (const Box& other : boxes) {
        if (overlap(wider, other.area)) return;
      }
      boxes.push_back({wider, false, "", {}});
    }
    layout_.boxes = std::move(boxes);
  }

  const Plan& plan_;
  const Area area_;
  Layout layout_;
  std::vector<std::size_t> order_;         // dimensions of size above 1, the innermost first
  bool grouped_ = false;                   // several routers in a group
  std::vector<std::vector<float>> place_;  // of each coordinate of each dimension
  std::vector<Point> step_;                // of each dimension, in cells
  Point cell_;                             // in the picture
};

}  // namespace

Layout grid_layout(const Plan& plan, const Area& area) { return Grid(plan, area).run(); }

}  // namespace weft::topologies
