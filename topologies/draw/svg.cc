#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/units/brackets.h"
#include "sim/units/grouped.h"
#include "sim/units/xml_text.h"
#include "topologies/draw/picture.h"
#include "topologies/draw/plan.h"

namespace weft::topologies {
namespace {

constexpr float kWidth = 1600, kHeight = 900;
constexpr Area kDrawing{40, 96, 1560, 830};
constexpr std::size_t kMostNames = 100, kLongestName = 60;  // more would hide the links

// Colours that people with any colour vision tell apart: M. Okabe, K. Ito, Color universal design, 2008.
constexpr const char* kTierColours[] = {"#777777", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"};
constexpr const char* kHostColour = "#4D4D4D";
constexpr const char* kInHostColour = "#56B4E9";
// Owners have these colours in turn; behind the seventh they repeat.
constexpr const char* kOwnerColours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                         "#D55E00", "#56B4E9", "#B8A800"};
constexpr const char* kNobodyColour = "#D0D3D6";
constexpr const char* kOwnedLinkColour = "#AEB6BE";
constexpr std::size_t kMostOwnersNamed = 12;
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
  // The brightest part is left out: it is lost on white.
  constexpr double kStart = 0.08;
  const double place = (kStart + (1 - kStart) * std::clamp(load, 0.0, 1.0)) * (kLoadColours.size() - 1);
  const auto below = std::min<std::size_t>(static_cast<std::size_t>(place), kLoadColours.size() - 2);
  const double share = place - static_cast<double>(below);
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = kLoadColours[below][i] * (1 - share) + kLoadColours[below + 1][i] * share;
    mixed[i] = static_cast<int>(std::lround(value));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", mixed[0], mixed[1], mixed[2]);
}

// "slim_fly q=5": the short form without cabling and what follows from the rest.
std::string title_of(const std::string& short_form) {
  const std::size_t colon = short_form.find(':');
  std::string title = short_form.substr(0, colon);
  if (colon == std::string::npos) return title;
  for (const std::string_view given :
       split_outside_brackets(std::string_view(short_form).substr(colon + 1), ',')) {
    const std::size_t equals = given.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = given.substr(0, equals), value = given.substr(equals + 1);
    const bool follows = value.empty() || value == "auto";
    const bool cabling = name == "link" || name.ends_with("_link") || name.ends_with("latency") ||
                         name == "long_rate" || given == "loss=0" || given == "striping=true" ||
                         given == "relay=true";
    const bool network = value.starts_with('[') && value.ends_with(']') && name == "of";
    if (network) {
      std::string inner;
      for (const std::string& one : named_networks(short_form))
        inner += (inner.empty() ? "" : "; ") + title_of(one);
      title += " of [" + inner + "]";
    } else if (!cabling && !follows) {
      title += fmt::format(" {}", given);
    }
  }
  return title;
}

// "1 switch", "1,200 switches".
std::string counted(std::uint64_t count, const char* one, const char* several) {
  return grouped(static_cast<double>(count)) + " " + (count == 1 ? one : several);
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
    options_.owner.empty() || options_.load ? paint_legend() : paint_owners();
    out_.print("</svg>\n");
    out_.finish();
  }

 private:
  void paint_title() {
    std::uint64_t to_hosts = 0;
    for (const auto& [a, b] : plan_.links) to_hosts += plan_.is_host(a) || plan_.is_host(b);
    std::uint64_t in_hosts = 0;
    for (const Vertex v : plan_.routers) in_hosts += topology_.node(v).in_host;
    std::string counts = counted(topology_.hosts(), "endpoint", "endpoints");
    if (in_hosts > 0 && in_hosts >= topology_.hosts()) counts += " that forward";
    if (topology_.switches() > in_hosts)
      counts += " · " + counted(topology_.switches() - in_hosts, "switch", "switches");
    const std::uint64_t between = plan_.links.size() - to_hosts;
    if (between > 0) counts += " · " + counted(between, "link", "links") + " between them";
    if (in_hosts == 0) {
      counts += between > 0 ? ", " + grouped(static_cast<double>(to_hosts))
                            : " · " + counted(to_hosts, "link", "links");
      counts += " to endpoints";
    }
    out_.print("<title>{}</title>\n", xml_text(topology_.name()));
    // What it assumes, such as switches that are drawn as one.
    if (!topology_.notes().empty())
      out_.print("<desc>{}</desc>\n", xml_text(fmt::format("{}", fmt::join(topology_.notes(), ". "))));
    // A letter is about 0.62 of its size wide.
    std::string title = title_of(topology_.name());
    constexpr float kRoom = (kWidth - 80) / 0.62F, kLargest = 30, kSmallest = 15;
    const float size = std::clamp(kRoom / static_cast<float>(title.size()), kSmallest, kLargest);
    constexpr auto kMost = static_cast<std::size_t>(kRoom / kSmallest);
    if (title.size() > kMost) title = title.substr(0, kMost - 1) + "…";
    out_.print(
        "<text x=\"40\" y=\"46\" font-size=\"{:.1f}\" font-weight=\"bold\" fill=\"#222222\">{}</text>\n",
        size, xml_text(title));
    out_.print("<text x=\"40\" y=\"74\" font-size=\"18\" fill=\"#555555\">{}</text>\n", counts);
  }

