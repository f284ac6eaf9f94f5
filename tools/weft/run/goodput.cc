#include "tools/weft/run/goodput.h"

#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "goal/file.h"
#include "sim/goodput/closed_form.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "tools/sweep/statistics.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/run/goodput_plan.h"
#include "tools/weft/run/long_span.h"

namespace weft::cli {
namespace {

using goodput::Cause;
using goodput::Outcome;
using Json = nlohmann::ordered_json;
using Figure = std::function<double(const Outcome&)>;

std::vector<Outcome> simulate(const GoodputPlan& plan) {
  std::vector<Outcome> outcomes;
  for (const std::uint64_t seed : plan.seeds) {
    outcomes.push_back(goodput::simulate(plan.run, seed));
    if (outcomes.back().steps < plan.run.steps) {
      throw InputError(fmt::format("seed {}: {} steps are not done after {}, 20 times what is expected", seed,
                                   grouped(static_cast<double>(plan.run.steps)),
                                   span_text(plan.run.duration_s)));
    }
  }
  return outcomes;
}

sweep::Estimate estimate(const std::vector<Outcome>& outcomes, const Figure& figure) {
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) values.push_back(figure(outcome));
  return sweep::estimate(values);
}

double goodput_of(const Outcome& outcome) { return outcome.goodput(); }
double steps_of(const Outcome& outcome) { return static_cast<double>(outcome.steps); }
double elapsed_of(const Outcome& outcome) { return outcome.elapsed_s; }

struct Count {
  const char *name, *words;
  std::uint64_t Outcome::*value;
};
constexpr std::array<Count, 5> kCounts = {
    {{"device_failures", "failures of devices", &Outcome::device_failures},
     {"link_failures", "failures of links", &Outcome::link_failures},
     {"restarts", "restarts", &Outcome::restarts},
     {"reconfigurations", "reconfigurations", &Outcome::reconfigurations},
     {"checkpoints", "checkpoints", &Outcome::checkpoints}}};

constexpr std::array<const char*, goodput::kCauses> kWords = {"computing new steps",
                                                              "checkpoints, waited for",
                                                              "lost work",
                                                              "restarts",
                                                              "until paths are left",
                                                              "stragglers",
                                                              "links that are down",
                                                              "replicas that are down",
                                                              "reconfigurations"};

// How far the draws go: goodput is lost at failures, so few of them make seeds look alike.
std::uint64_t failures_of(const std::vector<Outcome>& outcomes) {
  std::uint64_t sum = 0;
  for (const Outcome& outcome : outcomes) sum += outcome.device_failures + outcome.link_failures;
  return sum;
}

std::vector<std::string> warnings_of(const GoodputPlan& plan, const std::vector<Outcome>& outcomes) {
  constexpr std::uint64_t kFew = 30;
  const std::uint64_t failures = failures_of(outcomes);
  if (plan.run.failure_rate + plan.run.link_rate <= 0 || failures >= kFew) return {};
  const std::string so_many =
      failures == 0 ? "no failure" : fmt::format("only {} failure{}", failures, failures == 1 ? "" : "s");
  return {outcomes.size() == 1
              ? fmt::format("{} in the one seed: the goodput is one draw; take more days or seeds", so_many)
              : fmt::format("{} in all seeds together: the interval is too narrow; take more days or seeds",
                            so_many)};
}

// ---- JSON and CSV ----

Json json_of(const sweep::Estimate& estimate) {
  Json json = {{"mean", estimate.mean}};
  json["low"] = estimate.low ? Json(*estimate.low) : Json();
  json["high"] = estimate.high ? Json(*estimate.high) : Json();
  return json;
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json as_json(const GoodputPlan& plan, const std::vector<Outcome>& outcomes) {
  const goodput::LongRun& run = plan.run;
  Json json = {{"step_s", run.step_s}, {"gpus", plan.gpus}, {"seeds", plan.seeds.size()}};
  json["goodput"] = json_of(estimate(outcomes, goodput_of));
  json["closed_form"] = {{"goodput", goodput::expected_goodput(run)}, {"exact", goodput::is_exact(run)}};
  json["steps"] = json_of(estimate(outcomes, steps_of));
  json["elapsed_s"] = json_of(estimate(outcomes, elapsed_of));
  json["tokens"] = plan.step.tokens ? Json(*plan.step.tokens * estimate(outcomes, steps_of).mean) : Json();
  for (int i = 0; i < goodput::kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    json["shares"][std::string(goodput::name(cause))] =
        estimate(outcomes, [&](const Outcome& outcome) { return outcome.share(cause); }).mean;
  }
  for (const Count& count : kCounts) {
    json["counts"][count.name] = estimate(outcomes, [&](const Outcome& outcome) {
                                   return static_cast<double>(outcome.*count.value);
                                 }).mean;
  }
  json["failures"] = failures_of(outcomes);
  json["warnings"] = warnings_of(plan, outcomes);
  json["failures_every_s"] = finite(plan.between_failures_s);
  json["checkpoint"] = {
      {"steps_between", run.steps_between},
      {"interval_s", static_cast<double>(run.steps_between) * run.step_s * run.straggler_factor},
      {"daly_s", finite(plan.daly_s)},
      {"young_s", finite(plan.young_s)},
      {"blocking_s", run.blocking_s},
      {"write_s", run.write_s}};
  json["degraded_factor"] = run.degraded_factor;
  json["straggler_factor"] = run.straggler_factor;
  json["assumptions"] = plan.assumptions;
  return json;
}

// A row for each seed.
void write_csv(const std::string& path, const GoodputPlan& plan, const std::vector<Outcome>& outcomes) {
  std::string text = "seed,goodput,steps,elapsed_s";
  for (int i = 0; i < goodput::kCauses; ++i)
    text += fmt::format(",{}_s", goodput::name(static_cast<Cause>(i)));
  for (const Count& count : kCounts) text += fmt::format(",{}", count.name);
  text += "\n";
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Outcome& outcome = outcomes[i];
    text += fmt::format("{},{:.9g},{},{:.9g}", plan.seeds[i], outcome.goodput(), outcome.steps,
                        outcome.elapsed_s);
    for (const double spent : outcome.spent_s) text += fmt::format(",{:.9g}", spent);
    for (const Count& count : kCounts) text += fmt::format(",{}", outcome.*count.value);
    text += "\n";
  }
  goal::FileWriter file(path);
  file.write(text);
  file.commit();
}

// ---- For people ----

std::string either_side(const sweep::Estimate& estimate, const std::function<std::string(double)>& words) {
  return estimate.high ? " ± " + words(*estimate.high - estimate.mean) : "";
}

std::string percent(double share) { return fmt::format("{:.2f}%", 100 * share); }
std::string rounded(double value) { return grouped(std::round(value)); }

std::string shares_text(const std::vector<Outcome>& outcomes) {
  std::string text = "\nof the time\n";
  for (int i = 0; i < goodput::kCauses; ++i) {
    const double share =
        estimate(outcomes, [&](const Outcome& outcome) { return outcome.share(static_cast<Cause>(i)); }).mean;
    if (share > 0) text += fmt::format("  {:>8.3f}%  {}\n", 100 * share, kWords[static_cast<std::size_t>(i)]);
  }
  return text;
}

std::string counts_text(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Count& count : kCounts) {
    const double mean = estimate(outcomes, [&](const Outcome& outcome) {
                          return static_cast<double>(outcome.*count.value);
                        }).mean;
    if (mean > 0) text += fmt::format("{}{:.4g} {}", text.empty() ? "" : ", ", mean, count.words);
  }
  return text.empty() ? "" : "\nin the mean " + text + "\n";
}

