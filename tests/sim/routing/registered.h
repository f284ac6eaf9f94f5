// Registered policies with parameters, for networks made by hand.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

#include "sim/routing/policies/policies.h"
#include "sim/units/module.h"

namespace weft::routing {

// "valiant:per=flow": the policy, whose defaults are what is given.
inline Policy registered(const std::string& text) {
  const ModuleChoice choice = parse_module_choice(text);
  Policy policy = find_module(policies(), choice, "routing policy");
  for (const auto& [name, value] : choice.given) {
    bool known = false;
    for (ParameterSpec& spec : policy.info.parameters) {
      if (spec.name != name) continue;
      spec.default_value = value;
      known = true;
    }
    if (!known) throw std::logic_error(text + ": no parameter " + name);
  }
  return policy.configured(Parameters(policy.info, std::map<std::string, std::string>()));
}

}  // namespace weft::routing
