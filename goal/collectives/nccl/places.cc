#include "goal/collectives/nccl/places.h"

#include <algorithm>

#include "goal/collectives/in_order_tree.h"

namespace weft::goal::nccl {
namespace {

// Which GPU of a node of `gpus` the tree of nodes is attached to, for the smaller and the larger child of a
// node: the pattern that NCCL calls a balanced tree.
std::uint32_t attached_at(bool smaller, std::uint32_t gpus) { return smaller && gpus > 1 ? 1 : 0; }

// 0, 1, -1, 2, -2 … modulo `size`, and where a value stands in it.
std::uint32_t zigzag(std::uint32_t place, std::uint32_t size) {
  const std::uint32_t away = (place + 1) / 2;
  return place % 2 == 1 || away == 0 ? away : size - away;
}
std::uint32_t place_in_zigzag(std::uint32_t value, std::uint32_t size) {
  if (value == 0) return 0;
  return value <= size / 2 ? 2 * value - 1 : 2 * (size - value);
}

// How many of the `ends` GPUs with NICs come before those without: the one that a ring begins at and, for a
// tree of nodes, the one after it, but not the one that the ring ends at.
std::uint32_t before_others(std::uint32_t ends) { return ends > 2 ? 2 : 1; }

// The nodes of a channel's tree.
class NodeTree {
 public:
  NodeTree(std::uint32_t nodes, bool second) : tree_{nodes}, second_(second) {}
  std::uint32_t root() const { return node(0); }
  std::uint32_t parent(std::uint32_t n) const { return node(tree_.parent(place(n))); }
  bool is_smaller_child(std::uint32_t n) const { return place(n) < tree_.parent(place(n)); }
  template <typename Visit>
  void children(std::uint32_t n, Visit visit) const {
    if (tree_.size < 2) return;
    tree_.children(place(n), [&](std::uint32_t child) { visit(node(child)); });
  }

 private:
  std::uint32_t place(std::uint32_t n) const { return second_ ? second_tree(tree_.size, n, false) : n; }
  std::uint32_t node(std::uint32_t p) const { return second_ ? second_tree(tree_.size, p, true) : p; }
  InOrderTree tree_;
  bool second_;
};

}  // namespace

std::uint32_t different_rings(const CollectiveOptions& options) {
  const std::uint32_t channels = options.channels * options.bundle;
  return std::max(options.rings > 0 ? std::min(options.rings, channels) : channels / 2, 1u);
}

std::uint32_t rings_in_pairs(std::uint32_t gpus) {
  if (gpus <= 2) return 1;
  // With an even number of GPUs they use each link twice, with an odd one once.
  return gpus % 2 == 0 ? 2 * (gpus - 1) : gpus - 1;
}

NodeOrder::NodeOrder(const CollectiveCall& call, std::uint32_t channel)
    : on_(call.nodes()), size_(call.size), in_pairs_(call.options->in_pairs) {
  const std::uint32_t rings = different_rings(*call.options);
  ends_ = call.options->rings == 0 && nodes() == 1 ? call.options->ranks_per_node : rings;
  turn_ = channel % rings;
  if (!has_pole()) return;
  const std::uint32_t ring = channel % rings_in_pairs(size_);
  turn_ = ring / 2;
  backward_ = ring % 2 == 1;
}

std::uint32_t NodeOrder::place_in_node(std::uint32_t rank) const {
  const std::uint32_t node = node_of(rank), all = gpus(node), gpu = rank - on_.first(node);
  const auto turned_back = [&](std::uint32_t size) { return (gpu + size - turn_ % size) % size; };
  if (!in_pairs_) {
    const std::uint32_t ends = std::min(ends_, all), others = all - ends;
    if (gpu >= ends) return before_others(ends) + (gpu - ends + others - turn_ % others) % others;
    const std::uint32_t past = turned_back(ends);
    return past < before_others(ends) ? past : others + past;
  }
  if (!has_pole()) return place_in_zigzag(turned_back(all), all);
  const std::uint32_t place = gpu + 1 == all ? 0 : 1 + place_in_zigzag(turned_back(all - 1), all - 1);
  return backward_ ? (all - place) % all : place;
}

std::uint32_t NodeOrder::rank_in_node(std::uint32_t node, std::uint32_t place) const {
  const std::uint32_t all = gpus(node), first = on_.first(node);
  if (!in_pairs_) {
    const std::uint32_t ends = std::min(ends_, all), others = all - ends;
    const std::uint32_t before = before_others(ends);
    if (place < before) return first + (place + turn_) % ends;
    if (place < before + others) return first + ends + (place - before + turn_) % others;
    return first + (place - others + turn_) % ends;
  }
  if (!has_pole()) return first + (zigzag(place, all) + turn_) % all;
  if (backward_) place = (all - place) % all;
  return first + (place == 0 ? all - 1 : (zigzag(place - 1, all - 1) + turn_) % (all - 1));
}

TreePlace tree_place(const CollectiveCall& call, std::uint32_t channel) {
  const NodeOrder order(call, channel);
  const std::uint32_t rings = call.options->rings;
  const bool second = rings > 0 ? channel / rings % 2 == 1 : channel >= (call.options->channels + 1) / 2;
  const NodeTree tree(order.nodes(), second);
  const std::uint32_t node = order.node_of(call.place()), place = order.place_in_node(call.place());
  const std::uint32_t gpus = order.gpus(node);
  TreePlace at;
  const auto add_child = [&](std::uint32_t rank) { at.down[at.children++] = rank; };
  if (place + 1 < gpus) add_child(order.rank_in_node(node, place + 1));
  tree.children(node, [&](std::uint32_t child) {
    if (attached_at(tree.is_smaller_child(child), gpus) == place) add_child(order.rank_in_node(child, 0));
  });
  if (place > 0) {
    at.up = order.rank_in_node(node, place - 1);
  } else if (node != tree.root()) {
    const std::uint32_t parent = tree.parent(node);
    at.up = order.rank_in_node(parent, attached_at(tree.is_smaller_child(node), order.gpus(parent)));
  }
  return at;
}

TreePlace rail_tree_place(const CollectiveCall& call, std::uint32_t channel) {
  const std::uint32_t gpus = std::min(call.options->ranks_per_node, call.size);
  const std::uint32_t node = call.place() / gpus, place = call.place() % gpus;
  const NodeTree tree((call.size + gpus - 1) / gpus, channel % 2 == 1);
  TreePlace at;
  tree.children(node, [&](std::uint32_t child) { at.down[at.children++] = child * gpus + place; });
  if (node != tree.root()) at.up = tree.parent(node) * gpus + place;
  return at;
}

}  // namespace weft::goal::nccl
