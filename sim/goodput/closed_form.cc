#include "sim/goodput/closed_form.h"

#include <cmath>
#include <limits>

namespace weft::goodput {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool replicas_go_on(const LongRun& run) { return run.elastic && run.replicas > 1; }

// So many times as long as undisturbed is a step in the mean, for links that are down. Their number is that
// of an M/G/infinity queue: Poisson.
double degraded(const LongRun& run) {
  const double none_down = std::exp(-run.link_rate * run.link_repair_s);
  return 1 / (none_down + (1 - none_down) / run.degraded_factor);
}

// A step is so many times as long as undisturbed in the mean, for replicas that are down: each fails and is
// repaired on its own, and a failure costs half a step and two reconfigurations, without it and with it
// again.
double fewer_replicas(const LongRun& run) {
  if (!replicas_go_on(run)) return 1;
  const double availability = 1 / (1 + run.failure_rate / run.replicas * run.repair_s);
  const double per_failure = 2 * run.reconfiguration_s + run.step_s / 2;
  return (1 + run.failure_rate * availability * per_failure) / availability;
}

double detections(const LongRun& run) {
  const bool retires = run.link_failures == LinkFailures::kRetire;
  return retires ? 1 + run.link_rate * run.detection_s : 1;
}

}  // namespace

double mean_time_between_restarts(const LongRun& run) {
  double rate = replicas_go_on(run) ? 0 : run.failure_rate;
  if (run.link_failures == LinkFailures::kRestart) rate += run.link_rate;
  return rate > 0 ? 1 / rate : kNever;
}

double young_interval(double checkpoint_s, double between_failures_s) {
  return std::sqrt(2 * checkpoint_s * between_failures_s);
}

double daly_interval(double checkpoint_s, double between_failures_s) {
  if (std::isinf(between_failures_s)) return between_failures_s;
  if (checkpoint_s >= 2 * between_failures_s) return between_failures_s;
  const double ratio = checkpoint_s / (2 * between_failures_s);
  return young_interval(checkpoint_s, between_failures_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) -
         checkpoint_s;
}

double daly_runtime(double work_s, double between_failures_s, double restart_s, double interval_s,
                    double checkpoint_s) {
  const double intervals = work_s / interval_s;
  if (std::isinf(between_failures_s)) return work_s + intervals * checkpoint_s;
  return between_failures_s * std::exp(restart_s / between_failures_s) *
         std::expm1((interval_s + checkpoint_s) / between_failures_s) * intervals;
}

double expected_goodput(const LongRun& run) {
  const double between = mean_time_between_restarts(run);
  const double slower = run.straggler_factor * degraded(run) * fewer_replicas(run) * detections(run);
  if (run.steps_between == 0) {
    // Progress is what came after the last failure, if the run is long beside the time between them.
    return std::isinf(between) ? 1 / slower : 0;
  }
  const double progress = static_cast<double>(run.steps_between) * run.step_s;
  const double interval = progress * slower;
  const double behind = run.write_s - run.blocking_s;
  return progress / daly_runtime(interval, between, run.restart_s + behind, interval, run.blocking_s);
}

bool is_exact(const LongRun& run) {
  return run.link_rate == 0 && !replicas_go_on(run) && run.write_s == run.blocking_s &&
         (run.steps_between > 0 || run.failure_rate == 0);
}

}  // namespace weft::goodput
