// Runs a GOAL text on the LogGOPS network.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "goal/text/text.h"
#include "sim/loggops/loggops.h"
#include "sim/replay/replay.h"

namespace weft::sim {

struct NeverStop : RunControl {
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

// Times in ns. The defaults are round figures that make sums easy to follow.
struct LogGops {
  std::int64_t L = 1000, o = 100, g = 10;
  double G = 2, O = 0;
  std::uint64_t S = 1 << 20;
  double reduction = 0, copy = 0;
  std::string allreduce;
  double overlap_slowdown = 1;
};

// A graph, its hosts and a LogGOPS network, run to the end.
struct LogGopsRun {
  goal::Graph graph;
  Engine engine{1};
  Replay replay;
  LogGopsNetwork network;

  LogGopsRun(goal::Graph input, const LogGops& p, const ReplayPlace& place = {})
      : graph(std::move(input)),
        replay(graph, hosts(p), std::array{&engine}, {}, place),
        network({Time::ns(p.L), Time::ns(p.g), TimePerByte::ns(p.G)}, hosts_needed(graph, hosts(p)),
                graph.max_nic() + 1u, FlowRecord::kRows, engine, replay.client()) {
    NeverStop control;
    replay.start(network.part());
    network.run(control);
  }
  LogGopsRun(const std::string& text, const LogGops& p)
      : LogGopsRun(goal::parse_text(text, "test.goal"), p) {}

  static HostConfig hosts(const LogGops& p) {
    HostConfig config;
    config.overhead = Time::ns(p.o);
    config.overhead_per_byte = TimePerByte::ns(p.O);
    config.eager_limit_bytes = p.S;
    config.reduction_per_byte = TimePerByte::ns(p.reduction);
    config.copy_per_byte = TimePerByte::ns(p.copy);
    config.overlap_slowdown = p.overlap_slowdown;
    std::array<std::string, goal::kCollectiveKinds> algorithms;
    algorithms[static_cast<int>(goal::CollectiveKind::kAllreduce)] = p.allreduce;
    config.collectives = goal::CollectiveSelection(algorithms);
    return config;
  }
  // Finish times of all ranks in ns.
  std::vector<std::int64_t> finish() const {
    std::vector<std::int64_t> times;
    for (const results::Rank& rank : replay.ranks()) times.push_back(rank.finish.ps() / 1000);
    return times;
  }
};

using Times = std::vector<std::int64_t>;

}  // namespace weft::sim
