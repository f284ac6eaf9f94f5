#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kUnit = 2 * 3 * 2;

const ModuleInfo& tofu_info() {
  static const ModuleInfo info = {
      .name = "tofu",
      .summary = "Six-dimensional torus X×Y×Z of units of 2×3×2 nodes.",
      .source =
          "Y. Ajima, S. Sumimoto, T. Shimizu, Tofu: a 6D mesh/torus interconnect for exascale computers, "
          "IEEE "
          "Computer 42(11), 2009",
      .parameters = with_cabling({
          {"x", ParameterType::kInteger, "", "Units in the first dimension."},
          {"y", ParameterType::kInteger, "", "Units in the second dimension."},
          {"z", ParameterType::kInteger, "", "Units in the third dimension."},
          {"hosts", ParameterType::kInteger, "1", "Hosts on each router, 1 or more."},
      }),
  };
  return info;
}

Topology build_tofu(const Parameters& parameters) {
  std::uint64_t left = kMostHosts / kUnit;
  std::vector<std::uint32_t> dims;
  for (const char* name : {"x", "y", "z"}) {
    dims.push_back(count_parameter(parameters, name, static_cast<std::uint32_t>(left)));
    left /= dims.back();
  }
  dims.insert(dims.end(), {2, 3, 2});
  return build_lattice(tofu_info().name, parameters, dims, ring_links);
}

SizeParameters size_tofu(std::uint64_t endpoints) {
  if (endpoints > kMostHosts / 2) fail_too_many_endpoints("tofu", endpoints, kMostHosts / 2);
  const std::vector<std::uint32_t> dims = near_cube((endpoints + kUnit - 1) / kUnit, 3);
  return {{"x", std::to_string(dims[0])}, {"y", std::to_string(dims[1])}, {"z", std::to_string(dims[2])}};
}

}  // namespace

Family tofu() { return {tofu_info(), build_tofu, size_tofu}; }

}  // namespace weft::topologies
