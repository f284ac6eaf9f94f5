#include "goal/workload/random_pairs.h"

#include <fmt/core.h>

#include <vector>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"
#include "sim/units/random.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kDestinationDraws = 0x72616E64;

Graph generate_random_pairs(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) {
  require_ranks(parameters, ranks, 2);
  const std::uint32_t count = integer_in(parameters, "count", 1, UINT32_MAX / ranks);
  const std::uint64_t bytes = parameters.bytes("size");
  std::vector<Message> messages;
  messages.reserve(static_cast<std::size_t>(ranks) * count);
  for (Rank r = 0; r < ranks; ++r) {
    RandomStream random(seed, r, kDestinationDraws);
    for (std::uint32_t i = 0; i < count; ++i) messages.push_back({r, random_other(r, ranks, random), bytes});
  }
  return repeated_messages(parameters, ranks, messages);
}

}  // namespace

Workload random_workload() {
  return {{"random",
           "Every rank sends messages to other ranks, each drawn at random; some ranks get more than others.",
           "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2",
           {{"size", ParameterType::kBytes, "2MB", "Bytes of each message."},
            {"count", ParameterType::kInteger, "1", "Messages of each rank, all at once.", at_least("1")},
            iterations_parameter(),
            compute_parameter(),
            ranks_parameter()}},
          generate_random_pairs};
}

}  // namespace weft::goal