  void paint_boxes() {
    out_.print("<g fill=\"#EEF1F4\" stroke=\"#9AA5B0\" stroke-width=\"1\">\n");
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

  // So that links that lie on each other don't add up to a uniform patch: together they are to darken the
  // drawing by about a third where they are.
  double opacity(unsigned kind, double width) const {
    double length = 0;
    for (std::size_t i = 0; i < plan_.links.size(); ++i) {
      if (layout_.kind[i] != kind) continue;
      const Point a = layout_.at[plan_.links[i].first], b = layout_.at[plan_.links[i].second];
      length += std::hypot(a.x - b.x, a.y - b.y);
    }
    const double layers = length * width / (0.6 * kDrawing.width() * kDrawing.height());
    return std::clamp(1 - std::pow(0.6, 1 / std::max(layers, 1e-3)), 0.06, kind == 0 ? 0.7 : 0.85);
  }

  void paint_links() {
    if (options_.load) return paint_load();
    // The kinds that are many go below.
    std::vector<unsigned> kinds;
    std::vector<std::size_t> members(layout_.kinds.size(), 0);
    for (const unsigned kind : layout_.kind) ++members[kind];
    for (unsigned kind = 0; kind < layout_.kinds.size(); ++kind) {
      if (members[kind] > 0 && (kind != 0 || layout_.draws_hosts)) kinds.push_back(kind);
    }
    std::stable_sort(kinds.begin(), kinds.end(),
                     [&](unsigned a, unsigned b) { return members[a] > members[b]; });
    for (const unsigned kind : kinds) {
      const float width = kind == 0 ? 0.5F + 0.3F * strength() : 0.55F + 1.1F * strength();
      out_.print("<g fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2f}\" stroke-opacity=\"{:.2f}\">\n",
                 link_colour(kind), width, opacity(kind, width));
      for (std::size_t i = 0; i < plan_.links.size(); ++i) {
        if (layout_.kind[i] == kind) out_.print("<path class=\"link\" d=\"{}\"/>\n", curve(i));
      }
      out_.print("</g>\n");
    }
  }

  // Grey beside owners, whose colours they have otherwise.
  const char* link_colour(unsigned kind) const {
    if (!options_.owner.empty()) return kOwnedLinkColour;
    return kind == 0 ? kLinkColours[0] : kLinkColours[1 + (kind - 1) % (std::size(kLinkColours) - 1)];
  }

  double load_of(std::size_t link) const {
    return std::max((*options_.load)[2 * link], (*options_.load)[2 * link + 1]);
  }

  // The upper end of the scale of loads: a round share, so that small ones are told apart too.
  double scale() const {
    double busiest = 0;
    for (const double load : *options_.load) busiest = std::max(busiest, load);
    for (const double end : {0.01, 0.02, 0.05, 0.1, 0.2, 0.5}) {
      if (busiest <= end) return end;
    }
    return 1;
  }

  void paint_load() {
    std::vector<std::size_t> order(plan_.links.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return load_of(a) < load_of(b); });
    const double end = scale();
    out_.print("<g fill=\"none\">\n");
    for (const std::size_t i : order) {
      if (!is_drawn(i)) continue;
      const double load = load_of(i) / end;
      const double width = (0.5 + 1.5 * strength()) * (0.5 + 1.5 * load);
      out_.print(
          "<path class=\"link\" d=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\" stroke-opacity=\"{:.2f}\"/>\n",
          curve(i), load == 0 ? "#D8D8D8" : load_colour(load), width, 0.5 + 0.5 * load);
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
    if (layout_.flat) {
      // A cubic curve as far out in its middle.
      constexpr float kNear = 0.1F, kOut = 2.0F / 3;
      const Point out{(bend.x - middle.x) * kOut, (bend.y - middle.y) * kOut};
      const Point c = mix(a, b, kNear), d = mix(b, a, kNear);
      return fmt::format("M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, c.x + out.x,
                         c.y + out.y, d.x + out.x, d.y + out.y, b.x, b.y);
    }
    return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, bend.x, bend.y, b.x, b.y);
  }

