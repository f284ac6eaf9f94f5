#include "goal/workload/permutation.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"
#include "sim/units/random.h"

namespace weft::goal {
namespace {

// A permutation without fixed points, each equally likely: shuffle (Fisher and Yates) until there is none,
// which takes e ≈ 2.72 tries on average.
std::vector<Rank> derangement(std::uint32_t ranks, RandomStream random) {
  std::vector<Rank> to(ranks);
  for (;;) {
    std::iota(to.begin(), to.end(), 0u);
    bool fixed = false;
    for (std::uint32_t i = ranks; i-- > 0;) {
      std::swap(to[i], to[random.below(i + 1)]);
      // Position i is final from here on.
      if (to[i] == i) {
        fixed = true;
        break;
      }
    }
    if (!fixed) return to;
  }
}

Graph generate_permutation(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) {
  const std::uint64_t bytes = parameters.bytes("size");
  require_ranks(parameters, ranks, 2);
  const std::vector<Rank> to = derangement(ranks, RandomStream(seed, 0, 0x7065726D));
  return repeated_messages(parameters, ranks, messages_to(to, bytes));
}

}  // namespace

Workload permutation_workload() {
  return {{"permutation",
           "Every rank sends one message to another and gets one: a random permutation without fixed points.",
           "the usual load of a network's bisection, e.g. Handley et al., NDP, SIGCOMM 2017",
           {{"size", ParameterType::kBytes, "2MB", "Bytes of each message."},
            iterations_parameter(),
            compute_parameter(),
            ranks_parameter()}},
          generate_permutation};
}

}  // namespace weft::goal
