#include "topologies/families/cabling.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

const ModuleInfo& single_switch_info() {
  static const ModuleInfo info = {
      .name = "single_switch",
      .summary = "All hosts on one switch of any radix.",
      .source = "The ideal crossbar that networks are compared with.",
      .parameters = with_cabling({{"hosts", ParameterType::kInteger, "", "Number of hosts, 1 or more."}}),
  };
  return info;
}

Topology build_single_switch(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t hosts = count_parameter(parameters, "hosts", kMostHosts);
  Topology topology(to_short_form(single_switch_info().name, parameters));
  const Vertex hub = topology.add_switch("switch 0", 1, 0, cabling.switch_latency);
  add_hosts(topology, hub, hosts, cabling.host);
  topology.finish();
  return topology;
}

SizeParameters size_single_switch(std::uint64_t endpoints) {
  if (endpoints > kMostHosts) fail_too_many_endpoints("single_switch", endpoints, kMostHosts);
  return {{"hosts", std::to_string(endpoints)}};
}

}  // namespace

Family single_switch() { return {single_switch_info(), build_single_switch, size_single_switch}; }

}  // namespace weft::topologies
