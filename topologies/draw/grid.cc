#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

// What a step along each dimension moves by, in steps of the grid. Two dimensions lie in the plane, a third
// goes into depth, and further ones repeat all of that side by side and below each other.
std::vector<Point> directions(const std::vector<std::uint32_t>& dims, float aspect) {
  std::vector<std::size_t> order;  // dimensions of size above 1, the last first
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] > 1) order.push_back(d);
  }
  // The longer of the two goes where there is more room.
  if (order.size() == 2 && (dims[order[0]] < dims[order[1]]) == (aspect > 1)) std::swap(order[0], order[1]);
  std::vector<Point> step(dims.size());
  float width = 0, height = 0;  // of what is placed so far
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto reach = static_cast<float>(dims[order[i]] - 1);
    Point& to = step[order[i]];
    if (i == 0) {
      to = {1, 0};
    } else if (i == 1) {
      to = {0, 1};
    } else if (i == 2) {
      const float depth = std::min(0.42F, 0.72F / reach);
      to = {depth, -0.8F * depth};
    } else if (width * 1.0F <= height * aspect) {
      to = {width + 1.2F, 0};
    } else {
      to = {0, height + 1.2F};
    }
    width += std::abs(to.x) * reach;
    height += std::abs(to.y) * reach;
  }
  return step;
}

}  // namespace

Layout grid_layout(const Plan& plan, const Area& area) {
  Layout layout = empty_layout(plan, Arrangement::kGrid);
  const std::vector<Point> step = directions(plan.dims, area.width() / area.height());
  std::vector<Point> raw;
  Point low{HUGE_VALF, HUGE_VALF}, high{-HUGE_VALF, -HUGE_VALF};
  for (const auto& place : plan.coordinates) {
    Point at;
    for (std::size_t d = 0; d < place.size(); ++d) {
      at.x += step[d].x * static_cast<float>(place[d]);
      at.y += step[d].y * static_cast<float>(place[d]);
    }
    low = {std::min(low.x, at.x), std::min(low.y, at.y)};
    high = {std::max(high.x, at.x), std::max(high.y, at.y)};
    raw.push_back(at);
  }
  // A step of room around for links that bow out.
  const float cell =
      std::min({area.width() / (high.x - low.x + 1), area.height() / (high.y - low.y + 1), 260.0F});
  const Point centre = area.centre();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    layout.at[plan.routers[i]] = {centre.x + (raw[i].x - (low.x + high.x) / 2) * cell,
                                  centre.y + (raw[i].y - (low.y + high.y) / 2) * cell};
  }
  float least = 1;  // the shortest step
  for (std::size_t d = 0; d < step.size(); ++d) {
    if (plan.dims[d] > 1) least = std::min(least, std::hypot(step[d].x, step[d].y));
  }
  layout.switch_radius = std::clamp(cell * least * (plan.routers.size() > 256 ? 0.2F : 0.3F), 1.2F, 15.0F);

  // Hosts in an arc to the lower right.
  layout.host_radius = std::clamp(layout.switch_radius * 0.28F, 0.8F, 4.0F);
  layout.draws_hosts = layout.switch_radius >= 4 && plan.most_hosts <= 12;
  for (const Vertex v : plan.routers) {
    const std::vector<Vertex>& hosts = plan.hosts_of[v];
    const float away = layout.switch_radius + 2.5F * layout.host_radius + 3;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const float angle = 0.785F + 0.5F * (static_cast<float>(i) - static_cast<float>(hosts.size() - 1) / 2);
      layout.at[hosts[i]] = {layout.at[v].x + away * std::cos(angle),
                             layout.at[v].y + away * std::sin(angle)};
    }
  }

  straighten(plan, layout);
  layout.kinds.pop_back();
  for (std::size_t d = 0; d < plan.dims.size(); ++d) layout.kinds.push_back(fmt::format("dimension {}", d));
  for (std::size_t i = 0; i < plan.links.size(); ++i) {
    const auto& [a, b] = plan.links[i];
    if (plan.is_host(a) || plan.is_host(b)) continue;
    const auto &from = plan.coordinates[plan.node(a).index], &to = plan.coordinates[plan.node(b).index];
    for (std::size_t d = 0; d < plan.dims.size(); ++d) {
      const auto steps = std::abs(static_cast<float>(to[d]) - static_cast<float>(from[d]));
      if (steps == 0) continue;
      layout.kind[i] = static_cast<unsigned>(d + 1);
      const float length = std::hypot(step[d].x, step[d].y);
      if (steps < 2 && length < 1.5F) continue;
      // Past others on the line: the further, the higher the bow.
      const float bow = cell * std::min(0.9F, 0.3F + 0.12F * steps);
      const float scale = std::min(1.0F, length * 1.5F);
      layout.control[i].x += bow * scale * std::abs(step[d].y) / length;
      layout.control[i].y -= bow * scale * std::abs(step[d].x) / length;
    }
  }
  return layout;
}

}  // namespace weft::topologies
