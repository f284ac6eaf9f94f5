// What `weft goodput` was asked, as a long run, with what was taken for what nobody said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/goodput/long_run.h"
#include "tools/weft/run/training_step.h"

namespace weft::cli {

struct GoodputOptions {
  std::string step;  // a run's folder, or a time
  std::optional<std::uint64_t> run_steps;
  std::optional<std::uint32_t> gpus;
  std::optional<std::string> days;
  std::optional<std::uint64_t> steps;
  std::optional<std::string> tokens_per_step;
  std::string seeds = "1..20";

  std::optional<std::string> mtbf, restart;
  std::string checkpoint = "auto";
  std::optional<std::string> checkpoint_size, checkpoint_bandwidth, checkpoint_write, asynchronous;

  std::optional<std::string> slow_steps, slow_devices, slow_factor;

  std::optional<std::string> link_failures, link_mtbf, link_repair, detection, degraded;
  std::optional<std::uint64_t> links;

  bool elastic = false;
  std::optional<std::uint32_t> replicas;
  std::optional<std::string> reconfiguration, repair;

  std::string output;
  bool json = false;
};

struct GoodputPlan {
  TrainingStep step;
  std::uint32_t gpus = 0;
  goodput::LongRun run;
  std::vector<std::uint64_t> seeds;
  // Between two failures of the machine, and the intervals between checkpoints that are best; may be
  // infinite.
  double between_failures_s = 0, daly_s = 0, young_s = 0;
  // One sentence for each value that was not given, and for what is simpler than it is.
  std::vector<std::string> assumptions;
};

// Throws InputError.
GoodputPlan plan_of(const GoodputOptions& options);

}  // namespace weft::cli
