#include <fmt/core.h>

#include <algorithm>

#include "topologies/families/algebraic.h"
#include "topologies/families/algebraic_graphs.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& polarfly_info() {
  static const ModuleInfo info = {
      .name = "polarfly",
      .summary = "Polarity graph of a projective plane: q² + q + 1 routers of degree q + 1, diameter 2.",
      .source =
          "K. Lakhotia, M. Besta, L. Monroe, K. Isham, P. Iff, T. Hoefler, F. Petrini, PolarFly: a "
          "cost-effective and flexible low-diameter topology, SC 2022",
      .parameters =
          with_router_hosts({{"q", ParameterType::kInteger, "", "Size: a prime power; q² + q + 1 routers."}},
                            "half as many as links, rounded down"),
  };
  return info;
}

std::uint32_t polarfly_balanced_hosts(std::uint32_t q) { return (q + 1) / 2; }
std::uint64_t polarfly_endpoints(std::uint32_t q) {
  return std::uint64_t{ProjectivePlane::points(q)} * polarfly_balanced_hosts(q);
}
std::vector<std::uint32_t> polarfly_possible() {
  return within_limit(prime_powers(2, 256), polarfly_endpoints);
}

// The points of each cluster.
std::vector<std::vector<std::uint32_t>> clusters_of(const ProjectivePlane& plane, std::uint32_t q) {
  const std::uint32_t points = ProjectivePlane::points(q);
  std::vector<bool> quadric(points), taken(points);
  std::vector<std::vector<std::uint32_t>> clusters(1);
  for (std::uint32_t u = 0; u < points; ++u) {
    const std::vector<std::uint32_t> line = plane.on_line(u);
    quadric[u] = std::binary_search(line.begin(), line.end(), u);
    if (quadric[u]) clusters[0].push_back(u);
  }
  const std::uint32_t first = clusters[0][0];
  std::vector<std::uint32_t> centers = plane.on_line(first);
  centers.erase(std::remove(centers.begin(), centers.end(), first), centers.end());
  for (const std::uint32_t center : centers) {
    const std::vector<std::uint32_t> line = plane.on_line(center);
    std::vector<std::uint32_t> cluster = {center};
    for (const std::uint32_t v : line) {
      if (!quadric[v]) cluster.push_back(v);
    }
    // The one with quadrics around it only, for even q.
    if (cluster.size() == 1) {
      clusters[0].push_back(center);
    } else {
      clusters.push_back(cluster);
    }
  }
  return clusters;
}

Topology build_polarfly(const Parameters& parameters) {
  const std::uint32_t q = read_possible(parameters, "q", polarfly_possible(), "a prime power");
  const GaloisField field(q);
  const ProjectivePlane plane(field);
  RouterNetwork network;
  std::vector<std::uint32_t> number(ProjectivePlane::points(q));
  std::uint32_t cluster = 0;
  for (const std::vector<std::uint32_t>& members : clusters_of(plane, q)) {
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      number[members[i]] = static_cast<std::uint32_t>(network.routers.size());
      network.routers.push_back(
          {.name = fmt::format("router {}.{}", cluster, i), .group = cluster, .rack = cluster});
    }
    ++cluster;
  }
  for (const auto& [u, v] : plane.polarity_links()) {
    if (u != v) network.links.push_back(std::minmax({number[u], number[v]}));
  }
  std::sort(network.links.begin(), network.links.end());
  return build_routers(polarfly_info().name, parameters, network, polarfly_balanced_hosts(q));
}

SizeParameters size_polarfly(std::uint64_t wanted) {
  return {{"q", std::to_string(
                    least_size(polarfly_info().name, wanted, polarfly_possible(), polarfly_endpoints))}};
}

}  // namespace

Family polarfly() { return {polarfly_info(), build_polarfly, size_polarfly}; }

}  // namespace weft::topologies
