#include "sim/run/listed_jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "goal/program.h"
#include "sim/jobs/job_list.h"
#include "sim/placement/policies/policies.h"
#include "sim/run/job_setup.h"
#include "topologies/families.h"

namespace weft::sim {
namespace {

// So many still fit into the scenario that a run leaves, as large as a scenario may be.
constexpr std::size_t kMostJobsOfRun = 100'000;
constexpr std::string_view kCompute = "compute";  // the traffic of jobs that only have hosts

ModuleChoice computing(Time time) {
  return {.name = std::string(kCompute),
          .given = {{"compute", to_string(time)}},
          .location = {},
          .locations = {}};
}

class Expansion {
 public:
  Expansion(const Draft& draft, const Registries& registries)
      : run_(draft), list_(draft.job_list), registries_(registries) {}

  // May be called once.
  Scenario scenario() {
    if (!run_.jobs.empty()) {
      throw InputError(list_.location, "a scenario has jobs or a job_list; this one has both");
    }
    const jobs::JobList list = jobs::read_job_list(list_.file);
    if (run_.scheduler.empty() && !registries_.schedulers.empty()) {
      run_.scheduler.name = registries_.schedulers[0].info.name;
      run_.scheduler.location = list_.location;
    }
    find_models();
    find_machine(list);
    const std::size_t count =
        list_.jobs == 0 ? list.jobs.size() : std::min<std::size_t>(list_.jobs, list.jobs.size());
    if (count > kMostJobsOfRun) {
      throw InputError(
          list_.location,
          fmt::format("{} has {} jobs, and a run may have {}: give job_list.jobs, the number of the first "
                      "ones",
                      list_.file, count, kMostJobsOfRun));
    }
    for (std::size_t i = 0; i < count; ++i) add(list.jobs[i]);
    for (const goal::Anomaly& each : list.anomalies) warn(each.count, each.sentence);
    warn(other_name_, "Jobs of models that have no name here; they have a model by their size.");
    if (models_.empty() && list.names_models) {
      const auto names = [](const jobs::ListedJob& job) { return !job.model.empty(); };
      warn(static_cast<std::uint64_t>(std::ranges::count_if(list.jobs | std::views::take(count), names)),
           "Jobs of models, of which none is given (job_list.model); they compute for the time that they "
           "took.");
    }
    warn(no_model_, "Jobs that no model fits; left out.");
    warn(too_large_, "Jobs that don't fit the machine; left out.");
    warn(no_runtime_, "Jobs of which it isn't known how long they took; left out.");
    warn_of_idle_models();
    if (run_.jobs.empty())
      throw InputError(SourceLocation{.file = list_.file}, "none of its jobs can be run");
    run_.job_list = {};
    Scenario resolved = resolve(run_, registries_);
    resolved.warnings.insert(resolved.warnings.begin(), warnings_.begin(), warnings_.end());
    return resolved;
  }

 private:
  struct Model {
    const JobModel* what;
    std::uint32_t least, most, ranks;  // ranks: of its graph; 0: as many as the job
    std::uint64_t jobs = 0;            // that have it
  };

  void find_models() {
    for (const JobModel& each : list_.models) {
      Model model{&each, std::max(1u, each.least_ranks), each.most_ranks, 0};
      if (!each.job.goal.empty() && each.job.traffic.empty()) {
        model.ranks = goal::open_program(each.job.goal).ranks();
        if (each.least_ranks == 0 && each.most_ranks == 0) model.least = model.most = model.ranks;
      }
      if (each.job.goal.empty() == each.job.traffic.empty()) {
        throw InputError(each.job.location, "a model of jobs needs goal or traffic, and not both");
      }
      if (const auto ranks = each.job.traffic.given.find("ranks"); ranks != each.job.traffic.given.end()) {
        throw InputError(each.job.location,
                         fmt::format("ranks={} in a model's traffic: it has as many ranks as each job; "
                                     "least_ranks and most_ranks say which jobs the model is for",
                                     ranks->second));
      }
      if (model.most == 0) model.most = UINT32_MAX;
      if (model.least > model.most) {
        throw InputError(each.job.location, fmt::format("least_ranks is {}, which is above most_ranks, {}",
                                                        model.least, model.most));
      }
      models_.push_back(model);
    }
  }

  // The network is what it would be for any job.
  void find_machine(const jobs::JobList& list) {
    Draft one = run_;
    one.job_list = {};
    one.output = {};
    one.nodes = 0;
    one.scheduler = {};
    Job job;
    job.traffic = computing(Time());
    one.jobs = {job};
    const Scenario resolved = resolve(one, registries_);
    if (!resolved.topology.empty()) {
      const topologies::Family& family = find_module(topologies::families(), resolved.topology, "topology");
      topology_.emplace(topologies::build(family, Parameters(family.info, resolved.topology)));
      machine_.emplace(machine_of(resolved, *topology_));
      nodes_ = placement::sound_hosts(*machine_);
      return;
    }
    if (run_.nodes == 0) {
      const std::uint32_t ranks_per_host = ranks_per_host_of(run_.hosts);
      run_.nodes = jobs::nodes_of(list, ranks_per_host);
      if (run_.nodes > list.machine_nodes && list.machine_nodes > 0) {
        warnings_.push_back(
            fmt::format("{}: its machine has {} nodes with {} processors; with a rank on each host, each "
                        "processor is a host here (hosts.ranks_per_host, or nodes)",
                        list_.file, list.machine_nodes, list.machine_processors));
      }
    }
    nodes_ = run_.nodes;
    if (nodes_ > 0) return;
    throw InputError(
        list_.location,
        fmt::format("{} doesn't say how many nodes there are, and network model {} has no hosts to "
                    "count: give nodes (--set nodes=64)",
                    list_.file, resolved.network.name));
  }

