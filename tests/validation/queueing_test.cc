// Waiting in one queue against queueing theory, and against the recursion that defines it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "goal/workload/message_graph.h"
#include "goal/workload/poisson.h"
#include "sim/units/random.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

constexpr std::uint32_t kSources = 64;
constexpr std::uint64_t kBytes = 4096;         // of a message: one packet
constexpr std::int64_t kHostWire_ps = 32'768;  // at 1 Tb/s
constexpr std::int64_t kWire_ps = 3'276'800;   // at 10 Gb/s
constexpr std::int64_t kLatency_ps = 500'000;

// Hosts on fast links send to hosts of the other leaf over one slow link; ACKs come back the other way. With
// 64 sources on links that are 100 times as fast, hardly any packet waits before it reaches that link (the
// exact check below counts it), so arrivals there are Poisson.
constexpr const char* kScenario = R"(
  topology {
    leaf_spine { leaves: 2 spines: 1 hosts_per_leaf: 64 link: "10Gbps" host_link: "1Tbps" latency: "500ns" }
  }
  network { packet { mtu: "4096" header: "0" ack: "1" } }
  congestion { fixed_window { packets: 1 } }
  queue { droptail { capacity: "1GB" } })";

// Poisson arrivals of messages at `load` of the slow link, each at a source drawn at random.
std::vector<goal::Message> arrivals(double load, std::uint32_t count, std::uint64_t seed) {
  RandomStream random(seed, 0);
  const double mean_gap_ns = static_cast<double>(kWire_ps) / 1000 / load;
  std::vector<goal::Message> messages;
  double now_ns = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    now_ns += mean_gap_ns * goal::draw_exponential(random);
    const auto source = static_cast<goal::Rank>(random.below(kSources));
    messages.push_back({source, kSources + source, kBytes, static_cast<std::uint64_t>(now_ns + 0.5)});
  }
  return messages;
}

// Lindley's recursion, twice: the departure of each packet from its source's link, then from the slow one.
// What each packet waits in both, in picoseconds, in order of arrival at the slow one.
std::vector<std::int64_t> waits_by_recursion(const std::vector<goal::Message>& messages) {
  std::vector<std::int64_t> source_free(kSources, 0);
  std::vector<std::pair<std::int64_t, std::int64_t>> at_link;  // arrival, waited so far
  for (const goal::Message& message : messages) {
    const auto start = static_cast<std::int64_t>(message.start_ns) * 1000;
    std::int64_t& free = source_free[message.from];
    const std::int64_t begin = std::max(start, free);
    free = begin + kHostWire_ps;
    at_link.emplace_back(free + kLatency_ps, begin - start);
  }
  std::sort(at_link.begin(), at_link.end());
  std::vector<std::int64_t> waits;
  std::int64_t free = 0;
  for (const auto& [arrival, waited] : at_link) {
    const std::int64_t begin = std::max(arrival, free);
    free = begin + kWire_ps;
    waits.push_back(waited + begin - arrival);
  }
  return waits;
}

// Takes the waits from the simulation: the time each message took, less that of one alone.
std::vector<std::int64_t> waits_by_simulation(const std::vector<goal::Message>& messages) {
  const results::Report report = run(kScenario, goal::message_graph(2 * kSources, messages));
  REQUIRE(report.outcome == results::Outcome::kComplete);
  REQUIRE(report.flows.size() == messages.size());
  const std::int64_t alone = 2 * kHostWire_ps + 2 * kWire_ps + 4 * kLatency_ps;
  std::vector<std::int64_t> waits;
  for (const results::Flow& flow : report.flows) waits.push_back((flow.finish - flow.start).ps() - alone);
  return waits;
}

struct Case {
  double load;
  int batches;
  std::uint32_t messages;  // in a batch
  int simulated;           // batches; for the others the recursion, with which these agree exactly, will do
};

// Mean wait of M/D/1: ρ / (2μ (1 - ρ)) (Pollaczek 1930, Khinchine 1932).
void check_mean_wait(const Case& c) {
  const double theory = c.load / (2 * (1 - c.load)) * static_cast<double>(kWire_ps);
  double sum = 0, squares = 0;
  for (int batch = 0; batch < c.batches; ++batch) {
    const std::vector<goal::Message> messages =
        arrivals(c.load, c.messages, static_cast<std::uint64_t>(batch) + 1);
    std::vector<std::int64_t> waits = waits_by_recursion(messages);
    if (batch < c.simulated) {
      std::vector<std::int64_t> simulated = waits_by_simulation(messages);
      // Which of two that arrive at the same picosecond goes first is open, but not what they wait.
      std::sort(waits.begin(), waits.end());
      std::sort(simulated.begin(), simulated.end());
      const bool as_defined = simulated == waits;  // not for Catch to print
      CHECK(as_defined);
    }
    double mean = 0;
    for (const std::int64_t wait : waits)
      mean += static_cast<double>(wait) / static_cast<double>(waits.size());
    sum += mean;
    squares += mean * mean;
  }
  const double mean = sum / c.batches;
  const double error = std::sqrt((squares / c.batches - mean * mean) / (c.batches - 1));
  INFO("load " << c.load << ": mean wait " << mean / 1e6 << " us, in theory " << theory / 1e6
               << " us, standard error " << 100 * error / theory << "%");
  CHECK(mean == Approx(theory).epsilon(0.02));
  CHECK(error < 0.007 * theory);  // so that 2% are almost three standard errors
}

}  // namespace

TEST_CASE("M/D/1: mean wait at load 0.3") { check_mean_wait({0.3, 8, 100'000, 4}); }
TEST_CASE("M/D/1: mean wait at load 0.6") { check_mean_wait({0.6, 8, 100'000, 4}); }
TEST_CASE("M/D/1: mean wait at load 0.9") { check_mean_wait({0.9, 30, 250'000, 4}); }

}  // namespace weft::validation
