// Why a replay stopped short: who waits, for what, and which message nearly fits.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/replay/share.h"

namespace weft::sim {
namespace {

std::string or_any(std::uint32_t value) { return value == goal::kAny ? "any" : std::to_string(value); }

std::string describe_key(const MatchKey& key) {
  const std::uint32_t comm = key.context & ~kCollectiveContext;
  if (comm != key.context)
    return fmt::format("collective {} of communicator {}, tag {}", key.tag, comm, key.sub);
  return fmt::format("tag {}{}", or_any(key.tag),
                     comm == goal::kWorld ? "" : fmt::format(", communicator {}", comm));
}

// How a message there misses a receive asked for at the same rank, or "" if they have too little in common.
std::string near_miss(const MatchKey& wanted, const MatchKey& there) {
  const bool source = wanted.source == goal::kAny || wanted.source == there.source;
  const bool tag = wanted.tag == goal::kAny || there.tag == goal::kAny || wanted.tag == there.tag;
  const bool context = wanted.context == there.context;
  if (source && context && !tag) return "right peer, other tag";
  if (source && tag && !context) return "right peer and tag, other communicator";
  if (tag && context && !source) return "right tag, other peer";
  return "";
}

}  // namespace

// Looks into all shares of a replay that has come to rest.
class Diagnosis {
 public:
  Diagnosis(const goal::Graph& graph, const std::vector<std::unique_ptr<ReplayShare>>& shares)
      : graph_(graph), home_(graph.ranks()), has_task_(graph.ranks(), false) {
    for (const auto& share : shares) {
      for (const RankState& state : share->ranks_) home_[state.rank] = {share.get(), &state};
      unreceived_ += share->unreceived();
      for (const Task& task : share->tasks_) {
        if (task.state == TaskState::kFree) continue;
        const std::uint32_t rank = share->ranks_[task.local].rank;
        has_task_[rank] = true;
        if (task.state != TaskState::kPosted && task.state != TaskState::kAwaitClear) continue;
        if (task.lane == kNone) {
          waiting_.push_back({rank, true, task.op, 0, 0, share.get(), kNone, &task});
        } else {
          const ReplayShare::Lane& lane = share->lanes_[task.lane];
          waiting_.push_back({rank, false, share->actives_[lane.active].op, lane.number, task.op, share.get(),
                              task.lane, &task});
        }
      }
      add_receives_of_collectives(*share);
    }
    std::sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
      return std::tie(a.rank, a.of_graph, a.op, a.lane_number, a.step) <
             std::tie(b.rank, b.of_graph, b.op, b.lane_number, b.step);
    });
  }

  std::vector<std::string> lines(std::size_t limit) {
    describe_waiting(limit);
    describe_cycles(limit);
    describe_unreceived(limit);
    return std::move(lines_);
  }

 private:
  using Task = ReplayShare::Task;
  using TaskState = ReplayShare::TaskState;
  using RankState = ReplayShare::RankState;
  static constexpr std::uint32_t kNone = ReplayShare::kNone;
  struct Home {
    const ReplayShare* share = nullptr;
    const RankState* state = nullptr;
    std::uint32_t local() const { return static_cast<std::uint32_t>(state - share->ranks_.data()); }
  };
  // Steps of collectives come before operations of the graph.
  struct Waiting {
    std::uint32_t rank;
    bool of_graph;
    std::uint32_t op, lane_number, step;
    const ReplayShare* share;
    std::uint32_t lane;
    const Task* task;  // null: a step that receives
  };

  void add_receives_of_collectives(const ReplayShare& share) {
    for (std::uint32_t local = 0; local < share.ranks_.size(); ++local) {
      const std::uint32_t rank = share.ranks_[local].rank;
      for (std::uint32_t i = share.ranks_[local].first_active; i != kNone; i = share.actives_[i].next) {
        has_task_[rank] = true;
        const ReplayShare::Active& active = share.actives_[i];
        for (std::uint32_t handle = active.first_lane; handle != kNone; handle = share.lanes_[handle].next) {
          const ReplayShare::Lane& lane = share.lanes_[handle];
          for (std::uint32_t s = 0; s < lane.steps.size(); ++s) {
            if (lane.steps[s].step.kind != goal::StepKind::kRecv || lane.steps[s].left == 0) continue;
            waiting_.push_back({rank, false, active.op, lane.number, s, &share, handle, nullptr});
          }
        }
      }
    }
  }

  std::string op_text(std::uint32_t rank, goal::OpIndex op) const {
    const std::string_view label = graph_.rank(rank).label(op);
    return label.empty() ? fmt::format("operation {}", op) : fmt::format("operation {} ({})", op, label);
  }
  std::string where(const Waiting& waiting) const {
    const std::string op = op_text(waiting.rank, waiting.op);
    if (waiting.of_graph) return op;
    const goal::RankView view = graph_.rank(waiting.rank);
    const goal::Collective& collective = view.collective(waiting.op);
    return fmt::format("{}, {} number {} of communicator {}, group {}", op, goal::name(collective.kind),
                       view.tag(waiting.op), collective.comm, waiting.share->lanes_[waiting.lane].groups - 1);
  }
  bool has_finished(std::uint32_t rank) const {
    return home_[rank].state->ops_done == graph_.rank(rank).ops();
  }
  const char* peer_note(std::uint32_t peer) const {
    if (peer == goal::kAny) return "";
    if (has_finished(peer)) return "; that rank has finished";
    return has_task_[peer] ? "; that rank waits too" : "; that rank is stuck";
  }

  std::string receive_line(const Waiting& waiting) const {
    const Task& task = *waiting.task;
    const MatchKey key = waiting.share->key_of(task, task.peer, task.local);
    std::string line =
        fmt::format("rank {} waits to receive {} bytes from rank {}, {} [{}]{}", waiting.rank, task.bytes,
                    or_any(task.peer), describe_key(key), where(waiting), peer_note(task.peer));
    const KeyedQueues& queue = waiting.share->matching_.unexpected();
    for (std::uint32_t i = queue.first_of_rank(task.local); i != kNone; i = queue.entry(i).rank_next) {
      const MatchKey& there = queue.entry(i).key;
      const std::string miss = near_miss(key, there);
      if (miss.empty()) continue;
      return line + fmt::format("; nearly fits: a message from rank {}, {} ({})", there.source,
                                describe_key(there), miss);
    }
    return line;
  }
  std::string step_line(const Waiting& waiting) const {
    const ReplayShare::Lane& lane = waiting.share->lanes_[waiting.lane];
    const ReplayShare::Active& active = waiting.share->actives_[lane.active];
    const ReplayShare::OpenStep& open = lane.steps[waiting.step];
    if (open.step.count > 1) {
      return fmt::format("rank {} waits to receive {} more messages from {} ranks [{}]", waiting.rank,
                         open.left, open.step.count, where(waiting));
    }
    const std::uint32_t peer = graph_.world_rank(active.comm, open.step.peer);
    return fmt::format("rank {} waits to receive {} bytes from rank {} [{}]{}", waiting.rank,
                       active.call.bytes(open.step, open.step.peer), peer, where(waiting), peer_note(peer));
  }
  std::string send_line(const Waiting& waiting) const {
    const Task& task = *waiting.task;
    const Home& peer = home_[task.peer];
    const char* why = "above the eager limit, and no receive for it";
    if (!waiting.of_graph) {
      return fmt::format("rank {} waits to send {} bytes to rank {}: {} [{}]{}", waiting.rank, task.bytes,
                         task.peer, why, where(waiting), peer_note(task.peer));
    }
    const MatchKey key = waiting.share->key_of(task, waiting.rank, peer.local());
    std::string line =
        fmt::format("rank {} waits to send {} bytes to rank {}, {}: {} [{}]{}", waiting.rank, task.bytes,
                    task.peer, describe_key(key), why, where(waiting), peer_note(task.peer));
    const Matching& matching = peer.share->matching_;
    for (const KeyedQueues* queue : {&matching.posted(), &matching.wildcards()}) {
      for (std::uint32_t i = queue->first_of_rank(key.rank); i != kNone; i = queue->entry(i).rank_next) {
        const MatchKey& there = queue->entry(i).key;
        const std::string miss = near_miss(there, key);
        if (miss.empty()) continue;
        return line + fmt::format("; nearly fits: a receive from rank {}, {} ({})", or_any(there.source),
                                  describe_key(there), miss);
      }
    }
    return line;
  }

  void describe_waiting(std::size_t limit) {
    std::size_t ranks = 0;
    std::uint32_t last_rank = kNone;
    for (const Waiting& waiting : waiting_) {
      if (waiting.rank == last_rank) continue;  // one line a rank: its first waiting operation
      last_rank = waiting.rank;
      if (++ranks > limit) continue;
      lines_.push_back(waiting.task == nullptr                     ? step_line(waiting)
                       : waiting.task->state == TaskState::kPosted ? receive_line(waiting)
                                                                   : send_line(waiting));
    }
    if (ranks > limit) lines_.push_back(fmt::format("… and {} more ranks wait", ranks - limit));
  }

  // Ranks with nothing under way, but operations left: their dependencies can't be met.
  void describe_cycles(std::size_t limit) {
    std::size_t stuck = 0;
    for (std::uint32_t r = 0; r < graph_.ranks(); ++r) {
      if (has_task_[r] || has_finished(r)) continue;
      if (++stuck > limit) continue;
      const RankState& state = *home_[r].state;
      const std::uint32_t* remaining = home_[r].share->remaining_.data() + state.first_op;
      const goal::OpIndex ops = graph_.rank(r).ops();
      goal::OpIndex first = 0;
      while (first < ops && remaining[first] == 0) ++first;
      lines_.push_back(
          fmt::format("rank {}: {} operations can never start, their dependencies form a cycle (first: {})",
                      r, ops - state.ops_done, op_text(r, first)));
    }
    if (stuck > limit) lines_.push_back(fmt::format("… and {} more ranks have a cycle", stuck - limit));
  }

  void describe_unreceived(std::size_t limit) {
    std::size_t shown = 0;
    for (std::uint32_t r = 0; r < graph_.ranks() && shown < std::min(limit, unreceived_); ++r) {
      const ReplayShare& share = *home_[r].share;
      for (const KeyedQueues* queue : {&share.matching_.unexpected(), &share.early_}) {
        for (std::uint32_t i = queue->first_of_rank(home_[r].local()); i != kNone && shown < limit;
             i = queue->entry(i).rank_next) {
          const MatchKey& key = queue->entry(i).key;
          const std::uint32_t source = queue == &share.early_
                                           ? graph_.world_rank(key.context & ~kCollectiveContext, key.source)
                                           : key.source;
          lines_.push_back(fmt::format("no receive took a message from rank {} to rank {}, {}", source, r,
                                       describe_key(key)));
          ++shown;
        }
      }
    }
    if (unreceived_ > shown) lines_.push_back(fmt::format("… and {} more messages", unreceived_ - shown));
  }

  const goal::Graph& graph_;
  std::vector<Home> home_;  // of each rank
  std::vector<bool> has_task_;
  std::vector<Waiting> waiting_;
  std::size_t unreceived_ = 0;
  std::vector<std::string> lines_;
};

std::vector<std::string> Replay::diagnose(std::size_t limit) const {
  return Diagnosis(plan_->graph, shares_).lines(limit);
}

}  // namespace weft::sim
