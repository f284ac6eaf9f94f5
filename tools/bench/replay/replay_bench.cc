// Speed of message-level replay: how many operations and messages a second, on graphs held in memory.
//
//   replay_bench PATTERN RANKS [PARTITIONS [THREADS]]
//
//   alltoall       linear, all at once
//   dissemination  20 barriers in a row, spelled out in the graph
//   bruck          20 all-to-alls by Bruck's algorithm, 1 byte to each rank, spelled out
//   noisy          the same with up to 5 µs of computing, at random, between them
//   barrier        the same as dissemination, kept whole
//   allreduce      20 in a row, recursive doubling, 4 KiB, spelled out
//   collective     the same, kept whole
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"
#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/loggops/loggops.h"
#include "sim/replay/replay.h"
#include "sim/units/random.h"

namespace {

using namespace weft;

constexpr std::uint32_t kRounds = 20;

// Notes how much memory the replay holds for what is under way.
class Watch : public sim::RunControl {
 public:
  explicit Watch(const sim::Replay& replay) : replay_(replay) {}
  sim::StopReason poll(Time, std::uint64_t) override {
    if (polls_++ % 16 == 0) most_bytes_ = std::max(most_bytes_, replay_.memory_bytes());
    return sim::StopReason::kNone;
  }
  std::uint64_t most_bytes() const { return most_bytes_; }

 private:
  const sim::Replay& replay_;
  std::uint64_t polls_ = 0, most_bytes_ = 0;
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
      if (step.kind == goal::StepKind::kCopy) continue;
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
                      std::uint32_t ranks, bool whole, std::uint64_t most_noise_ns = 0) {
  goal::Collective collective;
  collective.kind = kind;
  collective.bytes = bytes;
  const goal::ChosenAlgorithm chosen = goal::choose_collective_algorithm(kind, algorithm);
  goal::GraphBuilder builder;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    goal::OpIndex previous = builder.add_calc(0);
    RandomStream noise(1, r);
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      if (most_noise_ns > 0) {
        const goal::OpIndex op = builder.add_calc(noise.below(most_noise_ns));
        builder.add_edge(previous, op);
        previous = op;
      }
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
  if (pattern == "bruck") return rounds_of(goal::CollectiveKind::kAlltoall, 1, "bruck", ranks, false);
  if (pattern == "noisy") {
    return rounds_of(goal::CollectiveKind::kBarrier, 0, "dissemination", ranks, false, 5000);
  }
  if (pattern == "barrier") return rounds_of(goal::CollectiveKind::kBarrier, 0, "dissemination", ranks, true);
  const bool whole = pattern == "collective";
  return rounds_of(goal::CollectiveKind::kAllreduce, 4096, "recursive_doubling", ranks, whole);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string pattern = argc >= 3 ? argv[1] : "";
  const std::vector<std::string> patterns = {"alltoall", "dissemination", "bruck",     "noisy",
                                             "barrier",  "allreduce",     "collective"};
  if (argc > 5 || std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) {
    std::fprintf(stderr,
                 "usage: replay_bench alltoall|dissemination|bruck|noisy|barrier|allreduce|collective RANKS "
                 "[PARTITIONS [THREADS]]\n");
    return 2;
  }
  const auto number = [&](int i, std::uint32_t otherwise) {
    return i < argc ? static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  const std::uint32_t ranks = number(2, 0), partitions = number(3, 1), threads = number(4, 1);
  const goal::Graph graph = workload(pattern, ranks);
  sim::HostConfig hosts;
  hosts.overhead = Time::ns(1500);
  hosts.eager_limit_bytes = 65548;
  std::vector<std::unique_ptr<sim::Engine>> owned;
  std::vector<sim::Engine*> engines;
  std::vector<std::uint16_t> partition_of_host;
  for (std::uint32_t p = 0; p < partitions; ++p) {
    engines.push_back(owned.emplace_back(std::make_unique<sim::Engine>(1)).get());
  }
  for (std::uint64_t r = 0; r < ranks; ++r) {
    partition_of_host.push_back(static_cast<std::uint16_t>(r * partitions / ranks));
  }
  sim::Replay replay(graph, hosts, engines, partition_of_host);
  std::vector<sim::NetworkClient*> clients;
  for (std::uint32_t p = 0; p < partitions; ++p) clients.push_back(&replay.client(p));
  sim::LogGopsNetwork network({Time::ns(2500), Time::ns(1000), TimePerByte::ns(6)}, 1,
                              sim::FlowRecord::kNothing, engines, clients, partition_of_host);
  std::vector<sim::Network*> networks;
  for (std::uint32_t p = 0; p < partitions; ++p) networks.push_back(&network.part(p));
  Watch control(replay);
  replay.start(networks);
  const auto wall_begin = std::chrono::steady_clock::now();
  const std::clock_t begin = std::clock();
  network.run(control, threads);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_begin).count();
  const sim::ReplayTotals totals = replay.totals();
  std::uint64_t events = 0;
  for (const sim::Engine* engine : engines) events += engine->executed();
  const auto million = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds * 1e-6; };
  std::printf(
      "%s %u ranks, %u partitions, %u threads: %llu ops in %.3f s of cpu time (%.3f s in all): %.2f million "
      "ops/s, "
      "%.2f with messages, %.2f events; %.1f bytes of state per operation of the graph at most; digest "
      "%llx%s\n",
      pattern.c_str(), ranks, partitions, threads, static_cast<unsigned long long>(totals.executed_ops),
      seconds, wall, million(totals.executed_ops), million(totals.executed_ops + totals.messages),
      million(events), static_cast<double>(control.most_bytes()) / static_cast<double>(graph.ops()),
      static_cast<unsigned long long>(replay.digest()), replay.complete() ? "" : " INCOMPLETE");
  return replay.complete() ? 0 : 1;
}