std::string checkpoints_text(const GoodputPlan& plan) {
  const goodput::LongRun& run = plan.run;
  if (run.steps_between == 0) return "no checkpoints: a restart begins at the first step\n";
  const double interval = static_cast<double>(run.steps_between) * run.step_s * run.straggler_factor;
  std::string text =
      fmt::format("a checkpoint every {} ({} steps), which computing waits {} for", span_text(interval),
                  grouped(static_cast<double>(run.steps_between)), span_text(run.blocking_s));
  if (run.write_s > run.blocking_s) text += fmt::format(", safe after {}", span_text(run.write_s));
  if (std::isinf(plan.daly_s))
    return text + "; best: none, as nothing that fails takes what isn't held elsewhere\n";
  return text + fmt::format("; best: {} (Daly 2006), {} (Young 1974)\n", span_text(plan.daly_s),
                            span_text(plan.young_s));
}

std::string as_text(const GoodputPlan& plan, const std::vector<Outcome>& outcomes) {
  const goodput::LongRun& run = plan.run;
  const sweep::Estimate steps = estimate(outcomes, steps_of), good = estimate(outcomes, goodput_of);
  std::string text = fmt::format("{} GPUs, steps of {}, ", grouped(plan.gpus), span_text(run.step_s));
  text += run.steps > 0 ? fmt::format("{} steps", grouped(static_cast<double>(run.steps)))
                        : fmt::format("{:.4g} days", run.duration_s / 86400);
  text += std::isinf(plan.between_failures_s)
              ? ", no failures"
              : fmt::format(", failures every {}", span_text(plan.between_failures_s));
  text += fmt::format(", {} seeds\n\n", outcomes.size());
  text += fmt::format("goodput      {}{}\n", percent(good.mean), either_side(good, percent));
  for (const std::string& warning : warnings_of(plan, outcomes)) text += "warning: " + warning + "\n";
  text +=
      fmt::format("on paper     {} ({})\n", percent(goodput::expected_goodput(run)),
                  goodput::is_exact(run) ? "Daly 2006" : "Daly 2006; what he has not, to the first order");
  if (run.steps > 0) {
    const sweep::Estimate elapsed = estimate(outcomes, elapsed_of);
    text += fmt::format("time         {}{}\n", span_text(elapsed.mean), either_side(elapsed, span_text));
  } else {
    text += fmt::format("steps        {}{}\n", rounded(steps.mean), either_side(steps, rounded));
  }
  if (plan.step.tokens) text += fmt::format("tokens       {:.4g}\n", *plan.step.tokens * steps.mean);
  text += shares_text(outcomes) + counts_text(outcomes) + checkpoints_text(plan);
  if (!plan.assumptions.empty()) text += "\nnot given, or simpler than it is\n";
  for (const std::string& sentence : plan.assumptions) text += "  " + sentence + "\n";
  return text;
}

