// Messages of collectives that came before the group that takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/replay/keyed_queues.h"
#include "sim/replay/matching.h"
#include "sim/replay/open_collectives.h"
#include "sim/replay/rank_state.h"

namespace weft::sim {

class EarlyMessages {
 public:
  using Queues = KeyedQueues<StepKey, ArrivedMessage>;
  static constexpr std::uint32_t kNone = Queues::kNone;

  explicit EarlyMessages(std::uint32_t ranks) : queues_(ranks) {}

  void push(RankState& rank, const StepKey& key, const ArrivedMessage& message) {
    ++rank.early;
    queues_.push(key, message);
  }
  // Those that a step of a collective takes, in the order of their arrival: each for take(). Good until the
  // next call.
  const std::vector<std::uint32_t>& find(const RankState& rank, const ActiveCollective& active,
                                         const goal::Step& step);
  ArrivedMessage take(RankState& rank, std::uint32_t entry) {
    --rank.early;
    return queues_.take(entry);
  }
  // Fetch into the cache where find() will look for the first message of each step, or for this one.
  void prefetch(const ActiveCollective& active, const std::vector<OpenStep>& steps) const;
  void prefetch(const StepKey& key) const { queues_.prefetch(key); }

  const Queues& queues() const { return queues_; }
  std::uint64_t size() const { return queues_.size(); }
  std::uint64_t memory_bytes() const { return queues_.memory_bytes(); }

 private:
  void find_by_source(const ActiveCollective& active, const goal::Step& step);
  void find_among_all(const ActiveCollective& active, const goal::Step& step);

  Queues queues_;
  std::vector<std::uint32_t> found_;
};

}  // namespace weft::sim
