#include "topologies/families.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "sim/units/module_list.h"
#include "sim/units/plugin_modules.h"
#include "topologies/composed.h"
#include "topologies/families/algebraic.h"
#include "topologies/families/groups.h"
#include "topologies/families/lattices.h"
#include "topologies/families/random.h"
#include "topologies/families/servers.h"
#include "topologies/families/trees.h"
#include "topologies/import/graph_file.h"
#include "topologies/machines/machines.h"
#include "topologies/slurm/slurm.h"

namespace weft::topologies {
namespace {

std::vector<Family> built_in() {
  std::vector<Family> list;
  for (const auto& families :
       {tree_families(), lattice_families(), group_families(), server_families(), algebraic_families(),
        random_families(), composed_families(), machine_families()}) {
    list.insert(list.end(), families.begin(), families.end());
  }
  list.push_back(graph_file_family());
  list.push_back(slurm_family());
  return list;
}

ModuleList<Family>& list() {
  static ModuleList<Family> list("topology", built_in());
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

bool has_parameter(const ModuleInfo& info, std::string_view name) {
  return std::ranges::find(info.parameters, name, &ParameterSpec::name) != info.parameters.end();
}

[[noreturn]] void fail_unsized(const ModuleChoice& choice, const ModuleInfo& info) {
  std::string why = "its size is that of its file";
  if (has_parameter(info, "groups")) {
    why = "it is a machine of a given size; groups=N builds a part of it";
  }
  if (has_parameter(info, "of")) {
    why = fmt::format(
        "its size is that of the network in `of`, so give them there, like {}:of=[slim_fly:endpoints={}]",
        info.name, choice.given.at(kEndpoints));
  }
  throw InputError(choice.location, fmt::format("{} takes no endpoints: {}", info.name, why));
}

}  // namespace

std::span<const Family> families() { return list().all(); }
void add_family(Family family) { list().add(std::move(family)); }

ModuleChoice sized(const ModuleChoice& choice) {
  if (!choice.given.contains(kEndpoints)) return choice;
  const Family& family = find_module(families(), choice, "topology");
  if (family.size_for == nullptr) fail_unsized(choice, family.info);
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

Topology build(const Family& family, const Parameters& parameters) {
  constexpr const char* kKind = "topology";
  const std::string& name = family.info.name;
  Topology topology = made_by(kKind, name, "build", [&] { return family.build(parameters); });
  if (topology.hosts() == 0 || topology.channels().empty() ||
      topology.channels().size() != 2 * topology.edges().size()) {
    fail_module(kKind, name, "its network is not finished: it must call Topology::finish()");
  }
  return topology;
}

Topology build(const ModuleChoice& choice) {
  const Family& family = find_module(families(), choice, "topology");
  return build(family, Parameters(family.info, sized(choice)));
}

}  // namespace weft::topologies
