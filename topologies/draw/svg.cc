#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "topologies/draw/picture.h"
#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

constexpr float kWidth = 1600, kHeight = 900;
constexpr Area kDrawing{40, 96, 1560, 830};

// Colours that people with any colour vision tell apart: M. Okabe, K. Ito, Color universal design, 2008.
constexpr const char* kTierColours[] = {"#777777", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"};
constexpr const char* kHostColour = "#4D4D4D";
constexpr const char* kInHostColour = "#56B4E9";
constexpr const char* kLinkColours[] = {"#9A9A9A", "#3A6EA5", "#D55E00", "#009E73", "#CC79A7", "#E69F00"};

// The colour map viridis of matplotlib, at nine places from its dark to its bright end, used from bright
// (idle) to dark (busy) so that it reads on white.
constexpr std::array<std::array<int, 3>, 9> kLoadColours = {{{253, 231, 37},
                                                             {170, 220, 50},
                                                             {94, 201, 98},
                                                             {39, 173, 129},
                                                             {33, 145, 140},
                                                             {44, 113, 142},
                                                             {59, 81, 139},
                                                             {71, 44, 122},
                                                             {68, 1, 84}}};

std::string load_colour(double load) {
  const double place = std::clamp(load, 0.0, 1.0) * (kLoadColours.size() - 1);
  const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), kLoadColours.size() - 2);
  const double share = place - static_cast<double>(below);
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = kLoadColours[below][i] * (1 - share) + kLoadColours[below + 1][i] * share;
    mixed[i] = static_cast<int>(std::lround(value));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

// 12345 as 12,345.
std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

// "slim_fly q=5": the short form without what all families have.
std::string title_of(const std::string& short_form) {
  const std::size_t colon = short_form.find(':');
  std::string title = short_form.substr(0, colon);
  std::size_t at = colon;
  while (at != std::string::npos) {
    // A value in brackets may hold commas.
    std::size_t end = at + 1;
    int depth = 0;
    while (end < short_form.size() && (short_form[end] != ',' || depth > 0)) {
      depth += short_form[end] == '[' ? 1 : short_form[end] == ']' ? -1 : 0;
      ++end;
    }
    const std::string value = short_form.substr(at + 1, end - at - 1);
    const std::string name = value.substr(0, value.find('='));
    const bool follows = value.ends_with("=auto");
    const bool cabling = name == "link" || name.ends_with("_link") || name.ends_with("latency");
    if (!cabling && !follows) title += " " + value;
    at = end < short_form.size() ? end : std::string::npos;
  }
  constexpr std::size_t kMost = 100;
  if (title.size() > kMost) title = title.substr(0, kMost) + "…";
  return title;
}

class Painter {
 public:
  Painter(const Topology& topology, const PictureOptions& options, TextSink& out)
      : topology_(topology),
        plan_(topology),
        options_(options),
        layout_(lay_out(topology, kDrawing, options.arrangement)),
        out_(out) {}

  void paint() {
    out_.print(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"Helvetica, Arial, sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" "
        "fill=\"white\"/>\n",
        kWidth, kHeight);
    paint_title();
    paint_boxes();
    paint_links();
    paint_nodes();
    paint_legend();
    out_.print("</svg>\n");
    out_.finish();
  }

 private:
  void paint_title() {
    std::uint64_t to_hosts = 0;
    for (const auto& [a, b] : plan_.links) to_hosts += plan_.is_host(a) || plan_.is_host(b);
    std::uint64_t in_hosts = 0;
    for (const Vertex v : plan_.routers) in_hosts += topology_.node(v).in_host;
    std::string counts = fmt::format("{} endpoints", grouped(topology_.hosts()));
    if (in_hosts > 0) counts += " that forward";
    if (topology_.switches() > in_hosts)
      counts += fmt::format(" · {} switches", grouped(topology_.switches() - in_hosts));
    counts += fmt::format(" · {} links between them", grouped(plan_.links.size() - to_hosts));
    if (in_hosts == 0) counts += fmt::format(", {} to endpoints", grouped(to_hosts));
    out_.print("<title>{}</title>\n", xml_text(topology_.name()));
    out_.print("<text x=\"40\" y=\"46\" font-size=\"30\" font-weight=\"bold\" fill=\"#222222\">{}</text>\n",
               xml_text(title_of(topology_.name())));
    out_.print("<text x=\"40\" y=\"74\" font-size=\"18\" fill=\"#555555\">{}</text>\n", counts);
  }

