#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "topologies/families/algebraic.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& arrangement_info() {
  static const ModuleInfo info = {
      .name = "arrangement",
      .summary = "Arrangement graph: n!/(n - k)! routers of degree k(n - k), diameter ⌊3k/2⌋.",
      .source =
          "K. Day, A. Tripathi, Arrangement graphs: a class of generalized star graphs, Information "
          "Processing Letters 42, 1992",
      .parameters = with_router_hosts(
          {
              {"n", ParameterType::kInteger, "", "Symbols, 2 or more."},
              {"k", ParameterType::kInteger, "", "Places, 1 to n - 1."},
          },
          "n + 1"),
  };
  return info;
}

// 0: too many to count on.
std::uint64_t arrangement_routers(std::uint32_t n, std::uint32_t k) {
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < k; ++i) {
    count *= n - i;
    if (count > kMostHosts) return 0;
  }
  return count;
}
std::uint64_t arrangement_endpoints(std::uint32_t n, std::uint32_t k) {
  return arrangement_routers(n, k) * (n + 1);
}
std::vector<std::uint32_t> arrangement_possible_n(std::uint32_t k) {
  return within_limit(all_from(k + 1, 2048), [k](std::uint32_t n) { return arrangement_endpoints(n, k); });
}
std::vector<std::uint32_t> possible_k(std::uint32_t n) {
  return within_limit(all_from(1, std::min(n - 1, std::uint32_t{32})),
                      [n](std::uint32_t k) { return arrangement_endpoints(n, k); });
}

using Choice = std::vector<std::uint32_t>;  // the symbol of each place

// All choices in alphabetic order.
std::vector<Choice> choices(std::uint32_t n, std::uint32_t k) {
  std::vector<Choice> found = {{}};
  for (std::uint32_t place = 0; place < k; ++place) {
    std::vector<Choice> longer;
    for (const Choice& choice : found) {
      for (std::uint32_t symbol = 0; symbol < n; ++symbol) {
        if (std::find(choice.begin(), choice.end(), symbol) != choice.end()) continue;
        longer.push_back(choice);
        longer.back().push_back(symbol);
      }
    }
    found = std::move(longer);
  }
  return found;
}

Topology build_arrangement(const Parameters& parameters) {
  const std::uint32_t n = read_possible(parameters, "n", arrangement_possible_n(1), "");
  const std::uint32_t k = read_possible(parameters, "k", possible_k(n), "");
  const std::vector<Choice> all = choices(n, k);
  RouterNetwork network;
  for (std::uint32_t r = 0; r < all.size(); ++r) {
    network.routers.push_back({.name = fmt::format("router {}", fmt::join(all[r], ".")), .group = r});
    for (std::uint32_t place = 0; place < k; ++place) {
      Choice other = all[r];
      // A higher symbol in one place comes later in the alphabet: each link once.
      for (std::uint32_t symbol = all[r][place] + 1; symbol < n; ++symbol) {
        if (std::find(all[r].begin(), all[r].end(), symbol) != all[r].end()) continue;
        other[place] = symbol;
        const auto found = std::lower_bound(all.begin() + r, all.end(), other);
        network.links.emplace_back(r, static_cast<std::uint32_t>(found - all.begin()));
      }
    }
  }
  return build_routers(arrangement_info().name, parameters, network, n + 1);
}

// Two places: diameter 3, as most low-diameter networks of such sizes have it.
SizeParameters size_arrangement(std::uint64_t wanted) {
  constexpr std::uint32_t kPlaces = 2;
  const std::uint32_t n = least_size(arrangement_info().name, wanted, arrangement_possible_n(kPlaces),
                                     [](std::uint32_t size) { return arrangement_endpoints(size, kPlaces); });
  return {{"n", std::to_string(n)}, {"k", std::to_string(kPlaces)}};
}

}  // namespace

Family arrangement() { return {arrangement_info(), build_arrangement, size_arrangement}; }

}  // namespace weft::topologies
