#include "sim/replay/early_messages.h"

#include <algorithm>

namespace weft::sim {

// Whichever are fewer are looked at: the step's peers, or what waits at the rank.
const std::vector<std::uint32_t>& EarlyMessages::find(const RankState& rank, const ActiveCollective& active,
                                                      const goal::Step& step) {
  found_.clear();
  if (step.count <= rank.early) {
    find_by_source(active, step);
  } else {
    find_among_all(active, step);
  }
  return found_;
}

void EarlyMessages::find_by_source(const ActiveCollective& active, const goal::Step& step) {
  StepKey key{active.local, step.peer, active.number, active.comm, step.tag};
  for (std::uint32_t i = 0; i < step.count; ++i) {
    key.source = step.peer_at(i, active.call.size);
    const std::uint32_t entry = queues_.front(key);
    if (entry != kNone) found_.push_back(entry);
  }
  std::sort(found_.begin(), found_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return queues_.entry(a).stamp < queues_.entry(b).stamp;
  });
}

void EarlyMessages::find_among_all(const ActiveCollective& active, const goal::Step& step) {
  const StepKey key{active.local, step.peer, active.number, active.comm, step.tag};
  for (std::uint32_t i = queues_.first_of_rank(active.local); i != kNone; i = queues_.entry(i).rank_next) {
    StepKey there = queues_.entry(i).key;
    if (!covers(step, there.source, active.call.size)) continue;
    there.source = key.source;
    if (there == key) found_.push_back(i);
  }
}

void EarlyMessages::prefetch(const ActiveCollective& active, const std::vector<OpenStep>& steps) const {
  for (const OpenStep& open : steps) {
    if (!open.is_receive()) continue;
    const std::uint32_t source = open.step.peer_at(0, active.call.size);
    prefetch({active.local, source, active.number, active.comm, open.step.tag});
  }
}

}  // namespace weft::sim
