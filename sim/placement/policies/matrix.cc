#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/mapping.h"
#include "sim/placement/policies/nodes.h"
#include "sim/placement/policies/policies.h"
#include "sim/units/brackets.h"
#include "sim/units/input_error.h"

namespace weft::placement {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;
// With steps=auto there are so many for each node, but no more than look at so many partners in all.
constexpr double kStepsEach = 100'000, kMostPartners = 4e8;

// The hosts that another policy gives nodes without regard to who talks to whom.
Outcome choose_hosts(const Setup& setup) {
  const ModuleChoice on = parse_module_choice(without_brackets(setup.parameters.text("on")));
  if (on.name == "matrix") setup.parameters.fail("on", "it must be another policy");
  return place(
      on, {.ranks = setup.request.nodes(), .ranks_per_node = 1, .exchanges = {}, .seed = setup.request.seed},
      setup.machine);
}

// The node of each rank: those that talk much together.
std::vector<std::uint32_t> group_ranks(const Request& request) {
  std::vector<std::uint32_t> own(request.ranks);
  std::iota(own.begin(), own.end(), 0U);
  if (request.ranks_per_node == 1) return own;
  std::vector<std::uint32_t> sizes(request.nodes(), request.ranks_per_node);
  sizes.back() = request.ranks - (request.nodes() - 1) * request.ranks_per_node;
  return split_exactly(talk_graph(request.exchanges, own, request.ranks), sizes, request.seed);
}

std::uint64_t read_steps(const Parameters& parameters, const TalkGraph& graph) {
  if (!parameters.automatic("steps")) {
    return static_cast<std::uint64_t>(parameters.integer("steps"));
  }
  const double nodes = graph.vertices(), partners = 1 + static_cast<double>(graph.to.size()) / nodes;
  return static_cast<std::uint64_t>(std::min(kStepsEach * nodes, kMostPartners / partners));
}

Outcome place_by_matrix(const Setup& setup) {
  const std::size_t start = choose_word(setup.parameters, "start", {"best", "bisection", "greedy", "given"});
  Outcome chosen = choose_hosts(setup);
  if (!chosen.no_room.empty()) return chosen;
  const std::vector<std::uint32_t> node = group_ranks(setup.request);
  const TalkGraph graph = talk_graph(setup.request.exchanges, node, setup.request.nodes());
  const std::uint64_t steps = read_steps(setup.parameters, graph);
  const HostDistances distances(setup.machine.topology, chosen.hosts);
  std::vector<Mapping> starts;
  if (start == 3) starts.push_back(chosen.hosts);
  if (start <= 1) starts.push_back(map_by_bisection(graph, distances, chosen.hosts, setup.request.seed));
  if (start == 2 || start == 0) starts.push_back(map_greedily(graph, distances, chosen.hosts));
  if (start == 0) starts.push_back(chosen.hosts);
  Mapping best = *std::min_element(starts.begin(), starts.end(), [&](const Mapping& a, const Mapping& b) {
    return hop_bytes(graph, distances, a) < hop_bytes(graph, distances, b);
  });
  if (steps > 0) anneal(graph, distances, steps, setup.request.seed, best);
  Outcome outcome;
  for (const std::uint32_t n : node) outcome.hosts.push_back(best[n]);
  return outcome;
}

}  // namespace

Policy matrix() {
  return {
      .info =
          {.name = "matrix",
           .summary = "Ranks that talk much near each other, by the job's communication matrix.",
           .source =
               "F. Pellegrini, Static mapping by dual recursive bipartitioning of process and architecture "
               "graphs, SHPCC 1994; T. Hoefler, M. Snir, Generic topology mapping strategies for "
               "large-scale parallel architectures, ICS 2011",
           .parameters =
               {{"on", ParameterType::kText, "packed",
                 "The policy that chooses the hosts; with parameters in brackets: [submesh:shape=4x4]."},
                {"start", ParameterType::kText, "best",
                 "bisection: halves of the job to halves of the hosts (METIS), again and again; greedy: the "
                 "rank "
                 "that talks most with those placed, as near as can be; given: as `on` has them; best: the "
                 "best of "
                 "these.",
                 one_of({"best", "bisection", "greedy", "given"})},
                {"steps", ParameterType::kInteger, "auto",
                 "Steps of simulated annealing from there, each an attempt to exchange two nodes; 0: none. "
                 "auto: "
                 "100,000 for each node, fewer where they have many partners.",
                 from_to("0", std::to_string(kMostSteps))}},
           .about =
               "Lowers hop-bytes, the bytes of each message times the links between switches on its way. "
               "With several ranks on a node, those that talk much with each other share one first (METIS). "
               "Routes and other jobs are left out of account. The same seed gives the same placement: "
               "annealing is limited in steps, not in time."},
      .needs = "who sends how much to whom",
      .needs_exchanges = true,
      .place = place_by_matrix};
}

}  // namespace weft::placement
