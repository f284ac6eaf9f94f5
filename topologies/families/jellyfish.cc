#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "topologies/families/link_swaps.h"
#include "topologies/families/random.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& jellyfish_info() {
  static const ModuleInfo info = {
      .name = "jellyfish",
      .summary = "Random regular graph of n routers with r links each.",
      .source =
          "A. Singla, C.-Y. Hong, L. Popa, P. B. Godfrey, Jellyfish: networking data centers randomly, NSDI "
          "2012",
      .parameters = with_router_hosts(
          {
              {"n", ParameterType::kInteger, "", "Routers, 3 or more."},
              {"r", ParameterType::kInteger, "", "Links of each to others, 2 or more; n·r is even."},
              {"seed", ParameterType::kInteger, "1", "Which of the random networks."},
          },
          "half as many as links, rounded down"),
  };
  return info;
}

std::uint64_t jellyfish_endpoints(std::uint32_t n, std::uint32_t r) { return std::uint64_t{n} * (r / 2); }

std::vector<std::uint32_t> possible_r(std::uint32_t n) {
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(n - 1, 2 * kMostHosts / n + 1));
  std::vector<std::uint32_t> found;
  for (const std::uint32_t r : all_from(2, most)) {
    if (n % 2 == 0 || r % 2 == 0) found.push_back(r);
  }
  return within_limit(found, [n](std::uint32_t r) { return jellyfish_endpoints(n, r); });
}

// All links that `links` has not. REQUIRES: no two the same.
RouterLinks complement(std::uint32_t n, const RouterLinks& links) {
  std::vector<bool> there(std::size_t{n} * n, false);
  for (const auto& [a, b] : links) there[std::size_t{std::min(a, b)} * n + std::max(a, b)] = true;
  RouterLinks found;
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      if (!there[std::size_t{a} * n + b]) found.emplace_back(a, b);
    }
  }
  return found;
}

// A random graph of degree r, which need not be connected.
RouterLinks draw_regular(std::uint32_t n, std::uint32_t r, bool connected, RandomStream& random) {
  std::vector<std::uint32_t> ports(std::size_t{n} * r);
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i] = static_cast<std::uint32_t>(i / r);
  for (;;) {
    for (std::size_t i = ports.size(); i > 1; --i) std::swap(ports[i - 1], ports[random.below(i)]);
    RouterLinks links;
    links.reserve(ports.size() / 2);
    for (std::size_t i = 0; i < ports.size(); i += 2) links.emplace_back(ports[i], ports[i + 1]);
    LinkSwaps swaps(n, std::move(links), false);
    if (!swaps.make_simple(random)) continue;
    if (connected) {
      std::vector<std::uint32_t> all(swaps.links().size());
      std::iota(all.begin(), all.end(), 0u);
      if (!swaps.join_parts(1, all)) continue;
    }
    return swaps.links();
  }
}

Topology build_jellyfish(const Parameters& parameters) {
  const std::uint32_t n =
      read_possible(parameters, "n", all_from(3, static_cast<std::uint32_t>(kMostHosts)), "");
  const std::uint32_t r =
      read_possible(parameters, "r", possible_r(n), n % 2 == 0 ? "" : "even, since n is odd, and");
  RandomStream random(static_cast<std::uint64_t>(parameters.integer("seed")), n, r);
  RouterNetwork network;
  for (std::uint32_t i = 0; i < n; ++i) {
    network.routers.push_back({.name = fmt::format("router {}", i), .group = i});
  }
  // A dense graph is drawn by the links that are not there: with few ports left over, ever more pairs would
  // be linked already. Where each router is linked to half the others or more, all reach each other.
  if (r > (n - 1) / 2) {
    network.links = complement(n, draw_regular(n, n - 1 - r, false, random));
  } else {
    network.links = draw_regular(n, r, true, random);
  }
  for (auto& [a, b] : network.links) {
    if (a > b) std::swap(a, b);
  }
  std::sort(network.links.begin(), network.links.end());
  return build_routers(jellyfish_info().name, parameters, network, std::max(r / 2, std::uint32_t{1}));
}

// About r² routers of degree r, the size at which nearly all are within two links or three.
SizeParameters size_jellyfish(std::uint64_t wanted) {
  const std::uint32_t r = least_size(jellyfish_info().name, wanted, 4, 202, 2, [](std::uint32_t links) {
    return jellyfish_endpoints(links * links, links);
  });
  const auto n = static_cast<std::uint32_t>((wanted + r / 2 - 1) / (r / 2));
  return {{"n", std::to_string(std::max(n, r + 1))}, {"r", std::to_string(r)}};
}

}  // namespace

Family jellyfish() { return {jellyfish_info(), build_jellyfish, size_jellyfish}; }

}  // namespace weft::topologies
