// Every algorithm of every collective on 16 hosts of one switch: LogGOPS, flow and packet level against each
// other. README.md says why some differ; what they differ by stands here. `levels_test [table]` prints the
// table of the README.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"
#include "tests/validation/one_switch.h"

namespace weft::validation {
namespace {

struct Range {
  double least, most;
  bool holds(double value) const { return value >= least && value <= most; }
};
Range around(double value, double share) { return {value * (1 - share), value * (1 + share)}; }

struct Exception {
  const char* kind;
  const char* algorithm;
  Range expected;
};

const Exception* find(const std::vector<Exception>& all, const std::string& kind, const std::string& name) {
  for (const Exception& each : all) {
    if (each.kind == kind && each.algorithm == name) return &each;
  }
  return nullptr;
}

// Flow over LogGOPS. Trees send in turn on all levels. Else a rank sends to several others at once, and where
// some of these are in more of a hurry, LogGOPS's NIC takes messages in turn, while connections share a NIC.
const std::vector<Exception>& urgent_first() {
  static const std::vector<Exception> kAll = {
      // Inner ranks send a segment to two children and, the half being there, a half to their partner.
      {"bcast", "split_binary_tree", around(4.0 / 3, 0.03)},
      // In step either way, but for what comes first in the order and is waited for.
      {"allreduce", "double_binary_tree", {0.9, 1.17}},
  };
  return kAll;
}

// Packets over flow, ACKs being of one byte. What switches store decouples senders and receivers that fluids
// bind to each other; in the last of the list, windows do what they do to queues of two senders.
const std::vector<Exception>& queues_matter() {
  static const std::vector<Exception> kAll = {
      {"bcast", "binary_tree", {0.99, 1.001}},
      {"bcast", "split_binary_tree", {0.99, 1.001}},
      {"bcast", "scatter_allgather", {0.98, 1.035}},
      {"bcast", "scatter_ring_allgather", {0.999, 1.022}},
      {"allreduce", "double_binary_tree", {0.95, 1.005}},
      {"reduce", "binary_tree", {0.999, 1.007}},
  };
  return kAll;
}

// Returns how many rounds of blocking sends there are on the longest way of algorithms that send in turn; 0
// for others. Each message is asked for where links are, if it is large, a latency there and one back, and
// has ended when it is acknowledged, two after the last byte.
int rounds_in_turn(const std::string& kind, const std::string& name) {
  constexpr int kLevels = 4, kChildrenOfFour = 3;
  if (kind == "bcast" && name == "knomial_tree") return kLevels / 2 * kChildrenOfFour;
  if (kind == "bcast" && name == "scatter_allgather") return 2 * kLevels;
  if (kind == "bcast" && name == "scatter_ring_allgather") return kLevels + kHosts - 1;
  if (name == "reduce_bcast") return 2 * kLevels;
  if (name == "gather_bcast") return kLevels + 1;
  const bool is_tree = name == "binomial_tree" && (kind == "bcast" || kind == "scatter");
  const bool is_prefix = (kind == "scan" || kind == "exscan") && name == "recursive_doubling";
  return is_tree || is_prefix ? kLevels : 0;
}

struct Times {
  std::string kind, name;
  double loggops_us, flow_us, packet_us, bare_us;  // the last: packets whose ACKs have one byte
};

std::vector<Times> times_of_all(const std::string& size) {
  std::vector<Times> all;
  for (const goal::CollectiveAlgorithm& algorithm : goal::collective_algorithms()) {
    const std::string kind(goal::name(algorithm.kind)), name = algorithm.info.name;
    // No bytes; and made for several ranks on a host, or for one node.
    if (kind == "barrier" || name == "hierarchical" || name == "nccl_nvls") continue;
    std::string collective = call(kind, size, name);
    if (goal::is_of_neighbors(algorithm.kind)) collective += " dims: \"[4,4]\"";
    // Sent in turn, or eager.
    const std::string hosts = rounds_in_turn(kind, name) > 0 ? "" : kEager;
    all.push_back({kind, name, on_loggops(collective), on(kFlow + hosts, collective),
                   on(packets(64) + hosts, collective), on(packets(1) + hosts, collective)});
  }
  return all;
}

}  // namespace

TEST_CASE("three levels agree on every collective, but where ranks are in unequal hurry") {
  const std::string size = GENERATE("1MB", "16MB");
  const std::vector<Times> all = times_of_all(size);
  CHECK(all.size() == 59);
  for (const Times& each : all) {
    CAPTURE(size, each.kind, each.name, each.loggops_us, each.flow_us, each.packet_us, each.bare_us);
    const double most_us = 4 * kLatency_us * rounds_in_turn(each.kind, each.name);
    const double asked = std::clamp(each.flow_us - each.loggops_us, 0.0, most_us);
    const double flow = (each.flow_us - asked) / each.loggops_us, bare = each.bare_us / each.flow_us;
    const double acks = each.packet_us / each.bare_us;
    if (each.name.starts_with("nccl_")) {
      // Several channels, each a pipeline of its own, share a link: as fluids all at once, message by message
      // one after the other, in windows whoever is ahead. What waits for the last of them differs by that.
      // A head of the NVLS tree sends to its node (which takes more bytes, as NVLS reaches less than the
      // links have) and to others at once, as fluids; NICs take turns.
      const bool heads = each.name == "nccl_nvls_tree";
      CHECK(Range(heads ? 0.90 : 0.995, 1.20).holds(flow));
      CHECK(Range(0.94, heads ? 1.09 : 1.06).holds(bare));
      CHECK(Range(0.985, 1.03).holds(acks));
      continue;
    }
    if (const Exception* found = find(urgent_first(), each.kind, each.name)) {
      CHECK(found->expected.holds(flow));
    } else {
      CHECK(around(1, 0.032).holds(flow));
      // Down a binary tree the first child of each level is as late as the second: two segments in all.
      if (each.name != "binary_tree") CHECK(around(1, 0.005).holds(flow));
    }
    if (const Exception* found = find(queues_matter(), each.kind, each.name)) {
      CHECK(found->expected.holds(bare));
    } else {
      CHECK(around(1, 0.0035).holds(bare));
    }
    // An ACK of 64 bytes for a packet of 4,160 on a link that carries as much the other way. Up a binary tree
    // it makes siblings drift apart until the window of the one ahead is full.
    CHECK(acks > 0.999);
    CHECK(acks < 1 + 64.0 / 4160 + (each.name == "binary_tree" ? 0.02 : 0.001));
  }
}

TEST_CASE("the table of the README", "[.][table]") {
  const std::vector<Times> small = times_of_all("1MB"), large = times_of_all("16MB");
  for (std::size_t i = 0; i < small.size(); ++i) {
    const auto ratios = [](const Times& t) {
      return fmt::format("{:.3f} | {:.3f} | {:.3f}", t.flow_us / t.loggops_us, t.packet_us / t.flow_us,
                         t.bare_us / t.flow_us);
    };
    std::printf("| %s `%s` | %s | %s |\n", small[i].kind.c_str(), small[i].name.c_str(),
                ratios(small[i]).c_str(), ratios(large[i]).c_str());
  }
}

}  // namespace weft::validation
