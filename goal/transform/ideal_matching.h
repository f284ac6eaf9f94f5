// Message matching for the ideal schedule: posted receives and messages that came before their receive.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "goal/transform/ideal_schedule.h"

namespace weft::goal {

// A send or receive as matching sees it. Wildcards are kAny.
struct Envelope {
  Rank to = 0;
  std::uint32_t from = 0, tag = 0, comm = 0;
  bool operator==(const Envelope&) const = default;
};

// MPI's rule: the oldest posted receive that fits takes a message, and a receive takes the oldest message
// that fits. Constant time between ranks that use no wildcards; at ranks that do, queues are searched.
class IdealMatching {
 public:
  explicit IdealMatching(const Graph& graph);
  // The message that the receive takes, or kNoOp: it waits then.
  GlobalOp post(const Envelope& receive, GlobalOp op) { return meet(receive, op, posted_, arrived_); }
  // The receive that takes the message, or kNoOp: it waits then.
  GlobalOp arrive(const Envelope& message, GlobalOp op) { return meet(message, op, arrived_, posted_); }

 private:
  struct Hash {
    std::size_t operator()(const Envelope& e) const;
  };
  struct Fifo {
    GlobalOp first = kNoOp, last = kNoOp;
  };
  struct Waiting {
    Envelope envelope;
    GlobalOp op;
  };
  struct Side {
    std::unordered_map<Envelope, Fifo, Hash> exact;          // only asked, never walked
    std::unordered_map<Rank, std::deque<Waiting>> searched;  // at ranks that use wildcards
  };

  GlobalOp meet(const Envelope& envelope, GlobalOp op, Side& own, Side& other);
  GlobalOp search(const Envelope& envelope, std::deque<Waiting>& waiting);

  std::vector<bool> uses_wildcards_;  // per receiving rank
  std::vector<GlobalOp> next_;        // in a Fifo, per operation
  Side posted_, arrived_;
};

}  // namespace weft::goal
