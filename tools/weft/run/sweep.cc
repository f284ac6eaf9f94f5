#include "tools/weft/run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "sim/units/printable.h"
#include "tools/sweep/groups.h"
#include "tools/sweep/plan.h"
#include "tools/sweep/remarks.h"
#include "tools/sweep/slurm.h"
#include "tools/sweep/tables.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/cli/subcommand.h"
#include "tools/weft/run/scenario_options.h"
#include "tools/weft/run/sweep_points.h"
#include "tools/weft/run/sweep_slurm.h"
#include "topologies/cost/price_list.h"

namespace weft::cli {
namespace {

// A mean needs some runs before it is known how sure it is; more than this many are no sweep any more.
constexpr std::size_t kLeastSeeds = 3, kMostSeeds = 100;

struct SweepOptions {
  ScenarioOptions scenario;
  std::vector<std::string> varied, zipped, sbatch;
  std::optional<std::string> seeds, prices, until_ci;
  std::string output, engine = "local";
  std::optional<std::uint32_t> slots, runs_per_task;
  bool quiet = false, dry_run = false;
};

bool by_slurm(const SweepOptions& options) { return options.engine == "slurm"; }

void check_engine(const SweepOptions& options) {
  const bool known = options.engine == "local" || options.engine == "parallel" || by_slurm(options);
  if (!known) {
    throw InputError(fmt::format("--engine is '{}', but must be local, parallel or slurm", options.engine));
  }
  if (!by_slurm(options) && (!options.sbatch.empty() || options.runs_per_task)) {
    throw InputError("--sbatch and --runs-per-task are for --engine slurm");
  }
  for (const std::string& option : options.sbatch) sweep::check_sbatch_option(option);
}

// Runs what is not done, or hands it to Slurm; an exit status where the sweep ends with that.
std::optional<int> run_open(const sweep::Folder& folder, const SweepOptions& options) {
  if (by_slurm(options)) {
    const sweep::SlurmRequest request{.program = own_path(),
                                      .options = options.sbatch,
                                      .slots = options.slots.value_or(1),
                                      .each = options.runs_per_task};
    return submit_told(folder, request, options.quiet) ? std::optional<int>(kOk) : std::nullopt;
  }
  const sweep::Engine engine =
      options.engine == "parallel" ? sweep::Engine::kParallel : sweep::Engine::kLocal;
  const int signal = run_told(folder, engine, options.slots, options.quiet);
  if (signal == 0) return std::nullopt;
  log::error(fmt::format("interrupted: {} of {} runs are left; the same command goes on",
                         folder.open_points().size(), folder.points().size()));
  return 128 + signal;
}

// What is to be run, and where the files are looked for that a file of a sweep names.
struct Request {
  sweep::Plan plan;
  sweep::PlanFolder files{sweep::Plan()};
};

Request request_of(const SweepOptions& options) {
  Request request;
  sweep::Plan& plan = request.plan;
  const std::string& file = options.scenario.file();
  if (!file.empty()) {
    const std::string text = read_input(file);
    if (sweep::is_plan(text)) {
      plan = sweep::read_plan(text, file);
      request.files = sweep::PlanFolder(plan);
      plan.scenario = request.files.find(plan.scenario);
      for (std::string& plugin : plan.plugins) plugin = request.files.find(plugin);
      const std::vector<std::string> lists = topologies::price_list_names();
      if (std::ranges::find(lists, plan.prices) == lists.end()) plan.prices = request.files.find(plan.prices);
    } else {
      plan.scenario = file;
    }
  }
  for (const std::string& text : options.varied) plan.groups.push_back({sweep::parse_axis(text)});
  for (const std::string& text : options.zipped) plan.groups.push_back(sweep::parse_zip(text));
  if (options.seeds) plan.seeds = *options.seeds;
  if (options.prices) plan.prices = *options.prices;
  if (options.until_ci) plan.until_ci = sweep::parse_share(*options.until_ci);
  for (std::vector<sweep::Axis>& group : plan.groups) {
    for (sweep::Axis& axis : group) axis.field = path_of_field(axis.field);
  }
  sweep::check_groups(plan.groups);
  return request;
}

// A count, as compare-networks takes it, would be told in vain by results of one seed.
void tell_one_seed(const sweep::Plan& plan) {
  const std::string& seeds = plan.seeds;
  if (seeds.empty() || seeds.find_first_not_of("0123456789") != std::string::npos) return;
  if (sweep::parse_seeds(seeds).front() < 2 || plan.until_ci > 0) return;
  log::warn(fmt::format("seeds {0}: that is one seed, the number {0}; {0} of them are 1..{0}", seeds));
}

// The plan's plug-ins, those of its scenario, and those given.
std::vector<std::string> plugins_of(const sweep::Plan& plan, const SweepOptions& options) {
  std::vector<std::string> plugins = plan.plugins;
  if (plan.scenario == options.scenario.file()) return options.scenario.plugins();
  for (const std::string& each : sim::plugins_named_in(plan.scenario)) plugins.push_back(each);
  for (const std::string& each : options.scenario.given_plugins()) plugins.push_back(each);
  return plugins;
}

// Adds points of one plan to a folder.
class Sweep {
 public:
  Sweep(Request& request, const SweepOptions& options) : Sweep(request.plan, request.files, options) {}

