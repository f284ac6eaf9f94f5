#include "tools/weft/run/goodput_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "sim/goodput/closed_form.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/quantity.h"
#include "tools/sweep/plan.h"
#include "tools/weft/run/long_span.h"

namespace weft::cli {
namespace {

// A. Grattafiori et al., The Llama 3 Herd of Models, 2024: table 5 and section 3.3.
namespace llama3 {
constexpr double kGpus = 16384, kSeconds = 54 * 86400.0, kInterruptions = 419, kOfNetwork = 35;
constexpr double kParameters = 405e9, kStorageBytesPerSecond = 2e12;
}  // namespace llama3

// Weights of 2 bytes; master weights, momentum and variance of 4 each.
constexpr double kStateBytes = 14;

double number_in(const std::string& text, const std::string& of, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most)) {
    throw InputError(fmt::format("{} is '{}'; expected a number from {} to {:.4g}", of, text, least, most));
  }
  return value;
}

class Planner {
 public:
  explicit Planner(const GoodputOptions& options) : options_(options) {}

  GoodputPlan plan() {
    take_step();
    take_failures();
    take_links();
    take_elastic();
    take_stragglers();
    take_checkpoints();
    take_duration();
    plan_.seeds = sweep::parse_seeds(options_.seeds);
    check_size();
    return std::move(plan_);
  }

