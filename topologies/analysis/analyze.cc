#include "topologies/analysis/analyze.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/units/module.h"

namespace weft::topologies {
namespace {

// Looks at arcs that a measure may take: some seconds.
constexpr std::uint64_t kPathWork = 300'000'000;      // of counting paths
constexpr std::uint64_t kLoadWork = 600'000'000;      // of loads
constexpr std::uint64_t kSweepWork = 40'000'000'000;  // of distances, which serve 256 sources with a look
constexpr std::uint64_t kSpectrumArcs = 4'000'000;
constexpr std::uint64_t kExactSize = 8'000;

void check_names(std::string_view kind, const auto& names, std::span<const std::string> known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) fail_unknown_name(kind, name, known);
  }
}

class Analyzer {
 public:
  Analyzer(const Topology& topology, const AnalysisOptions& options)
      : options_(options), graph_(router_graph(topology)), network_(flow_network(graph_)) {
    result_.topology = topology.name();
    result_.routers = graph_.routers();
    result_.switches = graph_.switches();
    result_.endpoints = graph_.endpoints();
    result_.links = graph_.arcs() / 2;
    result_.cables = graph_.link_count();
    result_.seed = options.seed;
    for (std::uint32_t r = 0; r < graph_.routers(); ++r)
      ++result_.degree[graph_.begin[r + 1] - graph_.begin[r]];
  }

  Analysis run() {
    if (wanted("distances")) {
      const std::uint64_t sources = kSweepWork / looks();
      result_.distances = distance_summary(graph_, graph_.endpoint_routers(), sources, options_.seed);
    }
    if (wanted("multiplicity")) {
      result_.multiplicity =
          multiplicity(graph_, std::max<std::uint64_t>(kPathWork / looks(), 1), options_.seed);
    }
    if (wanted("disjoint_paths")) add_disjoint_paths();
    if (wanted("spectrum")) {
      if (graph_.arcs() <= kSpectrumArcs) {
        result_.spectrum = spectrum(graph_);
      } else {
        leave_out("spectrum");
      }
    }
    if (wanted("bisection")) {
      result_.bisection = bisection(graph_, options_.seed);
    }
    if (wanted("edge_load")) add_edge_load(uniform_demands(graph_));
    if (wanted("throughput")) add_throughputs();
    if (!options_.matrix.empty() && (wanted("edge_load") || wanted("throughput"))) add_matrix();
    if (wanted("resilience")) {
      ResilienceOptions resilience_options;
      resilience_options.seed = options_.seed;
      if (graph_.arcs() > 1'000'000) resilience_options.trials = 2;
      result_.resilience = resilience(graph_, resilience_options);
    }
    return std::move(result_);
  }

 private:
  bool wanted(const std::string& measure) const { return options_.only.contains(measure); }
  // Returns how many looks at arcs and routers one plain search takes.
  std::uint64_t looks() const { return std::uint64_t{graph_.arcs()} + graph_.routers(); }
  void leave_out(const std::string& measure) {
    result_.left_out[measure] =
        fmt::format("{} routers and {} links take too long", graph_.routers(), graph_.link_count());
  }

  void add_disjoint_paths() {
    const DistanceSummary hops =
        distance_summary(graph_, graph_.endpoint_routers(), kSweepWork / 10 / looks(), options_.seed);
    // A search for each path, of which there are about as many as a router has links; for a pair and a
    // quadruple four times as many, for each of three lengths.
    const std::uint64_t one = 12 * looks() * (1 + graph_.arcs() / graph_.routers());
    const std::uint64_t samples = std::clamp<std::uint64_t>(kPathWork / one, 10, 500);
    for (const std::uint32_t more : {0, 1, 2}) {
      result_.disjoint_paths.push_back(path_diversity(graph_, hops.diameter + more, samples, options_.seed));
    }
  }

  void add_edge_load(const Demands& demands) {
    const std::uint64_t destinations = std::max<std::uint64_t>(kLoadWork / looks(), 1);
    EdgeLoad load = edge_load(network_, demands, destinations, options_.seed);
    load.arc.clear();
    load.arc.shrink_to_fit();
    result_.edge_load[demands.name()] = std::move(load);
  }

  void add_throughputs() {
    for (const std::string& name : named_demands()) {
      const bool asked =
          std::find(options_.demands.begin(), options_.demands.end(), name) != options_.demands.end();
      if (!asked && !options_.demands.empty()) continue;
      const std::uint64_t phase =
          graph_.terminals.size() * (20 * std::uint64_t{network_.vertices()} + 2 * network_.arcs());
      if (!asked && phase > ApproximationLimits{}.work) {
        leave_out("throughput");
        result_.left_out["throughput"] += "; name the demands to wait for it";
        return;
      }
      if (name == "uniform") add_throughput(uniform_demands(graph_));
      if (name == "permutation") add_throughput(permutation_demands(graph_, options_.seed));
      if (name == "longest-matching") {
        const Matching matching = longest_matching(graph_, options_.seed);
        result_.matching_distance = matching.mean_distance;
        result_.matching_exact = matching.exact;
        add_throughput(matching.demands);
      }
    }
  }

  void add_throughput(const Demands& demands) {
    const bool small = exact_size(network_, demands) <= kExactSize;
    result_.throughput.push_back(small ? exact_throughput(network_, demands)
                                       : approximate_throughput(network_, demands));
  }

  void add_matrix() {
    const Demands demands = matrix_demands(graph_, options_.matrix, read_matrix(options_.matrix));
    if (wanted("edge_load")) add_edge_load(demands);
    if (wanted("throughput")) add_throughput(demands);
  }

  const AnalysisOptions& options_;
  RouterGraph graph_;
  FlowNetwork network_;
  Analysis result_;
};

}  // namespace

std::span<const std::string> measures() {
  static const std::array<std::string, 8> names = {"distances",  "multiplicity", "disjoint_paths",
                                                   "spectrum",   "bisection",    "edge_load",
                                                   "throughput", "resilience"};
  return names;
}

std::span<const std::string> named_demands() {
  static const std::array<std::string, 3> names = {"uniform", "permutation", "longest-matching"};
  return names;
}

const Throughput* Analysis::worst_throughput() const {
  const auto worst = std::min_element(throughput.begin(), throughput.end(),
                                      [](const auto& a, const auto& b) { return a.theta < b.theta; });
  return worst == throughput.end() ? nullptr : &*worst;
}

Analysis analyze(const Topology& topology, const AnalysisOptions& options) {
  check_names("measure", options.only, measures());
  check_names("demand of throughput", options.demands, named_demands());
  return Analyzer(topology, options).run();
}

}  // namespace weft::topologies
