#include "goal/workload/collective.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"
#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kDefaultBytes = 1'000'000;

struct Kind {
  CollectiveKind kind;
  bool has_root = false;
};
constexpr Kind kKinds[] = {
    {CollectiveKind::kBarrier},          {CollectiveKind::kBcast, true},
    {CollectiveKind::kReduce, true},     {CollectiveKind::kAllreduce},
    {CollectiveKind::kReduceScatter},    {CollectiveKind::kAllgather},
    {CollectiveKind::kGather, true},     {CollectiveKind::kScatter, true},
    {CollectiveKind::kAlltoall},         {CollectiveKind::kScan},
    {CollectiveKind::kExscan},           {CollectiveKind::kNeighborAllgather},
    {CollectiveKind::kNeighborAlltoall},
};
constexpr std::uint32_t kMostDimensions = 6;

const Kind& kind_of(const Parameters& parameters) {
  std::vector<std::string> known;
  for (const Kind& kind : kKinds) {
    if (parameters.text("kind") == name(kind.kind)) return kind;
    known.emplace_back(name(kind.kind));
  }
  fail_unknown_name("kind of collective", parameters.text("kind"), known);
}

// As the parameter names it; with several parameters of its own it stands in brackets.
std::string algorithm_of(const Parameters& parameters, CollectiveKind kind, std::uint32_t ranks) {
  std::string text = parameters.text("algorithm");
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  if (text.empty()) return text;
  std::string why;
  try {
    const ChosenAlgorithm chosen = choose_collective_algorithm(kind, text);
    if (chosen.algorithm->objection != nullptr) why = chosen.algorithm->objection(chosen.options, ranks);
  } catch (const InputError& error) {
    why = error.what();
  }
  if (!why.empty()) parameters.fail("algorithm", why);
  return text;
}

Collective collective_of(const Parameters& parameters, std::uint32_t ranks) {
  const Kind& kind = kind_of(parameters);
  Collective collective{.kind = kind.kind};
  collective.algorithm = algorithm_of(parameters, kind.kind, ranks);
  collective.root = integer_in(parameters, "root", 0, ranks - 1);
  if (collective.root != 0 && !kind.has_root) {
    parameters.fail("root", fmt::format("{} has no root", name(kind.kind)));
  }
  const std::uint64_t element = parameters.bytes("element");
  if (kind.kind == CollectiveKind::kBarrier) {
    if (!parameters.automatic("size") && parameters.bytes("size") > 0) {
      parameters.fail("size", "a barrier moves no data");
    }
    if (element != 1) parameters.fail("element", "a barrier moves no data");
    return collective;
  }
  collective.element_bytes = static_cast<std::uint32_t>(element);
  collective.bytes =
      parameters.automatic("size") ? kDefaultBytes / element * element : parameters.bytes("size");
  if (collective.bytes % element != 0) {
    const std::uint64_t below = collective.bytes / element * element;
    parameters.fail("size", fmt::format("elements have {} B; the nearest sizes are {}B and {}B", element,
                                        below, below + element));
  }
  return collective;
}

// The grid of the neighbor kinds; no dimensions for the others.
Grid grid_of_neighbors(const Parameters& parameters, const Collective& collective, std::uint32_t ranks) {
  const std::string kind(name(collective.kind));
  const bool given = !parameters.text("dims").empty();
  if (is_of_neighbors(collective.kind)) {
    if (!given) parameters.fail("dims", kind + " needs a grid of the ranks: [4,4,8], or 3d");
    return grid_of(parameters, ranks, 1, kMostDimensions);
  }
  if (given) parameters.fail("dims", kind + " has no neighbors");
  if (!parameters.boolean("periodic")) parameters.fail("periodic", kind + " has no neighbors");
  return {};
}

// The neighbors of a Cartesian communicator, in MPI's order (MPI 4.0, section 8.6): in each dimension the one
// before and the one behind.
void set_neighbors(Collective& collective, const Grid& grid, Rank rank, bool periodic) {
  collective.destinations.clear();
  const std::vector<std::uint32_t> at = grid.coordinates(rank);
  for (std::size_t d = 0; d < grid.dims.size(); ++d) {
    for (const int step : {-1, 1}) {
      std::vector<int> offset(grid.dims.size(), 0);
      offset[d] = step;
      const std::optional<Rank> neighbor = grid.neighbor(at, offset, periodic);
      if (neighbor) collective.destinations.push_back(*neighbor);
    }
  }
  collective.sources = collective.destinations;
}

Graph generate_collective(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  Collective collective = collective_of(parameters, ranks);
  const Grid grid = grid_of_neighbors(parameters, collective, ranks);
  const bool periodic = parameters.boolean("periodic");
  const Repetition repeat = repetition(parameters);
  const std::uint32_t count = parameters.whole("count");
  return phased_graph(parameters, ranks, [&](Rank rank, Phases& phases) {
    if (!grid.dims.empty()) set_neighbors(collective, grid, rank, periodic);
    phases.repeat(repeat, [&](std::uint32_t) {
      for (std::uint32_t i = 0; i < count; ++i) phases.collective(collective);
    });
  });
}

}  // namespace

Workload collective_workload() {
  return {
      {"collective",
       "All ranks call a collective operation, over and over, with compute in between.",
       "MPI: A Message-Passing Interface Standard 4.0, 2021, chapter 6; the loop of a data-parallel training "
       "step or of a benchmark",
       {{"kind", ParameterType::kText, "allreduce",
         "The operation: barrier, bcast, reduce, allreduce, reduce_scatter, allgather, gather, scatter, "
         "alltoall, scan, exscan, neighbor_allgather or neighbor_alltoall."},
        {"size", ParameterType::kBytes, "auto",
         "Bytes of the vector (bcast, reduce, allreduce, scan, exscan) or of one rank's block (the "
         "others); auto: 1MB, none of a barrier."},
        {"element", ParameterType::kBytes, "1B", "Bytes of an element, which no algorithm splits.",
         from_to("1B", "4294967295B")},
        {"root", ParameterType::kInteger, "0", "The root of bcast, reduce, gather and scatter."},
        {"algorithm", ParameterType::kText, "",
         "The algorithm that the program asks for: ring, or pipelined_chain:segment=64KiB, or in brackets "
         "with "
         "several parameters; empty: the scenario chooses."},
        {"dims", ParameterType::kText, "",
         "Of the neighbor kinds: grid of the ranks, [4,4,8], the last varying fastest, or 3d; each exchanges "
         "with those before and behind it in every dimension."},
        {"periodic", ParameterType::kBoolean, "true",
         "Of the neighbor kinds: whether the ends of every dimension meet."},
        {"count", ParameterType::kInteger, "1", "Calls in an iteration, all begun at the same time.",
         from_to("1", "2147483647")},
        iterations_parameter(),
        compute_parameter(),
        ranks_parameter()}},
      generate_collective};
}

}  // namespace weft::goal
