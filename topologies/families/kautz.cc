#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "topologies/families/algebraic.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& kautz_info() {
  static const ModuleInfo info = {
      .name = "kautz",
      .summary = "Kautz graph with arcs as links: (b + 1)·b^(n-1) routers of degree 2b, diameter n.",
      .source =
          "W. H. Kautz, Bounds on directed (d, k) graphs, in: Theory of cellular logic networks and "
          "machines, "
          "1968",
      .parameters = with_router_hosts(
          {
              {"b", ParameterType::kInteger, "", "Letters that may follow a letter, 2 or more."},
              {"n", ParameterType::kInteger, "", "Letters of a word, 1 or more."},
          },
          "b"),
  };
  return info;
}

// 0: too many to count on.
std::uint64_t kautz_routers(std::uint32_t b, std::uint32_t n) {
  std::uint64_t count = b + 1;
  for (std::uint32_t i = 1; i < n; ++i) {
    count *= b;
    if (count > kMostHosts) return 0;
  }
  return count;
}
std::uint64_t kautz_endpoints(std::uint32_t b, std::uint32_t n) { return kautz_routers(b, n) * b; }
std::vector<std::uint32_t> possible_b(std::uint32_t n) {
  return within_limit(all_from(2, 2048), [n](std::uint32_t b) { return kautz_endpoints(b, n); });
}
std::vector<std::uint32_t> kautz_possible_n(std::uint32_t b) {
  return within_limit(all_from(1, 32), [b](std::uint32_t n) { return kautz_endpoints(b, n); });
}

// The words, by their first letter, then by the rank of each next one among those it may be.
std::vector<std::uint32_t> letters(std::uint32_t word, std::uint32_t b, std::uint32_t n) {
  std::vector<std::uint32_t> ranks(n);
  for (std::uint32_t i = n; i-- > 1;) {
    ranks[i] = word % b;
    word /= b;
  }
  ranks[0] = word;
  for (std::uint32_t i = 1; i < n; ++i) ranks[i] += ranks[i] >= ranks[i - 1];
  return ranks;
}

std::uint32_t number(const std::vector<std::uint32_t>& letters, std::uint32_t b) {
  std::uint32_t word = letters[0];
  for (std::size_t i = 1; i < letters.size(); ++i) {
    word = word * b + letters[i] - (letters[i] > letters[i - 1]);
  }
  return word;
}

Topology build_kautz(const Parameters& parameters) {
  const std::uint32_t b = read_possible(parameters, "b", possible_b(1), "");
  const std::uint32_t n = read_possible(parameters, "n", kautz_possible_n(b), "");
  RouterNetwork network;
  for (std::uint32_t word = 0; word < kautz_routers(b, n); ++word) {
    std::vector<std::uint32_t> text = letters(word, b, n);
    network.routers.push_back({.name = fmt::format("router {}", fmt::join(text, ".")), .group = word});
    const std::uint32_t last = text.back();
    std::rotate(text.begin(), text.begin() + 1, text.end());
    for (std::uint32_t next = 0; next <= b; ++next) {
      if (next == last) continue;
      text.back() = next;
      const std::uint32_t to = number(text, b);
      if (to != word) network.links.push_back(std::minmax(word, to));
    }
  }
  // Two arcs between the same words make one link.
  std::sort(network.links.begin(), network.links.end());
  network.links.erase(std::unique(network.links.begin(), network.links.end()), network.links.end());
  return build_routers(kautz_info().name, parameters, network, b);
}

// Diameter 3, as most low-diameter networks of such sizes have it.
SizeParameters size_kautz(std::uint64_t wanted) {
  constexpr std::uint32_t kLetters = 3;
  const std::uint32_t b = least_size(kautz_info().name, wanted, possible_b(kLetters),
                                     [](std::uint32_t size) { return kautz_endpoints(size, kLetters); });
  return {{"b", std::to_string(b)}, {"n", std::to_string(kLetters)}};
}

}  // namespace

Family kautz() { return {kautz_info(), build_kautz, size_kautz}; }

}  // namespace weft::topologies
