// Why a replay stopped short: who waits, for what, and which message nearly fits.
#include <fmt/format.h>

#include <algorithm>

#include "sim/replay/replay.h"

namespace weft::sim {
namespace {

std::string or_any(std::uint32_t value) { return value == goal::kAny ? "any" : std::to_string(value); }

std::string describe_key(const MatchKey& key) {
  const std::uint32_t comm = key.context & ~kCollectiveContext;
  if (comm != key.context)
    return fmt::format("collective {} of communicator {}, round {}", key.tag, comm, key.sub);
  return fmt::format("tag {}{}", or_any(key.tag),
                     comm == goal::kWorld ? "" : fmt::format(", communicator {}", comm));
}

// How a message there misses a receive asked for, or "" if they have too little in common.
std::string near_miss(const MatchKey& wanted, const MatchKey& there) {
  if (wanted.rank != there.rank || ((wanted.context ^ there.context) & kCollectiveContext) != 0) return "";
  const bool source = wanted.source == goal::kAny || wanted.source == there.source;
  const bool tag = wanted.tag == goal::kAny || there.tag == goal::kAny || wanted.tag == there.tag;
  const bool context = wanted.context == there.context;
  if (source && context && !tag) return "right peer, other tag";
  if (source && tag && !context) return "right peer and tag, other communicator";
  if (tag && context && !source) return "right tag, other peer";
  return "";
}

}  // namespace

std::vector<std::string> Replay::diagnose(std::size_t limit) const {
  std::vector<std::string> lines;
  const auto op_text = [&](std::uint32_t rank, goal::OpIndex op) {
    const std::string_view label = graph_.rank(rank).label(op);
    return label.empty() ? fmt::format("operation {}", op) : fmt::format("operation {} ({})", op, label);
  };
  const auto where = [&](const Task& task) {
    if (task.active == kNone) return op_text(task.rank, task.op);
    const Active& active = *actives_[task.active];
    const goal::Collective& collective = graph_.rank(active.rank).collective(active.op);
    return fmt::format("{}, {} number {} of communicator {}, round {}", op_text(active.rank, active.op),
                       goal::name(collective.kind), graph_.rank(active.rank).tag(active.op), collective.comm,
                       active.schedule.step(task.op).round);
  };
  // Of a collective, where() tells it all.
  const auto key_text = [](const Task& task, const MatchKey& key) {
    return task.active == kNone ? ", " + describe_key(key) : "";
  };

  // Waiting tasks, by rank.
  std::vector<const Task*> waiting;
  std::vector<bool> has_task(ranks_.size(), false);
  for (const Task& task : tasks_) {
    if (task.state == TaskState::kFree) continue;
    has_task[task.rank] = true;
    if (task.state == TaskState::kPosted || task.state == TaskState::kAwaitClear) waiting.push_back(&task);
  }
  std::sort(waiting.begin(), waiting.end(), [](const Task* a, const Task* b) {
    return std::tie(a->rank, a->active, a->op) < std::tie(b->rank, b->active, b->op);
  });

  std::size_t ranks_shown = 0, ranks_waiting = 0;
  std::uint32_t last_rank = kNone;
  for (const Task* task : waiting) {
    if (task->rank == last_rank) continue;  // one line a rank: its first waiting operation
    last_rank = task->rank;
    ++ranks_waiting;
    if (ranks_shown >= limit) continue;
    ++ranks_shown;
    const RankState& peer_state = ranks_[task->peer == goal::kAny ? task->rank : task->peer];
    const std::uint32_t peer_ops = task->peer == goal::kAny ? 0 : graph_.rank(task->peer).ops();
    const char* peer_note = task->peer == goal::kAny          ? ""
                            : peer_state.ops_done == peer_ops ? "; that rank has finished"
                            : has_task[task->peer] == false   ? "; that rank is stuck"
                                                              : "; that rank waits too";
    std::string line;
    std::string nearest;
    if (task->state == TaskState::kPosted) {
      const MatchKey key = key_of(*task, task->peer, task->rank);
      line = fmt::format("rank {} waits to receive {} bytes from rank {}{} [{}]{}", task->rank, task->bytes,
                         or_any(task->peer), key_text(*task, key), where(*task), peer_note);
      for (std::uint32_t i = matching_.unexpected().first_of_rank(task->rank); i != kNone && nearest.empty();
           i = matching_.unexpected().entry(i).rank_next) {
        const KeyedQueues::Entry& entry = matching_.unexpected().entry(i);
        const std::string miss = near_miss(key, entry.key);
        if (!miss.empty()) {
          nearest = fmt::format("; nearly fits: a message from rank {}, {} ({})", entry.key.source,
                                describe_key(entry.key), miss);
        }
      }
    } else {
      const MatchKey key = key_of(*task, task->rank, task->peer);
      line = fmt::format(
          "rank {} waits to send {} bytes to rank {}{}: above the eager limit, and no receive for it "
          "[{}]{}",
          task->rank, task->bytes, task->peer, key_text(*task, key), where(*task), peer_note);
      for (const KeyedQueues* queue : {&matching_.posted(), &matching_.wildcards()}) {
        for (std::uint32_t i = queue->first_of_rank(task->peer); i != kNone && nearest.empty();
             i = queue->entry(i).rank_next) {
          const std::string miss = near_miss(queue->entry(i).key, key);
          if (!miss.empty()) {
            nearest =
                fmt::format("; nearly fits: a receive from rank {}, {} ({})",
                            or_any(queue->entry(i).key.source), describe_key(queue->entry(i).key), miss);
          }
        }
      }
    }
    lines.push_back(line + nearest);
  }
  if (ranks_waiting > ranks_shown)
    lines.push_back(fmt::format("… and {} more ranks wait", ranks_waiting - ranks_shown));

  // Ranks with nothing under way, but operations left: their dependencies can't be met.
  std::size_t stuck = 0;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    const goal::RankView view = graph_.rank(r);
    if (has_task[r] || ranks_[r].ops_done == view.ops()) continue;
    if (++stuck > limit) continue;
    goal::OpIndex first = 0;
    while (first < view.ops() && remaining_[ranks_[r].first_op + first] == 0) ++first;
    lines.push_back(
        fmt::format("rank {}: {} operations can never start, their dependencies form a cycle (first: {})", r,
                    view.ops() - ranks_[r].ops_done, op_text(r, first)));
  }
  if (stuck > limit) lines.push_back(fmt::format("… and {} more ranks have a cycle", stuck - limit));

  if (matching_.unexpected().size() > 0) {
    std::size_t shown = 0;
    for (std::uint32_t r = 0; r < ranks_.size() && shown < limit; ++r) {
      for (std::uint32_t i = matching_.unexpected().first_of_rank(r); i != kNone && shown < limit;
           i = matching_.unexpected().entry(i).rank_next) {
        const KeyedQueues::Entry& entry = matching_.unexpected().entry(i);
        lines.push_back(fmt::format("no receive took a message from rank {} to rank {}, {}", entry.key.source,
                                    r, describe_key(entry.key)));
        ++shown;
      }
    }
    if (matching_.unexpected().size() > shown) {
      lines.push_back(fmt::format("… and {} more messages", matching_.unexpected().size() - shown));
    }
  }
  return lines;
}

}  // namespace weft::sim
