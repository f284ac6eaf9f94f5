#include "sim/scenario/complete.h"

#include <fmt/core.h>

#include <string>

namespace weft::sim {
namespace {

// As a scenario file gives it back: "1" for the real number "1.0".
std::string canonical(const ParameterSpec& spec, const Parameters& parameters) {
  if (parameters.automatic(spec.name)) return parameters.text(spec.name);
  switch (spec.type) {
    case ParameterType::kInteger:
      return fmt::format("{}", parameters.integer(spec.name));
    case ParameterType::kReal:
      return fmt::format("{}", parameters.real(spec.name));
    case ParameterType::kBoolean:
      return parameters.boolean(spec.name) ? "true" : "false";
    default:
      return parameters.text(spec.name);
  }
}

}  // namespace

void complete(const ModuleInfo& info, ModuleChoice& choice) {
  const Parameters parameters(info, choice);
  for (const ParameterSpec& spec : info.parameters) {
    choice.given[spec.name] = canonical(spec, parameters);
  }
}

}  // namespace weft::sim
