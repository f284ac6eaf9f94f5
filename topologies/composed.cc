#include "topologies/composed.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>
#include <string>
#include <string_view>

#include "sim/units/brackets.h"
#include "sim/units/input_error.h"
#include "topologies/datacenters.h"
#include "topologies/families/cabling.h"
#include "topologies/random_equivalent.h"
#include "topologies/scale_up.h"

namespace weft::topologies {

std::vector<ParameterSpec> with_inner_network(std::vector<ParameterSpec> own) {
  own.insert(own.begin(),
             {"of", ParameterType::kTopologies, "", "The other network, written like [slim_fly:q=5]."});
  for (ParameterSpec& spec : with_cabling({})) {
    spec.default_value = "auto";
    spec.help = "As for other networks; auto: as `of` has it.";
    own.push_back(std::move(spec));
  }
  return own;
}

namespace {

// What `of` holds, without the brackets around it, if there are.
std::string_view read_of(const Parameters& parameters) {
  const std::string_view text = parameters.text("of");
  if (std::ranges::count(text, '[') != std::ranges::count(text, ']')) {
    parameters.fail("of", "each [ must have its ], like [slim_fly:q=5]");
  }
  return without_brackets(text);
}

ModuleChoice read_choice(const Parameters& parameters, std::string_view text) {
  if (text.empty()) parameters.fail("of", "it must be another network, written like [slim_fly:q=5]");
  ModuleChoice inner = parse_module_choice(text);
  for (const ParameterSpec& spec : with_cabling({})) {
    if (parameters.automatic(spec.name)) continue;
    if (inner.given.contains(spec.name)) {
      parameters.fail(spec.name, "`of` gives it too; leave one of them out");
    }
    inner.given[spec.name] = parameters.text(spec.name);
  }
  return inner;
}

}  // namespace

ModuleChoice read_inner_network(const Parameters& parameters) {
  return read_choice(parameters, read_of(parameters));
}

std::vector<ModuleChoice> read_inner_networks(const Parameters& parameters) {
  std::vector<ModuleChoice> networks;
  for (const std::string_view one : split_outside_brackets(read_of(parameters), ';')) {
    networks.push_back(read_choice(parameters, boost::algorithm::trim_copy(std::string(one))));
  }
  return networks;
}

bool is_routed_as_inner(std::string_view family) { return family == scale_up_family().info.name; }

std::string routed_family(const ModuleChoice& choice) {
  if (!is_routed_as_inner(choice.name)) return choice.name;
  const auto of = choice.given.find("of");
  if (of == choice.given.end()) return choice.name;
  const std::string_view inner = without_brackets(of->second);
  try {
    return inner.empty() ? choice.name : routed_family(parse_module_choice(inner));
  } catch (const InputError&) {
    return choice.name;
  }
}

std::vector<ModuleChoice> host_networks(const ModuleChoice& choice) {
  const auto of = choice.given.find("of");
  if (choice.name != datacenters_family().info.name || of == choice.given.end()) return {choice};
  std::vector<ModuleChoice> networks;
  try {
    for (const std::string_view site : split_outside_brackets(without_brackets(of->second), ';')) {
      networks.push_back(parse_module_choice(boost::algorithm::trim_copy(std::string(site))));
    }
  } catch (const InputError&) {
    return {choice};
  }
  return networks;
}

std::vector<Family> composed_families() {
  return {random_equivalent_family(), scale_up_family(), datacenters_family()};
}

}  // namespace weft::topologies