 private:
  template <typename... Arguments>
  void assume(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    plan_.assumptions.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  // What only counts with another option is refused without it.
  void needs(bool has, const char* what, std::initializer_list<std::pair<const char*, bool>> given) const {
    for (const auto& [name, is_given] : given) {
      if (is_given && !has) throw InputError(fmt::format("{} does nothing without {}", name, what));
    }
  }

  double span_or(const std::optional<std::string>& given, const char* option, double otherwise,
                 const char* what) {
    if (given) return parse_span(*given, option, true);
    assume("{}: {} ({})", what, span_text(otherwise), option);
    return otherwise;
  }

  void take_step() {
    plan_.step = read_training_step(options_.step, "the step", options_.run_steps);
    needs(!plan_.step.run.empty(), "a run's folder", {{"--run-steps", options_.run_steps.has_value()}});
    if (!options_.gpus && !plan_.step.gpus) {
      throw InputError("a time doesn't say how many GPUs take the step: use --gpus");
    }
    plan_.gpus = options_.gpus ? *options_.gpus : *plan_.step.gpus;
    if (plan_.step.gpus && plan_.gpus != *plan_.step.gpus) take_more_replicas();
    if (options_.tokens_per_step)
      plan_.step.tokens = number_in(*options_.tokens_per_step, "--tokens-per-step", 1, 1e18);
    for (const std::string& remark : plan_.step.remarks) plan_.assumptions.push_back(remark);
    plan_.run.step_s = plan_.step.time_s;
  }

  // Other numbers of GPUs than the run has.
  void take_more_replicas() {
    TrainingStep& step = plan_.step;
    if (step.replicas && std::uint64_t{plan_.gpus} * *step.replicas % *step.gpus != 0) {
      throw InputError(fmt::format("--gpus is {}, but a replica of {} has {} GPUs", plan_.gpus, step.run,
                                   *step.gpus / *step.replicas));
    }
    scale_ = static_cast<double>(plan_.gpus) / *step.gpus;
    if (step.tokens) *step.tokens *= scale_;
    if (step.replicas) step.replicas = static_cast<std::uint32_t>(std::llround(*step.replicas * scale_));
    assume("{} GPUs take steps as long as the run's {} do, each replica with as many tokens (--gpus)",
           grouped(plan_.gpus), grouped(*step.gpus));
  }

  void take_failures() {
    const bool apart = options_.link_failures.has_value();  // the network's are counted on their own
    double device_s = std::numeric_limits<double>::infinity();
    if (!options_.mtbf) {
      const double count = llama3::kInterruptions - (apart ? llama3::kOfNetwork : 0);
      device_s = llama3::kGpus * llama3::kSeconds / count;
      assume(
          "a device stops the job every {}: {:.0f} unexpected interruptions{} of 16,384 GPUs in 54 days "
          "(Llama 3, 2024; --mtbf)",
          span_text(device_s), count, apart ? ", the network's 35 left out," : "");
    } else if (*options_.mtbf != "never") {
      device_s = parse_span(*options_.mtbf, "--mtbf");
    }
    plan_.run.failure_rate = plan_.gpus / device_s;
    plan_.run.restart_s = span_or(
        options_.restart, "--restart", 600,
        "from a failure until steps are made again, as MegaScale (NSDI 2024) takes to find and replace "
        "what failed");
  }

  void take_links() {
    needs(options_.link_failures.has_value(), "--link-failures restart or retire",
          {{"--link-mtbf", options_.link_mtbf.has_value()},
           {"--links", options_.links.has_value()},
           {"--link-repair", options_.link_repair.has_value()},
           {"--detection", options_.detection.has_value()},
           {"--degraded", options_.degraded.has_value()}});
    if (!options_.link_failures) return;
    const bool retires = *options_.link_failures == "retire";
    if (!retires && *options_.link_failures != "restart") {
      throw InputError(
          fmt::format("--link-failures is '{}'; expected restart or retire", *options_.link_failures));
    }
    needs(retires, "--link-failures retire", {{"--detection", options_.detection.has_value()}});
    plan_.run.link_failures = retires ? goodput::LinkFailures::kRetire : goodput::LinkFailures::kRestart;
    plan_.run.link_rate = link_rate();
    if (retires) {
      plan_.run.detection_s =
          span_or(options_.detection, "--detection", 1e-3, "until the transport leaves a path, a guess");
    }
    if (!options_.degraded) {
      assume("a link that is down slows nothing: there are others (--degraded)");
      return;
    }
    const TrainingStep degraded = read_training_step(*options_.degraded, "--degraded", options_.run_steps);
    plan_.run.degraded_factor = degraded.time_s / plan_.step.time_s;
    if (plan_.run.degraded_factor < 1) {
      throw InputError(fmt::format("--degraded: its step takes {}, less than the whole network's {}",
                                   span_text(degraded.time_s), span_text(plan_.step.time_s)));
    }
    plan_.run.link_repair_s =
        span_or(options_.link_repair, "--link-repair", 86400, "until a link is back, a guess");
    assume("links that are down at once slow the step as one does");
  }

  double link_rate() {
    needs(options_.link_mtbf.has_value(), "--link-mtbf", {{"--links", options_.links.has_value()}});
    if (!options_.link_mtbf) {
      assume(
          "a link fails every {} for each 1,000 GPUs: 35 interruptions by switches and cables of 16,384 GPUs "
          "in 54 days (Llama 3, 2024; --link-mtbf)",
          span_text(llama3::kGpus * llama3::kSeconds / llama3::kOfNetwork / 1000));
      return plan_.gpus * llama3::kOfNetwork / (llama3::kGpus * llama3::kSeconds);
    }
    if (!options_.links && plan_.step.run.empty()) {
      throw InputError("a time doesn't say how many links there are: use --links");
    }
    const double links = options_.links ? static_cast<double>(*options_.links)
                                        : scale_ * static_cast<double>(cables_of_run(plan_.step.run));
    if (!options_.links) assume("{} cables between nodes and switches (--links)", grouped(links));
    return links / parse_span(*options_.link_mtbf, "--link-mtbf");
  }

  void take_elastic() {
    needs(options_.elastic, "--elastic",
          {{"--replicas", options_.replicas.has_value()},
           {"--reconfiguration", options_.reconfiguration.has_value()},
           {"--repair", options_.repair.has_value()}});
    if (!options_.elastic) return;
    plan_.run.elastic = true;
    if (!options_.replicas && !plan_.step.replicas)
      throw InputError("--elastic needs to know how many replicas there are: use --replicas");
    plan_.run.replicas = options_.replicas ? *options_.replicas : *plan_.step.replicas;
    if (plan_.step.replicas && plan_.run.replicas > *plan_.step.replicas) {
      throw InputError(fmt::format("--replicas is {}, but the run has {} of data parallelism",
                                   plan_.run.replicas, *plan_.step.replicas));
    }
    if (!options_.replicas) assume("{} replicas of data parallelism (--replicas)", plan_.run.replicas);
    plan_.run.reconfiguration_s = span_or(options_.reconfiguration, "--reconfiguration", 60,
                                          "to go on without a replica, or with it again, a guess");
    plan_.run.repair_s = span_or(options_.repair, "--repair", 86400, "until a replica is back, a guess");
    assume(
        "every failure of a device takes one replica, and what it held, others hold as well (not with "
        "optimizers that are sharded over all replicas)");
  }

  void take_stragglers() {
    needs(options_.slow_factor.has_value(), "--slow-factor",
          {{"--slow-steps", options_.slow_steps.has_value()},
           {"--slow-devices", options_.slow_devices.has_value()}});
    needs(options_.slow_steps || options_.slow_devices, "--slow-steps or --slow-devices",
          {{"--slow-factor", options_.slow_factor.has_value()}});
    if (!options_.slow_factor) return;
    const double factor = number_in(*options_.slow_factor, "--slow-factor", 1, 1000);
    double undisturbed = 1;
    if (options_.slow_steps) undisturbed -= number_in(*options_.slow_steps, "--slow-steps", 0, 1);
    if (options_.slow_devices) {
      const double share = number_in(*options_.slow_devices, "--slow-devices", 0, 1);
      undisturbed *= std::pow(1 - share, plan_.gpus);
      assume("devices are slow independently, each at a share of the steps: one of {} is at {:.3g}% of them",
             grouped(plan_.gpus), 100 * (1 - std::pow(1 - share, plan_.gpus)));
    }
    plan_.run.straggler_factor = 1 + (1 - undisturbed) * (factor - 1);
  }

  // Infinite where that is longer than anybody waits: seconds by the million years are no answer.
  static double mean_time_between(double rate) {
    constexpr double kLongest = 1e6 * 365 * 86400;
    return rate * kLongest > 1 ? 1 / rate : std::numeric_limits<double>::infinity();
  }

  // How often a failure takes more than others hold: of replicas that go on, when all others are away.
  double loss_rate() const {
    const goodput::LongRun& run = plan_.run;
    if (!run.elastic) return run.failure_rate;
    const double away = std::min(1.0, run.failure_rate / run.replicas * run.repair_s);
    return run.failure_rate * std::pow(away, run.replicas - 1);
  }

  // The time that one takes to be safe.
  double write_time() {
    if (options_.checkpoint_write) {
      needs(false, "a write time that follows from it (--checkpoint-write is given)",
            {{"--checkpoint-size", options_.checkpoint_size.has_value()},
             {"--checkpoint-bandwidth", options_.checkpoint_bandwidth.has_value()}});
      return parse_span(*options_.checkpoint_write, "--checkpoint-write", true);
    }
    double bytes = llama3::kParameters * kStateBytes;
    if (options_.checkpoint_size) {
      bytes = static_cast<double>(parse_bytes(*options_.checkpoint_size));
    } else if (plan_.step.parameters) {
      bytes = *plan_.step.parameters * kStateBytes;
      assume("a checkpoint is {}: 14 bytes a parameter (--checkpoint-size)", short_bytes(bytes));
    } else {
      assume("a checkpoint is {}: Llama 3 405B's, 14 bytes a parameter (--checkpoint-size)",
             short_bytes(bytes));
    }
    double rate = llama3::kStorageBytesPerSecond * plan_.gpus / llama3::kGpus;
    if (options_.checkpoint_bandwidth) {
      rate = static_cast<double>(parse_bandwidth(*options_.checkpoint_bandwidth).bps()) / 8;
      if (rate <= 0) throw InputError("--checkpoint-bandwidth must be above 0");
    } else {
      assume(
          "it is written at {}/s: the share that so many GPUs have of 2 TB/s for 16,384 (Llama 3, 2024; "
          "--checkpoint-bandwidth)",
          short_bytes(rate));
    }
    return bytes / rate;
  }

  void take_checkpoints() {
    goodput::LongRun& run = plan_.run;
    run.write_s = run.blocking_s = write_time();
    if (options_.asynchronous) {
      run.blocking_s = parse_span(*options_.asynchronous, "--asynchronous", true);
      if (run.blocking_s > run.write_s) {
        throw InputError(
            fmt::format("--asynchronous: computing would wait for {}, longer than the {} that a "
                        "checkpoint takes",
                        span_text(run.blocking_s), span_text(run.write_s)));
      }
    }
    const double of_links = run.link_failures == goodput::LinkFailures::kRestart ? run.link_rate : 0;
    plan_.between_failures_s = mean_time_between(run.failure_rate + of_links);
    const double between_losses = mean_time_between(loss_rate() + of_links);
    plan_.daly_s = goodput::daly_interval(run.blocking_s, between_losses);
    plan_.young_s = goodput::young_interval(run.blocking_s, between_losses);
    if (options_.checkpoint == "never") return;
    const bool is_auto = options_.checkpoint == "auto";
    // One is written at a time: more often than that only keeps computing waiting.
    const double interval = is_auto ? std::max(plan_.daly_s, run.write_s - run.blocking_s)
                                    : parse_span(options_.checkpoint, "--checkpoint");
    if (std::isinf(interval)) {
      return assume("{}, so there are no checkpoints (--checkpoint)",
                    run.elastic ? "replicas go on with what others hold" : "nothing fails");
    }
    const double steps = std::round(interval / (run.step_s * run.straggler_factor));
    run.steps_between = static_cast<std::uint64_t>(std::clamp(steps, 1.0, 1e15));
  }

  void take_duration() {
    goodput::LongRun& run = plan_.run;
    if (!options_.steps) {
      run.duration_s = 86400 * number_in(options_.days.value_or("30"), "--days", 1e-3, 36525);
      return;
    }
    if (options_.days) throw InputError("--days and --steps can't both say how long it goes on");
    run.steps = *options_.steps;
    const double expected = goodput::expected_goodput(run);
    // A run that its failures keep from any progress has no end.
    run.duration_s = 20 * static_cast<double>(run.steps) * run.step_s / expected + 20 * run.write_s;
    if (!(run.duration_s < 1e11)) {
      throw InputError(
          fmt::format("so many steps would take longer than {}: failures come every {}, and a "
                      "restart takes {}",
                      span_text(1e11), span_text(plan_.between_failures_s), span_text(run.restart_s)));
    }
  }

  void check_size() const {
    constexpr double kMost = 2e8;  // some ten seconds
    const goodput::LongRun& run = plan_.run;
    const double segments =
        run.steps_between > 0 ? run.duration_s / (static_cast<double>(run.steps_between) * run.step_s) : 0;
    const double events = (2 * run.duration_s * (run.failure_rate + run.link_rate) + 2 * segments) *
                          static_cast<double>(plan_.seeds.size());
    if (events > kMost) {
      throw InputError(
          fmt::format("there would be {:.2g} failures and checkpoints, over all seeds; expected at most "
                      "{:.0e}: fewer days, seeds, or checkpoints",
                      events, kMost));
    }
  }

  const GoodputOptions& options_;
  GoodputPlan plan_;
  double scale_ = 1;  // so many times the GPUs of the run
};

}  // namespace

GoodputPlan plan_of(const GoodputOptions& options) { return Planner(options).plan(); }

}  // namespace weft::cli
