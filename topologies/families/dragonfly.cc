#include <fmt/core.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/global_links.h"
#include "topologies/families/groups.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostDragonflyPorts = 4096;
constexpr std::uint64_t kMostDragonflyLinks = std::uint64_t{1} << 25;

const ModuleInfo& dragonfly_info() {
  static const ModuleInfo info = {
      .name = "dragonfly",
      .summary =
          "Groups of routers, every router linked to all others of its group, every group to all others.",
      .source =
          "J. Kim, W. J. Dally, S. Scott, D. Abts, Technology-driven, highly-scalable Dragonfly topology, "
          "ISCA 2008",
      .parameters = with_cabling(with_global_links({
          {"p", ParameterType::kInteger, "",
           "Hosts on each router; alone it gives the balanced Dragonfly. With a=32,h=17, 16 is "
           "Slingshot-like."},
          {"a", ParameterType::kInteger, "auto", "Routers in each group; auto: 2p."},
          {"h", ParameterType::kInteger, "auto", "Ports of each router to other groups; auto: p."},
          {"g", ParameterType::kInteger, "auto", "Groups, 1 to a·h + 1; auto: a·h + 1."},
      })),
  };
  return info;
}

struct DragonflyShape {
  std::uint32_t p, a, h, g;
};

DragonflyShape read_dragonfly_shape(const Parameters& parameters) {
  DragonflyShape shape{};
  shape.p = count_parameter(parameters, "p", kMostDragonflyPorts);
  shape.a = count_parameter(parameters, "a", kMostDragonflyPorts, 2 * shape.p);
  shape.h = count_parameter(parameters, "h", kMostDragonflyPorts, shape.p);
  const std::uint32_t ports = shape.a * shape.h;  // at most 2^26: 2p · 4096
  shape.g = count_parameter(parameters, "g", ports + 1, ports + 1);
  const std::uint64_t routers = std::uint64_t{shape.a} * shape.g;
  if (routers * shape.p > kMostHosts) {
    parameters.fail("p", fmt::format("that makes {} hosts; there can be {}", routers * shape.p, kMostHosts));
  }
  const std::uint64_t links = routers * (shape.a - 1 + shape.h) / 2;
  if (links > kMostDragonflyLinks) {
    parameters.fail("p",
                    fmt::format("that makes {} links; at most {} can be had", links, kMostDragonflyLinks));
  }
  return shape;
}

Topology build_dragonfly(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const auto [p, a, h, g] = read_dragonfly_shape(parameters);
  const std::vector<GlobalLink> global = read_global_links(parameters, g, a * h);

  Topology topology(to_short_form(dragonfly_info().name, parameters));
  std::vector<Vertex> router(a * g);
  for (std::uint32_t r = 0; r < a * g; ++r) {
    router[r] =
        topology.add_switch(fmt::format("router {}.{}", r / a, r % a), 1, r / a, cabling.switch_latency);
    add_hosts(topology, router[r], p, cabling.host);
  }
  for (std::uint32_t group = 0; group < g; ++group) {
    for (std::uint32_t i = 0; i < a; ++i) {
      for (std::uint32_t j = i + 1; j < a; ++j) {
        topology.add_link(router[group * a + i], router[group * a + j], cabling.fabric);
      }
    }
  }
  for (const GlobalLink& link : global) {
    topology.add_link(router[link.group_a * a + link.port_a / h], router[link.group_b * a + link.port_b / h],
                      cabling.fabric);
  }
  topology.set_linked_groups();
  topology.finish();
  return topology;
}

SizeParameters size_dragonfly(std::uint64_t endpoints) {
  const std::uint32_t p = least_size("dragonfly", endpoints, 1, 31, 1, [](std::uint32_t hosts) {
    const std::uint64_t square = std::uint64_t{hosts} * hosts;
    return 4 * square * square + 2 * square;
  });
  return {{"p", std::to_string(p)}};
}

}  // namespace

Family dragonfly() { return {dragonfly_info(), build_dragonfly, size_dragonfly}; }

}  // namespace weft::topologies
