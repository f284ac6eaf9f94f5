// Messages of which only one side was met so far. Not for other folders.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal::checks {

struct MessageKey {
  Rank receiver;
  std::uint32_t sender;
  std::uint32_t comm;
  std::uint32_t tag;
  auto operator<=>(const MessageKey&) const = default;
};

struct Side {
  OpIndex op;
  std::uint64_t bytes;
};

// Pairs the k-th send with the k-th receive of each key, whichever comes first. What waits is stored in runs
// of equal size and distance between operations, so that a loop takes no more room the longer it waits.
class PendingMessages {
 public:
  PendingMessages();

  // If the other side of this message waits, takes it away and returns it; else this one waits now.
  std::optional<Side> meet(const MessageKey& key, bool is_send, const Side& side);

  struct Left {
    MessageKey key;
    bool is_send;
    std::uint64_t count;
    OpIndex op;  // the first of them
  };
  // What still waits, by key.
  std::vector<Left> left() const;

 private:
  // `count` messages at operations op, op + stride, …
  struct Run {
    std::uint64_t bytes = 0;
    OpIndex op = 0;
    std::uint32_t stride = 0, count = 0;
    std::uint32_t next = kAny;  // in runs_, for the runs behind the first

    bool append(const Side& side);
  };
  struct Entry {
    MessageKey key{};
    bool is_send = false;
    std::uint32_t last = kAny;  // the last of the runs behind the first
    Run first;                  // count 0: the entry is free
  };

  std::size_t slot_of(const MessageKey& key) const;
  void wait(Entry& entry, const Side& side);
  void remove(std::size_t slot);
  void grow();

  std::vector<Entry> entries_;  // open addressing
  std::size_t used_ = 0;
  std::vector<Run> runs_;
  std::uint32_t free_run_ = kAny;
};

}  // namespace weft::goal::checks
