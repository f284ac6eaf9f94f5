#include <fmt/core.h>

#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/global_links.h"
#include "topologies/families/groups.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostGroups = 241;
constexpr std::uint32_t kSlots = 16, kChassis = 6, kRouters = kSlots * kChassis;
constexpr std::uint32_t kHosts = 4, kParallel = 3, kGlobalPorts = 10;
constexpr std::uint32_t kChassisPerCabinet = 3;

const ModuleInfo& cascade_info() {
  static const ModuleInfo info = {
      .name = "cascade",
      .summary =
          "Cray Cascade (XC, Aries): a Dragonfly whose groups are grids of 6 chassis with 16 routers each.",
      .source = "G. Faanes et al., Cray Cascade: a scalable HPC system based on a Dragonfly network, SC 2012",
      .parameters = with_cabling(
          with_global_links({
              {"g", ParameterType::kInteger, "", "Groups of 96 routers and 384 hosts, 1 to 241."},
              {"global_link", ParameterType::kBandwidth, "auto",
               "Rate of a link between groups; auto: 25/28 of `link`."},
          }),
          {.link = "42Gbps", .host_link = "128Gbps", .latency = "50ns", .switch_latency = "100ns"}),
      .about =
          "A link has three lanes each way, electrical ones within a group at 14 Gb/s (5.25 GB/s), optical "
          "ones between groups at 12.5 (4.7 GB/s); a host is on its router by PCI Express 3 with 16 lanes "
          "(16 GB/s). Latencies are not in the paper: 100 ns a router and 50 ns a cable (10 m) are assumed.",
  };
  return info;
}

// Router 16c + s of a group is slot s of chassis c.
void add_group(Topology& topology, const Vertex* router, const Cabling& cabling) {
  Link backplane = cabling.fabric, copper = cabling.fabric;
  backplane.cable = CableKind::kBackplane;
  copper.cable = CableKind::kCopper;
  for (std::uint32_t r = 0; r < kRouters; ++r) {
    for (std::uint32_t to = r + 1; to % kSlots != 0; ++to)
      topology.add_link(router[r], router[to], backplane);
    for (std::uint32_t to = r + kSlots; to < kRouters; to += kSlots) {
      for (std::uint32_t i = 0; i < kParallel; ++i) topology.add_link(router[r], router[to], copper);
    }
  }
}

Topology build_cascade(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::uint32_t groups = count_parameter(parameters, "g", kMostGroups);
  const std::vector<GlobalLink> global = read_global_links(parameters, groups, kRouters * kGlobalPorts);

  Topology topology(to_short_form(cascade_info().name, parameters));
  std::vector<Vertex> router(groups * kRouters);
  for (std::uint32_t r = 0; r < router.size(); ++r) {
    const std::uint32_t group = r / kRouters, chassis = r % kRouters / kSlots, slot = r % kSlots;
    router[r] = topology.add_switch(fmt::format("router {}.{}.{}", group, chassis, slot), 1, group,
                                    cabling.switch_latency);
    topology.set_rack(router[r], (r / kSlots) / kChassisPerCabinet);
    add_hosts(topology, router[r], kHosts, cabling.host);
  }
  for (std::uint32_t group = 0; group < groups; ++group) {
    add_group(topology, &router[group * kRouters], cabling);
  }
  Link optical = cabling.fabric;
  optical.cable = CableKind::kOptical;
  optical.rate = parameters.automatic("global_link") ? Bandwidth::bps(cabling.fabric.rate.bps() * 25 / 28)
                                                     : rate_parameter(parameters, "global_link");
  for (const GlobalLink& link : global) {
    topology.add_link(router[link.group_a * kRouters + link.port_a / kGlobalPorts],
                      router[link.group_b * kRouters + link.port_b / kGlobalPorts], optical);
  }
  topology.set_linked_groups();
  topology.finish();
  return topology;
}

SizeParameters size_cascade(std::uint64_t endpoints) {
  const std::uint32_t groups = least_size("cascade", endpoints, 1, kMostGroups, 1, [](std::uint32_t g) {
    return std::uint64_t{g} * kRouters * kHosts;
  });
  return {{"g", std::to_string(groups)}};
}

}  // namespace

Family cascade() { return {cascade_info(), build_cascade, size_cascade}; }

}  // namespace weft::topologies
