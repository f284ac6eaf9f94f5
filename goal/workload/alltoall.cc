#include "goal/workload/alltoall.h"

#include <fmt/core.h>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

// One operation a rank, however many ranks there are: the replay works the messages out when they are due.
Graph generate_alltoall(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 2);
  const std::uint64_t bytes = parameters.bytes("size");
  const std::uint32_t parallel = parameters.whole("parallel");
  Collective alltoall{.kind = CollectiveKind::kAlltoall, .bytes = bytes};
  alltoall.algorithm = parallel == 0 ? "linear" : fmt::format("windowed:parallel={}", parallel);
  const Repetition repeat = repetition(parameters);
  return phased_graph(parameters, ranks, [&](Rank, Phases& phases) {
    phases.repeat(repeat, [&](std::uint32_t) { phases.collective(alltoall); });
  });
}

}  // namespace

Workload alltoall_workload() {
  return {
      {"alltoall",
       "Every rank sends one message to every other, starting with its upper neighbour: r+1, r+2, …",
       "the linear algorithm of MPI libraries; serialized in the scenarios of Handley et al., NDP, "
       "SIGCOMM 2017",
       {{"size", ParameterType::kBytes, "16KiB", "Bytes of each message: empty ones are not sent.",
         at_least("1B")},
        {"parallel", ParameterType::kInteger, "0",
         "Exchanges a rank has under way at most, each a message to one rank and one from another; 0: all "
         "at once, which takes memory for each.",
         from_to("0", "2147483647")},
        iterations_parameter(),
        compute_parameter(),
        ranks_parameter()}},
      generate_alltoall};
}

}  // namespace weft::goal
