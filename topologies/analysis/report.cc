#include "topologies/analysis/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::topologies {
namespace {

// "3.81 Tbps": with three digits, as no exact value is meant.
std::string rate_text(double bps) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1e15, "Pbps"}, {1e12, "Tbps"}, {1e9, "Gbps"}, {1e6, "Mbps"}};
  for (const auto& [unit, name] : kUnits) {
    if (bps >= unit) return fmt::format("{:.4g} {}", bps / unit, name);
  }
  return fmt::format("{:.4g} bps", bps);
}

// "0.984", or "0.861 to 0.893" between bounds.
std::string theta_text(const Throughput& t) {
  if (t.theta_upper - t.theta < 0.0005) return fmt::format("{:.3f}", t.theta);
  return fmt::format("{:.3f} to {:.3f}", t.theta, t.theta_upper);
}

std::string sampled_text(bool sampled, std::uint64_t sources, const char* what) {
  return sampled ? fmt::format(" (from a sample of {} {})", sources, what) : "";
}

std::string load_text(const EdgeLoad& load) {
  if (load.sampled) {
    return fmt::format("{:.4f} on average{}", load.mean,
                       sampled_text(true, load.destinations, "destinations"));
  }
  return fmt::format("{:.4f} at most, {:.4f} on average, imbalance {:.3f}; saturates at {:.1f}%", load.most,
                     load.mean, load.imbalance, 100 * load.saturation);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

class Table {
 public:
  void row(std::string_view name, const std::string& value) {
    text_ += fmt::format("{:<28} {}\n", name, value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string degree_text(const Analysis& a) {
  std::string text;
  constexpr std::size_t kMost = 4;
  if (a.degree.size() > kMost) {
    return fmt::format("{} to {}", a.degree.begin()->first, a.degree.rbegin()->first);
  }
  for (const auto& [degree, routers] : a.degree) {
    text += text.empty() ? "" : ", ";
    text +=
        a.degree.size() == 1 ? fmt::format("{}", degree) : fmt::format("{} ({} routers)", degree, routers);
  }
  return text;
}

std::string short_degree_text(const Analysis& a) {
  const auto least = a.degree.begin()->first, most = a.degree.rbegin()->first;
  return least == most ? fmt::format("{}", least) : fmt::format("{}-{}", least, most);
}

void add_distances(const DistanceSummary& d, Table& table) {
  table.row("diameter", fmt::format("{}{}", d.diameter, sampled_text(d.sampled, d.sources, "routers")));
  table.row("average path length", fmt::format("{:.4f}", d.average));
  std::uint64_t pairs = 0;
  for (const std::uint64_t count : d.histogram) pairs += count;
  std::string text;
  for (std::size_t hops = 1; hops < d.histogram.size(); ++hops) {
    if (hops > 12) {
      text += " …";
      break;
    }
    text += fmt::format("{}{}: {:.1f}%", hops == 1 ? "" : ", ", hops, 100 * share(d.histogram[hops], pairs));
  }
  if (!text.empty()) table.row("  pairs by hops", text);
  if (d.unreachable > 0) table.row("  pairs without path", fmt::format("{}", d.unreachable));
}

void add_multiplicity(const Multiplicity& m, Table& table) {
  if (m.pairs.empty()) return;
  table.row("shortest paths",
            fmt::format("{:.5g} on average, {} to {}{}", m.mean, m.pairs.begin()->first,
                        m.pairs.rbegin()->first, sampled_text(m.sampled, m.sources, "routers")));
  std::string text;
  std::uint64_t rest = m.all_pairs();
  for (const std::uint64_t paths : {1, 2, 3}) {
    const std::uint64_t count = m.pairs.contains(paths) ? m.pairs.at(paths) : 0;
    rest -= count;
    text += fmt::format("{}: {:.1f}%, ", paths, 100 * share(count, m.all_pairs()));
  }
  table.row("  pairs by paths", text + fmt::format("more: {:.1f}%", 100 * share(rest, m.all_pairs())));
}

// Names the switches of endpoints that no cut parts.
std::string where_all_are(const Bisection& b) {
  return b.switches == 1 ? "one switch" : fmt::format("the same {} switches", b.switches);
}

void add_bisection(const Bisection& b, Table& table) {
  if (b.undivided()) return table.row("bisection", "none: all endpoints on " + where_all_are(b));
  table.row("bisection", fmt::format("{} links, {} a direction (cut found); at least {:.1f} links, {}",
                                     b.links, rate_text(b.rate), b.least_links, rate_text(b.least_rate)));
  std::string text = fmt::format("{:.1f}%", 100 * b.share_of_full());
  if (b.between_domains) text += " of what half of the nodes can send to others";
  const auto [least, most] = std::minmax(b.side[0], b.side[1]);
  if (least < most) text += fmt::format(", {} against {} endpoints", most, least);
  table.row("  of full bisection", text);
}

void add_resilience(const char* what, double least, double mean, const std::vector<Damage>& damages,
                    Table& table) {
  table.row(fmt::format("{} lost until parted", what),
            least == 1 ? std::string("never")
                       : fmt::format("{:.1f}% on average, {:.1f}% at least", 100 * mean, 100 * least));
  for (const Damage& d : damages) {
    table.row(fmt::format("  {:.0f}% lost", 100 * d.removed),
              fmt::format("diameter {:.1f}, average path length {:.3f}, connected in {:.0f}% of trials",
                          d.diameter, d.average, 100 * d.connected));
  }
}

}  // namespace

std::string analysis_text(const Analysis& a) {
  Table table;
  table.row("topology", a.topology);
  table.row("routers", a.routers == a.switches
                           ? fmt::format("{}", a.routers)
                           : fmt::format("{}, of which {} are switches", a.routers, a.switches));
  table.row("endpoints", fmt::format("{}", a.endpoints));
  table.row("links", a.cables == a.links
                         ? fmt::format("{} between routers", a.links)
                         : fmt::format("{} between routers, of {} cables", a.links, a.cables));
  table.row("degree", degree_text(a));
  if (a.distances) add_distances(*a.distances, table);
  if (a.multiplicity) add_multiplicity(*a.multiplicity, table);
  for (const PathDiversity& p : a.disjoint_paths) {
    if (p.pairs == 0) continue;
    table.row(
        fmt::format("disjoint paths ≤ {}", p.longest),
        fmt::format("{:.2f} on average, {} to {}; 3 or more for {:.0f}%; interference {:.2f}, {:.0f} at most",
                    p.mean, p.least, p.most, 100 * p.three_or_more, p.interference, p.most_interference));
  }
  if (!a.disjoint_paths.empty() && a.disjoint_paths[0].pairs > 0) {
    table.row("  sample", fmt::format("{} pairs, {} quadruples, seed {}", a.disjoint_paths[0].pairs,
                                      a.disjoint_paths[0].quadruples, a.seed));
  }
  if (a.spectrum) {
    const Spectrum& s = *a.spectrum;
    table.row("spectral gap", fmt::format("{:.4f} (eigenvalues {:.4f}, {:.4f} … {:.4f}){}", s.gap, s.largest,
                                          s.second, s.smallest, s.ramanujan ? ", Ramanujan" : ""));
    table.row("algebraic connectivity", fmt::format("{:.4f}", s.algebraic_connectivity));
  }
  if (a.bisection) {
    add_bisection(*a.bisection, table);
  }
  for (const auto& [name, load] : a.edge_load) {
    table.row("ECMP load, " + name, load_text(load));
  }
  for (const auto& [name, load] : a.routed_load) {
    table.row(fmt::format("{} load, {}", a.routing, name), load_text(load));
  }
  for (const Throughput& t : a.throughput) {
    std::string text = theta_text(t);
    if (t.fabric > 1) text += fmt::format(", without the hosts' limits {:.3f} or more", t.fabric);
    text += t.exact ? " (exact)" : fmt::format(" (approximated, gap {:.1f}%)", 100 * t.gap());
    table.row("throughput, " + t.demands, text);
  }
  if (a.matching_distance) {
    table.row("  matched pairs", fmt::format("{:.3f} hops apart{}", *a.matching_distance,
                                             a.matching_exact ? "" : " (greedy matching)"));
  }
  if (a.resilience) {
    const Resilience& r = *a.resilience;
    add_resilience("links", r.links_least, r.links_mean, r.links, table);
    if (a.switches > 0) add_resilience("switches", r.switches_least, r.switches_mean, r.switches, table);
    table.row("  sample", fmt::format("{} trials, seed {}", r.trials, a.seed));
  }
  for (const auto& [name, why] : a.left_out) table.row(name, "left out: " + why);
  return table.take();
}

namespace {

using Cell = std::function<std::string(const Analysis&)>;

std::string of_cut(const Analysis& a, std::string (*tell)(const Bisection&)) {
  return a.bisection && !a.bisection->undivided() ? tell(*a.bisection) : "";
}

std::string sides_if_unequal(const Analysis& a) {
  if (!a.bisection || a.bisection->side[0] == a.bisection->side[1]) return "";
  const auto [least, most] = std::minmax(a.bisection->side[0], a.bisection->side[1]);
  return fmt::format("{}:{}", most, least);
}

const std::vector<std::pair<const char*, Cell>>& comparison_rows() {
  static const std::vector<std::pair<const char*, Cell>> rows = {
      {"endpoints", [](const Analysis& a) { return fmt::format("{}", a.endpoints); }},
      {"routers", [](const Analysis& a) { return fmt::format("{}", a.routers); }},
      {"switches", [](const Analysis& a) { return fmt::format("{}", a.switches); }},
      {"links", [](const Analysis& a) { return fmt::format("{}", a.links); }},
      {"cables", [](const Analysis& a) { return fmt::format("{}", a.cables); }},
      {"degree", short_degree_text},
      {"diameter",
       [](const Analysis& a) { return a.distances ? fmt::format("{}", a.distances->diameter) : ""; }},
      {"average path length",
       [](const Analysis& a) { return a.distances ? fmt::format("{:.3f}", a.distances->average) : ""; }},
      {"shortest paths, mean",
       [](const Analysis& a) { return a.multiplicity ? fmt::format("{:.4g}", a.multiplicity->mean) : ""; }},
      {"spectral gap",
       [](const Analysis& a) { return a.spectrum ? fmt::format("{:.3f}", a.spectrum->gap) : ""; }},
      {"bisection, links",
       [](const Analysis& a) {
         if (a.bisection && a.bisection->undivided()) return where_all_are(*a.bisection);
         return of_cut(a, [](const Bisection& b) { return fmt::format("{}", b.links); });
       }},
      {"bisection, rate a direction",
       [](const Analysis& a) { return of_cut(a, [](const Bisection& b) { return rate_text(b.rate); }); }},
      {"  of full",
       [](const Analysis& a) {
         return of_cut(a, [](const Bisection& b) { return fmt::format("{:.1f}%", 100 * b.share_of_full()); });
       }},
      {"  endpoints of sides", sides_if_unequal},
      {"ECMP saturation",
       [](const Analysis& a) {
         const auto at = a.edge_load.find("uniform");
         const bool known = at != a.edge_load.end() && !at->second.sampled;
         return known ? fmt::format("{:.3f}", at->second.saturation) : "";
       }},
      {"throughput, uniform",
       [](const Analysis& a) {
         const auto at = std::find_if(a.throughput.begin(), a.throughput.end(),
                                      [](const Throughput& t) { return t.demands == "uniform"; });
         return at == a.throughput.end() ? "" : theta_text(*at);
       }},
      {"throughput, worst",
       [](const Analysis& a) {
         return a.worst_throughput() == nullptr ? "" : theta_text(*a.worst_throughput());
       }},
      {"links lost until parted",
       [](const Analysis& a) {
         if (!a.resilience) return std::string();
         return a.resilience->links_mean == 1 ? "never"
                                              : fmt::format("{:.1f}%", 100 * a.resilience->links_mean);
       }},
  };
  return rows;
}

}  // namespace

std::string comparison_text(std::span<const Analysis> analyses, std::span<const ComparisonRow> more) {
  // Columns are headed by number and family; what exactly they are stands above.
  std::string text;
  std::vector<std::string> heads;
  for (const Analysis& a : analyses) {
    const std::size_t number = heads.size() + 1;
    text += fmt::format("{}  {}\n", number, a.topology);
    heads.push_back(fmt::format("{} {}", number, a.topology.substr(0, a.topology.find(':'))));
  }
  std::vector<ComparisonRow> table = {{"", heads}};
  for (const auto& [name, cell] : comparison_rows()) {
    table.push_back({name, {}});
    for (const Analysis& a : analyses) table.back().cells.push_back(cell(a));
  }
  table.insert(table.end(), more.begin(), more.end());
  std::vector<std::size_t> width(analyses.size(), 0);
  for (const ComparisonRow& row : table) {
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row.cells[i].size());
  }
  text += "\n";
  for (const ComparisonRow& row : table) {
    if (std::all_of(row.cells.begin(), row.cells.end(), [](const auto& cell) { return cell.empty(); }))
      continue;
    text += fmt::format("{:<24}", row.name);
    for (std::size_t i = 0; i < width.size(); ++i)
      text += fmt::format("  {:>{}}", row.cells[i].empty() ? "-" : row.cells[i], width[i]);
    text += "\n";
  }
  return text;
}

}  // namespace weft::topologies
