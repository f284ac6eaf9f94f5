// Where the ranks of a communicator stand in NCCL's rings and trees. Ranks here, and those that a schedule
// sends to, are places (CollectiveCall::place_of()): consecutive ones share a node. Within a node every
// channel begins at another GPU, the one beside the NIC it uses. Source: NCCL 2.30, src/graph/rings.cc,
// src/graph/trees.cc, src/graph/connect.cc.
#pragma once

#include <array>
#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal::nccl {

inline constexpr std::uint32_t kNoRank = 0xFFFFFFFFu;

// Rings and chains of trees that enter a node at different GPUs: those that were found, which as many
// channels use as there are; if that isn't told, half of the channels. Channels beyond repeat them.
std::uint32_t different_rings(const CollectiveOptions& options);

// Rings of `gpus` GPUs that are linked in pairs which together use each link as often in either direction.
std::uint32_t rings_in_pairs(std::uint32_t gpus);

// The nodes' GPUs one after the other, as rings and chains of trees go through them: from one to the next, as
// all links lead to switches. The first GPUs, as many as rings were found between nodes, are those with
// NICs: a ring enters a node at one of them and leaves it from another, so that every NIC has one ring in and
// one out, and GPUs without a NIC lie between. Where GPUs are linked in pairs, channels go in different
// orders, by Walecki's zigzags (B. Alspach, "The wonderful Walecki construction", 2008), so that all links
// have work:
// - in one node, rings: one GPU, and the others in zigzag, turned on by the channel, and the other way round;
// - in several, paths from where a channel enters: the zigzag of all, turned on by the channel.
// NCCL's search finds rings of the same kind, in an order of its own.
class NodeOrder {
 public:
  NodeOrder(const CollectiveCall& call, std::uint32_t channel);
  std::uint32_t size() const { return size_; }
  std::uint32_t nodes() const { return on_.count(); }
  std::uint32_t node_of(std::uint32_t rank) const { return on_.node_of(rank); }
  std::uint32_t gpus(std::uint32_t node) const { return on_.on(node); }
  // Place of the rank among the GPUs of its node, and the rank at a place.
  std::uint32_t place_in_node(std::uint32_t rank) const;
  std::uint32_t rank_in_node(std::uint32_t node, std::uint32_t place) const;
  // Around the ring.
  std::uint32_t position(std::uint32_t rank) const {
    const std::uint32_t node = node_of(rank);
    return on_.first(node) + place_on_ring(node, place_in_node(rank));
  }
  std::uint32_t rank_at(std::uint32_t position) const {
    const std::uint32_t node = node_of(position);
    return rank_in_node(node, place_on_ring(node, position - on_.first(node)));
  }

 private:
  // Rings go through every other node the other way round where GPUs are linked in pairs: they enter it at
  // the GPU that they left the one before from, on one rail.
  std::uint32_t place_on_ring(std::uint32_t node, std::uint32_t place) const {
    return in_pairs_ && node % 2 == 1 ? gpus(node) - 1 - place : place;
  }

  // Whether the last GPU stands still while the others turn.
  bool has_pole() const { return in_pairs_ && nodes() == 1; }

  NodePlaces on_;
  std::uint32_t size_;
  std::uint32_t ends_, turn_;  // GPUs that rings may begin and end at; the one that this begins at
  bool in_pairs_, backward_ = false;
};

// One rank's neighbours in the tree of a channel: a chain in each node whose first GPU talks to another node,
// and a binary tree of nodes, the mirror image (for odd numbers of nodes: one place on) in those channels
// that repeat the rings.
struct TreePlace {
  std::uint32_t up = kNoRank;
  std::array<std::uint32_t, 3> down{kNoRank, kNoRank, kNoRank};
  std::uint32_t children = 0;  // how many of them
};
TreePlace tree_place(const CollectiveCall& call, std::uint32_t channel);
// Finds the rank's neighbours in the tree of a channel that joins the GPUs of one place in all nodes (NVLS
// tree): even channels have the first tree of nodes, odd channels the second. REQUIRES: as many GPUs in each
// node, or one node.
TreePlace rail_tree_place(const CollectiveCall& call, std::uint32_t channel);

}  // namespace weft::goal::nccl
