#include <fmt/core.h>

#include <algorithm>

#include "topologies/families/algebraic.h"
#include "topologies/families/algebraic_graphs.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& bundlefly_info() {
  static const ModuleInfo info = {
      .name = "bundlefly",
      .summary =
          "Star product of a McKay–Miller–Širáň graph and a Paley graph: diameter 3, links in bundles.",
      .source =
          "F. Lei, D. Dong, X. Liao, J. Duato, Bundlefly: a low-diameter topology for multicore fiber, ICS "
          "2020",
      .parameters = with_router_hosts(
          {
              {"q1", ParameterType::kInteger, "",
               "Of the McKay–Miller–Širáň graph: a prime power, 3 or more."},
              {"q2", ParameterType::kInteger, "", "Of the Paley graph: a prime power ≡ 1 mod 4."},
          },
          "a third as many as links, rounded down"),
  };
  return info;
}

std::uint32_t bundlefly_degree(std::uint32_t q1, std::uint32_t q2) { return mms_degree(q1) + (q2 - 1) / 2; }
std::uint64_t bundlefly_endpoints(std::uint32_t q1, std::uint32_t q2) {
  return std::uint64_t{2} * q1 * q1 * q2 * (bundlefly_degree(q1, q2) / 3);
}
std::vector<std::uint32_t> possible_q1() {
  return within_limit(mms_sizes(256), [](std::uint32_t q1) { return bundlefly_endpoints(q1, 5); });
}
std::vector<std::uint32_t> bundlefly_possible_q2(std::uint32_t q1) {
  return within_limit(paley_sizes(2048), [q1](std::uint32_t q2) { return bundlefly_endpoints(q1, q2); });
}

Topology build_bundlefly(const Parameters& parameters) {
  const std::uint32_t q1 = read_possible(parameters, "q1", possible_q1(), "a prime power not ≡ 2 mod 4,");
  const std::uint32_t q2 =
      read_possible(parameters, "q2", bundlefly_possible_q2(q1), "a prime power ≡ 1 mod 4,");
  const std::uint32_t bundles = 2 * q1 * q1;
  RouterNetwork network;
  for (std::uint32_t u = 0; u < bundles; ++u) {
    for (std::uint32_t x = 0; x < q2; ++x) {
      network.routers.push_back({.name = fmt::format("router {}.{}", u, x), .group = u});
    }
  }
  network.links = star_product_with_paley(bundles, mms_links(GaloisField(q1)), GaloisField(q2));
  return build_routers(bundlefly_info().name, parameters, network, bundlefly_degree(q1, q2) / 3);
}

SizeParameters size_bundlefly(std::uint64_t wanted) {
  std::vector<SizedShape> shapes;
  for (const std::uint32_t q1 : possible_q1()) {
    for (const std::uint32_t q2 : bundlefly_possible_q2(q1)) {
      shapes.push_back({bundlefly_degree(q1, q2) + bundlefly_degree(q1, q2) / 3,
                        bundlefly_endpoints(q1, q2),
                        {{"q1", std::to_string(q1)}, {"q2", std::to_string(q2)}}});
    }
  }
  return least_ports(bundlefly_info().name, wanted, shapes);
}

}  // namespace

Family bundlefly() { return {bundlefly_info(), build_bundlefly, size_bundlefly}; }

}  // namespace weft::topologies
