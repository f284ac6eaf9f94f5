#include <fmt/core.h>

#include "topologies/families/algebraic.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& mlfm_info() {
  static const ModuleInfo info = {
      .name = "mlfm",
      .summary = "Multi-layer full mesh: h³ + h² hosts on routers of 2h ports, two links apart.",
      .source =
          "G. Kathareios, C. Minkenberg, B. Prisacari, G. Rodriguez, T. Hoefler, Cost-effective diameter-two "
          "topologies: analysis and evaluation, SC 2015",
      .parameters = with_router_hosts(
          {{"h", ParameterType::kInteger, "", "Layers, and links up from a router with hosts."}}, "h"),
  };
  return info;
}

std::uint64_t mlfm_endpoints(std::uint32_t h) { return std::uint64_t{h} * h * (h + 1); }
std::vector<std::uint32_t> mlfm_possible() { return within_limit(all_from(1, 256), mlfm_endpoints); }

Topology build_mlfm(const Parameters& parameters) {
  const std::uint32_t h = read_possible(parameters, "h", mlfm_possible(), "");
  RouterNetwork network;
  for (std::uint32_t layer = 0; layer < h; ++layer) {
    for (std::uint32_t place = 0; place <= h; ++place) {
      network.routers.push_back({.name = fmt::format("local {}.{}", layer, place), .group = layer});
    }
  }
  for (std::uint32_t i = 0; i <= h; ++i) {
    for (std::uint32_t j = i + 1; j <= h; ++j) {
      const auto global = static_cast<std::uint32_t>(network.routers.size());
      network.routers.push_back({.name = fmt::format("global {}.{}", i, j), .group = h, .tier = 2});
      for (std::uint32_t layer = 0; layer < h; ++layer) {
        network.links.emplace_back(layer * (h + 1) + i, global);
        network.links.emplace_back(layer * (h + 1) + j, global);
      }
    }
  }
  return build_routers(mlfm_info().name, parameters, network, h);
}

SizeParameters size_mlfm(std::uint64_t wanted) {
  return {{"h", std::to_string(least_size(mlfm_info().name, wanted, mlfm_possible(), mlfm_endpoints))}};
}

}  // namespace

Family mlfm() { return {mlfm_info(), build_mlfm, size_mlfm}; }

}  // namespace weft::topologies
