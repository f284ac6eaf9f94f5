#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "sim/scenario/draft.h"
#include "sim/scenario/seams.h"
#include "sim/units/brackets.h"

namespace weft::sim {
namespace {

namespace fs = std::filesystem;

// What a path is to become.
using ChangePath = std::function<std::string(const std::string& path)>;

std::string absolute_path(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;  // the working directory is gone, and relative paths with it
  // What comes after a symbolic link's ".." is not where it seems to be.
  const bool goes_up = std::find(absolute.begin(), absolute.end(), "..") != absolute.end();
  return (goes_up ? absolute : absolute.lexically_normal()).string();
}

// In brackets if it has to be, in a short form: around a comma, and where it was.
std::string changed_file(const std::string& value, bool in_short_form, const ChangePath& change) {
  const std::string_view bare = without_brackets(value);
  const std::string path = change(std::string(bare));
  const bool needs_brackets = in_short_form && path.find_first_of(",;[]") != std::string::npos;
  return bare.size() != value.size() || needs_brackets ? "[" + path + "]" : path;
}

using Topologies = std::vector<RegisteredTopology>;

void change_files(const ModuleInfo& info, std::map<std::string, std::string>& given, bool in_short_form,
                  const Topologies& topologies, const ChangePath& change);

// "slim_fly:q=5", as it is unless a path in it changes.
std::string changed_topology(const std::string& text, const Topologies& topologies,
                             const ChangePath& change) {
  ModuleChoice choice = parse_module_choice(text);
  const RegisteredTopology* const known = find_registered(topologies, choice.name);
  if (known == nullptr) return text;
  const auto before = choice.given;
  change_files(known->info, choice.given, true, topologies, change);
  if (choice.given == before) return text;
  std::string changed = choice.name;
  char separator = ':';
  for (const auto& [name, value] : choice.given) {
    changed += fmt::format("{}{}={}", separator, name, value);
    separator = ',';
  }
  return changed;
}

std::string changed_topologies(const std::string& value, const Topologies& topologies,
                               const ChangePath& change) {
  std::string changed;
  bool is_changed = false;
  for (std::string_view one : split_outside_brackets(without_brackets(value), ';')) {
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    one = one.substr(0, one.find_last_not_of(' ') + 1);
    const std::string now = one.empty() ? "" : changed_topology(std::string(one), topologies, change);
    is_changed |= now != one;
    changed += (changed.empty() ? "" : "; ") + now;
  }
  return is_changed ? "[" + changed + "]" : value;
}

void change_files(const ModuleInfo& info, std::map<std::string, std::string>& given, bool in_short_form,
                  const Topologies& topologies, const ChangePath& change) {
  for (const ParameterSpec& spec : info.parameters) {
    const auto found = given.find(spec.name);
    if (found == given.end() || found->second.empty()) continue;
    std::string& value = found->second;
    if (spec.type == ParameterType::kFile ||
        (spec.type == ParameterType::kNameOrFile && value.find_first_of("./") != std::string::npos)) {
      value = changed_file(value, in_short_form, change);
    } else if (spec.type == ParameterType::kTopologies) {
      value = changed_topologies(value, topologies, change);
    }
  }
}

// Every path that the draft names, but for the folder of its results.
void change_files(Draft& draft, const Registries& registries, const ChangePath& change) {
  const auto change_path = [&](std::string& path) {
    if (!path.empty()) path = change(path);
  };
  const auto change_parameters = [&](const ModuleInfo& info, ModuleChoice& choice) {
    change_files(info, choice.given, false, registries.topologies, change);
  };
  const auto change_choice = [&](ModuleChoice& choice, const Seam& seam) {
    for (const ModuleInfo* info : seam.modules(registries)) {
      if (info->name == choice.name) change_parameters(*info, choice);
    }
  };
  const auto change_job = [&](Job& job) {
    change_path(job.goal);
    change_choice(job.traffic, traffic_seam());
    change_choice(job.placement, placement_seam());
    change_parameters(collectives_section(registries), job.collectives);
  };
  for (std::string& plugin : draft.plugins) change_path(plugin);
  for (Job& job : draft.jobs) change_job(job);
  change_path(draft.job_list.file);
  for (JobModel& model : draft.job_list.models) change_job(model.job);
  change_choice(draft.placement, placement_seam());
  change_choice(draft.scheduler, scheduler_seam());
  for (const Seam& seam : seams()) change_choice(draft.*seam.choice, seam);
  change_parameters(collectives_section(registries), draft.collectives);
}

}  // namespace

Draft with_paths(const Draft& draft, const Registries& registries, const ChangePath& change) {
  Draft changed = draft;
  change_files(changed, registries, change);
  return changed;
}

Draft repeatable(const Draft& draft, const Registries& registries) {
  Draft portable = with_paths(draft, registries, absolute_path);
  portable.output.directory.clear();
  return portable;
}

std::vector<std::string> input_files(const Draft& draft, const Registries& registries) {
  std::vector<std::string> paths;
  with_paths(draft, registries, [&](const std::string& path) {
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    return path;
  });
  return paths;
}

}  // namespace weft::sim
