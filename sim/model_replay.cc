#include "sim/model_replay.h"

namespace weft::sim {
namespace {

std::vector<std::unique_ptr<Engine>> make_engines(std::uint64_t seed, std::uint32_t count) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (std::uint32_t p = 0; p < count; ++p) engines.push_back(std::make_unique<Engine>(seed));
  return engines;
}

std::vector<Engine*> pointers(const std::vector<std::unique_ptr<Engine>>& owned) {
  std::vector<Engine*> engines;
  for (const auto& engine : owned) engines.push_back(engine.get());
  return engines;
}

}  // namespace

results::Outcome outcome_of(StopReason reason, bool complete) {
  switch (reason) {
    case StopReason::kNone:
      break;
    case StopReason::kInterrupt:
      return results::Outcome::kInterrupted;
    case StopReason::kTimeLimit:
      return results::Outcome::kTimeLimit;
    case StopReason::kEventLimit:
      return results::Outcome::kEventLimit;
    case StopReason::kMemoryLimit:
      return results::Outcome::kMemoryLimit;
    case StopReason::kDeadlock:
      return results::Outcome::kIncomplete;
  }
  return complete ? results::Outcome::kComplete : results::Outcome::kIncomplete;
}

std::vector<double> host_loads(const goal::Program& program, const HostConfig& config,
                               const topologies::Topology& topology) {
  std::vector<double> loads(topology.hosts());
  const std::vector<double> bytes = program.message_bytes();
  for (goal::Rank rank = 0; rank < program.ranks(); ++rank) {
    loads[rank / config.ranks_per_host] += bytes[rank];
  }
  return loads;
}

ModelReplay::ModelReplay(const ModelRun& run, const HostConfig& hosts, std::uint32_t partitions,
                         std::span<const std::uint16_t> partition_of_host)
    : control_(run.control),
      owned_(make_engines(run.scenario.seed, partitions)),
      engines_(pointers(owned_)),
      replay_(run.program, hosts, engines_, partition_of_host) {
  for (std::uint32_t p = 0; p < partitions; ++p) clients_.push_back(&replay_.client(p));
}

void ModelReplay::run_parts(std::span<Network* const> parts, const results::Reporter& network,
                            const std::function<StopReason()>& run, results::Report& report) {
  replay_.start(parts);
  control_.begin([this] { return replay_.progress(); });
  StopReason reason = run();
  // All is done but for what follows the last operation, such as ACKs: the run is as good as without a limit.
  if ((reason == StopReason::kTimeLimit || reason == StopReason::kEventLimit) && replay_.complete()) {
    control_.lift_bounds();
    reason = run();
  }
  control_.end();
  const ReplayTotals totals = replay_.totals();
  report.outcome = outcome_of(reason, replay_.complete());
  if (report.outcome == results::Outcome::kIncomplete && reason == StopReason::kNone) {
    report.diagnosis = replay_.diagnose();
  }
  report.makespan = totals.makespan;
  report.digest = replay_.digest();
  for (const Engine* engine : engines_) {
    report.events += engine->executed();
    if (report.outcome != results::Outcome::kComplete) {
      report.stopped_at = std::max(report.stopped_at, engine->now());
    }
  }
  if (report.outcome == results::Outcome::kTimeLimit) report.stopped_at = control_.bounds().time;
  report.ops = totals.ops;
  report.executed_ops = totals.executed_ops;
  report.messages = totals.messages;
  report.bytes = totals.bytes;
  report.network_totals = network.totals();
  report.ranks = replay_.ranks();
  report.links = network.links();
  report.flows = network.flows();
  report.flow_statistics = network.flow_statistics();
}

}  // namespace weft::sim
