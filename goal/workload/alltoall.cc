#include "goal/workload/alltoall.h"

#include <algorithm>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

Graph generate(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 2);
  const std::uint64_t bytes = parameters.bytes("size");
  const std::uint32_t others = ranks - 1;
  const std::uint32_t parallel = integer_in(parameters, "parallel", 0, UINT32_MAX);
  const std::uint32_t window = parallel == 0 ? others : std::min(parallel, others);
  const Repetition repeat = repetition(parameters);
  // Without a list of messages: this is the one pattern whose size is quadratic.
  return phased_graph(parameters, ranks, [=](Rank r, Phases& phases) {
    phases.repeat(repeat, [&](std::uint32_t) {
      for (std::uint32_t i = 1; i <= others; ++i) {
        phases.recv(bytes, static_cast<Rank>((static_cast<std::uint64_t>(r) + ranks - i) % ranks));
      }
      for (std::uint32_t i = 1; i <= others; ++i) {
        const OpIndex send =
            phases.send(bytes, static_cast<Rank>((static_cast<std::uint64_t>(r) + i) % ranks));
        if (i > window) phases.edge(send - window, send);
      }
    });
  });
}

}  // namespace

Workload alltoall_workload() {
  return {{"alltoall",
           "Every rank sends one message to every other, starting with its upper neighbour: r+1, r+2, …",
           "the linear algorithm of MPI libraries; serialized in the scenarios of Handley et al., NDP, "
           "SIGCOMM 2017",
           {{"size", ParameterType::kBytes, "16KiB", "Bytes of each message."},
            {"parallel", ParameterType::kInteger, "0",
             "Messages a rank has under way at most: the next waits for the end of a send; 0: all at once."},
            iterations_parameter(),
            compute_parameter(),
            ranks_parameter()}},
          generate};
}

}  // namespace weft::goal
