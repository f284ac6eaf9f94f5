#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

constexpr float kTurn = 2 * std::numbers::pi_v<float>;

// Points at equal distances along an ellipse, from the top, clockwise; and which way is out.
struct Ellipse {
  Ellipse(Point centre, float rx, float ry, std::size_t points) {
    constexpr int kSamples = 4096;
    std::vector<float> along = {0};
    const auto on = [&](float angle) {
      return Point{centre.x + rx * std::sin(angle), centre.y - ry * std::cos(angle)};
    };
    for (int i = 1; i <= kSamples; ++i) {
      const Point a = on(kTurn * static_cast<float>(i - 1) / kSamples),
                  b = on(kTurn * static_cast<float>(i) / kSamples);
      along.push_back(along.back() + std::hypot(b.x - a.x, b.y - a.y));
    }
    length = along.back();
    for (std::size_t p = 0; p < points; ++p) {
      const float wanted = length * static_cast<float>(p) / static_cast<float>(points);
      const auto sample = std::lower_bound(along.begin(), along.end(), wanted) - along.begin();
      const float angle = kTurn * static_cast<float>(sample) / kSamples;
      at.push_back(on(angle));
      const Point normal{std::sin(angle) / rx, -std::cos(angle) / ry};
      const float size = std::hypot(normal.x, normal.y);
      out.push_back({normal.x / size, normal.y / size});
    }
  }
  std::vector<Point> at, out;
  float length = 0;
};

// Wider than high, as the picture is; less so for few, whose corners would be pulled apart.
float stretch(const Area& area, std::size_t points) {
  return std::min(points <= 6 ? 1.25F : 1.8F, area.width() / area.height());
}

// Bends a chord towards the centre, so that chords keep apart where they begin and end.
void bend(const Plan& plan, Layout& layout, std::size_t link, Point centre) {
  const Point a = layout.at[plan.links[link].first], b = layout.at[plan.links[link].second];
  const float far = std::min(1.0F, std::hypot(a.x - b.x, a.y - b.y) / 300);
  layout.control[link] = mix(mix(a, b, 0.5F), centre, 0.45F * far);
}

class Groups {
 public:
  Groups(const Plan& plan, const Area& area)
      : plan_(plan), area_(area), layout_(empty_layout(plan, Arrangement::kGroups)) {}

  Layout run() {
    std::size_t most = 1;
    for (const auto& [group, members] : plan_.groups) most = std::max(most, members.size());
    const std::size_t count = plan_.groups.size();
    const float reach = place_centres(count);
    halo_ = std::min(24.0F, reach * 0.3F);
    radius_ = reach - halo_;
    const float pitch = kTurn * radius_ * 0.8F / static_cast<float>(most);
    layout_.switch_radius = std::clamp(std::min(pitch * 0.34F, radius_ * 0.2F), 1.2F, 12.0F);
    const float host_pitch =
        kTurn * (radius_ + halo_ / 2) / static_cast<float>(std::max<std::size_t>(1, most * plan_.most_hosts));
    layout_.host_radius = std::clamp(host_pitch * 0.3F, 0.7F, 3.2F);
    layout_.draws_hosts = host_pitch >= 2.4F && halo_ >= 5;
    std::size_t number = 0;
    for (const auto& [group, members] : plan_.groups) {
      place_group(group, members, centres_[number], out_[number]);
      ++number;
    }
    straighten(plan_, layout_);
    layout_.kinds = {"to endpoints", "within a group", "between groups"};
    for (std::size_t i = 0; i < plan_.links.size(); ++i) {
      const auto& [a, b] = plan_.links[i];
      if (plan_.is_host(a) || plan_.is_host(b) || plan_.node(a).group == plan_.node(b).group) continue;
      layout_.kind[i] = 2;
      if (count > 2) bend(plan_, layout_, i, area_.centre());
    }
    return std::move(layout_);
  }

 private:
  // What is left of half an axis beside groups and their labels.
  float across(float wanted, float reach) const { return std::min(wanted, area_.width() / 2 - reach - 18); }

