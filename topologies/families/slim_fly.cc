#include <fmt/core.h>

#include "topologies/families/algebraic.h"
#include "topologies/families/algebraic_graphs.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& slim_fly_info() {
  static const ModuleInfo info = {
      .name = "slim_fly",
      .summary = "McKay–Miller–Širáň graph: 2q² routers of degree about 3q/2, diameter 2.",
      .source = "M. Besta, T. Hoefler, Slim Fly: a cost effective low-diameter network topology, SC 2014",
      .parameters = with_router_hosts(
          {{"q", ParameterType::kInteger, "", "Size: a prime power, 3 or more; 2q² routers."}},
          "half as many as links, rounded up"),
  };
  return info;
}

std::uint32_t slim_fly_balanced_hosts(std::uint32_t q) { return (mms_degree(q) + 1) / 2; }
std::uint64_t slim_fly_endpoints(std::uint32_t q) {
  return std::uint64_t{2} * q * q * slim_fly_balanced_hosts(q);
}
std::vector<std::uint32_t> slim_fly_possible() { return within_limit(mms_sizes(256), slim_fly_endpoints); }

Topology build_slim_fly(const Parameters& parameters) {
  const std::uint32_t q = read_possible(parameters, "q", slim_fly_possible(), "a prime power not ≡ 2 mod 4,");
  RouterNetwork network;
  for (std::uint32_t s = 0; s < 2; ++s) {
    for (std::uint32_t a = 0; a < q; ++a) {
      for (std::uint32_t b = 0; b < q; ++b) {
        network.routers.push_back(
            {.name = fmt::format("router {}.{}.{}", s, a, b), .group = s * q + a, .rack = a});
      }
    }
  }
  network.links = mms_links(GaloisField(q));
  return build_routers(slim_fly_info().name, parameters, network, slim_fly_balanced_hosts(q));
}

SizeParameters size_slim_fly(std::uint64_t wanted) {
  return {{"q", std::to_string(
                    least_size(slim_fly_info().name, wanted, slim_fly_possible(), slim_fly_endpoints))}};
}

}  // namespace

Family slim_fly() { return {slim_fly_info(), build_slim_fly, size_slim_fly}; }

}  // namespace weft::topologies