  void paint_boxes() {
    out_.print("<g fill=\"#F3F5F7\" stroke=\"#B8C0C8\" stroke-width=\"1\">\n");
    for (const Box& box : layout_.boxes) {
      const Area& area = box.area;
      if (box.round) {
        out_.print("<circle class=\"box\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n", area.centre().x,
                   area.centre().y, area.width() / 2);
      } else {
        out_.print(
            "<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>\n",
            area.left, area.top, area.width(), area.height());
      }
    }
    out_.print("</g>\n<g font-size=\"13\" fill=\"#667078\" text-anchor=\"middle\">\n");
    for (const Box& box : layout_.boxes) {
      if (box.label.empty()) continue;
      out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", box.label_at.x, box.label_at.y,
                 xml_text(box.label));
    }
    out_.print("</g>\n");
  }

  // Few links are drawn strong, many thin and translucent.
  float strength() const {
    return std::clamp(std::sqrt(150.0F / static_cast<float>(std::max<std::size_t>(plan_.links.size(), 1))),
                      0.06F, 1.0F);
  }

  bool is_drawn(std::size_t link) const { return layout_.kind[link] != 0 || layout_.draws_hosts; }

  void paint_links() {
    if (options_.load) return paint_load();
    // The kinds that are many go below.
    for (unsigned kind = 0; kind < layout_.kinds.size(); ++kind) {
      const auto members = std::count(layout_.kind.begin(), layout_.kind.end(), kind);
      if (members == 0 || (kind == 0 && !layout_.draws_hosts)) continue;
      const float width = kind == 0 ? 0.5F + 0.3F * strength() : 0.5F + 1.1F * strength();
      const float opacity = kind == 0 ? 0.7F : std::clamp(0.1F + 0.9F * strength(), 0.07F, 0.85F);
      out_.print("<g fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2f}\" stroke-opacity=\"{:.2f}\">\n",
                 link_colour(kind), width, opacity);
      for (std::size_t i = 0; i < plan_.links.size(); ++i) {
        if (layout_.kind[i] == kind) out_.print("<path class=\"link\" d=\"{}\"/>\n", curve(i));
      }
      out_.print("</g>\n");
    }
  }

  static const char* link_colour(unsigned kind) {
    return kind == 0 ? kLinkColours[0] : kLinkColours[1 + (kind - 1) % (std::size(kLinkColours) - 1)];
  }

  double load_of(std::size_t link) const {
    return std::max((*options_.load)[2 * link], (*options_.load)[2 * link + 1]);
  }

  void paint_load() {
    std::vector<std::size_t> order(plan_.links.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return load_of(a) < load_of(b); });
    out_.print("<g fill=\"none\">\n");
    for (const std::size_t i : order) {
      if (!is_drawn(i)) continue;
      const double load = load_of(i);
      const double width = (0.4 + 1.2 * strength()) * (0.5 + 1.5 * load);
      out_.print(
          "<path class=\"link\" d=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\" stroke-opacity=\"{:.2f}\"/>\n",
          curve(i), load == 0 ? "#D8D8D8" : load_colour(load), width, 0.35 + 0.65 * load);
    }
    out_.print("</g>\n");
  }

  std::string curve(std::size_t link) const {
    const Point a = layout_.at[plan_.links[link].first], b = layout_.at[plan_.links[link].second];
    const Point bend = layout_.control[link];
    const Point middle = mix(a, b, 0.5F);
    if (std::abs(bend.x - middle.x) < 0.05F && std::abs(bend.y - middle.y) < 0.05F) {
      return fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", a.x, a.y, b.x, b.y);
    }
    return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, bend.x, bend.y, b.x, b.y);
  }

  static const char* colour(const Node& node) {
    if (node.kind == NodeKind::kHost) return kHostColour;
    if (node.in_host) return kInHostColour;
    return kTierColours[std::min<std::size_t>(node.tier, std::size(kTierColours) - 1)];
  }

  void paint_nodes() {
    const float r = layout_.switch_radius;
    out_.print("<g stroke=\"white\" stroke-width=\"{:.2f}\">\n", std::min(1.0F, r * 0.15F));
    if (layout_.draws_hosts) {
      for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
        const Vertex v = topology_.host(h);
        out_.print(
            "<circle class=\"host\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"none\"/>\n",
            layout_.at[v].x, layout_.at[v].y, layout_.host_radius, kHostColour);
      }
    }
    for (const Vertex v : plan_.routers) {
      const Point at = layout_.at[v];
      const Node& node = topology_.node(v);
      out_.print(
          "<rect class=\"switch\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" "
          "fill=\"{}\"><title>{}</title></rect>\n",
          at.x - r, at.y - r, 2 * r, 2 * r, node.in_host ? r : r * 0.35F, colour(node), xml_text(node.name));
    }
    out_.print("</g>\n");
    paint_labels();
  }

  // Numbers inside the switches, if there is room for them.
  void paint_labels() {
    const float r = layout_.switch_radius;
    if (r < 9) return;
    out_.print("<g fill=\"white\" text-anchor=\"middle\">\n");
    for (const Vertex v : plan_.routers) {
      std::string label = topology_.node(v).name;
      label = label.substr(label.rfind(' ') + 1);
      const float size = std::min(r * 0.85F, 3.1F * r / static_cast<float>(label.size()));
      if (size < 5.5F) continue;
      out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\">{}</text>\n", layout_.at[v].x,
                 layout_.at[v].y + size * 0.35F, size, xml_text(label));
    }
    out_.print("</g>\n");
  }

  void paint_legend() {
    float x = 40;
    const float y = kHeight - 28;
    out_.print("<g font-size=\"16\" fill=\"#444444\">\n");
    const auto text = [&](const std::string& words) {
      out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y + 5, xml_text(words));
      x += 8.2F * static_cast<float>(words.size()) + 30;
    };
    const auto symbol = [&](const std::string& shape_colour, bool round, float r) {
      out_.print(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" fill=\"{}\"/>\n",
          x, y - r, 2 * r, 2 * r, round ? r : r * 0.35F, shape_colour);
      x += 2 * r + 8;
    };
    if (layout_.draws_hosts) {
      symbol(kHostColour, true, 4);
      text("endpoint");
    }
    std::map<std::pair<bool, unsigned>, std::pair<std::size_t, std::size_t>> tiers;  // switches, endpoints
    for (const Vertex v : plan_.routers) {
      auto& [switches, hosts] = tiers[{!topology_.node(v).in_host, topology_.node(v).tier}];
      ++switches;
      hosts += plan_.hosts_of[v].size();
    }
    const bool one_tier = tiers.size() == 1;
    for (const auto& [key, counts] : tiers) {
      Node node;
      node.in_host = !key.first;
      node.tier = static_cast<std::uint8_t>(key.second);
      symbol(colour(node), node.in_host, 7);
      std::string words = node.in_host ? "endpoint's router"
                          : one_tier   ? "switch"
                                       : fmt::format("switch, tier {}", key.second);
      if (!layout_.draws_hosts && counts.second > 0) {
        const double each = static_cast<double>(counts.second) / static_cast<double>(counts.first);
        words += fmt::format(" with {:.4g} endpoint{}", each, each == 1 ? "" : "s");
      }
      text(words);
    }
    if (options_.load) {
      load_legend(x, y);
    } else {
      for (unsigned kind = 1; kind < layout_.kinds.size(); ++kind) {
        if (std::count(layout_.kind.begin(), layout_.kind.end(), kind) == 0 || layout_.kinds.size() == 2)
          continue;
        if (x > kWidth - 160) break;
        out_.print("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"26\" height=\"3\" fill=\"{}\"/>\n", x, y - 1.5F,
                   link_colour(kind));
        x += 34;
        text(layout_.kinds[kind]);
      }
    }
    out_.print("</g>\n");
  }

  void load_legend(float x, float y) {
    constexpr int kSteps = 40;
    out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\">{}: 0%</text>\n", x, y + 5, xml_text(options_.load_title));
    x += 8.2F * static_cast<float>(options_.load_title.size() + 4) + 6;
    for (int i = 0; i < kSteps; ++i) {
      out_.print("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"5.5\" height=\"14\" fill=\"{}\"/>\n",
                 x + 5 * static_cast<float>(i), y - 7, load_colour((i + 0.5) / kSteps));
    }
    x += 5 * kSteps + 8;
    double busiest = 0;
    for (const double load : *options_.load) busiest = std::max(busiest, load);
    out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\">100%; the busiest {:.1f}%</text>\n", x, y + 5, 100 * busiest);
  }

  const Topology& topology_;
  const Plan plan_;
  const PictureOptions& options_;
  const Layout layout_;
  TextSink& out_;
};

}  // namespace

void write_svg(const Topology& topology, const PictureOptions& options, TextSink& out) {
  Painter(topology, options, out).paint();
}

}  // namespace weft::topologies
