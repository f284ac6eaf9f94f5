// Limits of parameters: of every module that is built in, against what Parameters and `weft describe` make of
// them.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "goal/import/importer.h"
#include "sim/placement/placement.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scenario.h"
#include "tools/weft/cli/list.h"

namespace weft::cli {
namespace {

std::vector<ModuleInfo> all_modules() {
  const Catalog catalog = builtin_catalog();
  const sim::Registries& registries = catalog.registries;
  std::vector<ModuleInfo> all{sim::hosts_section(), sim::fault_section(),
                              sim::collectives_section(registries)};
  std::vector<sim::Seam> seams(sim::seams().begin(), sim::seams().end());
  seams.push_back(sim::traffic_seam());
  for (const sim::Seam& seam : seams) {
    for (const ModuleInfo* module : seam.modules(registries)) all.push_back(*module);
  }
  for (const auto& algorithm : registries.algorithms) all.push_back(algorithm.info);
  for (const auto& scheduler : registries.schedulers) all.push_back(scheduler.info);
  for (const ModuleInfo& protocol : registries.protocols) all.push_back(protocol);
  for (const ModuleInfo& profile : registries.profiles) all.push_back(profile);
  for (const auto& importer : catalog.importers) all.push_back(importer.info);
  for (const auto& placement : catalog.placements) all.push_back(placement.info);
  return all;
}

// A module that has this parameter alone.
ModuleInfo alone(const ModuleInfo& module, const ParameterSpec& spec) {
  return {module.name, "", "", {spec}};
}

// The next value below or above, as a user would write it; "" where the type has none.
std::string next(ParameterType type, const std::string& text, int step) {
  const Parameters of(ModuleInfo{"of", "", "", {{"x", type, text, ""}}}, {});
  switch (type) {
    case ParameterType::kInteger:
      return std::to_string(of.integer("x") + step);
    case ParameterType::kReal: {
      char digits[40];
      const double infinity = std::numeric_limits<double>::infinity();
      std::snprintf(digits, sizeof digits, "%.17g", std::nextafter(of.real("x"), step * infinity));
      return digits;
    }
    case ParameterType::kTime:
      return std::to_string(of.time("x").ps() + step) + "ps";
    case ParameterType::kBandwidth:
      return std::to_string(of.bandwidth("x").bps() + step);
    case ParameterType::kBytes:
      return std::to_string(static_cast<std::int64_t>(of.bytes("x")) + step);
    default:
      FAIL("a text has no limit that is a number");
      return "";
  }
}

void takes(const ModuleInfo& module, const ParameterSpec& spec, const std::string& value) {
  INFO(module.name << " " << spec.name << "=" << value);
  CHECK_NOTHROW(Parameters(alone(module, spec), {{spec.name, value}}));
}

void refuses(const ModuleInfo& module, const ParameterSpec& spec, const std::string& value) {
  INFO(module.name << " " << spec.name << "=" << value);
  CHECK_THROWS_WITH(Parameters(alone(module, spec), {{spec.name, value}}),
                    Catch::StartsWith(module.name + ": " + spec.name) && Catch::Contains(value));
}

bool is_written(const std::string& limit) { return !limit.empty(); }

}  // namespace

TEST_CASE("limits: of every module, held to the last value that they allow") {
  int numbers = 0, words = 0;
  for (const ModuleInfo& module : all_modules()) {
    for (const ParameterSpec& spec : module.parameters) {
      INFO(module.name << " " << spec.name);
      const Limits& limits = spec.limits;
      CHECK_FALSE((is_written(limits.least) && is_written(limits.above)));
      CHECK_FALSE((is_written(limits.most) && is_written(limits.below)));
      if (is_written(spec.default_value)) takes(module, spec, spec.default_value);
      for (const std::string& lowest : {limits.least, limits.above}) {
        if (!is_written(lowest)) continue;
        const bool included = lowest == limits.least;
        if (included) takes(module, spec, lowest);
        refuses(module, spec, included ? next(spec.type, lowest, -1) : lowest);
        if (!included) takes(module, spec, next(spec.type, lowest, 1));
        ++numbers;
      }
      for (const std::string& highest : {limits.most, limits.below}) {
        if (!is_written(highest)) continue;
        const bool included = highest == limits.most;
        if (included) takes(module, spec, highest);
        refuses(module, spec, included ? next(spec.type, highest, 1) : highest);
        if (!included) takes(module, spec, next(spec.type, highest, -1));
        ++numbers;
      }
      if (limits.one_of.empty()) continue;
      CHECK(is_text(spec.type));
      for (const std::string& word : limits.one_of) takes(module, spec, word);
      refuses(module, spec, limits.one_of.front() + "_x");
      ++words;
    }
  }
  CHECK(numbers > 100);
  CHECK(words > 10);
}

TEST_CASE("limits: weft describe tells them, and no help says them again") {
  const Catalog catalog = builtin_catalog();
  for (const char* name : {"swift", "credit", "sleek"}) {
    const std::string text = describe_text(catalog, name);
    INFO(text);
    CHECK_THAT(text, Catch::Contains(" It must be "));
  }
  CHECK_THAT(describe_text(catalog, "fixed_window"),
             Catch::Contains("where that is more. It must be from 1 to 1000000000.\n"));
  CHECK_THAT(describe_text(catalog, "powertcp"), Catch::Contains(" It must be telemetry or delay.\n"));
  for (const ModuleInfo& module : all_modules()) {
    for (const ParameterSpec& spec : module.parameters) {
      INFO(module.name << " " << spec.name);
      const std::string limits = to_string(spec.limits);
      if (!limits.empty()) CHECK(spec.help.find(limits) == std::string::npos);
    }
  }
}

}  // namespace weft::cli
