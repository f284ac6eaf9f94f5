#include "goal/workload/collective.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "goal/collectives/steps.h"
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
    {CollectiveKind::kBarrier},      {CollectiveKind::kBcast, true},   {CollectiveKind::kReduce, true},
    {CollectiveKind::kAllreduce},    {CollectiveKind::kReduceScatter}, {CollectiveKind::kAllgather},
    {CollectiveKind::kGather, true}, {CollectiveKind::kScatter, true}, {CollectiveKind::kAlltoall},
    {CollectiveKind::kScan},         {CollectiveKind::kExscan},
};

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
  if (element == 0 || element > UINT32_MAX) parameters.fail("element", "it must be from 1 B to 4 GiB - 1");
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

Graph generate(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  const Collective collective = collective_of(parameters, ranks);
  const Repetition repeat = repetition(parameters);
  const std::uint32_t count = integer_in(parameters, "count", 1, INT32_MAX);
  return phased_graph(parameters, ranks, [&](Rank, Phases& phases) {
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
         "alltoall, scan or exscan."},
        {"size", ParameterType::kBytes, "auto",
         "Bytes of the vector (bcast, reduce, allreduce, scan, exscan) or of one rank's block (the "
         "others); auto: 1MB, none of a barrier."},
        {"element", ParameterType::kBytes, "1B", "Bytes of an element, which no algorithm splits."},
        {"root", ParameterType::kInteger, "0", "The root of bcast, reduce, gather and scatter."},
        {"algorithm", ParameterType::kText, "",
         "The algorithm that the program asks for: ring, or pipelined_chain:segment=64KiB, or in brackets "
         "with "
         "several parameters; empty: the scenario chooses."},
        {"count", ParameterType::kInteger, "1", "Calls in an iteration, all begun at the same time."},
        iterations_parameter(),
        compute_parameter(),
        ranks_parameter()}},
      generate};
}

}  // namespace weft::goal