  const std::vector<std::string>& fields() const { return fields_; }
  sweep::Point point(const std::vector<std::string>& values, std::optional<std::uint64_t> seed) {
    std::vector<sim::Setting> settings = common_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      settings.push_back({fmt::format("--vary {}={}", fields_[i], values[i]), fields_[i], values[i]});
    }
    return maker_.make(values, plan_.scenario, std::move(settings), seed, [&](const std::string& path) {
      return files_.names(path) ? files_.find(path) : path;
    });
  }
  // Why the last point's ranks have no place on its network; "": they may have one.
  const std::string& last_misfit() const { return maker_.last_misfit(); }

 private:
  Sweep(const sweep::Plan& plan, sweep::PlanFolder& files, const SweepOptions& options)
      : plan_(plan),
        files_(files),
        fields_(sweep::fields_of(plan.groups)),
        maker_(plugins_of(plan, options), prices(plan)) {
    for (const std::string& set : plan.sets) common_.push_back(sim::parse_setting(set));
    for (const sim::Setting& each : options.scenario.settings()) common_.push_back(each);
    for (const sim::Setting& each : common_) {
      if (each.path == "output.directory")
        throw InputError(each.flag + ": every run has a folder in the sweep's (-o)");
      if (each.path == "seed" && !plan.seeds.empty())
        throw InputError(fmt::format("{} and seeds {}: give one of the two", each.flag, plan.seeds));
    }
  }

  static std::optional<topologies::PriceList> prices(const sweep::Plan& plan) {
    if (plan.prices.empty()) return std::nullopt;
    return topologies::find_price_list(plan.prices);
  }

