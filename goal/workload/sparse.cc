#include "goal/workload/sparse.h"

#include <set>
#include <vector>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"
#include "sim/units/random.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kNeighborDraws = 0x73706172;

Graph generate_sparse(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) {
  require_ranks(parameters, ranks, 2);
  const std::uint32_t degree = integer_in(parameters, "degree", 1, ranks - 1);
  const std::uint64_t bytes = parameters.bytes("size");
  std::vector<Message> messages;
  messages.reserve(static_cast<std::size_t>(ranks) * degree);
  std::set<std::uint32_t> steps;
  for (Rank r = 0; r < ranks; ++r) {
    RandomStream random(seed, r, kNeighborDraws);
    steps.clear();
    // R. Floyd's choice of `degree` from ranks - 1 (J. Bentley, Programming Pearls, CACM 30, 1987): step j is
    // drawn from 1 to j, and j itself is taken if that was drawn before.
    for (std::uint32_t j = ranks - degree; j < ranks; ++j) {
      const auto step = static_cast<std::uint32_t>(1 + random.below(j));
      if (!steps.insert(step).second) steps.insert(j);
    }
    // Upper neighbour first, so that not all begin with the same ranks.
    for (const std::uint32_t step : steps) {
      messages.push_back({r, static_cast<Rank>((static_cast<std::uint64_t>(r) + step) % ranks), bytes});
    }
  }
  return repeated_messages(parameters, ranks, messages);
}

}  // namespace

Workload sparse_workload() {
  return {{"sparse",
           "Every rank sends to `degree` different others, drawn at random once and kept in all iterations.",
           "T. Hoefler, C. Siebert, A. Lumsdaine, Scalable Communication Protocols for Dynamic Sparse Data "
           "Exchange, "
           "PPoPP 2010",
           {{"degree", ParameterType::kInteger, "6",
             "Ranks that each sends to; how many send to it is up to chance.", at_least("1")},
            {"size", ParameterType::kBytes, "64KB", "Bytes of each message."},
            iterations_parameter(),
            compute_parameter(),
            ranks_parameter()}},
          generate_sparse};
}

}  // namespace weft::goal