  void add(const jobs::ListedJob& listed) {
    Model* const model = model_for(listed);
    if (!models_.empty() && model == nullptr) {
      ++no_model_;
      return;
    }
    if (model == nullptr && listed.runtime < 0) {
      ++no_runtime_;
      return;
    }
    Job job = model == nullptr ? Job() : model->what->job;
    if (model == nullptr) job.traffic = computing(scaled(listed, listed.runtime, 1));
    const std::uint32_t ranks = model == nullptr || model->ranks == 0 ? listed.ranks : model->ranks;
    if (!job.traffic.empty()) job.traffic.given["ranks"] = fmt::format("{}", ranks);
    job.name = listed.id;
    job.location = {.file = list_.file, .line = listed.line};
    job.at = scaled(listed, listed.submit, 1);
    if (listed.estimate() >= 0) {
      job.estimate = std::max(scaled(listed, listed.estimate(), list_.estimate_factor), Time::ns(1));
    }
    if (model != nullptr) ++model->jobs;
    if (fits(job, ranks)) {
      run_.jobs.push_back(std::move(job));
    } else {
      ++too_large_;
    }
  }

  // Rounded to whole nanoseconds, in which graphs compute.
  Time scaled(const jobs::ListedJob& listed, jobs::ListTime time, double factor) const {
    const double ns = std::round(static_cast<double>(time) * factor / list_.time_scale);
    if (ns <= static_cast<double>(kEndOfTime.ps() / 1000)) return Time::ns(static_cast<std::int64_t>(ns));
    throw InputError({.file = list_.file, .line = listed.line},
                     "a time of this job is after 53 days, where simulated time ends; give a larger "
                     "job_list.time_scale");
  }

  Model* model_for(const jobs::ListedJob& listed) {
    const auto find = [&](bool by_name) -> Model* {
      for (Model& model : models_) {
        if (by_name && model.what->job.name != listed.model) continue;
        if (model.least <= listed.ranks && listed.ranks <= model.most) return &model;
      }
      return nullptr;
    };
    const bool named = std::any_of(models_.begin(), models_.end(), [&](const Model& model) {
      return !listed.model.empty() && model.what->job.name == listed.model;
    });
    other_name_ += !listed.model.empty() && !models_.empty() && !named;
    return find(named);
  }

  // 0: it isn't given.
  static std::uint32_t ranks_per_host_of(const ModuleChoice& hosts) {
    const auto found = hosts.given.find("ranks_per_host");
    if (found == hosts.given.end()) return 0;
    return static_cast<std::uint32_t>(std::strtoul(found->second.c_str(), nullptr, 10));
  }

  // Were it alone on the machine?
  bool fits(const Job& job, std::uint32_t ranks) {
    const std::uint32_t own = ranks_per_host_of(job.hosts), common = ranks_per_host_of(run_.hosts);
    const std::uint32_t per_node = own > 0 ? own : std::max(common, 1u);
    const placement::Request request{.ranks = ranks, .ranks_per_node = per_node, .seed = run_.seed};
    if (request.nodes() > nodes_) return false;
    if (!topology_) return true;
    const ModuleChoice& choice = job.placement.empty() ? run_.placement : job.placement;
    if (placement::policy_of(choice).needs_exchanges) return true;  // it takes any hosts
    const auto [known, is_new] = fits_.emplace(std::tuple(choice.name, choice.given, ranks, per_node), false);
    if (is_new) {
      known->second = placement::place(choice, request, *machine_).no_room.empty();
    }
    return known->second;
  }

  void warn_of_idle_models() {
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (models_[i].jobs > 0) continue;
      const std::string& name = models_[i].what->job.name;
      warnings_.push_back(
          fmt::format("{}: no job has model {}{}: its name or size is none of theirs, or a model before it "
                      "takes them",
                      list_.file, i + 1, name.empty() ? "" : fmt::format(" ({})", name)));
    }
  }

  void warn(std::uint64_t count, const std::string& sentence) {
    if (count > 0) warnings_.push_back(fmt::format("{}: {}: {}", list_.file, count, sentence));
  }

  Draft run_;
  const JobListChoice list_;
  const Registries& registries_;
  std::vector<Model> models_;
  std::optional<topologies::Topology> topology_;
  std::optional<placement::Machine> machine_;
  std::uint32_t nodes_ = 0;
  std::map<std::tuple<std::string, std::map<std::string, std::string>, std::uint32_t, std::uint32_t>, bool>
      fits_;
  std::vector<std::string> warnings_;
  std::uint64_t other_name_ = 0, no_model_ = 0, too_large_ = 0, no_runtime_ = 0;
};

}  // namespace

Scenario resolve_with_list(const Draft& draft, const Registries& registries) {
  return draft.job_list.file.empty() ? resolve(draft, registries) : Expansion(draft, registries).scenario();
}

}  // namespace weft::sim