  const sweep::Plan& plan_;
  sweep::PlanFolder& files_;
  std::vector<std::string> fields_;
  PointMaker maker_;
  std::vector<sim::Setting> common_;
};

// All before any is run, so that a bad value is told at once.
std::vector<sweep::Point> first_points(Sweep& sweep, const sweep::Plan& plan) {
  std::vector<std::optional<std::uint64_t>> seeds;
  for (const std::uint64_t seed :
       plan.seeds.empty() ? std::vector<std::uint64_t>() : sweep::parse_seeds(plan.seeds)) {
    seeds.emplace_back(seed);
  }
  const auto combinations = sweep::combinations_of(plan.groups);
  if (plan.until_ci > 0) {
    // From the scenario's own on.
    std::uint64_t next = seeds.empty() ? sweep.point(combinations.front(), std::nullopt).seed : 0;
    for (const auto& seed : seeds) next = std::max(next, *seed + 1);
    while (seeds.size() < kLeastSeeds) seeds.emplace_back(next++);
  }
  if (seeds.empty()) seeds.emplace_back();
  if (combinations.size() * seeds.size() > sweep::kMostPoints) {
    throw InputError(fmt::format("these are {} runs; {} are the most", combinations.size() * seeds.size(),
                                 sweep::kMostPoints));
  }
  std::vector<sweep::Point> points;
  std::size_t misfits = 0;
  std::string named;
  for (const auto& values : combinations) {
    for (const auto& seed : seeds) points.push_back(sweep.point(values, seed));
    const std::string& misfit = sweep.last_misfit();
    constexpr std::size_t kMostNamed = 5;
    if (misfit.empty() || ++misfits > kMostNamed) continue;
    named += fmt::format("{}{}{}{}", named.empty() ? "" : "; ", fmt::join(values, " "),
                         values.empty() ? "" : ": ", misfit);
  }
  if (misfits > 0) {
    log::warn(
        fmt::format("{} of {} combinations of values have more ranks than places, so their runs will "
                    "have no results: {}",
                    misfits, combinations.size(), named));
  }
  return points;
}

// One more seed for each combination whose interval is too wide; false: there is none.
// `outcomes` has what the rounds before have read, and gets what this one reads.
bool add_seeds(Sweep& sweep, const sweep::Plan& plan, sweep::Folder& folder, sweep::Outcomes& outcomes) {
  bool added = false;
  outcomes = sweep::outcomes_of(folder, std::move(outcomes));
  for (const sweep::Group& group : sweep::groups_of(folder, outcomes)) {
    // All told at the end.
    if (group.complete < group.seeds || !group.estimates[0] || group.seeds >= kMostSeeds) continue;
    if (group.narrow(plan.until_ci)) continue;
    std::uint64_t last = 0;
    for (const sweep::Point& point : folder.points()) {
      if (point.values == group.values) last = std::max(last, point.seed);
    }
    folder.add(sweep.point(group.values, last + 1));
    added = true;
  }
  if (added) folder.save();
  return added;
}

// A sweep of thousands of runs may have as many things to say.
void warn_of(const std::vector<std::string>& all) {
  constexpr std::size_t kMostTold = 10;
  for (std::size_t i = 0; i < std::min(all.size(), kMostTold); ++i) log::warn(printable(all[i]));
  if (all.size() > kMostTold) log::warn(fmt::format("{} more like that", all.size() - kMostTold));
}

int finish(const sweep::Folder& folder, bool quiet, sweep::Outcomes known = {}) {
  const sweep::Outcomes outcomes = sweep::outcomes_of(folder, std::move(known));
  const std::vector<sweep::Group> groups = sweep::groups_of(folder, outcomes);
  sweep::write_tables(folder, outcomes, groups);
  if (!quiet) {
    print_text(fmt::format("{}  {}/sweep.csv, summary.csv, plot.svg\n", sweep::summary_text(folder, groups),
                           folder.path()));
  }
  const sweep::Remarks remarks = sweep::remarks_of(folder, outcomes);
  warn_of(remarks.warnings);
  warn_of(remarks.without_effect);
  if (const std::string wide = sweep::wide_text(folder, groups); !wide.empty()) log::warn(wide);
  return report_failures(folder, outcomes);
}

int run(const SweepOptions& options) {
  if (options.output.empty()) throw InputError("-o DIR is needed: the folder of the sweep");
  check_engine(options);
  Request request = request_of(options);
  const sweep::Plan& plan = request.plan;
  tell_one_seed(plan);
  Sweep sweep(request, options);
  std::vector<sweep::Point> points = first_points(sweep, plan);
  warn_of(request.files.guesses());
  if (options.dry_run) {
    print_text(fmt::format("{} runs\n", points.size()));
    return kOk;
  }
  sweep::Folder folder(options.output, sweep.fields());
  refuse_beside_slurm(folder, points, by_slurm(options));
  for (sweep::Point& point : points) folder.add(std::move(point));
  folder.set_until_ci(plan.until_ci);
  folder.save();
  const std::size_t open = folder.open_points().size();
  if (!options.quiet) print_text(fmt::format("{} runs, {} of them to do\n", folder.points().size(), open));
  sweep::Outcomes outcomes;
  do {
    if (const std::optional<int> status = run_open(folder, options)) return *status;
  } while (plan.until_ci > 0 && add_seeds(sweep, plan, folder, outcomes));
  return finish(folder, options.quiet, std::move(outcomes));
}

void add_status(Command& parent) {
  const auto path = std::make_shared<std::string>();
  Command command = parent.add_subcommand("status", "Tell how much of a sweep is done");
  command.add_option("DIR", *path, "The folder of a sweep").required();
  command.footer("Example: weft sweep status SWEEP");
  command.callback([path] {
    const sweep::Folder folder = sweep::Folder::read(*path);
    const sweep::Progress progress = sweep::progress_of(folder);
    print_text(fmt::format("{} of {} runs are done, {} of them complete\n", progress.done, progress.points,
                           progress.complete));
    if (progress.outdated > 0) {
      print_text(fmt::format("to do again: {} of {} runs, as {} has changed since\n", progress.outdated,
                             progress.points, progress.changed_input));
    }
    if (folder.until_ci() > 0) {
      const std::string wide = sweep::wide_text(folder, sweep::groups_of(folder, sweep::outcomes_of(folder)));
      if (!wide.empty()) print_text(wide + "\n");
    }
    print_text(slurm_status(folder));
  });
}

void add_collect(Command& parent, int& exit_code) {
  const auto path = std::make_shared<std::string>();
  Command command = parent.add_subcommand("collect", "Write the tables of a sweep from what is done");
  command.add_option("DIR", *path, "The folder of a sweep").required();
  command.footer("Example: weft sweep collect SWEEP");
  command.callback([path, &exit_code] { exit_code = finish(sweep::Folder::read(*path), false); });
}

}  // namespace

