#include "topologies/families/tofu.h"

#include <utility>

#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kTofuUnit = 2 * 3 * 2;
constexpr std::uint32_t kMostInterfaces = 64;

const ModuleInfo& tofu_info() {
  static const ModuleInfo info = {
      .name = "tofu",
      .summary = "Six-dimensional torus X×Y×Z of units of 2×3×2 nodes, at the rates of Tofu-D.",
      .source =
          "Y. Ajima, S. Sumimoto, T. Shimizu, Tofu: a 6D mesh/torus interconnect for exascale computers, "
          "IEEE Computer 42(11), 2009; rates and latencies: Y. Ajima et al., The Tofu Interconnect D, "
          "CLUSTER 2018",
      .parameters = with_tofu_cabling({
          {"x", ParameterType::kInteger, "", "Units in the first dimension."},
          {"y", ParameterType::kInteger, "", "Units in the second dimension."},
          {"z", ParameterType::kInteger, "", "Units in the third dimension."},
          {"hosts", ParameterType::kInteger, "1", "Hosts on each router, 1 or more."},
      }),
      .about = tofu_rates(),
  };
  return info;
}

Topology build_tofu_units(const Parameters& parameters) {
  std::uint64_t left = kMostHosts / kTofuUnit;
  Lattice lattice;
  for (const char* name : {"x", "y", "z"}) {
    lattice.dims.push_back(count_parameter(parameters, name, static_cast<std::uint32_t>(left)));
    left /= lattice.dims.back();
  }
  lattice.dims.insert(lattice.dims.end(), {2, 3, 2});
  for (const std::uint32_t size : lattice.dims) lattice.lines.push_back(ring_links(size));
  lattice.hosts_per_router = hosts_parameter(parameters, lattice.dims);
  return build_tofu(to_short_form(tofu_info().name, parameters), std::move(lattice), parameters);
}

SizeParameters size_tofu(std::uint64_t endpoints) {
  if (endpoints > kMostHosts / 2) fail_too_many_endpoints("tofu", endpoints, kMostHosts / 2);
  const std::vector<std::uint32_t> dims = near_cube((endpoints + kTofuUnit - 1) / kTofuUnit, 3);
  return {{"x", std::to_string(dims[0])}, {"y", std::to_string(dims[1])}, {"z", std::to_string(dims[2])}};
}

}  // namespace

std::vector<ParameterSpec> with_tofu_cabling(std::vector<ParameterSpec> own) {
  own.push_back(
      {"interfaces", ParameterType::kInteger, "6", "Network interfaces of a host, each with a `host_link`."});
  return with_cabling(std::move(own), {.link = "54.4Gbps", .latency = "100ns"});
}

const char* tofu_rates() {
  return "Links have 6.8 GB/s each way: two lanes of 28.05 Gb/s, 64 of 66 bits. A node's six interfaces send "
         "40.8 GB/s together; their links to the router, on the processor's chip, have no latency. On Fugaku "
         "MPI's gathers and exchanges among all run at one interface's rate a rank, so the fabric tofu_d has "
         "nic_choice=near; programs of uTofu use several (round_robin or all). A hop takes 100 ns, its "
         "router included, so that a put to a neighbour takes about the 0.49 us measured with the 200 ns "
         "that the fabric tofu_d adds in each NIC.";
}

Topology build_tofu(std::string name, Lattice lattice, const Parameters& parameters) {
  Cabling cabling = read_cabling(parameters);
  cabling.host.latency = {};
  lattice.links_per_host = count_parameter(parameters, "interfaces", kMostInterfaces);
  return build_lattice(std::move(name), lattice, cabling);
}

Family tofu() { return {tofu_info(), build_tofu_units, size_tofu}; }

}  // namespace weft::topologies
