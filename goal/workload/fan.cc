#include "goal/workload/fan.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"
#include "sim/units/random.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kMemberDraws = 0x66616E73;

// The n ranks at the other end of `center`, in ascending order: the lowest, or drawn without repetition.
std::vector<Rank> members(const Parameters& parameters, std::uint32_t ranks, Rank center,
                          std::string_view which, std::uint64_t seed) {
  const std::uint32_t n = integer_in(parameters, "n", 1, ranks - 1);
  std::vector<Rank> others;
  others.reserve(ranks);
  for (Rank r = 0; r < ranks; ++r) {
    if (r != center) others.push_back(r);
  }
  if (parameters.text(which) == "random") {
    // The first n steps of a Fisher-Yates shuffle: every choice is equally likely.
    RandomStream random(seed, center, kMemberDraws);
    for (std::uint32_t i = 0; i < n; ++i) std::swap(others[i], others[i + random.below(others.size() - i)]);
    std::sort(others.begin(), others.begin() + n);
  }
  others.resize(n);
  return others;
}

Graph incast(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) {
  require_ranks(parameters, ranks, 2);
  const Rank to = integer_in(parameters, "to", 0, ranks - 1);
  const std::uint64_t bytes = parameters.bytes("size");
  std::vector<Message> messages;
  for (const Rank r : members(parameters, ranks, to, "senders", seed)) messages.push_back({r, to, bytes});
  return repeated_messages(parameters, ranks, messages);
}

Graph outcast(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) {
  require_ranks(parameters, ranks, 2);
  const Rank from = integer_in(parameters, "from", 0, ranks - 1);
  const std::uint64_t bytes = parameters.bytes("size");
  std::vector<Message> messages;
  for (const Rank r : members(parameters, ranks, from, "receivers", seed))
    messages.push_back({from, r, bytes});
  return repeated_messages(parameters, ranks, messages);
}

}  // namespace

Workload incast_workload() {
  return {{"incast",
           "n ranks send one message each to the same rank, all at once.",
           "A. Phanishayee et al., Measurement and Analysis of TCP Throughput Collapse, FAST 2008",
           {{"n", ParameterType::kInteger, "8", "Number of senders.", at_least("1")},
            {"size", ParameterType::kBytes, "1MB", "Bytes of each message."},
            {"to", ParameterType::kInteger, "0", "The receiving rank.", at_least("0")},
            {"senders", ParameterType::kText, "random",
             "Who sends: random (drawn from the run's seed) or first (the lowest ranks but the receiver).",
             one_of({"random", "first"})},
            iterations_parameter(),
            compute_parameter(),
            ranks_parameter()}},
          incast};
}

Workload outcast_workload() {
  return {{"outcast",
           "One rank sends one message each to n others, all at once.",
           "C. Raiciu et al., htsim, the simulator of Handley et al., NDP, SIGCOMM 2017",
           {{"n", ParameterType::kInteger, "8", "Number of receivers.", at_least("1")},
            {"size", ParameterType::kBytes, "1MB", "Bytes of each message."},
            {"from", ParameterType::kInteger, "0", "The sending rank.", at_least("0")},
            {"receivers", ParameterType::kText, "random",
             "Who receives: random (drawn from the run's seed) or first (the lowest ranks but the sender).",
             one_of({"random", "first"})},
            iterations_parameter(),
            compute_parameter(),
            ranks_parameter()}},
          outcast};
}

}  // namespace weft::goal
