#include "tools/weft/run/jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/jobs/job_list.h"
#include "sim/jobs/queue_run.h"
#include "sim/jobs/schedulers.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/standard_output.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

struct JobsOptions {
  std::string list, bound = "10s";
  std::optional<std::uint32_t> nodes;
  std::uint32_t ranks_per_node = 1;
  std::vector<std::string> schedulers;
  bool json = false;
};

// Nanoseconds of a list are picoseconds here, as years of a log don't fit a Time otherwise.
constexpr double kFaster = 1000;

struct Queue {
  std::vector<jobs::TimedJob> jobs;
  std::uint32_t nodes = 0, ranks_per_node = 1;
  std::uint64_t too_large = 0, without_runtime = 0;
  bool processors_are_nodes = false;  // though the list knows how many nodes there were
};

std::uint32_t nodes_of(const JobsOptions& options, const jobs::JobList& list) {
  const std::uint32_t nodes = options.nodes.value_or(jobs::nodes_of(list, options.ranks_per_node));
  if (nodes == 0) throw InputError(options.list + ": it doesn't say how many nodes there are: use --nodes");
  return nodes;
}

Queue queue_of(const JobsOptions& options, const jobs::JobList& list) {
  Queue queue;
  queue.nodes = nodes_of(options, list);
  queue.ranks_per_node = options.ranks_per_node;
  queue.processors_are_nodes = !options.nodes && options.ranks_per_node <= 1 && list.machine_nodes > 0 &&
                               list.machine_processors > list.machine_nodes;
  for (const jobs::ListedJob& job : list.jobs) {
    const std::uint32_t nodes = (job.ranks - 1) / options.ranks_per_node + 1;
    queue.too_large += nodes > queue.nodes;
    if (nodes > queue.nodes) continue;
    queue.without_runtime += job.runtime < 0;
    if (job.runtime < 0) continue;
    const jobs::ListTime estimate = std::max<jobs::ListTime>(job.estimate(), 1);
    queue.jobs.push_back({Time::ps(job.submit), nodes, Time::ps(estimate), Time::ps(job.runtime)});
  }
  if (queue.jobs.empty()) {
    throw InputError(options.list + ": no job has a runtime and fits " + std::to_string(queue.nodes) +
                     " nodes");
  }
  return queue;
}

jobs::QueueFigures figures_of(const Queue& queue, const std::string& scheduler, Time bound) {
  const auto made = jobs::make_scheduler(parse_module_choice(scheduler), queue.nodes);
  const Time least = Time::ps(bound.ps() / 1000);
  jobs::QueueFigures figures =
      jobs::figures(queue.jobs, jobs::run_queue(queue.jobs, *made), queue.nodes, least);
  for (double* time :
       {&figures.makespan_s, &figures.mean_waiting_s, &figures.max_waiting_s, &figures.mean_turnaround_s}) {
    *time *= kFaster;
  }
  return figures;
}

Json json_of(const std::string& scheduler, const jobs::QueueFigures& figures) {
  return {{"scheduler", scheduler},
          {"makespan_s", figures.makespan_s},
          {"mean_waiting_s", figures.mean_waiting_s},
          {"max_waiting_s", figures.max_waiting_s},
          {"mean_turnaround_s", figures.mean_turnaround_s},
          {"mean_slowdown", figures.mean_slowdown},
          {"mean_bounded_slowdown", figures.mean_bounded_slowdown},
          {"utilization", figures.utilization}};
}

// "3.2 h": days, hours, minutes or seconds, as people say it.
std::string span(double seconds) {
  if (seconds >= 2 * 86400) return fmt::format("{:.1f} d", seconds / 86400);
  if (seconds >= 2 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 120) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.3g} s", seconds);
}

// What is left out, and what the list itself has to say.
Json notes_of(const Queue& queue, const jobs::JobList& list) {
  Json notes = Json::array();
  const auto note = [&](const std::string& name, const std::string& sentence, std::uint64_t count) {
    if (count > 0) notes.push_back({{"name", name}, {"count", count}, {"sentence", sentence}});
  };
  note("too_large", "Jobs that need more nodes than there are; left out.", queue.too_large);
  note("left_out", "Jobs without a runtime; left out.", queue.without_runtime);
  note("processors_are_nodes",
       "Nodes of the machine by the list; each of its processors counts as one here (--ranks-per-node).",
       queue.processors_are_nodes ? list.machine_nodes : 0);
  for (const goal::Anomaly& each : list.anomalies) note(each.name, each.sentence, each.count);
  return notes;
}

void print(const JobsOptions& options) {
  const jobs::JobList list = jobs::read_job_list(options.list);
  const Queue queue = queue_of(options, list);
  const Time bound = parse_time(options.bound, Time::us(1'000'000));
  if (bound <= Time()) throw InputError("--bound must be above 0");
  std::vector<std::string> names = options.schedulers;
  if (names.empty()) {
    for (const jobs::SchedulerEntry& each : jobs::schedulers()) names.push_back(each.info.name);
  }
  const Json notes = notes_of(queue, list);
  Json json = {
      {"jobs", queue.jobs.size()},  {"nodes", queue.nodes},        {"ranks_per_node", queue.ranks_per_node},
      {"bound_s", bound.seconds()}, {"schedulers", Json::array()}, {"notes", notes}};
  std::string table;
  for (const std::string& name : names) {
    const jobs::QueueFigures figures = figures_of(queue, name, bound);
    json["schedulers"].push_back(json_of(name, figures));
    table += fmt::format("{:<14}{:>10}{:>12}{:>12}{:>13}{:>12.2f}{:>9.1f}%\n", name, span(figures.makespan_s),
                         span(figures.mean_waiting_s), span(figures.max_waiting_s),
                         span(figures.mean_turnaround_s), figures.mean_bounded_slowdown,
                         100 * figures.utilization);
  }
  if (options.json)
    return fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  fmt::print("{} jobs on {} nodes\n\n{:<14}{:>10}{:>12}{:>12}{:>13}{:>12}{:>10}\n{}", queue.jobs.size(),
             queue.nodes, "scheduler", "makespan", "waiting", "longest", "turnaround", "slowdown", "busy",
             table);
  fmt::print("\nMeans over jobs; slowdown is bounded: runtimes below {} count as that.\n", to_string(bound));
  for (const Json& each : notes) {
    print_text(
        fmt::format("{}: {}\n", each["count"].get<std::uint64_t>(), each["sentence"].get<std::string>()));
  }
}

}  // namespace

void add_jobs(Command& command, int& /*exit_code*/) {
  const auto options = std::make_shared<JobsOptions>();
  command.add_option("LIST", options->list, "Jobs in the Standard Workload Format, or a table (CSV)")
      .required();
  command.add_option("--nodes", options->nodes, "Nodes of the machine (default: as the list says)")
      .positive();
  command.add_option("--ranks-per-node", options->ranks_per_node, "Processors of a node").positive();
  command.add_option("--scheduler", options->schedulers, "One to try (default: all)").repeated();
  command.add_option("--bound", options->bound, "Runtimes below count as this in slowdowns").with_default();
  command.add_flag("--json", options->json, "Print JSON");
  command.footer(
      "A queue without a network: each job takes the time that the list says.\n"
      "Examples:\n"
      "  weft jobs hpc2n.swf\n"
      "  weft jobs jobs.csv --nodes 64 --scheduler fcfs --scheduler easy");
  command.callback([options] { print(*options); });
}

}  // namespace weft::cli
