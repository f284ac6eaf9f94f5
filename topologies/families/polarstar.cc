#include <fmt/core.h>

#include <algorithm>

#include "topologies/families/algebraic.h"
#include "topologies/families/algebraic_graphs.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& polarstar_info() {
  static const ModuleInfo info = {
      .name = "polarstar",
      .summary = "Star product of a polarity graph and a Paley graph: diameter 3.",
      .source =
          "K. Lakhotia, L. Monroe, K. Isham, M. Besta, N. Blach, T. Hoefler, F. Petrini, PolarStar: "
          "expanding "
          "the horizon of diameter-3 networks, SPAA 2024",
      .parameters = with_router_hosts(
          {
              {"q", ParameterType::kInteger, "", "Of the polarity graph: a prime power."},
              {"q2", ParameterType::kInteger, "", "Of the Paley graph: a prime power ≡ 1 mod 4."},
          },
          "a third as many as links, rounded down"),
  };
  return info;
}

std::uint32_t polarstar_degree(std::uint32_t q, std::uint32_t q2) { return q + 1 + (q2 - 1) / 2; }
std::uint64_t polarstar_endpoints(std::uint32_t q, std::uint32_t q2) {
  return std::uint64_t{ProjectivePlane::points(q)} * q2 * (polarstar_degree(q, q2) / 3);
}
std::vector<std::uint32_t> polarstar_possible_q() {
  return within_limit(prime_powers(2, 256), [](std::uint32_t q) { return polarstar_endpoints(q, 5); });
}
std::vector<std::uint32_t> polarstar_possible_q2(std::uint32_t q) {
  return within_limit(paley_sizes(2048), [q](std::uint32_t q2) { return polarstar_endpoints(q, q2); });
}

Topology build_polarstar(const Parameters& parameters) {
  const std::uint32_t q = read_possible(parameters, "q", polarstar_possible_q(), "a prime power");
  const std::uint32_t q2 =
      read_possible(parameters, "q2", polarstar_possible_q2(q), "a prime power ≡ 1 mod 4,");
  RouterNetwork network;
  for (std::uint32_t u = 0; u < ProjectivePlane::points(q); ++u) {
    for (std::uint32_t x = 0; x < q2; ++x) {
      network.routers.push_back({.name = fmt::format("router {}.{}", u, x), .group = u});
    }
  }
  const GaloisField field(q);
  network.links = star_product_with_paley(ProjectivePlane::points(q), ProjectivePlane(field).polarity_links(),
                                          GaloisField(q2));
  return build_routers(polarstar_info().name, parameters, network, polarstar_degree(q, q2) / 3);
}

SizeParameters size_polarstar(std::uint64_t wanted) {
  std::vector<SizedShape> shapes;
  for (const std::uint32_t q : polarstar_possible_q()) {
    for (const std::uint32_t q2 : polarstar_possible_q2(q)) {
      shapes.push_back({polarstar_degree(q, q2) + polarstar_degree(q, q2) / 3,
                        polarstar_endpoints(q, q2),
                        {{"q", std::to_string(q)}, {"q2", std::to_string(q2)}}});
    }
  }
  return least_ports(polarstar_info().name, wanted, shapes);
}

}  // namespace

Family polarstar() { return {polarstar_info(), build_polarstar, size_polarstar}; }

}  // namespace weft::topologies
