#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/lattice.h"
#include "topologies/families/sizing.h"
#include "topologies/families/trees.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostXgftPorts = 2048;
constexpr std::uint64_t kMostXgftLinks = std::uint64_t{1} << 25;

const ModuleInfo& xgft_info() {
  static const ModuleInfo info = {
      .name = "xgft",
      .summary = "Extended generalized fat tree: each level with its own number of children and parents.",
      .source = "S. R. Öhring, M. Ibel, S. K. Das, M. J. Kumar, On generalized fat trees, IPPS 1995",
      .parameters = with_cabling({
          {"m", ParameterType::kText, "", "Children of a switch of each level, from the lowest: 4x4x8."},
          {"w", ParameterType::kText, "",
           "Parents of what is below each level, hosts first: 1x4x4; less than m tapers."},
      }),
  };
  return info;
}

const ModuleInfo& k_ary_n_tree_info() {
  static const ModuleInfo info = {
      .name = "k_ary_n_tree",
      .summary = "n levels of k^(n-1) switches with k links down and k up, k^n hosts.",
      .source =
          "F. Petrini, M. Vanneschi, k-ary n-trees: high performance networks for massively parallel "
          "architectures, IPPS 1997",
      .parameters = with_cabling({
          {"k", ParameterType::kInteger, "", "Links down of a switch, and up unless at the top: 1 to 2048."},
          {"n", ParameterType::kInteger, "", "Levels of switches, 1 to 22."},
      }),
  };
  return info;
}

// A node of level i has the coordinates (a_h … a_{i+1}, b_i … b_1): in which subtree it is, and which of the
// roots of that. Its number counts them in that order, the last fastest, with b_1 the slowest of the b.
struct Tree {
  std::vector<std::uint32_t> m, w;
  std::size_t levels() const { return m.size(); }
  std::uint64_t subtrees(std::size_t level) const {
    std::uint64_t count = 1;
    for (std::size_t i = level; i < m.size(); ++i) count *= m[i];
    return count;
  }
  std::uint64_t roots(std::size_t level) const {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < level; ++i) count *= w[i];
    return count;
  }
};

void check_size(const Parameters& parameters, const char* name, const Tree& tree) {
  for (std::size_t level = 0; level <= tree.levels(); ++level) {
    // Each factor is at most kMostHosts, so that neither product overflows.
    const std::uint64_t nodes = tree.subtrees(level) * tree.roots(level);
    if (nodes > kMostHosts) {
      parameters.fail(name, fmt::format("level {} has {} nodes; there can be {}", level, nodes, kMostHosts));
    }
    if (level < tree.levels() && nodes * tree.w[level] > kMostXgftLinks) {
      parameters.fail(name, fmt::format("that makes {} links above level {}; at most {} can be had",
                                        nodes * tree.w[level], level, kMostXgftLinks));
    }
  }
}

Topology build_tree(const std::string& family, const Parameters& parameters, const Tree& tree) {
  const Cabling cabling = read_cabling(parameters);
  Topology topology(to_short_form(family, parameters));
  const std::size_t levels = tree.levels();
  const auto pod = [&](std::uint64_t node, std::size_t level) {
    // What hangs below one top switch together; each top switch is a group of its own.
    const std::uint64_t below = tree.subtrees(level) * tree.roots(level) / tree.m.back();
    return static_cast<std::uint32_t>(level == levels ? tree.m.back() + node : node / below);
  };
  std::vector<std::vector<Vertex>> nodes(levels + 1);
  for (std::size_t level = 1; level <= levels; ++level) {
    const std::uint64_t count = tree.subtrees(level) * tree.roots(level);
    for (std::uint64_t n = 0; n < count; ++n) {
      nodes[level].push_back(topology.add_switch(fmt::format("switch {}.{}", level, n),
                                                 static_cast<std::uint8_t>(level), pod(n, level),
                                                 cabling.switch_latency));
    }
  }
  for (std::uint64_t n = 0; n < tree.subtrees(0); ++n) {
    nodes[0].push_back(topology.add_host(fmt::format("host {}", n), pod(n, 0)));
  }
  for (std::size_t level = 0; level < levels; ++level) {
    const std::uint64_t roots = tree.roots(level), up = tree.w[level];
    for (std::uint64_t n = 0; n < nodes[level].size(); ++n) {
      const std::uint64_t subtree = n / roots / tree.m[level], root = n % roots;
      for (std::uint64_t parent = 0; parent < up; ++parent) {
        topology.add_link(nodes[level][n], nodes[level + 1][(subtree * roots + root) * up + parent],
                          level == 0 ? cabling.host : cabling.fabric);
      }
    }
  }
  topology.finish();
  return topology;
}

Topology build_xgft(const Parameters& parameters) {
  const Tree tree = {read_dims(parameters, "m"), read_dims(parameters, "w")};
  if (tree.m.size() != tree.w.size()) {
    parameters.fail("w", fmt::format("it must have as many numbers as m, {}", tree.m.size()));
  }
  check_size(parameters, "m", tree);
  return build_tree(xgft_info().name, parameters, tree);
}

Topology build_k_ary(const Parameters& parameters) {
  const std::uint32_t k = count_parameter(parameters, "k", kMostXgftPorts);
  const std::uint32_t n = count_parameter(parameters, "n", 22);
  std::uint64_t hosts = 1;
  for (std::uint32_t i = 0; i < n; ++i) {
    hosts *= k;
    if (hosts > kMostHosts) parameters.fail("n", fmt::format("k^n must be at most {} hosts", kMostHosts));
  }
  Tree tree = {std::vector<std::uint32_t>(n, k), std::vector<std::uint32_t>(n, k)};
  tree.w[0] = 1;
  return build_tree(k_ary_n_tree_info().name, parameters, tree);
}

// Three levels of equal switches: k children and k parents, the top of 2k children, as a fat tree of 2k
// ports.
SizeParameters xgft_size_for(std::uint64_t endpoints) {
  const std::uint32_t k = least_size(
      "xgft", endpoints, 1, 128, 1, [](std::uint32_t half) { return std::uint64_t{2} * half * half * half; });
  return {{"m", dims_text({k, k, 2 * k})}, {"w", dims_text({1, k, k})}};
}

SizeParameters k_ary_size_for(std::uint64_t endpoints) {
  const std::uint32_t k = least_size("k_ary_n_tree", endpoints, 1, 161, 1,
                                     [](std::uint32_t half) { return std::uint64_t{half} * half * half; });
  return {{"k", std::to_string(k)}, {"n", "3"}};
}

}  // namespace

Family xgft() { return {xgft_info(), build_xgft, xgft_size_for}; }
Family k_ary_n_tree() { return {k_ary_n_tree_info(), build_k_ary, k_ary_size_for}; }

}  // namespace weft::topologies
