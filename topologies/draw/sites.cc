#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "sim/units/brackets.h"
#include "sim/units/input_error.h"
#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

constexpr float kBorderRoom = 84;  // above a site, for its border switches and the long links
constexpr float kGap = 40;         // between sites
constexpr float kMargin = 10;      // within a site's box

class Sites {
 public:
  Sites(const Plan& plan, const Area& area)
      : plan_(plan), area_(area), layout_(empty_layout(plan, Arrangement::kSites)) {
    sites_.resize(plan.sites);
    border_.assign(plan.topology.nodes(), false);
    for (const auto& [a, b] : plan.links) {
      if (plan.node(a).site != plan.node(b).site) border_[a] = border_[b] = true;
    }
    layout_.kinds.emplace_back("between sites");
  }

  Layout run() {
    make_room();
    for (std::uint16_t s = 0; s < sites_.size(); ++s) place_site(s);
    layout_.switch_radius = std::min(layout_.switch_radius, 12.0F);
    for (std::size_t i = 0; i < plan_.links.size(); ++i) shape_link(i);
    return std::move(layout_);
  }

 private:
  void make_room() {
    const auto count = static_cast<float>(sites_.size());
    const float columns = count <= 3 ? count : std::ceil(std::sqrt(count));
    const float rows = std::ceil(count / columns);
    const float wide = (area_.width() - kGap * (columns - 1)) / columns;
    const float high = area_.height() / rows;
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      const float x = area_.left + (wide + kGap) * std::fmod(static_cast<float>(s), columns);
      const float y = area_.top + high * std::floor(static_cast<float>(s) / columns);
      const float room = std::min(kBorderRoom, high * 0.3F);
      sites_[s] = {x, y + room, x + wide, y + high};
      border_y_ = room * 0.6F;
    }
    layout_.switch_radius = 12;
    layout_.host_radius = 5;
  }

  // A site without its border switches is drawn as it would be alone.
  void place_site(std::uint16_t s) {
    const std::vector<std::string> names = named_networks(plan_.topology.name());
    Topology alone(names.empty() ? plan_.topology.name() : names[std::min<std::size_t>(s, names.size() - 1)]);
    std::vector<Vertex> original, borders;
    std::map<Vertex, Vertex> copy;
    for (Vertex v = 0; v < plan_.topology.nodes(); ++v) {
      if (plan_.node(v).site != s) continue;
      if (border_[v]) {
        borders.push_back(v);
        continue;
      }
      Node node = plan_.node(v);
      node.site = 0;
      copy[v] = alone.add_node(std::move(node));
      original.push_back(v);
    }
    std::vector<std::size_t> links;
    for (std::size_t i = 0; i < plan_.links.size(); ++i) {
      const auto& [a, b] = plan_.links[i];
      if (!copy.contains(a) || !copy.contains(b)) continue;
      alone.add_link(copy[a], copy[b], {.rate = plan_.topology.channels()[2 * i].rate, .latency = {}});
      links.push_back(i);
    }
    alone.finish();
    const Area& area = sites_[s];
    const Layout part = lay_out(
        alone, {area.left + kMargin, area.top + kMargin, area.right - kMargin, area.bottom - kMargin});
    take(part, original, links);
    layout_.boxes.push_back({area, false, "site " + std::to_string(s), {area.left + 34, area.top - 8}});
    layout_.boxes.insert(layout_.boxes.end(), part.boxes.begin(), part.boxes.end());
    const float each = std::min(area.width() / static_cast<float>(borders.size()), 120.0F);
    const float left = area.centre().x - each * static_cast<float>(borders.size() - 1) / 2;
    for (std::size_t i = 0; i < borders.size(); ++i) {
      layout_.at[borders[i]] = {left + each * static_cast<float>(i), area.top - kBorderRoom + border_y_};
      if (area.top - kBorderRoom < area_.top)
        layout_.at[borders[i]].y = std::max(area_.top + 14, area.top - 30);
    }
    layout_.switch_radius = std::min(layout_.switch_radius, std::max(0.8F, each * 0.4F));
  }

  void take(const Layout& part, const std::vector<Vertex>& nodes, const std::vector<std::size_t>& links) {
    for (std::size_t i = 0; i < nodes.size(); ++i) layout_.at[nodes[i]] = part.at[i];
    std::vector<unsigned> kind;
    for (const std::string& name : part.kinds) {
      const auto found = std::find(layout_.kinds.begin(), layout_.kinds.end(), name);
      kind.push_back(static_cast<unsigned>(found - layout_.kinds.begin()));
      if (found == layout_.kinds.end()) layout_.kinds.push_back(name);
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
      layout_.control[links[i]] = part.control[i];
      layout_.kind[links[i]] = kind[part.kind[i]];
    }
    layout_.switch_radius = std::min(layout_.switch_radius, part.switch_radius);
    layout_.host_radius = std::min(layout_.host_radius, part.host_radius);
    layout_.draws_hosts = layout_.draws_hosts && part.draws_hosts;
  }

  // Those that no site has placed: to border switches, and between sites.
  void shape_link(std::size_t link) {
    const auto& [a, b] = plan_.links[link];
    if (!border_[a] && !border_[b]) return;
    const Point from = layout_.at[a], to = layout_.at[b];
    layout_.control[link] = mix(from, to, 0.5F);
    if (plan_.node(a).site == plan_.node(b).site) return;
    layout_.kind[link] = 2;
    const std::size_t one = plan_.node(a).site, other = plan_.node(b).site;
    // Over the sites between them.
    const bool next = one + 1 == other || other + 1 == one;
    if (from.y == to.y && !next) layout_.control[link].y -= std::min(2 * border_y_, 60.0F);
  }

  const Plan& plan_;
  const Area area_;
  Layout layout_;
  std::vector<Area> sites_;
  std::vector<bool> border_;  // has links to another site
  float border_y_ = 0;        // below the upper end of a site's room
};

}  // namespace

std::vector<std::string> named_networks(const std::string& short_form) {
  std::vector<std::string> names;
  const std::size_t at = short_form.find("of=[");
  if (at == std::string::npos) return names;
  const std::string_view of =
      split_outside_brackets(std::string_view(short_form).substr(at + 3), ',').front();
  for (const std::string_view one : split_outside_brackets(without_brackets(of), ';')) {
    names.push_back(boost::algorithm::trim_copy(std::string(one)));
  }
  return names;
}

Layout sites_layout(const Plan& plan, const Area& area) {
  if (plan.sites < 2) throw InputError(plan.topology.name() + " has one site only");
  return Sites(plan, area).run();
}

}  // namespace weft::topologies
