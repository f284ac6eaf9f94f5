#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostDimensions = 22;  // 2^22 routers are kMostHosts
static_assert(std::uint64_t{1} << kMostDimensions == kMostHosts);

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "hypercube",
      .summary = "2^n routers, linked where their numbers differ in one bit.",
      .source = "C. L. Seitz, The Cosmic Cube, Communications of the ACM 28(1), 1985",
      .parameters = with_hosts({"n", ParameterType::kInteger, "", "Dimensions, 1 to 22: 2^n routers."}),
  };
  return info;
}

Topology build(const Parameters& parameters) {
  const std::vector<std::uint32_t> dims(count_parameter(parameters, "n", kMostDimensions), 2);
  return build_lattice(info().name, parameters, dims, path_links);
}

}  // namespace

Family hypercube() { return {info(), build}; }

}  // namespace weft::topologies
