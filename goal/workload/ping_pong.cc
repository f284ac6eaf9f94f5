#include "goal/workload/ping_pong.h"

#include <string>
#include <vector>

#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

Graph generate_ping_pong(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  require_ranks(parameters, ranks, 2);
  const std::uint32_t half = ranks / 2;
  const std::uint32_t asked = integer_in(parameters, "pairs", 0, half);
  const std::uint32_t pairs = asked == 0 ? half : asked;
  std::vector<std::uint64_t> sizes;
  for (const std::string_view item : list_of(parameters, "sizes")) {
    try {
      sizes.push_back(parse_bytes(std::string(item)));
    } catch (const InputError& error) {
      parameters.fail("sizes", error.what());
    }
  }
  const Repetition repeat = repetition(parameters);
  return phased_graph(parameters, ranks, [&](Rank r, Phases& phases) {
    const bool begins = r < pairs;
    if (!begins && (r < half || r >= half + pairs)) return;
    const Rank other = begins ? r + half : r - half;
    for (const std::uint64_t bytes : sizes) {
      phases.repeat(repeat, [&](std::uint32_t) {
        for (const bool sends : {begins, !begins}) {
          if (sends) {
            phases.send(bytes, other);
          } else {
            phases.recv(bytes, other);
          }
          phases.then();
        }
      });
    }
  });
}

}  // namespace

Workload ping_pong_workload() {
  return {
      {"ping_pong",
       "Rank r sends a message to rank r + n/2, which sends one back; and again, for every size.",
       "R. Hockney, The communication challenge for MPP, Parallel Computing 20, 1994; D. Culler et al., "
       "LogP, PPoPP "
       "1993",
       {{"pairs", ParameterType::kInteger, "1", "Pairs at the same time; 0: as many as there are, n/2.",
         at_least("0")},
        {"sizes", ParameterType::kText, "8B", "Bytes of a message: 8B, or [8B,1KB,1MB] one after the other."},
        iterations_parameter(),
        compute_parameter("0ns", "Compute of both ranks of a pair before each round trip."),
        ranks_parameter()}},
      generate_ping_pong};
}

}  // namespace weft::goal
