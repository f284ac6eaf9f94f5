// Message matching as MPI defines it: queues of posted receives and of unexpected messages.
//
// Source: MPI: A Message-Passing Interface Standard, version 4.0, section 3.5 (order, wildcards).
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::sim {

// Set in MatchKey::context beside the communicator: the messages inside collectives, which no user's receive
// may take.
inline constexpr std::uint32_t kCollectiveContext = 1u << 28;

// What a receive asks for and a message carries. A wildcard (goal::kAny) may stand in `source` and `tag` of
// a receive. MPI has none in messages, but GOAL allows "any tag" there too: such a message fits every tag.
// `sub` tells apart the messages of one collective operation.
struct MatchKey {
  std::uint32_t rank = 0;  // the receiver
  std::uint32_t source = 0;
  std::uint32_t tag = 0;
  std::uint32_t context = 0;  // communicator; collectives have contexts of their own
  std::uint32_t sub = 0;

  bool operator==(const MatchKey&) const = default;
  bool is_wildcard() const { return source == goal::kAny || tag == goal::kAny; }
  // Would a receive with this key take a message with that key?
  bool accepts(const MatchKey& message) const {
    return rank == message.rank && context == message.context && sub == message.sub &&
           (source == goal::kAny || source == message.source) &&
           (tag == goal::kAny || message.tag == goal::kAny || tag == message.tag);
  }
};

// First-in-first-out queues of 32-bit values, found by key in constant time, and beside it one list per rank
// in order of arrival. No allocation once the pools have grown. 48 bytes an entry.
class KeyedQueues {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  struct Entry {
    MatchKey key;
    std::uint32_t value = 0;
    std::uint64_t stamp = 0;                                 // order over all entries
    std::uint32_t next = kNone;                              // in its keyed queue, or in the free list
    std::uint32_t rank_previous = kNone, rank_next = kNone;  // in its rank's list
  };

  explicit KeyedQueues(std::uint32_t ranks);
  void push(const MatchKey& key, std::uint32_t value, std::uint64_t stamp);
  // The oldest entry with exactly this key, or kNone.
  std::uint32_t front(const MatchKey& key) const;
  // The oldest entry of the rank, and its successors: for wildcards and diagnosis.
  std::uint32_t first_of_rank(std::uint32_t rank) const { return rank_head_[rank]; }
  const Entry& entry(std::uint32_t index) const { return pool_[index]; }
  // Takes an entry out. REQUIRES: it is the oldest with its key.
  std::uint32_t take(std::uint32_t index);
  std::uint64_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t head = kNone, tail = kNone;
  };
  static std::uint64_t hash(const MatchKey& key);
  std::size_t find_slot(const MatchKey& key) const;  // the key's slot, or the empty one where it belongs
  void grow();
  void erase_slot(std::size_t slot);

  std::vector<Slot> slots_;
  std::size_t used_slots_ = 0;
  std::vector<Entry> pool_;
  std::uint32_t free_ = kNone;
  std::uint64_t size_ = 0;
  std::vector<std::uint32_t> rank_head_, rank_tail_;
};

// Posted receives and unexpected messages of a set of ranks. Values are the caller's handles.
class Matching {
 public:
  static constexpr std::uint32_t kNone = KeyedQueues::kNone;
  explicit Matching(std::uint32_t ranks) : posted_(ranks), wildcards_(ranks), unexpected_(ranks) {}

  // A receive is posted: takes and returns the oldest unexpected message it accepts, or queues the receive
  // and returns kNone.
  std::uint32_t post(const MatchKey& key, std::uint32_t receive);
  // A message arrives: takes and returns the oldest posted receive that accepts it, or queues the message and
  // returns kNone.
  std::uint32_t arrive(const MatchKey& key, std::uint32_t message);

  const KeyedQueues& posted() const { return posted_; }        // receives without wildcards
  const KeyedQueues& wildcards() const { return wildcards_; }  // receives with one
  const KeyedQueues& unexpected() const { return unexpected_; }

 private:
  std::uint32_t take_message(std::uint32_t index);

  std::uint64_t next_stamp_ = 0;
  std::uint64_t any_tag_messages_ = 0;  // of the unexpected ones
  KeyedQueues posted_, wildcards_, unexpected_;
};

}  // namespace weft::sim