  // Returns the room of a group: half of the way to the next.
  float place_centres(std::size_t count) {
    if (count == 2) {  // side by side
      const Point middle = area_.centre();
      const float apart = area_.width() / 4;
      centres_ = {{middle.x - apart, middle.y}, {middle.x + apart, middle.y}};
      out_ = {{-1, 0}, {1, 0}};
      return std::min(area_.height() / 2 - 14, 0.8F * apart);
    }
    const float wide = stretch(area_, count);
    const float whole = std::min(area_.height() / 2, area_.width() / 2 / wide);
    // What groups take, they take from the ellipse on which they stand.
    float reach = 0;
    for (int i = 0; i < 20; ++i) {
      const float ry = whole - reach - 14, rx = across(ry * wide, reach);
      const float way =
          std::numbers::pi_v<float> * std::sqrt(2 * (rx * rx + ry * ry)) / static_cast<float>(count);
      reach = (reach + std::min(way * 0.46F, whole * 0.36F)) / 2;
    }
    const float ring = whole - reach - 14;
    const Ellipse ellipse(area_.centre(), across(ring * wide, reach), ring, count);
    // Straight ahead they are nearer than along the ellipse.
    for (std::size_t i = 0; i < count && count > 1; ++i) {
      const Point a = ellipse.at[i], b = ellipse.at[(i + 1) % count];
      reach = std::min(reach, 0.48F * std::hypot(a.x - b.x, a.y - b.y));
    }
    centres_ = ellipse.at;
    out_ = ellipse.out;
    return reach;
  }

  // Those with hosts on a circle, hosts around it; those without, if several, on a line towards the middle of
  // the picture, with the others on a line opposite.
  void place_group(std::uint32_t group, const std::vector<Vertex>& members, Point centre, Point out) {
    std::vector<Vertex> outer, inner;
    for (const Vertex v : members) (plan_.hosts_of[v].empty() ? inner : outer).push_back(v);
    if (outer.empty()) outer.swap(inner);
    const Point along{-out.y, out.x};
    const float start = std::atan2(out.y, out.x);
    const bool lines = inner.size() > 1;
    for (std::size_t i = 0; i < outer.size(); ++i) {
      const auto count = static_cast<float>(outer.size());
      const float turn =
          lines ? (static_cast<float>(i) + 0.5F) / count * 0.5F - 0.25F : static_cast<float>(i) / count;
      const float angle = start + kTurn * turn;
      const float r = radius_ * 0.8F;
      const Point at = outer.size() == 1 && !lines
                           ? centre
                           : Point{centre.x + r * std::cos(angle), centre.y + r * std::sin(angle)};
      layout_.at[outer[i]] = at;
      place_hosts(plan_.hosts_of[outer[i]], centre, angle, (lines ? 0.5F : 1.0F) / count);
    }
    for (std::size_t i = 0; i < inner.size(); ++i) {
      const float offset =
          lines ? (static_cast<float>(i) + 0.5F) / static_cast<float>(inner.size()) - 0.5F : 0;
      const float deep = lines ? -0.42F : 0;
      layout_.at[inner[i]] = {centre.x + radius_ * (deep * out.x + 1.5F * offset * along.x),
                              centre.y + radius_ * (deep * out.y + 1.5F * offset * along.y)};
    }
    Box box{{centre.x - radius_, centre.y - radius_, centre.x + radius_, centre.y + radius_}, true, "", {}};
    if (plan_.groups.size() <= 64) box.label = fmt::format("{}", group);
    const float away = radius_ + (layout_.draws_hosts ? halo_ : 0) + 9;
    box.label_at = {centre.x + away * out.x, centre.y + away * out.y + 4};
    layout_.boxes.push_back(std::move(box));
  }

  void place_hosts(const std::vector<Vertex>& hosts, Point centre, float angle, float share) {
    const float r = radius_ + halo_ * 0.45F;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const float offset = (static_cast<float>(i) + 0.5F) / static_cast<float>(hosts.size()) - 0.5F;
      const float at = angle + kTurn * share * 0.85F * offset;
      layout_.at[hosts[i]] = {centre.x + r * std::cos(at), centre.y + r * std::sin(at)};
    }
  }

  const Plan& plan_;
  const Area area_;
  Layout layout_;
  std::vector<Point> centres_, out_;  // of groups; which way is out of the picture
  float radius_ = 0;                  // of a group
  float halo_ = 0;                    // room around a group for hosts
};

}  // namespace

Layout groups_layout(const Plan& plan, const Area& area) { return Groups(plan, area).run(); }

