#include <fmt/core.h>

#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

const ModuleInfo& flattened_butterfly_info() {
  static const ModuleInfo info = {
      .name = "flattened_butterfly",
      .summary = "k-ary n-flat: a grid of n - 1 dimensions of k routers, complete along its lines.",
      .source =
          "J. Kim, W. J. Dally, D. Abts, Flattened butterfly: a cost-efficient topology for high-radix "
          "networks, ISCA 2007",
      .parameters = with_cabling({
          {"k", ParameterType::kInteger, "", "Routers in each dimension, 2 or more."},
          {"n", ParameterType::kInteger, "", "Dimensions and one for the hosts, 2 to 22."},
          {"hosts", ParameterType::kInteger, "auto", "Hosts on each router; auto: k."},
      }),
  };
  return info;
}

Topology build_flattened_butterfly(const Parameters& parameters) {
  const std::uint32_t k = count_parameter(parameters, "k", 2048);
  const std::uint32_t n = count_parameter(parameters, "n", 22);
  if (n < 2) parameters.fail("n", "it must be from 2 to 22; the nearest is 2");
  std::uint64_t hosts = k;
  for (std::uint32_t i = 1; i < n; ++i) {
    hosts *= k;
    if (hosts > kMostHosts) parameters.fail("n", fmt::format("k^n must be at most {}", kMostHosts));
  }
  return build_lattice(flattened_butterfly_info().name, parameters, std::vector<std::uint32_t>(n - 1, k),
                       complete_links, k);
}

// Two dimensions up to 4,096 hosts, three beyond.
SizeParameters size_flattened_butterfly(std::uint64_t endpoints) {
  const std::uint32_t n = endpoints <= 4096 ? 3 : 4;
  const std::uint32_t k =
      least_size("flattened_butterfly", endpoints, 1, n == 3 ? 16 : 45, 1, [n](std::uint32_t size) {
        const std::uint64_t cube = std::uint64_t{size} * size * size;
        return n == 3 ? cube : cube * size;
      });
  return {{"k", std::to_string(k)}, {"n", std::to_string(n)}};
}

}  // namespace

Family flattened_butterfly() {
  return {flattened_butterfly_info(), build_flattened_butterfly, size_flattened_butterfly};
}

}  // namespace weft::topologies
