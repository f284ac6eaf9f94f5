#include "sim/plugins/load.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>
#include <set>
#include <string_view>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/recoveries.h"
#include "sim/fabrics/fabrics.h"
#include "sim/placement/policies/policies.h"
#include "sim/plugins/plugin.h"
#include "sim/routing/policies/policies.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
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
  fill(plugin);
  try {
    for (congestion::Control& control : plugin.controls) congestion::add_control(std::move(control));
    for (congestion::RecoveryKind& kind : plugin.recoveries) congestion::add_recovery(std::move(kind));
    for (routing::Policy& policy : plugin.policies) routing::add_policy(std::move(policy));
    for (topologies::Family& family : plugin.families) topologies::add_family(std::move(family));
    for (placement::Policy& policy : plugin.placements) placement::add_policy(std::move(policy));
    for (fabrics::Fabric& fabric : plugin.fabrics) fabrics::add_fabric(std::move(fabric));
  } catch (const InputError& taken) {
    throw InputError(fmt::format("{}: {}", path, taken.what()));
  }
  loaded.insert(file);
}

}  // namespace weft::sim
