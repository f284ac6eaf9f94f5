#include "topologies/families.h"

#include <fmt/format.h>

#include <charconv>

#include "topologies/composed.h"
#include "topologies/families/algebraic.h"
#include "topologies/families/groups.h"
#include "topologies/families/lattices.h"
#include "topologies/families/random.h"
#include "topologies/families/servers.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

std::vector<Family> all() {
  std::vector<Family> list;
  for (const auto& families : {tree_families(), lattice_families(), group_families(), server_families(),
                               algebraic_families(), random_families(), composed_families()}) {
    list.insert(list.end(), families.begin(), families.end());
  }
  return list;
}

constexpr const char* kEndpoints = "endpoints";

std::uint64_t read_endpoints(const ModuleChoice& choice) {
  const std::string& text = choice.given.at(kEndpoints);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0) return value;
  throw InputError(
      choice.location,
      fmt::format("{}: endpoints is '{}', but it must be a whole number above 0", choice.name, text));
}

}  // namespace

std::span<const Family> families() {
  static const std::vector<Family> list = all();
  return list;
}

ModuleChoice sized(const ModuleChoice& choice) {
  if (!choice.given.contains(kEndpoints)) return choice;
  const Family& family = find_module(families(), choice, "topology");
  if (family.size_for == nullptr) {
    throw InputError(choice.location,
                     fmt::format("{} has a size of its own: it takes no endpoints", choice.name));
  }
  ModuleChoice result = choice;
  result.given.erase(kEndpoints);
  for (const auto& [name, value] : family.size_for(read_endpoints(choice))) {
    if (result.given.contains(name)) {
      throw InputError(choice.location,
                       fmt::format("{}: endpoints sets '{}', which is given too; leave one of them out",
                                   choice.name, name));
    }
    result.given[name] = value;
  }
  return result;
}

Topology build(const ModuleChoice& choice) {
  const Family& family = find_module(families(), choice, "topology");
  return family.build(Parameters(family.info, sized(choice)));
}

}  // namespace weft::topologies
