// Messages of sends, or requests to send them, and the receives that wait for them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/replay/chunks.h"
#include "sim/replay/match_table.h"
#include "sim/replay/matching.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

// Matches messages and receives of one share's ranks, which go by their number in it. Receives go by their
// operation. While a receive waits, its word links it to others: `words` are those of the rank's operations.
// Where a graph has wildcards they are all in one place, else in tables of each rank.
class UserMessages {
 public:
  static constexpr std::uint32_t kNone = MatchTable::kNone;
  using Key = MatchTable::Key;

  UserMessages(std::uint32_t ranks, bool has_wildcards)
      : has_wildcards_(has_wildcards),
        tables_(has_wildcards ? 0 : ranks),
        matching_(has_wildcards ? ranks : 0) {}

  // Takes and returns the receive that the message is for; kNone: the message waits.
  std::uint32_t arrive(std::uint32_t local, std::uint32_t* words, const Key& key,
                       const ArrivedMessage& message) {
    if (has_wildcards_) {
      return matching_.arrive({local, key.source, key.tag, key.communicator}, message);
    }
    MatchTable& table = tables_[local];
    MatchTable::Entry* entry = table.find(key);
    const auto link_of_message = [this](std::uint32_t slot) -> std::uint32_t& { return parked_[slot].next; };
    if (entry == nullptr) {
      table.insert(key, true, park(message), memory_, link_of_message);
      return kNone;
    }
    if (entry->of_messages) {
      MatchTable::append(*entry, park(message), link_of_message);
      return kNone;
    }
    return table.take(*entry, [words](std::uint32_t op) -> std::uint32_t& { return words[op]; });
  }
  // Takes and returns the message that the receive gets; none: the receive waits.
  std::optional<ArrivedMessage> post(std::uint32_t local, std::uint32_t* words, const Key& key,
                                     std::uint32_t receive) {
    if (has_wildcards_) {
      return matching_.post({local, key.source, key.tag, key.communicator}, receive);
    }
    MatchTable& table = tables_[local];
    MatchTable::Entry* entry = table.find(key);
    const auto link_of_receive = [words](std::uint32_t op) -> std::uint32_t& { return words[op]; };
    if (entry == nullptr) {
      table.insert(key, false, receive, memory_, link_of_receive);
      return std::nullopt;
    }
    if (!entry->of_messages) {
      MatchTable::append(*entry, receive, link_of_receive);
      return std::nullopt;
    }
    return unpark(
        table.take(*entry, [this](std::uint32_t slot) -> std::uint32_t& { return parked_[slot].next; }));
  }

  // Fetch into the cache what arrive() will look at: first the rank's table, then the place of the key. The
  // latter returns the youngest of the receives that it is for, if that is known at this look.
  void expect(std::uint32_t local) const {
    if (!has_wildcards_) __builtin_prefetch(&tables_[local], 1);
  }
  std::uint32_t expect(std::uint32_t local, const Key& key, int look) const {
    if (has_wildcards_) return kNone;
    const MatchTable& table = tables_[local];
    if (look == 1 && table.has_far()) {
      table.prefetch(key);
      return kNone;
    }
    if (look == 2 && !table.has_far()) return kNone;  // it was found with the first look
    const MatchTable::Entry* entry = table.find(key);
    return entry == nullptr || entry->of_messages ? kNone : entry->last;
  }

  // What waits at a rank: messages with the ranks that they are from, or receives with their operations; the
  // oldest first where there are wildcards, else by key.
  using Waiting = std::vector<std::pair<MatchKey, std::uint32_t>>;
  Waiting messages(std::uint32_t local) const;
  Waiting receives(std::uint32_t local, const std::uint32_t* words) const;
  std::uint64_t unreceived() const { return parked_count_ + matching_.messages().size(); }
  std::uint64_t memory_bytes() const {
    return parked_.memory_bytes() + matching_.memory_bytes() + tables_.capacity() * sizeof(MatchTable) +
           memory_.bytes();
  }

 private:
  // A message that waits for its receive in a table.
  struct Parked {
    ArrivedMessage message;
    std::uint32_t next = kNone;  // in its queue, or in the free list
  };
  static_assert(sizeof(Parked) == 20);

  std::uint32_t park(const ArrivedMessage& message) {
    ++parked_count_;
    if (free_ == kNone) {
      parked_.push_back({message});
      return parked_.size() - 1;
    }
    const std::uint32_t slot = free_;
    free_ = parked_[slot].next;
    parked_[slot].message = message;
    return slot;
  }
  ArrivedMessage unpark(std::uint32_t slot) {
    --parked_count_;
    const ArrivedMessage message = parked_[slot].message;
    parked_[slot].next = free_;
    free_ = slot;
    return message;
  }
  template <typename Link>
  Waiting in_table(std::uint32_t local, bool of_messages, Link&& link) const;

  const bool has_wildcards_;  // then matching_ has what waits, else tables_
  LargeVector<MatchTable> tables_;
  MatchTableMemory memory_;
  Matching matching_;
  Chunks<Parked> parked_;
  std::uint32_t free_ = kNone;
  std::uint64_t parked_count_ = 0;
};

}  // namespace weft::sim
