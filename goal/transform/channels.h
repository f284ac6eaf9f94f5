// The messages between neighbours of a grid, by where the neighbour lies: what is sent on each such channel,
// and what is expected.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/transform/layout.h"

namespace weft::goal {

// A channel leads to the rank at an offset, on communicators of one shape, with one tag. Within it messages
// match in their order. REQUIRES: no wildcards.
class Channels {
 public:
  Channels(const Graph& graph, const Layout& layout);
  // Throws InputError if, on a grid of this size, a rank would get more or fewer messages from another than
  // it expects.
  void require_balance(const RankGrid& larger) const;
  // The bytes of what rank `to` of the larger grid, which does as `model`, receives in operations of
  // `model`, each as long as the message that it takes there.
  class Receiver;

 private:
  using Key = std::array<std::int64_t, 5>;                                      // offset, shape, tag
  using Sizes = std::unordered_map<std::uint32_t, std::vector<std::uint64_t>>;  // by channel, in order

  std::uint32_t number_of(const RankGrid::Place& offset, std::uint32_t shape, std::uint32_t tag);

  const Graph& graph_;
  const Layout& layout_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<RankGrid::Place> offsets_;              // by channel
  std::vector<std::uint32_t> reverse_;                // by channel: the one back
  std::vector<Sizes> sent_, received_;                // by rank
  std::vector<std::vector<std::uint32_t>> channels_;  // by rank and operation
};

class Channels::Receiver {
 public:
  Receiver(const Channels& channels, const RankGrid& larger, Rank to, Rank model)
      : channels_(channels), larger_(larger), to_(to), model_(model) {}
  // REQUIRES: operation i of the model is a receive, and called for all of them in ascending order.
  std::uint64_t bytes(OpIndex i);

 private:
  struct Lists {
    const std::vector<std::uint64_t>*expected, *sent_to_model, *sent;
    std::size_t next = 0;
  };
  const Channels& channels_;
  const RankGrid& larger_;
  Rank to_, model_;
  std::unordered_map<std::uint32_t, Lists> lists_;
};

}  // namespace weft::goal
