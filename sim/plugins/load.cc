#include "sim/plugins/load.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/recoveries.h"
#include "sim/fabrics/fabrics.h"
#include "sim/placement/policies/policies.h"
#include "sim/plugins/plugin.h"
#include "sim/routing/policies/policies.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "sim/units/plugin_modules.h"
#include "topologies/families.h"

namespace weft::sim {
namespace {

using internal::PluginMark;

// "00000001/0123456789abcdef", as it stands in a file; "" if it isn't there.
std::string mark_in(const std::string& path) {
  check_input(path);
  const std::string content = read_input(path);
  const std::size_t found = content.find(PluginMark::kBegin);
  return found == std::string::npos ? "" : content.c_str() + found;  // up to the zero behind it
}

void check_mark(const std::string& path) {
  static constexpr PluginMark kOwn = internal::make_plugin_mark(kPluginInterface, internal::kPluginLayout);
  const std::string_view own = kOwn.text.data();
  const std::string mark = mark_in(path);
  if (mark.empty()) {
    throw InputError(fmt::format("{} is no plug-in: expected a shared object with WEFT_PLUGIN in it", path));
  }
  if (mark != own) {
    const auto number = [](std::string_view text) { return text.substr(PluginMark::kBegin.size()); };
    throw InputError(
        fmt::format("{}: the plug-in was compiled for interface {}, and this weft has {}: compile it again, "
                    "with this weft's "
                    "headers and compiler",
                    path, number(mark), number(own)));
  }
}

// Names that two parameters have, and defaults that are none, are the plug-in's errors and no user's.
void check_parameters(const ModuleInfo& module) {
  std::set<std::string_view> names;
  for (const ParameterSpec& spec : module.parameters) {
    if (spec.name.empty()) throw InputError(fmt::format("a parameter of {} has no name", module.name));
    if (!names.insert(spec.name).second) {
      throw InputError(fmt::format("{} has two parameters of the name '{}'", module.name, spec.name));
    }
    if (spec.default_value.empty()) continue;  // it must be given, or is a text
    ModuleInfo alone;
    alone.name = module.name;
    alone.parameters = {spec};
    try {
      (void)Parameters(alone, std::map<std::string, std::string>());
    } catch (const InputError& error) {
      throw InputError(fmt::format("a default is wrong: {}", error.what()));
    }
  }
}

// Adds modules of one kind to their list. `function`: that there must be, for messages; "" if none must.
template <typename Module, typename Has>
void take(std::vector<Module>& modules, const char* kind, const char* function, const Has& has,
          void (*add)(Module), const std::string& path) {
  for (Module& module : modules) {
    const std::string name = module.info.name;
    check_parameters(module.info);
    const bool whole = has(module);
    add(std::move(module));
    if (!whole) throw InputError(fmt::format("the {} '{}' has no function {}", kind, name, function));
    note_plugin_module(kind, name, path);
  }
}

void take(Plugin& plugin, const std::string& path) {
  take(
      plugin.controls, "congestion control", "make_factory",
      [](const auto& each) { return each.make_factory != nullptr; }, congestion::add_control, path);
  take(
      plugin.recoveries, "loss recovery", "make_factory",
      [](const auto& each) { return each.make_factory != nullptr; }, congestion::add_recovery, path);
  const auto any = [](const auto&) { return true; };  // null means the built-in rule, or nothing
  take(plugin.policies, "routing policy", "", any, routing::add_policy, path);
  take(
      plugin.families, "topology", "build", [](const auto& each) { return each.build != nullptr; },
      topologies::add_family, path);
  take(
      plugin.placements, "placement", "place", [](const auto& each) { return each.place != nullptr; },
      placement::add_policy, path);
  take(plugin.fabrics, "fabric", "", any, fabrics::add_fabric, path);
}

}  // namespace

void load_plugin(const std::string& path) {
  static std::set<std::string> loaded;
  std::error_code error;
  const std::string file = std::filesystem::canonical(path, error).string();
  if (error) throw InputError(fmt::format("{}: the plug-in can't be read: {}", path, error.message()));
  if (loaded.contains(file)) return;
  check_mark(file);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw InputError(fmt::format("the plug-in can't be loaded: {}", dlerror()));
  const auto fill = reinterpret_cast<void (*)(Plugin&)>(dlsym(library, "weft_plugin"));
  if (fill == nullptr) throw InputError(fmt::format("{}: the plug-in has no function weft_plugin", path));
  Plugin plugin;
  try {
    fill(plugin);
    take(plugin, path);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{}: the plug-in threw: {}", path, error.what()));
  } catch (...) {
    throw InputError(fmt::format("{}: the plug-in threw what is no std::exception", path));
  }
  loaded.insert(file);
}

}  // namespace weft::sim