void tell(const GoodputOptions& options) {
  refuse_ending_of_another(options.output, "the table is CSV", {".csv"});
  const GoodputPlan plan = plan_of(options);
  const std::vector<Outcome> outcomes = simulate(plan);
  if (!options.output.empty()) write_csv(options.output, plan, outcomes);
  if (options.json) {
    return fmt::print("{}\n", as_json(plan, outcomes).dump(2, ' ', false, Json::error_handler_t::replace));
  }
  print_text(as_text(plan, outcomes));
}

// ---- Options ----

void add_failures(Command& command, GoodputOptions& options) {
  command.add_option(
      "--mtbf", options.mtbf,
      "Time between failures of one GPU with its share of the node, or never (default: Llama 3's)");
  command.add_option("--restart", options.restart,
                     "From a failure until steps are made again (default: 10min)");
  command
      .add_option("--checkpoint", options.checkpoint,
                  "Time from one to the next, never, or auto: Daly's optimum")
      .with_default();
  command.add_option("--checkpoint-size", options.checkpoint_size,
                     "Bytes of all GPUs together (default: 14 a parameter)");
  command.add_option("--checkpoint-bandwidth", options.checkpoint_bandwidth,
                     "Of the storage (default: 2 TB/s for 16,384 GPUs, by their number)");
  command.add_option("--checkpoint-write", options.checkpoint_write,
                     "Time that one takes, in place of these two");
  command.add_option("--asynchronous", options.asynchronous,
                     "Computing waits only so long for a checkpoint; the rest is written beside it");
  command.add_option("--slow-steps", options.slow_steps,
                     "Share of the steps, 0.05, at which a device is slow");
  command.add_option("--slow-devices", options.slow_devices,
                     "The same of each device on its own, 1e-6: the slowest keeps all waiting");
  command.add_option("--slow-factor", options.slow_factor, "So many times as long these steps take");
}

void add_links(Command& command, GoodputOptions& options) {
  command.add_option("--link-failures", options.link_failures,
                     "What a failed link does: restart (the job), or retire (the path)");
  command.add_option("--link-mtbf", options.link_mtbf, "Of a cable (default: Llama 3's, by GPUs)");
  command.add_option("--links", options.links, "Cables (default: of the run's network, outside of nodes)")
      .positive();
  command.add_option("--link-repair", options.link_repair, "Until a link is back (default: 1d)");
  command.add_option("--detection", options.detection, "Until a path is left (default: 1ms)");
  command.add_option("--degraded", options.degraded,
                     "The step while a link is down: a run with that fault, or a time");
}

void add_elastic(Command& command, GoodputOptions& options) {
  command.add_flag("--elastic", options.elastic,
                   "A failure stops one replica only; the others go on until it is back");
  command.add_option("--replicas", options.replicas, "Of data parallelism (default: of the run)").positive();
  command.add_option("--reconfiguration", options.reconfiguration,
                     "To go on without a replica, or with it again (default: 1min)");
  command.add_option("--repair", options.repair, "Until a replica is back (default: 1d)");
}

}  // namespace

void add_goodput(Command& command, int& /*exit_code*/) {
  const auto options = std::make_shared<GoodputOptions>();
  command
      .add_option("STEP", options->step,
                  "Folder of a run that trains, as weft sim -o leaves it, or a step's time")
      .required();
  command
      .add_option("--run-steps", options->run_steps, "Steps of the run (default: its workload's iterations)")
      .positive();
  command.add_option("--gpus", options->gpus, "That all take part in each step (default: the run's ranks)")
      .positive();
  command.add_option("--days", options->days, "How long it goes on (default: 30)");
  command.add_option("--steps", options->steps, "In place of days: until so many are done").positive();
  command.add_option("--tokens-per-step", options->tokens_per_step, "Of all GPUs (default: the run's)");
  add_failures(command, *options);
  add_links(command, *options);
  add_elastic(command, *options);
  command.add_option("--seeds", options->seeds, "Runs: their mean is told, with its 95% interval")
      .with_default();
  command.add_option("-o,--output", options->output, "Write a table with a row for each seed (CSV)");
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "Goodput is the share of the time that makes steps which are not lost again (Llama 3: effective "
      "training "
      "time). What is not given is told, with its source.\n"
      "Examples:\n"
      "  weft goodput RUN\n"
      "  weft goodput 3.9s --gpus 16384 --checkpoint 30min --restart 5min\n"
      "  weft goodput RUN --link-failures retire --degraded RUN_WITH_FAULT --json\n"
      "  weft goodput 3.9s --gpus 16384 --elastic --replicas 128");
  command.callback([options] { tell(*options); });
}

}  // namespace weft::cli
