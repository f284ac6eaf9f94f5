#include "topologies/families/router_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace weft::topologies {

std::vector<ParameterSpec> with_router_hosts(std::vector<ParameterSpec> shape, std::string_view balanced) {
  shape.push_back({"hosts", ParameterType::kInteger, "auto",
                   fmt::format("Hosts on each router that has any, 1 or more; auto: {}.", balanced)});
  return with_cabling(std::move(shape));
}

Topology build_routers(std::string_view family, const Parameters& parameters, const RouterNetwork& network,
                       std::uint32_t balanced_hosts) {
  const Cabling cabling = read_cabling(parameters);
  const auto with_hosts = static_cast<std::uint64_t>(std::count_if(
      network.routers.begin(), network.routers.end(), [](const Router& router) { return router.tier == 1; }));
  const auto most = static_cast<std::uint32_t>(kMostHosts / with_hosts);
  const std::uint32_t hosts = count_parameter(parameters, "hosts", most, balanced_hosts);

  Topology topology(to_short_form(family, parameters));
  std::vector<Vertex> vertex;
  vertex.reserve(network.routers.size());
  for (const Router& router : network.routers) {
    vertex.push_back(topology.add_switch(router.name, router.tier, router.group, cabling.switch_latency));
    topology.set_rack(vertex.back(), router.rack);
    if (router.tier == 1) add_hosts(topology, vertex.back(), hosts, cabling.host);
  }
  for (const auto& [a, b] : network.links) topology.add_link(vertex[a], vertex[b], cabling.fabric);
  topology.finish();
  return topology;
}

std::uint32_t read_possible(const Parameters& parameters, std::string_view name,
                            const std::vector<std::uint32_t>& possible, std::string_view what) {
  const std::int64_t value = parameters.integer(name);
  const auto above = std::lower_bound(possible.begin(), possible.end(), value);
  if (above != possible.end() && *above == value) return *above;
  std::string nearest;
  if (above == possible.begin() || above == possible.end()) {
    nearest = fmt::format("is {}", above == possible.begin() ? possible.front() : possible.back());
  } else {
    nearest = fmt::format("are {} and {}", *std::prev(above), *above);
  }
  const std::string range = possible.front() == possible.back()
                                ? fmt::format("{}", possible.front())
                                : fmt::format("from {} to {}", possible.front(), possible.back());
  parameters.fail(
      name, fmt::format("it must be {}{}{}; the nearest {}", what, what.empty() ? "" : " ", range, nearest));
}

std::vector<std::uint32_t> within_limit(const std::vector<std::uint32_t>& values,
                                        const std::function<std::uint64_t(std::uint32_t)>& endpoints_with) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t value : values) {
    const std::uint64_t endpoints = endpoints_with(value);
    if (endpoints > 0 && endpoints <= kMostHosts) found.push_back(value);
  }
  return found;
}

std::vector<std::uint32_t> all_from(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> values(last < first ? 0 : last - first + 1);
  std::iota(values.begin(), values.end(), first);
  return values;
}

SizeParameters least_ports(std::string_view family, std::uint64_t endpoints,
                           const std::vector<SizedShape>& shapes) {
  const SizedShape* best = nullptr;
  std::uint64_t most = 0;
  for (const SizedShape& shape : shapes) {
    most = std::max(most, shape.endpoints);
    if (shape.endpoints < endpoints) continue;
    if (best == nullptr ||
        std::pair(shape.ports, shape.endpoints) < std::pair(best->ports, best->endpoints)) {
      best = &shape;
    }
  }
  if (best == nullptr) fail_too_many_endpoints(family, endpoints, most);
  return best->parameters;
}

}  // namespace weft::topologies
