#include "goal/workload/poisson.h"

#include <fmt/core.h>

#include <vector>

#include "goal/workload/flow_sizes.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/random_pairs.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

// Purposes of the random streams of each rank.
constexpr std::uint64_t kGapDraws = 0x706F6731;
constexpr std::uint64_t kSizeDraws = 0x706F6732;
constexpr std::uint64_t kPoissonDestinationDraws = 0x706F6733;

// A message takes so much in the list of them and in the graph, which has two operations, a calc and two
// dependencies for it.
constexpr double kBytesOfMessage = 168;

double rate_bps_of(const Parameters& parameters) {
  const Bandwidth rate = parameters.automatic("rate") ? Bandwidth::gbps(400) : parameters.bandwidth("rate");
  return static_cast<double>(rate.bps());
}

Graph generate_poisson(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) {
  require_ranks(parameters, ranks, 2);
  const double load = parameters.real("load");
  const double rate_bps = rate_bps_of(parameters);
  const Time duration = parameters.time("duration");
  const FlowSizes sizes = load_flow_sizes(parameters.file("sizes"));
  const double mean_gap_ns = 8e9 * sizes.mean_bytes() / (load * rate_bps);
  const double duration_ns = static_cast<double>(duration.ps()) / 1000;
  const double expected = duration_ns / mean_gap_ns * ranks;
  if (expected > UINT32_MAX / 2) {
    parameters.fail("duration", fmt::format("it must be shorter: {:.3g} messages are expected, and {} are "
                                            "the limit",
                                            expected, UINT32_MAX / 2));
  }
  expect_memory(expected * kBytesOfMessage, fmt::format("traffic of about {:.3g} messages", expected));

  std::vector<Message> messages;
  messages.reserve(static_cast<std::size_t>(expected * 1.01) + 1);
  for (Rank r = 0; r < ranks; ++r) {
    RandomStream gaps(seed, r, kGapDraws), bytes(seed, r, kSizeDraws),
        destinations(seed, r, kPoissonDestinationDraws);
    for (double t_ns = 0;;) {
      t_ns += mean_gap_ns * draw_exponential(gaps);
      if (!(t_ns < duration_ns)) break;
      messages.push_back({r, random_other(r, ranks, destinations), sizes.draw(bytes),
                          static_cast<std::uint64_t>(t_ns + 0.5)});
    }
  }
  return message_graph(ranks, messages);
}

// In which messages are measured, and what was asked for.
WorkloadFacts facts(const Parameters& parameters, std::uint32_t ranks) {
  const double until_ns = static_cast<double>(parameters.time("duration").ps()) / 1000;
  const double capacity = rate_bps_of(parameters) * ranks;
  return {{"open_loop_from_ns", fmt::format("{}", parameters.real("warm_up") * until_ns)},
          {"open_loop_until_ns", fmt::format("{}", until_ns)},
          {"open_loop_load", fmt::format("{}", parameters.real("load"))},
          {"open_loop_capacity_bps", fmt::format("{}", capacity)}};
}

}  // namespace

// A run of falling uniforms u1 > u2 > … > un that ends with a rise has odd length n with probability e^-u1.
// Then u1 is the fraction; each run of even length before adds 1.
double draw_exponential(RandomStream& random) {
  for (double whole = 0;; ++whole) {
    const double first = random.uniform();
    double last = first;
    bool odd = true;
    for (double next = random.uniform(); next < last; next = random.uniform()) {
      last = next;
      odd = !odd;
    }
    if (odd) return whole + first;
  }
}

Workload poisson_workload() {
  Workload workload;
  workload.info = {
      "poisson",
      "Messages to random ranks start at random times, sized as in a measured distribution.",
      "M. Alizadeh et al., DCTCP, SIGCOMM 2010 (web search); Y. Li et al., HPCC, SIGCOMM 2019 (use and "
      "data)",
      {{"load", ParameterType::kReal, "0.5", "Mean payload a rank sends, as a share of `rate`.", above("0")},
       {"sizes", ParameterType::kNameOrFile, "websearch",
        "Size distribution: websearch, hadoop, alistorage, google_rpc, or the path of a file of lines "
        "BYTES PERCENT."},
       {"duration", ParameterType::kTime, "1ms", "Messages start from time 0 up to this time.", above("0")},
       {"warm_up", ParameterType::kReal, "0.1",
        "Share of `duration` at its beginning whose messages the figures of the traffic leave out, as the "
        "network fills.",
        at_least("0").under("1")},
       {"rate", ParameterType::kBandwidth, "auto",
        "To which `load` refers; auto: what a host's links into the network carry, and 400Gbps where no "
        "network is known.",
        above("0")},
       ranks_parameter()}};
  workload.generate = generate_poisson;
  workload.facts = facts;
  workload.host_rate = "rate";
  return workload;
}

}  // namespace weft::goal
