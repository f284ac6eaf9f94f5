#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostDimensions = 22;  // 2^22 routers are kMostHosts
static_assert(std::uint64_t{1} << kMostDimensions == kMostHosts);

const ModuleInfo& hypercube_info() {
  static const ModuleInfo info = {
      .name = "hypercube",
      .summary = "2^n routers, linked where their numbers differ in one bit.",
      .source = "C. L. Seitz, The Cosmic Cube, Communications of the ACM 28(1), 1985",
      .parameters = with_hosts({"n", ParameterType::kInteger, "", "Dimensions, 1 to 22: 2^n routers."}),
  };
  return info;
}

Topology build_hypercube(const Parameters& parameters) {
  const std::vector<std::uint32_t> dims(count_parameter(parameters, "n", kMostDimensions), 2);
  return build_lattice(hypercube_info().name, parameters, dims, path_links);
}

SizeParameters size_hypercube(std::uint64_t endpoints) {
  const std::uint32_t n = least_size("hypercube", endpoints, 1, kMostDimensions, 1,
                                     [](std::uint32_t bits) { return std::uint64_t{1} << bits; });
  return {{"n", std::to_string(n)}};
}

}  // namespace

Family hypercube() { return {hypercube_info(), build_hypercube, size_hypercube}; }

}  // namespace weft::topologies