  static const char* owner_colour(std::uint32_t owner) {
    if (owner == kFailedHost) return "#222222";
    return owner == 0 ? kNobodyColour : kOwnerColours[(owner - 1) % std::size(kOwnerColours)];
  }
  const char* host_colour(std::uint32_t host) const {
    return options_.owner.empty() ? kHostColour : owner_colour(options_.owner[host]);
  }
  // Gives a router the colour of who owns most of its endpoints, and grey where nobody owns any.
  const char* router_colour(Vertex v) const {
    if (options_.owner.empty() || options_.load) return colour(topology_.node(v));
    std::map<std::uint32_t, std::uint32_t> hosts;
    for (const std::uint32_t c : topology_.out_channels(v)) {
      const Vertex to = topology_.channels()[c].to;
      if (plan_.is_host(to)) ++hosts[options_.owner[topology_.node(to).index]];
    }
    const bool all_failed = hosts.size() == 1 && hosts.contains(kFailedHost);
    hosts.erase(0);
    if (!all_failed) hosts.erase(kFailedHost);
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    if (hosts.empty()) return "#A9B0B7";
    return owner_colour(std::max_element(hosts.begin(), hosts.end(), fewer)->first);
  }

  // Nodes are grey beside links that have colours for their loads.
  const char* colour(const Node& node) const {
    if (options_.load) return node.in_host ? "#A9B0B7" : "#7C858D";
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
            "<circle class=\"host\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"none\"{}\n",
            layout_.at[v].x, layout_.at[v].y, layout_.host_radius, host_colour(h),
            options_.notes.empty() ? "/>" : "><title>" + xml_text(options_.notes[h]) + "</title></circle>");
      }
    }
    for (const Vertex v : plan_.routers) {
      const Point at = layout_.at[v];
      const Node& node = topology_.node(v);
      out_.print(
          "<rect class=\"switch\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" "
          "fill=\"{}\"><title>{}</title></rect>\n",
          at.x - r, at.y - r, 2 * r, 2 * r, node.in_host ? r : r * 0.35F, router_colour(v),
          xml_text(node.name));
    }
    out_.print("</g>\n");
    paint_labels();
  }

  // Numbers inside the switches, if there is room for them; names without one below the switches, if there
  // are few.
  void paint_labels() {
    const float r = layout_.switch_radius;
    if (r < 9) return;
    out_.print("<g fill=\"white\" text-anchor=\"middle\">\n");
    for (const Vertex v : plan_.routers) {
      std::string label = topology_.node(v).name;
      const std::size_t last = label.rfind(' ') + 1;
      if (last == label.size() || label[last] < '0' || label[last] > '9') {
        if (plan_.routers.size() > kMostNames || label.size() > kLongestName) continue;
        out_.print(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"14\" fill=\"#222222\" stroke=\"white\" "
            "stroke-width=\"3\" paint-order=\"stroke\">{}</text>\n",
            layout_.at[v].x, layout_.at[v].y + r + 16, xml_text(label));
        continue;
      }
      label = label.substr(last);
      const float size = std::min(r * 0.85F, 3.1F * r / static_cast<float>(label.size()));
      if (size < 6.5F) continue;
      out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\">{}</text>\n", layout_.at[v].x,
                 layout_.at[v].y + size * 0.35F, size, xml_text(label));
    }
    out_.print("</g>\n");
  }

  void paint_owners() {
    float x = 40;
    const float y = kHeight - 28;
    out_.print("<g font-size=\"16\" fill=\"#444444\">\n");
    const auto entry = [&](std::uint32_t owner, const std::string& words) {
      out_.print("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" fill=\"{}\"/>\n", x + 6, y,
                 owner_colour(owner));
      out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 20, y + 5, xml_text(words));
      x += 8.2F * static_cast<float>(words.size()) + 50;
    };
    for (std::uint32_t i = 0; i < std::min(options_.owners.size(), kMostOwnersNamed); ++i)
      entry(i + 1, options_.owners[i]);
    for (const std::uint32_t other : {kFailedHost, 0U}) {
      const auto count = std::count(options_.owner.begin(), options_.owner.end(), other);
      if (count > 0) entry(other, fmt::format("{} {}", count, other == 0 ? "free" : "failed"));
    }
    out_.print("</g>\n");
  }

  void paint_legend() {
    float x = 40, y = kHeight - 28;
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
      const unsigned tier = options_.load ? 0 : topology_.node(v).tier;
      auto& [switches, hosts] = tiers[{!topology_.node(v).in_host, tier}];
      ++switches;
      for (const std::uint32_t c : topology_.out_channels(v))
        hosts += plan_.is_host(topology_.channels()[c].to);
    }
    const bool one_tier = tiers.size() == 1 || options_.load;
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
        if (x + 8.2F * static_cast<float>(layout_.kinds[kind].size()) > kWidth - 60) {
          x = 40;
          y += 20;
        }
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
    const double busiest = *std::max_element(options_.load->begin(), options_.load->end());
    out_.print("<text x=\"{:.1f}\" y=\"{:.1f}\">{:.0f}%; the busiest {:.1f}%</text>\n", x, y + 5,
               100 * scale(), 100 * busiest);
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
