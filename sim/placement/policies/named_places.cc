#include "sim/placement/policies/named_places.h"

#include <fmt/core.h>

#include "sim/placement/host_names.h"
#include "sim/units/input_error.h"

namespace weft::placement {

Outcome place_by_names(const Setup& setup, const std::string& path, const std::vector<RankPlace>& places) {
  const HostNames names(setup.machine.topology);
  const std::uint32_t most = setup.request.ranks_per_node;
  std::vector<std::uint32_t> ranks(setup.machine.state.size(), 0);
  Outcome outcome;
  for (const RankPlace& place : places) {
    const SourceLocation location{path, place.line};
    const std::uint32_t host = names.find(place.host, location);
    const std::string& name = setup.machine.topology.node(setup.machine.topology.host(host)).name;
    if (setup.machine.state[host] == HostState::kFailed)
      throw InputError(location, fmt::format("{} has failed", name));
    if (++ranks[host] > most) {
      throw InputError(location,
                       fmt::format("{} gets rank {} as its {}., but a host takes {} of this job's (ranks "
                                   "per node)",
                                   name, outcome.hosts.size(), ranks[host], most));
    }
    if (!setup.machine.is_free(host) && outcome.no_room.empty())
      outcome.no_room = fmt::format("{} is taken", name);
    outcome.hosts.push_back(host);
  }
  if (!outcome.no_room.empty()) outcome.hosts.clear();
  return outcome;
}

}  // namespace weft::placement
