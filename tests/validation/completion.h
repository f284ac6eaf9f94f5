// Messages between hosts that all start at once, and when they are there: what tests of completion times
// share. Links of 100 Gb/s and 1 µs, 4 KiB of payload and 64 bytes of headers in a packet.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "goal/workload/message_graph.h"
#include "sim/units/random.h"
#include "tests/validation/run.h"

namespace weft::validation {

using Messages = std::vector<goal::Message>;

inline constexpr std::uint64_t kMessageBytes = 2'000'000;

inline std::string fat_tree(int k) {
  return "topology { fat_tree { k: " + std::to_string(k) + R"( link: "100Gbps" latency: "1us" } } )";
}
// 1,024 hosts.
inline std::string leaf_spine(int spines) {
  return "topology { leaf_spine { leaves: 32 hosts_per_leaf: 32 spines: " + std::to_string(spines) +
         R"( link: "100Gbps" latency: "1us" } } )";
}
inline double microseconds(Time time) { return static_cast<double>(time.ps()) / 1e6; }

inline double wire_us(std::uint64_t bytes) {
  const std::uint64_t packets = (bytes + 4095) / 4096;
  return static_cast<double>(bytes + packets * 64) * 8 / 100e3;
}

// Over an idle path of `links`: the last packet follows full ones, which pace it on every link.
// REQUIRES: more than one packet.
inline double alone_us(std::uint64_t bytes, int links) {
  return wire_us(bytes) + links + (links - 1) * wire_us(4096);
}

struct Completion {
  results::Report report;
  double of(std::uint32_t from, std::uint32_t to) const {
    for (const results::Flow& flow : report.flows) {
      if (flow.source == from && flow.destination == to) return microseconds(flow.finish - flow.start);
    }
    throw std::logic_error("no such flow");
  }
  double longest() const { return microseconds(validation::longest(report)); }
};

// Runs the messages; all must arrive, none sooner than over an idle path of two links, and no host's link may
// have been faster than its rate.
inline Completion complete(const std::string& scenario, std::uint32_t hosts, const Messages& messages) {
  Completion result{run(scenario, goal::message_graph(hosts, messages))};
  const results::Report& report = result.report;
  REQUIRE(report.outcome == results::Outcome::kComplete);
  REQUIRE(report.flows.size() == messages.size());
  std::vector<double> in_us(hosts), out_us(hosts);
  for (const goal::Message& message : messages) {
    out_us[message.from] += wire_us(message.bytes);
    in_us[message.to] += wire_us(message.bytes);
  }
  const double busiest = std::max(*std::max_element(in_us.begin(), in_us.end()),
                                  *std::max_element(out_us.begin(), out_us.end()));
  CHECK(result.longest() >= busiest + 2);
  for (const results::Flow& flow : report.flows) {
    CHECK(microseconds(flow.finish - flow.start) >= alone_us(flow.bytes, 2) - 1e-6);
  }
  return result;
}

inline Messages incast(std::uint32_t hosts, std::uint64_t bytes) {
  Messages messages;
  for (goal::Rank r = 1; r < hosts; ++r) messages.push_back({r, 0, bytes});
  return messages;
}

inline Messages permutation(std::uint32_t hosts, std::uint64_t seed) {
  std::vector<goal::Rank> to(hosts);
  std::iota(to.begin(), to.end(), goal::Rank{0});
  RandomStream random(seed, 0);
  // Sattolo's algorithm: a single cycle, so nobody sends to itself.
  for (std::uint32_t i = hosts - 1; i > 0; --i) std::swap(to[i], to[random.below(i)]);
  Messages messages;
  for (goal::Rank r = 0; r < hosts; ++r) messages.push_back({r, to[r], kMessageBytes});
  return messages;
}

}  // namespace weft::validation