void add_sweep(Command& command, int& exit_code) {
  const auto options = std::make_shared<SweepOptions>();
  options->scenario.add_to(command, false);
  command
      .add_option(
          "--vary", options->varied,
          "FIELD=V1,V2: a field of the scenario, or the name of an option, and its values, in brackets "
          "if they hold commas; given again, each value with each of the others")
      .repeated();
  command
      .add_option("--zip", options->zipped,
                  "FIELD=V1,V2;FIELD2=W1,W2: fields whose values go together, the first with the first")
      .repeated();
  command.add_option("--seeds", options->seeds, "seeds of each point: 1..5, or 1..5,9; else the scenario's");
  command.add_option(
      "--until-ci", options->until_ci,
      "add seeds until the 95% interval of each mean runtime is that narrow to either side: 2%");
  command.add_option(
      "--prices", options->prices,
      "what networks cost, a built-in list or a file as of weft topo cost: price, power, pareto.svg");
  command.add_option("-o,--output", options->output,
                     "folder of the sweep; what is done there is not run again");
  command
      .add_option(
          "--engine", options->engine,
          "what starts the runs: local, parallel (GNU parallel), or slurm: handed over, not waited for")
      .with_default();
  command
      .add_option("--jobs", options->slots,
                  "runs side by side; by default cores / threads of a run, and 1 in each task of Slurm")
      .range(1, 4096);
  command.add_option("--sbatch", options->sbatch, "an option for Slurm's sbatch: partition=long, mem=8G")
      .repeated();
  command
      .add_option("--runs-per-task", options->runs_per_task,
                  "runs of one task of Slurm; by default so many that 100 tasks do")
      .range(1, 1000000);
  command.add_flag("--dry-run", options->dry_run, "check all points, tell how many runs they are, and stop");
  command.add_flag("-q,--quiet", options->quiet, "no summary and no progress line");
  add_status(command);
  add_collect(command, exit_code);
  add_sweep_task(command, exit_code);
  command.footer(
      "Examples:\n"
      "  weft sweep --traffic permutation:size=2MB --topology fat_tree:k=8 --vary routing=ecmp,spray,reps "
      "--seeds "
      "1..5 -o SWEEP\n"
      "  weft sweep fat_tree.txtpb --goal app.weft --zip "
      "'topology=fat_tree:k=8,dragonfly:p=4;fabric=uet,slingshot' "
      "--prices modern -o SWEEP\n"
      "  weft sweep sweep.txtpb -o SWEEP  # its form: tools/sweep/README.md\n"
      "  weft sweep status SWEEP\n"
      "DIR/sweep.csv has a row for each run, summary.csv means and 95% intervals over seeds, DIR/points a "
      "folder "
      "for each run.\nThe same command again goes on where it was stopped.");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace weft::cli
