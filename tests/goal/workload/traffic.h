// A workload as a user writes it, and what its graph sends.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "goal/check/check.h"
#include "goal/workload/workload.h"

namespace weft::goal {

// What "NAME:key=value,…" generates.
inline Graph traffic(const std::string& text, std::uint32_t ranks, std::uint64_t seed = 1) {
  const ModuleChoice choice = parse_module_choice(text);
  const Workload& workload = find_module(workloads(), choice, "traffic pattern");
  return workload.generate(Parameters(workload.info, choice), ranks, seed);
}

// The message of the InputError that generating throws; "" if it throws none.
inline std::string refusal(const std::string& text, std::uint32_t ranks) {
  try {
    traffic(text, ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

struct Sent {
  Rank from, to;
  std::uint64_t bytes;
  bool operator==(const Sent&) const = default;
};

// Every send, by rank and then in program order. Fails the test unless receives match sends one by one, and
// no rank sends to itself.
inline std::vector<Sent> sends(const Graph& graph) {
  CHECK(check(graph).clean());
  std::vector<Sent> all;
  // (from, to, tag, bytes)
  std::vector<std::tuple<Rank, Rank, std::uint32_t, std::uint64_t>> sent, received;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kSend) {
        CHECK(rank.peer(i) != r);
        all.push_back({r, rank.peer(i), rank.value(i)});
        sent.emplace_back(r, rank.peer(i), rank.tag(i), rank.value(i));
      } else if (rank.kind(i) == OpKind::kRecv) {
        received.emplace_back(rank.peer(i), r, rank.tag(i), rank.value(i));
      }
    }
  }
  std::sort(sent.begin(), sent.end());
  std::sort(received.begin(), received.end());
  CHECK(sent == received);
  return all;
}

}  // namespace weft::goal
