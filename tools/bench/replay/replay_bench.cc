// Speed of message-level replay: how many operations and messages a second, on graphs held in memory.
//
//   replay_bench PATTERN RANKS      PATTERN: alltoall (linear, all at once), allreduce (20 in a row,
//   recursive
//                                   doubling, 4 KiB, spelled out in the graph), collective (the same, kept
//                                   whole)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"
#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/loggops/loggops.h"
#include "sim/replay/replay.h"

namespace {

using namespace weft;

constexpr std::uint32_t kRounds = 20;

struct NeverStop : sim::RunControl {
  sim::StopReason poll(Time, std::uint64_t) override { return sim::StopReason::kNone; }
};

goal::Graph linear_alltoall(std::uint32_t ranks) {
  goal::GraphBuilder builder;
  builder.reserve(2ull * ranks * (ranks - 1), 0);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t i = 1; i < ranks; ++i) builder.add_recv(64, (r + ranks - i) % ranks);
    for (std::uint32_t i = 1; i < ranks; ++i) builder.add_send(64, (r + i) % ranks);
    builder.end_rank();
  }
  return builder.finish();
}

// Each group waits for all operations of the one before.
goal::OpIndex spell_out(const goal::ChosenAlgorithm& chosen, const goal::CollectiveCall& call,
                        std::uint32_t tags, goal::OpIndex previous, goal::GraphBuilder& builder) {
  goal::Group group;
  for (std::uint32_t index = 0; chosen.algorithm->expand(call, 0, index, group); ++index) {
    std::vector<goal::OpIndex> ops;
    for (const goal::Step& step : group.steps()) {
      const std::uint32_t tag = tags | step.tag;
      for (std::uint32_t i = 0; i < step.count; ++i) {
        const std::uint32_t peer = step.peer_at(i, call.size);
        const std::uint64_t bytes = call.bytes(step, peer);
        ops.push_back(step.kind == goal::StepKind::kSend ? builder.add_send(bytes, peer, tag)
                                                         : builder.add_recv(bytes, peer, tag));
        builder.add_edge(previous, ops.back());
      }
    }
    group.clear();
    previous = builder.add_calc(0);
    for (const goal::OpIndex op : ops) builder.add_edge(op, previous);
  }
  return previous;
}

goal::Graph rounds_of(goal::CollectiveKind kind, std::uint64_t bytes, const char* algorithm,
                      std::uint32_t ranks, bool whole) {
  goal::Collective collective;
  collective.kind = kind;
  collective.bytes = bytes;
  const goal::ChosenAlgorithm chosen = goal::choose_collective_algorithm(kind, algorithm);
  goal::GraphBuilder builder;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    goal::OpIndex previous = builder.add_calc(0);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      if (whole) {
        const goal::OpIndex op = builder.add_collective(collective);
        builder.add_edge(previous, op);
        previous = op;
      } else {
        previous = spell_out(chosen, {&collective, ranks, r, &chosen.options}, round << 8, previous, builder);
      }
    }
    builder.end_rank();
  }
  return builder.finish();
}

goal::Graph workload(const std::string& pattern, std::uint32_t ranks) {
  if (pattern == "alltoall") return linear_alltoall(ranks);
  if (pattern == "dissemination") {
    return rounds_of(goal::CollectiveKind::kBarrier, 0, "dissemination", ranks, false);
  }
  if (pattern == "barrier") return rounds_of(goal::CollectiveKind::kBarrier, 0, "dissemination", ranks, true);
  const bool whole = pattern == "collective";
  return rounds_of(goal::CollectiveKind::kAllreduce, 4096, "recursive_doubling", ranks, whole);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string pattern = argc == 3 ? argv[1] : "";
  const std::vector<std::string> patterns = {"alltoall", "dissemination", "barrier", "allreduce",
                                             "collective"};
  if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) {
    std::fprintf(stderr, "usage: replay_bench alltoall|dissemination|barrier|allreduce|collective RANKS\n");
    return 2;
  }
  const auto ranks = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const goal::Graph graph = workload(pattern, ranks);
  sim::Engine engine(1);
  sim::HostConfig hosts;
  hosts.overhead = Time::ns(1500);
  hosts.eager_limit_bytes = 65548;
  sim::Replay replay(graph, hosts, engine);
  sim::LogGopsNetwork network({Time::ns(2500), Time::ns(1000), TimePerByte::ns(6)}, ranks, 1, false, engine,
                              replay.client());
  NeverStop control;
  replay.start(network);
  const std::clock_t begin = std::clock();
  network.run(control);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const sim::ReplayTotals totals = replay.totals();
  const auto million = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds * 1e-6; };
  std::printf(
      "%s %u ranks: %llu ops in %.3f s of cpu time: %.2f million ops/s, %.2f with messages, %.2f events%s\n",
      pattern.c_str(), ranks, static_cast<unsigned long long>(totals.executed_ops), seconds,
      million(totals.executed_ops), million(totals.executed_ops + totals.messages),
      million(engine.executed()), replay.complete() ? "" : " INCOMPLETE");
  return replay.complete() ? 0 : 1;
}
