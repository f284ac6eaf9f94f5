// How the ranks of a communicator lie on nodes: consecutive ones share a node, each has equally many, but for
// the first and the last, which may have fewer.
#pragma once

#include <compare>
#include <cstdint>

namespace weft::goal {

struct NodeRanks {
  std::uint32_t each = 0;
  std::uint32_t first = 0;  // of the first node, at most `each`; 0: as many

  // With so many more before them the ranks fill the first node too.
  std::uint32_t missing() const { return first == 0 ? 0 : each - first; }
  std::uint32_t node_of(std::uint32_t rank) const {
    return static_cast<std::uint32_t>((std::uint64_t{rank} + missing()) / each);
  }
  // REQUIRES: ranks is at least 1.
  std::uint32_t nodes_of(std::uint32_t ranks) const { return node_of(ranks - 1) + 1; }
  std::uint32_t first_rank(std::uint32_t node) const { return node == 0 ? 0 : node * each - missing(); }
  // How many of so many ranks are on the node.
  std::uint32_t on(std::uint32_t node, std::uint32_t ranks) const {
    const std::uint32_t begin = first_rank(node), most = node == 0 ? each - missing() : each;
    return most < ranks - begin ? most : ranks - begin;
  }
  auto operator<=>(const NodeRanks&) const = default;
};

}  // namespace weft::goal
