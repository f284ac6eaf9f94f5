#include "topologies/families/tofu.h"

#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kTofuUnit = 2 * 3 * 2;

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

Topology build_tofu(const Parameters& parameters) {
  std::uint64_t left = kMostHosts / kTofuUnit;
  Lattice lattice;
  for (const char* name : {"x", "y", "z"}) {
    lattice.dims.push_back(count_parameter(parameters, name, static_cast<std::uint32_t>(left)));
    left /= lattice.dims.back();
  }
  lattice.dims.insert(lattice.dims.end(), {2, 3, 2});
  for (const std::uint32_t size : lattice.dims) lattice.lines.push_back(ring_links(size));
  lattice.hosts_per_router = hosts_parameter(parameters, lattice.dims);
  return build_lattice(to_short_form(tofu_info().name, parameters), lattice, read_tofu_cabling(parameters));
}

SizeParameters size_tofu(std::uint64_t endpoints) {
  if (endpoints > kMostHosts / 2) fail_too_many_endpoints("tofu", endpoints, kMostHosts / 2);
  const std::vector<std::uint32_t> dims = near_cube((endpoints + kTofuUnit - 1) / kTofuUnit, 3);
  return {{"x", std::to_string(dims[0])}, {"y", std::to_string(dims[1])}, {"z", std::to_string(dims[2])}};
}

}  // namespace

std::vector<ParameterSpec> with_tofu_cabling(std::vector<ParameterSpec> own) {
  return with_forwarding_hosts(std::move(own), {.link = "54.4Gbps", .latency = "100ns"});
}

const char* tofu_rates() {
  return "Links have 6.8 GB/s each way: two lanes of 28.05 Gb/s, 64 of 66 bits. A node's six interfaces send "
         "40.8 GB/s together: here they are one link without latency to the router, which is on the "
         "processor's chip. A hop takes 100 ns, its router included, so that a put to a neighbour takes "
         "about the 0.49 us measured with the 200 ns that the fabric tofu_d adds in each NIC.";
}

Cabling read_tofu_cabling(const Parameters& parameters) {
  constexpr std::uint32_t kInterfaces = 6;
  Cabling cabling = read_cabling(parameters);
  cabling.host = link_inside_host(parameters, cabling, kInterfaces);
  return cabling;
}

Family tofu() { return {tofu_info(), build_tofu, size_tofu}; }

}  // namespace weft::topologies
