// Speed of message-level replay: how many operations and messages a second, on graphs held in memory.
//
//   replay_bench PATTERN RANKS      PATTERN: alltoall (linear, all at once), allreduce (20 in a row,
//   recursive
//                                   doubling, 4 KiB, spelled out in the graph), collective (the same, kept
//                                   whole)
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "goal/collectives/schedule.h"
#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/loggops/loggops.h"
#include "sim/replay/replay.h"

namespace {

using namespace weft;

constexpr int kRounds = 20;

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

goal::Graph allreduces(std::uint32_t ranks, bool whole) {
  goal::Collective collective;
  collective.kind = goal::CollectiveKind::kAllreduce;
  collective.bytes = 4096;
  const goal::CollectiveAlgorithm& algorithm =
      goal::find_collective_algorithm(collective.kind, "recursive_doubling");
  goal::GraphBuilder builder;
  goal::Schedule schedule;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    schedule.clear();
    algorithm.expand({&collective, ranks, r}, schedule);
    schedule.finish();
    goal::OpIndex previous = builder.add_calc(0);
    for (int round = 0; round < kRounds; ++round) {
      if (whole) {
        const goal::OpIndex op = builder.add_collective(collective);
        builder.add_edge(previous, op);
        previous = op;
        continue;
      }
      std::vector<goal::OpIndex> ops;
      for (std::uint32_t s = 0; s < schedule.size(); ++s) {
        const goal::Step& step = schedule.step(s);
        const std::uint32_t tag = static_cast<std::uint32_t>(round) << 8 | step.round;
        ops.push_back(step.kind == goal::StepKind::kSend   ? builder.add_send(step.bytes, step.peer, tag)
                      : step.kind == goal::StepKind::kRecv ? builder.add_recv(step.bytes, step.peer, tag)
                                                           : builder.add_calc(0));
        if (schedule.dependencies(s) == 0) builder.add_edge(previous, ops.back());
      }
      for (std::uint32_t s = 0; s < schedule.size(); ++s) {
        for (const std::uint32_t dependent : schedule.dependents(s)) builder.add_edge(ops[s], ops[dependent]);
      }
      const goal::OpIndex end = builder.add_calc(0);
      for (const goal::OpIndex op : ops) builder.add_edge(op, end);
      previous = end;
    }
    builder.end_rank();
  }
  return builder.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string pattern = argc == 3 ? argv[1] : "";
  if (pattern != "alltoall" && pattern != "allreduce" && pattern != "collective") {
    std::fprintf(stderr, "usage: replay_bench alltoall|allreduce|collective RANKS\n");
    return 2;
  }
  const auto ranks = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const goal::Graph graph =
      pattern == "alltoall" ? linear_alltoall(ranks) : allreduces(ranks, pattern == "collective");
  sim::Engine engine(1);
  sim::HostConfig hosts;
  hosts.overhead = Time::ns(1500);
  hosts.eager_limit_bytes = 65548;
  sim::Replay replay(graph, hosts, engine);
  sim::LogGopsNetwork network({Time::ns(2500), Time::ns(1000), TimePerByte::ns(6)}, ranks, 1, false, engine,
                              replay.client());
  NeverStop control;
  replay.start(network);
  const auto begin = std::chrono::steady_clock::now();
  network.run(control);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const sim::ReplayTotals totals = replay.totals();
  const double work = static_cast<double>(totals.executed_ops + totals.messages);
  std::printf(
      "%s %u ranks: %.0f ops + messages, %.3f s, %.2f million a second; %.2f million engine events/s%s\n",
      pattern.c_str(), ranks, work, seconds, work / seconds / 1e6,
      static_cast<double>(engine.executed()) / seconds / 1e6, replay.complete() ? "" : " INCOMPLETE");
  return replay.complete() ? 0 : 1;
}
