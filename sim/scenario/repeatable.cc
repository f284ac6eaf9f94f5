#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "sim/scenario/scenario.h"
#include "sim/units/brackets.h"

namespace weft::sim {
namespace {

namespace fs = std::filesystem;

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
std::string absolute_file(const std::string& value, bool in_short_form) {
  const std::string_view bare = without_brackets(value);
  const std::string path = absolute_path(std::string(bare));
  const bool needs_brackets = in_short_form && path.find_first_of(",;[]") != std::string::npos;
  return bare.size() != value.size() || needs_brackets ? "[" + path + "]" : path;
}

using Modules = std::vector<RegisteredModule>;

void make_absolute(const ModuleInfo& info, std::map<std::string, std::string>& given, bool in_short_form,
                   const Modules& topologies);

// "slim_fly:q=5", as it is unless a path in it changes.
std::string absolute_topology(const std::string& text, const Modules& topologies) {
  ModuleChoice choice = parse_module_choice(text);
  const auto known = std::find_if(topologies.begin(), topologies.end(), [&](const RegisteredModule& module) {
    return module.info.name == choice.name;
  });
  if (known == topologies.end()) return text;
  const auto before = choice.given;
  make_absolute(known->info, choice.given, true, topologies);
  if (choice.given == before) return text;
  std::string changed = choice.name;
  char separator = ':';
  for (const auto& [name, value] : choice.given) {
    changed += fmt::format("{}{}={}", separator, name, value);
    separator = ',';
  }
  return changed;
}

std::string absolute_topologies(const std::string& value, const Modules& topologies) {
  std::string changed;
  bool is_changed = false;
  for (std::string_view one : split_outside_brackets(without_brackets(value), ';')) {
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    one = one.substr(0, one.find_last_not_of(' ') + 1);
    const std::string absolute = one.empty() ? "" : absolute_topology(std::string(one), topologies);
    is_changed |= absolute != one;
    changed += (changed.empty() ? "" : "; ") + absolute;
  }
  return is_changed ? "[" + changed + "]" : value;
}

void make_absolute(const ModuleInfo& info, std::map<std::string, std::string>& given, bool in_short_form,
                   const Modules& topologies) {
  for (const ParameterSpec& spec : info.parameters) {
    const auto found = given.find(spec.name);
    if (found == given.end() || found->second.empty()) continue;
    std::string& value = found->second;
    if (spec.type == ParameterType::kFile ||
        (spec.type == ParameterType::kNameOrFile && value.find_first_of("./") != std::string::npos)) {
      value = absolute_file(value, in_short_form);
    } else if (spec.type == ParameterType::kTopologies) {
      value = absolute_topologies(value, topologies);
    }
  }
}

void make_absolute(ModuleChoice& choice, const Modules& modules, const Modules& topologies) {
  for (const RegisteredModule& module : modules) {
    if (module.info.name == choice.name) make_absolute(module.info, choice.given, false, topologies);
  }
}

}  // namespace

Scenario repeatable(const Scenario& scenario, const Registries& registries) {
  Scenario portable = scenario;
  portable.output.directory.clear();
  for (std::string& plugin : portable.plugins) plugin = absolute_path(plugin);
  for (Job& job : portable.jobs) {
    job.goal = absolute_path(job.goal);
    make_absolute(job.traffic, registries.traffic, registries.topologies);
    make_absolute(job.placement, registries.placements, registries.topologies);
    make_absolute(collectives_section(registries), job.collectives.given, false, registries.topologies);
  }
  make_absolute(portable.scheduler, registries.schedulers, registries.topologies);
  for (const Seam& seam : seams()) {
    make_absolute(portable.*seam.choice, registries.*seam.modules, registries.topologies);
  }
  make_absolute(collectives_section(registries), portable.collectives.given, false, registries.topologies);
  return portable;
}

}  // namespace weft::sim
