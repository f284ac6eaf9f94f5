#include <fmt/format.h>

#include "topologies/families/cabling.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "single_switch",
      .summary = "All hosts on one switch of any radix.",
      .source = "The ideal crossbar that networks are compared with.",
      .parameters = with_cabling({{"hosts", ParameterType::kInteger, "", "Number of hosts, 1 or more."}}),
  };
  return info;
}

Topology build(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t hosts = count_parameter(parameters, "hosts", kMostHosts);
  Topology topology(to_short_form(info().name, parameters));
  const Vertex hub = topology.add_switch("switch 0", 1, 0, cabling.switch_latency);
  for (std::uint32_t h = 0; h < hosts; ++h) {
    topology.add_link(topology.add_host(fmt::format("host {}", h)), hub, cabling.host);
  }
  topology.finish();
  return topology;
}

}  // namespace

Family single_switch() { return {info(), build}; }

}  // namespace weft::topologies
