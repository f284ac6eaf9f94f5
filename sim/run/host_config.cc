#include "sim/run/host_config.h"

#include "goal/collectives/selection.h"
#include "goal/graph/graph.h"
#include "sim/run/mpi_library.h"
#include "sim/run/nccl_nodes.h"
#include "sim/units/brackets.h"

namespace weft::sim {

HostConfig host_config(const Scenario& resolved, const topologies::Topology* topology) {
  HostConfig config;
  const Parameters hosts(hosts_section(), resolved.hosts);
  config.overhead = hosts.time("o");
  config.overhead_per_byte = TimePerByte::ns(hosts.real("O"));
  set_protocol(resolved, config);
  config.reduction_per_byte = TimePerByte::ns(hosts.real("reduction_per_byte"));
  config.copy_per_byte = TimePerByte::ns(hosts.real("copy_per_byte"));
  const auto from_memory = [&](const char* name, TimePerByte in_cache) {
    const double ns = hosts.real(name);
    return ns == 0 ? in_cache : TimePerByte::ns(ns);
  };
  config.reduction_from_memory = from_memory("reduction_from_memory", config.reduction_per_byte);
  config.copy_from_memory = from_memory("copy_from_memory", config.copy_per_byte);
  config.cache_bytes = hosts.bytes("cache");
  config.ranks_per_host = hosts.whole("ranks_per_host");
  goal::CollectiveChoices choices;
  const auto given = [&](std::string_view name) {
    const auto found = resolved.collectives.given.find(std::string(name));
    return found == resolved.collectives.given.end() || found->second == kByRules ? "" : found->second;
  };
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    choices.forced[kind] = given(goal::name(static_cast<goal::CollectiveKind>(kind)));
  }
  choices.profile = with_nccl_node(given("profile"), resolved, topology);
  // What isn't of a channel goes over all NICs too: NCCL has at least one channel of point to point for each.
  if (is_nccl(choices.profile)) config.rails.most = UINT8_MAX;
  choices.table = std::string(without_brackets(given("table")));
  config.collectives = goal::CollectiveSelection(choices);
  return config;
}

}  // namespace weft::sim