// One switch in the middle of its hosts.
static Layout star_layout(const Plan& plan, const Area& area) {
  Layout layout = empty_layout(plan, Arrangement::kRing);
  layout.switch_radius = 26;
  const Vertex hub = plan.routers.front();
  const std::vector<Vertex>& hosts = plan.hosts_of[hub];
  layout.at[hub] = area.centre();
  // As many ellipses as leave room for the hosts, the outer ones with more of them.
  constexpr float kPitch = 9, kGap = 14;
  const float wide = stretch(area, 100), whole = std::min(area.height() / 2, area.width() / 2 / wide) - 10;
  std::vector<Ellipse> rings;
  float around = 0;
  for (float radius = whole; radius > 3 * layout.switch_radius; radius -= kGap) {
    rings.emplace_back(area.centre(), radius * wide, radius, 0);
    around += rings.back().length;
    if (around >= kPitch * static_cast<float>(hosts.size())) break;
  }
  const float pitch = around / static_cast<float>(std::max<std::size_t>(1, hosts.size()));
  std::size_t next = 0;
  for (std::size_t i = 0; i < rings.size() && next < hosts.size(); ++i) {
    const auto share = static_cast<std::size_t>(std::lround(rings[i].length / pitch));
    const std::size_t count =
        i + 1 == rings.size() ? hosts.size() - next : std::min(share, hosts.size() - next);
    const float radius = whole - kGap * static_cast<float>(i);
    const Ellipse places(area.centre(), radius * wide, radius, count);
    for (const Point& at : places.at) layout.at[hosts[next++]] = at;
  }
  layout.host_radius = std::clamp(pitch * 0.36F, 0.8F, 6.0F);
  layout.draws_hosts = pitch >= 2.4F;
  straighten(plan, layout);
  return layout;
}

Layout ring_layout(const Plan& plan, const Area& area) {
  if (plan.routers.size() == 1) return star_layout(plan, area);
  Layout layout = empty_layout(plan, Arrangement::kRing);
  const float wide = stretch(area, plan.routers.size());
  const float halo = 40;
  const float ring = std::min(area.height() / 2, area.width() / 2 / wide) - halo;
  const Ellipse ellipse(area.centre(), ring * wide, ring, plan.routers.size());
  const float pitch = ellipse.length / static_cast<float>(plan.routers.size());
  layout.switch_radius = std::clamp(pitch * 0.36F, 1.2F, 15.0F);
  // Hosts in rows outwards.
  const auto columns = static_cast<std::size_t>(std::clamp(pitch * 0.85F / 6, 1.0F, 4.0F));
  const std::size_t rows = (plan.most_hosts + columns - 1) / columns;
  const float depth = std::min(7.0F, (halo - 16) / static_cast<float>(std::max<std::size_t>(1, rows)));
  const float width = std::min(7.0F, pitch * 0.85F / static_cast<float>(columns));
  layout.host_radius = std::clamp(std::min(width, depth) * 0.36F, 0.7F, 3.0F);
  layout.draws_hosts = depth >= 2.2F && pitch >= 3;
  for (std::size_t i = 0; i < plan.routers.size(); ++i) {
    const Point at = ellipse.at[i], out = ellipse.out[i], along{-out.y, out.x};
    layout.at[plan.routers[i]] = at;
    const std::vector<Vertex>& hosts = plan.hosts_of[plan.routers[i]];
    const std::size_t across = std::min(columns, hosts.size());
    for (std::size_t h = 0; h < hosts.size(); ++h) {
      const float away = layout.switch_radius + 7 + depth * static_cast<float>(h / across);
      const float aside = (static_cast<float>(h % across) - static_cast<float>(across - 1) / 2) * width;
      layout.at[hosts[h]] = {at.x + out.x * away + along.x * aside, at.y + out.y * away + along.y * aside};
    }
  }
  straighten(plan, layout);
  // Few chords are told apart as they are, and neighbours have nothing between them.
  constexpr std::size_t kFew = 32;
  const std::size_t count = plan.routers.size();
  for (std::size_t i = 0; i < plan.links.size() && count > kFew; ++i) {
    if (layout.kind[i] != 1) continue;
    const std::uint32_t a = plan.node(plan.links[i].first).index, b = plan.node(plan.links[i].second).index;
    const std::uint32_t apart = std::max(a, b) - std::min(a, b);
    if (apart > 1 && apart + 1 < count) bend(plan, layout, i, area.centre());
  }
  return layout;
}

}  // namespace weft::topologies
