#include "goal/workload/compute.h"

#include <cstdint>
#include <utility>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

Graph generate_compute(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 1);
  const Repetition repeat = repetition(parameters);
  const std::uint64_t ops = std::uint64_t{ranks} * repeat.iterations;
  GraphBuilder builder;
  GraphBuilder::expect_graph(ops, ops);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t iteration = 0; iteration < repeat.iterations; ++iteration) {
      const OpIndex op = builder.add_calc(repeat.compute_ns);
      if (iteration > 0) builder.add_edge(op - 1, op);
    }
    builder.end_rank();
  }
  return builder.finish();
}

}  // namespace

Workload compute_workload() {
  return {{"compute",
           "Every rank computes, and sends nothing: a job that only has hosts.",
           "none",
           {iterations_parameter(), compute_parameter("1ms", "What a rank computes in an iteration."),
            ranks_parameter()}},
          generate_compute};
}

}  // namespace weft::goal
