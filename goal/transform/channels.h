// The messages between neighbours of a grid, by where the neighbour lies: what is sent on each such channel,
// and what is expected.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/transform/layout.h"

namespace weft::goal {

// A channel leads to the rank at an offset, on communicators of one shape, with one tag. Within it messages
// match in their order; in a loose layout, in their order within each stretch between two collectives of all
// ranks, where those that only one side has are left out: such that as many as can be meet one as long.
// REQUIRES: no wildcards.
class Channels {
 public:
  Channels(const Graph& graph, const Layout& layout);

  struct Balance {
    std::uint64_t sent = 0, left_out = 0;  // messages
  };
  // On a grid of this size. Throws InputError if a rank would get more or fewer messages from another than it
  // expects, unless the layout is loose.
  Balance balance(const RankGrid& larger) const;
  // The messages of one rank of the larger grid.
  class OfRank;

 private:
  using Key = std::array<std::int64_t, 5>;  // offset, shape, tag
  struct Message {
    std::uint32_t segment;  // 0 unless the layout is loose
    std::uint64_t bytes;
  };
  using List = std::vector<Message>;                      // in order
  using Lists = std::unordered_map<std::uint32_t, List>;  // by channel

  static const List& list(const Lists& lists, std::uint32_t channel);
  // Which message of the other side each of `own` meets, or null. `own_sends`: the other side receives.
  static std::vector<const Message*> partners(const List& own, const List& others, bool own_sends);
  std::uint32_t number_of(const RankGrid::Place& offset, std::uint32_t shape, std::uint32_t tag);
  [[noreturn]] void refuse(const RankGrid& larger, Rank r, Rank partner, bool sends, std::size_t count,
                           std::size_t other) const;

  const Graph& graph_;
  const Layout& layout_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<RankGrid::Place> offsets_;              // by channel
  std::vector<std::uint32_t> reverse_;                // by channel: the one back
  std::vector<Lists> sent_, received_;                // by rank
  std::vector<std::vector<std::uint32_t>> channels_;  // by rank and operation
};

class Channels::OfRank {
 public:
  // Rank `rank` of the larger grid does as `model`.
  OfRank(const Channels& channels, const RankGrid& larger, Rank rank, Rank model)
      : channels_(channels), larger_(larger), rank_(rank), model_(model) {}
  // The bytes of a send or receive of the model: of a receive, those of the message that it takes, and more
  // only if it had room for more. Nothing if it is left out. To be called for all of them, in ascending
  // order.
  std::optional<std::uint64_t> bytes(OpIndex i);

 private:
  struct Flow {
    const List* own;
    std::vector<const Message*> partners,
        of_model;  // that meet the messages of `own`: now, and in the old program
    std::size_t next = 0;
  };
  const Channels& channels_;
  const RankGrid& larger_;
  Rank rank_, model_;
  std::unordered_map<std::uint64_t, Flow> flows_;  // by channel and direction
};

}  // namespace weft::goal
