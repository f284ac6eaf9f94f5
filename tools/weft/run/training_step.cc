#include "tools/weft/run/training_step.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "goal/program.h"
#include "goal/workload/workload.h"
#include "sim/plugins/load.h"
#include "sim/run/listed_jobs.h"
#include "sim/run/simulation.h"
#include "sim/units/input_error.h"
#include "tools/weft/run/long_span.h"
#include "tools/weft/topo/topo_output.h"
#include "topologies/families.h"

namespace weft::cli {
namespace {

sim::Scenario scenario_of(const std::string& run) {
  const std::string path = run + "/scenario.txtpb";
  for (const std::string& plugin : sim::plugins_named_in(path)) sim::load_plugin(plugin);
  const sim::Registries registries = sim::builtin_registries();
  return sim::resolve_with_list(sim::read_scenario_file(registries, path, {}), registries);
}

std::uint64_t number(const ModuleChoice& choice, const std::string& parameter) {
  const auto found = choice.given.find(parameter);
  return found == choice.given.end() ? 0 : std::stoull(found->second);
}

std::uint64_t steps_of(const std::string& run, const ModuleChoice& traffic) {
  if (const std::uint64_t steps = number(traffic, "iterations"); steps > 0) return steps;
  throw InputError(run + ": its workload doesn't tell how many steps it has: use --run-steps");
}

// What is known of the graph that the run replays: of a workload's from its parameters, else from its file.
std::map<std::string, std::string> facts_of(const sim::Job& job, std::uint32_t ranks) {
  std::map<std::string, std::string> facts;
  if (!job.traffic.empty()) {
    const goal::Workload& workload = find_module(goal::workloads(), job.traffic, "traffic pattern");
    goal::add_facts(workload, Parameters(workload.info, job.traffic), ranks, facts);
  } else if (std::filesystem::exists(job.goal)) {
    const goal::Program program = goal::open_program(job.goal);
    facts["parameters"] = program.metadata("parameters");
  }
  return facts;
}

void take_parameters(const sim::Job& job, std::uint32_t ranks, TrainingStep& step) {
  try {
    const std::string text = facts_of(job, ranks)["parameters"];
    if (!text.empty()) step.parameters = std::stod(text);
  } catch (const InputError& error) {
    step.remarks.push_back(fmt::format("{}: its model is not known: {}", step.run, error.what()));
    return;
  }
  if (step.parameters || job.traffic.empty()) return;
  step.remarks.push_back(
      fmt::format("{}: this run is no training step: its traffic is {}, which trains nothing", step.run,
                  job.traffic.name));
}

// Replicas of a language model; with a file of arguments its layout is in there.
void take_replicas(const ModuleChoice& traffic, std::uint32_t ranks, TrainingStep& step) {
  const auto from_args = traffic.given.find("from_args");
  if (traffic.name != "llm" || (from_args != traffic.given.end() && !from_args->second.empty())) return;
  const std::uint64_t of_a_replica = number(traffic, "tp") * number(traffic, "pp") * number(traffic, "cp");
  if (of_a_replica > 0) step.replicas = static_cast<std::uint32_t>(ranks / of_a_replica);
}

TrainingStep step_of_run(const std::string& run, std::optional<std::uint64_t> given_steps) {
  const nlohmann::json summary = RunFolder::summary(run);
  if (summary.value("outcome", "") != "complete") {
    throw InputError(run + ": this run did not come to its end: its time is not that of its steps");
  }
  if (summary.at("jobs").size() != 1) {
    throw InputError(
        fmt::format("{}: it has {} jobs; expected one, which trains", run, summary.at("jobs").size()));
  }
  const sim::Scenario scenario = scenario_of(run);
  const sim::Job& job = scenario.jobs.at(0);
  const std::uint64_t steps =
      (given_steps ? *given_steps : steps_of(run, job.traffic)) * std::max<std::uint64_t>(job.repeat, 1);
  TrainingStep step;
  step.run = run;
  const double makespan = summary.at("makespan_ns").get<double>() * 1e-9;
  step.time_s = makespan / static_cast<double>(steps);
  if (step.time_s <= 0) throw InputError(run + ": it takes no time");
  step.gpus = summary.at("ranks").get<std::uint32_t>();
  if (summary.contains("tokens_per_second"))
    step.tokens = summary["tokens_per_second"].get<double>() * step.time_s;
  take_replicas(job.traffic, *step.gpus, step);
  take_parameters(job, *step.gpus, step);
  if (steps == 1) step.remarks.push_back(run + " is one step: how it begins and ends is in the time of all");
  return step;
}

}  // namespace

TrainingStep read_training_step(const std::string& text, const std::string& of,
                                std::optional<std::uint64_t> steps) {
  if (!std::filesystem::is_directory(text)) {
    if (text.find('/') != std::string::npos) throw InputError(text + ": there is no such folder of a run");
    TrainingStep step;
    step.time_s = parse_span(text, of + " (no folder of a run)");
    return step;
  }
  try {
    return step_of_run(text, steps);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(text + "/summary.json: this is not what this weft leaves: " + error.what());
  }
}

std::uint64_t cables_of_run(const std::string& run) {
  const sim::Scenario scenario = scenario_of(run);
  if (scenario.topology.empty()) throw InputError(run + ": it has no topology: use --links");
  const topologies::Topology topology = topologies::build(scenario.topology);
  return static_cast<std::uint64_t>(
      std::ranges::count_if(topology.edges(), [&](const topologies::Edge& edge) {
        return !topology.is_inside(edge.from, edge.to) && !topology.node(edge.from).in_host &&
               !topology.node(edge.to).in_host && edge.link.cable != topologies::CableKind::kBackplane;
      }));
}

}  // namespace weft::cli
