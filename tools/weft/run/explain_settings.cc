#include "tools/weft/run/explain_settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "congestion/controls/controls.h"
#include "sim/fabrics/fabrics.h"
#include "sim/packet/queues/queues.h"
#include "sim/run/default_routing.h"
#include "sim/run/job_setup.h"
#include "sim/run/simulation.h"
#include "sim/units/input_error.h"
#include "topologies/composed.h"

namespace weft::cli {
namespace {

using sim::Scenario;

// One thing changed; if nothing comes of it, why that is known.
struct Trial {
  std::string setting, why;
  std::function<void(Scenario&)> change;
  bool draws_anew = false;   // traffic is generated again
  bool moves_ranks = false;  // links are others: what ranks see counts alone
};

using Given = std::map<std::string, std::string>;

Given given_in(const std::string& short_form) {
  return short_form.empty() ? Given() : parse_module_choice(short_form).given;
}

// What the fabric says of this seam, and of queues the control, and a run that chose its channels.
Given not_chosen(const Scenario& scenario, std::string_view field, bool chose_channels) {
  Given given;
  for (const fabrics::Fabric& fabric : fabrics::fabrics()) {
    if (fabric.info.name != scenario.fabric) continue;
    if (field == "network" && !fabric.network.empty()) given = given_in("network:" + fabric.network);
    if (field == "congestion") given = given_in(fabric.congestion);
    if (field == "recovery") given = given_in(fabric.recovery);
    if (field == "queue") given = given_in(fabric.queue);
  }
  if (field == "queue" && chose_channels) {
    const sim::packet::Discipline& queue =
        find_module(sim::packet::disciplines(), scenario.queue, "queue discipline");
    queue.set_channels(queue.channels(Parameters(queue.info, scenario.queue)), given);
  }
  if (field != "queue" || scenario.congestion.empty()) return given;
  const congestion::Control& control =
      find_module(congestion::controls(), scenario.congestion, "congestion control");
  for (const auto& [name, value] : control.queue_settings) given.emplace(name, value);
  return given;
}

bool is_as(const Given& given, const std::string& name, const std::string& value) {
  const auto found = given.find(name);
  return found != given.end() && found->second == value;
}

// Parameters of a module that were set: they differ from their defaults and from what `others` say.
std::vector<std::pair<ParameterSpec, std::string>> set_parameters(const ModuleInfo& info, const Given& given,
                                                                  const Given& others) {
  std::vector<std::pair<ParameterSpec, std::string>> set;
  const auto values = Parameters(info, ModuleChoice{.name = info.name, .given = given}).values();
  for (const ParameterSpec& spec : info.parameters) {
    const auto value = std::ranges::find(values, spec.name, &std::pair<std::string, std::string>::first);
    if (value == values.end() || spec.default_value.empty() || value->second == spec.default_value) continue;
    if (spec.name == "partitions" || spec.name == "protocol" || is_as(others, spec.name, value->second))
      continue;
    set.emplace_back(spec, value->second);
  }
  return set;
}

std::string why_not_the_default(const std::string& value) {
  return fmt::format("with the default, {}, the run takes the same course", value);
}

// A control that was chosen: in the place of the fabric's, or where there is none.
void add_control(const Scenario& scenario, std::vector<Trial>& trials) {
  constexpr const char* kConstant = "fixed_window";
  const std::string& name = scenario.congestion.name;
  const bool is_own = scenario.fabric == fabrics::kNone ||
                      std::ranges::any_of(scenario.fabric_changes, [](const std::string& change) {
                        return change.starts_with("congestion ");
                      });
  if (name.empty() || name == kConstant || !is_own) return;
  trials.push_back({"congestion=" + name,
                    "with a constant window the run takes the same course: it had nothing to react to",
                    [](Scenario& changed) { changed.congestion = {.name = kConstant}; }});
}

void add_routing(const Scenario& scenario, std::vector<Trial>& trials) {
  if (scenario.routing.empty()) return;
  const ModuleChoice usual =
      sim::wanted_routing(topologies::routed_family(scenario.topology), scenario.fabric).policy;
  if (usual.name == scenario.routing.name) return;
  trials.push_back(
      {"routing=" + scenario.routing.name,
       fmt::format("with {}, which is recommended here, the run takes the same course", usual.name),
       [usual](Scenario& changed) { changed.routing = usual; }});
}

// ---- Of jobs: with several the change is made in all that have this value, so that one trial tells ----

// What follows from a change.
Scenario resolved_again(const Scenario& changed, const sim::Registries& registries) {
  return sim::resolve(sim::draft_of(changed), registries);
}

// What decides for each job: its own of several, else that of the run.
std::vector<ModuleChoice*> of_jobs(Scenario& scenario, ModuleChoice sim::RunSettings::*common,
                                   ModuleChoice sim::Job::*own) {
  if (scenario.jobs.size() == 1) return {&(scenario.*common)};
  std::vector<ModuleChoice*> all;
  for (sim::Job& job : scenario.jobs) all.push_back(&(job.*own));
  return all;
}

// What costs of hosts are where nobody gives any follows from others, and is not a setting.
void add_hosts(const Scenario& scenario, const sim::Registries& registries, std::vector<Trial>& trials) {
  const auto hosts = [](Scenario& of) { return of_jobs(of, &sim::RunSettings::hosts, &sim::Job::hosts); };
  Scenario given = scenario, usual = scenario;
  for (ModuleChoice* choice : hosts(usual)) {
    for (const char* name : {"o", "O", "S", "collective_S", "protocol"}) choice->given.erase(name);
  }
  usual = resolved_again(usual, registries);
  const std::vector<ModuleChoice*> mine = hosts(given), theirs = hosts(usual);
  std::map<std::pair<std::string, std::string>, std::string> chosen;  // and what there would be
  for (std::size_t i = 0; i < mine.size(); ++i) {
    for (const auto& [spec, value] : set_parameters(sim::hosts_section(), mine[i]->given, theirs[i]->given)) {
      chosen.emplace(std::pair(spec.name, value), spec.default_value);
    }
  }
  for (const auto& [setting, without] : chosen) {
    trials.push_back({fmt::format("hosts.{}={}", setting.first, setting.second), why_not_the_default(without),
                      [hosts, setting, without](Scenario& changed) {
                        for (ModuleChoice* choice : hosts(changed)) {
                          if (is_as(choice->given, setting.first, setting.second))
                            choice->given[setting.first] = without;
                        }
                      }});
  }
}

// What a library or a profile decides where nobody gives any is not a setting.
void add_collectives(const Scenario& scenario, std::span<const goal::Program> programs,
                     const sim::Registries& registries, std::vector<Trial>& trials) {
  const auto choices = [](Scenario& of) {
    return of_jobs(of, &sim::RunSettings::collectives, &sim::Job::collectives);
  };
  Scenario given = scenario, usual = scenario;
  for (ModuleChoice* choice : choices(usual)) choice->given.clear();
  usual = resolved_again(usual, registries);
  std::vector<std::string> remarks;
  sim::follow_libraries(usual, programs, remarks);
  const std::vector<ModuleChoice*> mine = choices(given), theirs = choices(usual);
  std::map<std::pair<std::string, std::string>, std::string> chosen;  // and what there would be
  for (std::size_t i = 0; i < mine.size(); ++i) {
    for (const auto& [name, value] : mine[i]->given) {
      const auto other = theirs[i]->given.find(name);
      const std::string without = other == theirs[i]->given.end() ? "" : other->second;
      if (value != without && value != sim::kByRules) chosen.emplace(std::pair(name, value), without);
    }
  }
  for (const auto& [setting, without] : chosen) {
    const auto& [name, value] = setting;
    trials.push_back({fmt::format("collectives.{}={}", name, value),
                      fmt::format("without it{} the run takes the same course",
                                  without.empty() ? "" : ", by " + without + ","),
                      [choices, setting, registries](Scenario& changed) {
                        for (ModuleChoice* choice : choices(changed)) {
                          if (is_as(choice->given, setting.first, setting.second))
                            choice->given.erase(setting.first);
                        }
                        changed = resolved_again(changed, registries);
                      }});
  }
}

// A job alone that was told to be packed, as it would be anyway, is set against one that is scattered: if
// that is the same too, it had no choice.
void add_placement(const Scenario& scenario, const sim::Registries& registries, std::vector<Trial>& trials) {
  constexpr const char *kUsual = "packed", *kOther = "random";
  const bool is_given = scenario.jobs.size() == 1 && scenario.scheduler.empty() && scenario.failed.empty();
  std::map<std::string, std::string> chosen;  // and what to try in its place
  for (const sim::Job& job : scenario.jobs) {
    if (job.placement.empty()) continue;
    if (job.placement.name != kUsual) chosen.emplace(job.placement.name, kUsual);
    if (job.placement.name == kUsual && is_given) chosen.emplace(kUsual, kOther);
  }
  for (const auto& [name, other] : chosen) {
    trials.push_back({.setting = "placement=" + name,
                      .why = fmt::format("with {} the ranks take the same course", other),
                      .change =
                          [name = name, other = other, registries](Scenario& changed) {
                            for (sim::Job& job : changed.jobs) {
                              if (job.placement.name == name) job.placement = {.name = other};
                            }
                            changed = resolved_again(changed, registries);
                          },
                      .moves_ranks = true});
  }
}

void add_connections(const Scenario& scenario, const sim::Registries& registries,
                     std::vector<Trial>& trials) {
  if (!scenario.connections) return;
  sim::Draft open = sim::draft_of(scenario);
  open.connections = std::string(sim::kByRules);
  open.connection_idle = {};
  const sim::ConnectionChoice usual = sim::resolve(open, registries).connections.value();
  if (usual == *scenario.connections) return;
  trials.push_back({fmt::format("connections={}", sim::to_text(*scenario.connections)),
                    fmt::format("with {} the run takes the same course", sim::to_text(usual)),
                    [usual](Scenario& changed) {
                      changed.connections = usual;
                      changed.connection_idle = {};
                    }});
}

void add_seed(const Scenario& scenario, std::vector<Trial>& trials) {
  const std::uint64_t usual = Scenario().seed;
  if (scenario.seed == usual) return;
  trials.push_back({.setting = fmt::format("seed={}", scenario.seed),
                    .why = fmt::format("with seed {} the run takes the same course: nothing was drawn that "
                                       "made a difference",
                                       usual),
                    .change = [usual](Scenario& changed) { changed.seed = usual; },
                    .draws_anew = true});
}

void add_compute_scale(const Scenario& scenario, std::vector<Trial>& trials) {
  for (std::size_t i = 0; i < scenario.jobs.size(); ++i) {
    const sim::Job& job = scenario.jobs[i];
    const bool is_first = std::ranges::none_of(
        std::span(scenario.jobs).first(i),
        [&](const sim::Job& before) { return before.compute_scale == job.compute_scale; });
    if (job.compute_scale == 1 || !is_first) continue;
    trials.push_back({fmt::format("compute_scale={}", job.compute_scale),
                      "with 1 the run takes the same course: it computes nothing that others wait for",
                      [scale = job.compute_scale](Scenario& changed) {
                        for (sim::Job& each : changed.jobs) {
                          if (each.compute_scale == scale) each.compute_scale = 1;
                        }
                      }});
  }
}

std::vector<Trial> trials_of(const Scenario& scenario, std::span<const goal::Program> programs,
                             bool chose_channels) {
  std::vector<Trial> trials;
  add_routing(scenario, trials);
  add_control(scenario, trials);
  const sim::Registries registries = sim::builtin_registries();
  for (const sim::Seam& seam : sim::seams()) {
    const ModuleChoice& choice = scenario.*seam.choice;
    if (choice.empty() || std::string_view(seam.field) == "topology") continue;
    const ModuleInfo& info = sim::find_info(seam, registries, choice);
    for (const auto& [spec, value] :
         set_parameters(info, choice.given, not_chosen(scenario, seam.field, chose_channels))) {
      trials.push_back({fmt::format("{}.{}.{}={}", seam.field, choice.name, spec.name, value),
                        why_not_the_default(spec.default_value),
                        [member = seam.choice, name = spec.name, usual = spec.default_value](
                            Scenario& changed) { (changed.*member).given[name] = usual; }});
    }
  }
  add_hosts(scenario, registries, trials);
  add_collectives(scenario, programs, registries, trials);
  add_placement(scenario, registries, trials);
  add_connections(scenario, registries, trials);
  add_compute_scale(scenario, trials);
  add_seed(scenario, trials);
  return trials;
}

bool is_same_rank(const results::Rank& a, const results::Rank& b) {
  return a.finish == b.finish && a.compute == b.compute && a.overhead == b.overhead && a.waiting == b.waiting;
}

bool is_same_link(const results::Link& a, const results::Link& b) {
  return a.bytes == b.bytes && a.packets == b.packets && a.busy == b.busy &&
         a.max_queue_bytes == b.max_queue_bytes;
}

// Modules count what others don't know.
bool is_same_where_both(const Signals& a, const Signals& b) {
  return std::ranges::all_of(a, [&](const auto& signal) {
    const auto other = std::ranges::find(b, signal.first, &std::pair<std::string, std::uint64_t>::first);
    return other == b.end() || other->second == signal.second;
  });
}

bool is_same_course(const results::Report& a, const results::Report& b, bool moves_ranks) {
  return a.outcome == b.outcome && a.makespan == b.makespan &&
         is_same_where_both(a.network_totals.signals, b.network_totals.signals) &&
         std::ranges::equal(a.ranks, b.ranks, is_same_rank) &&
         (moves_ranks || std::ranges::equal(a.links, b.links, is_same_link));
}

}  // namespace

nlohmann::ordered_json settings_without_effect(Rerun& rerun, const results::Report& base,
                                               bool chose_channels) {
  nlohmann::ordered_json told = nlohmann::ordered_json::array();
  for (const Trial& trial : trials_of(rerun.scenario(), rerun.programs(), chose_channels)) {
    try {
      const results::Report other =
          rerun.run_changed(trial.change, "running it again without " + trial.setting, trial.draws_anew);
      if (!is_same_course(base, other, trial.moves_ranks)) continue;
    } catch (const InputError&) {
      continue;  // the rest of the scenario needs it
    }
    told.push_back({{"setting", trial.setting}, {"why", trial.why}});
  }
  if (base.faults > 0 && base.link_changes == 0) {
    told.push_back({{"setting", "fault"}, {"why", "no link changed before the end of the run"}});
  }
  return told;
}

}  // namespace weft::cli
