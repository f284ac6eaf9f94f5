// How the ranks of a communicator lie on nodes.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace weft::goal {

// Consecutive ones share a node, each has equally many, but for the first and the last, which may have fewer.
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

// The places of ranks when they are put in an order in which those of a node follow each other.
struct RankOrder {
  // `node_ranks`: how many each node has, where NodeRanks can't tell that; else none.
  RankOrder(std::vector<std::uint32_t> by_place, const std::vector<std::uint32_t>& node_ranks);
  bool tells_nodes() const { return !begins.empty(); }

  std::vector<std::uint32_t> ranks;   // by place
  std::vector<std::uint32_t> places;  // by rank
  std::vector<std::uint32_t> begins;  // first place of each node, and behind the last: how many there are
  std::vector<std::uint32_t> nodes;   // by place
  std::uint32_t divisor = 0;          // the greatest of what the nodes have
};

// The nodes of `size` places, as `order` tells, if it does (it may be null), else NodeRanks.
class NodePlaces {
 public:
  NodePlaces(const NodeRanks& on, std::uint32_t size, const RankOrder* order)
      : on_(on), size_(size), uneven_(order != nullptr && order->tells_nodes() ? order : nullptr) {}
  std::uint32_t count() const {
    return uneven_ != nullptr ? static_cast<std::uint32_t>(uneven_->begins.size() - 1) : on_.nodes_of(size_);
  }
  std::uint32_t node_of(std::uint32_t place) const {
    return uneven_ != nullptr ? uneven_->nodes[place] : on_.node_of(place);
  }
  std::uint32_t first(std::uint32_t node) const {
    return uneven_ != nullptr ? uneven_->begins[node] : on_.first_rank(node);
  }
  std::uint32_t on(std::uint32_t node) const {
    return uneven_ != nullptr ? uneven_->begins[node + 1] - uneven_->begins[node] : on_.on(node, size_);
  }

 private:
  NodeRanks on_;
  std::uint32_t size_;
  const RankOrder* uneven_;
};

}  // namespace weft::goal
