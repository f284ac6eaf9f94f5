// Why a replay stopped short: who waits, for what, and which message nearly fits.
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "goal/check/check_program.h"
#include "sim/replay/share.h"

namespace weft::sim {
namespace {

std::string or_any(std::uint32_t value) { return value == goal::kAny ? "any" : std::to_string(value); }

std::string describe_key(const MatchKey& key) {
  return fmt::format("tag {}{}", or_any(key.tag),
                     key.context == goal::kWorld ? "" : fmt::format(", communicator {}", key.context));
}

// How a message misses a receive asked for at the same rank, or "" if they have too little in common.
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
  Diagnosis(const goal::Program& program, const std::vector<std::unique_ptr<ReplayShare>>& shares)
      : program_(program), home_(program.ranks()), is_busy_(program.ranks(), false) {
    for (const auto& share : shares) {
      for (const RankState& state : share->ranks()) home_[state.view.rank()] = {share.get(), &state};
      unreceived_ += share->unreceived();
      for (const Task& task : share->tasks().all()) {
        if (task.state != TaskState::kFree) add_task(*share, task);
      }
      for (std::uint32_t local = 0; local < share->ranks().size(); ++local) {
        add_receives(*share, local);
        add_receives_of_collectives(*share, local);
      }
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
  using Task = ReplayTask;
  static constexpr std::uint32_t kNone = RankState::kNone;
  struct Home {
    const ReplayShare* share = nullptr;
    const RankState* state = nullptr;
    std::uint32_t local() const { return static_cast<std::uint32_t>(state - share->ranks().data()); }
  };
  // Steps of collectives come before operations of the graph.
  struct Waiting {
    std::uint32_t rank;
    bool of_graph;
    std::uint32_t op, lane_number, step;
    const ReplayShare* share;
    std::uint32_t lane;
    const Task* send;  // null: it waits to receive
  };

  void add_task(const ReplayShare& share, const Task& task) {
    const std::uint32_t rank = share.ranks()[task.local].view.rank();
    is_busy_[rank] = true;
    if (task.state != TaskState::kAwaitClear) return;
    if (task.lane == kNone) {
      waiting_.push_back({rank, true, task.op, 0, 0, &share, kNone, &task});
    } else {
      const OpenCollectives& open = share.collectives();
      waiting_.push_back(
          {rank, false, open.op_of(task), open.lane(task.lane).number, task.op, &share, task.lane, &task});
    }
  }
  void add_receives(const ReplayShare& share, std::uint32_t local) {
    const std::uint32_t rank = share.ranks()[local].view.rank();
    for (const auto& [key, op] : receives_at(share, local)) {
      is_busy_[rank] = true;
      waiting_.push_back({rank, true, op, 0, 0, &share, kNone, nullptr});
    }
  }
  void add_receives_of_collectives(const ReplayShare& share, std::uint32_t local) {
    const std::uint32_t rank = share.ranks()[local].view.rank();
    const OpenCollectives& open = share.collectives();
    for (std::uint32_t i = share.ranks()[local].first_active; i != kNone; i = open[i].next) {
      is_busy_[rank] = true;
      for (std::uint32_t lane = open[i].first_lane; lane != kNone; lane = open.lane(lane).next) {
        add_receives_of_lane(share, rank, lane);
      }
    }
  }
  void add_receives_of_lane(const ReplayShare& share, std::uint32_t rank, std::uint32_t handle) {
    const CollectiveLane& lane = share.collectives().lane(handle);
    const goal::OpIndex op = share.collectives().of_lane(handle).op;
    for (std::uint32_t s = 0; s < lane.steps.size(); ++s) {
      if (!lane.steps[s].is_receive() || lane.steps[s].left == 0) continue;
      waiting_.push_back({rank, false, op, lane.number, s, &share, handle, nullptr});
    }
  }

  static UserMessages::Waiting messages_at(const ReplayShare& share, std::uint32_t local) {
    return share.user_messages().messages(local);
  }
  static UserMessages::Waiting receives_at(const ReplayShare& share, std::uint32_t local) {
    return share.user_messages().receives(local, share.ranks()[local].words);
  }

  std::string op_text(std::uint32_t rank, goal::OpIndex op) const {
    const std::string label = program_.label(rank, op);
    return label.empty() ? fmt::format("operation {}", op) : fmt::format("operation {} ({})", op, label);
  }
  const goal::Op& op_of(const Waiting& waiting) const {
    return home_[waiting.rank].state->view.op(waiting.op);
  }
  std::string where(const Waiting& waiting) const {
    const std::string op = op_text(waiting.rank, waiting.op);
    if (waiting.of_graph) return op;
    const goal::Op& call = op_of(waiting);
    const goal::Collective& collective = program_.facts().collectives[call.peer];
    return fmt::format("{}, {} number {} of communicator {}, group {}", op, goal::name(collective.kind),
                       call.tag, collective.comm, waiting.share->collectives().lane(waiting.lane).groups - 1);
  }
  bool has_finished(std::uint32_t rank) const { return home_[rank].state->ops_done == program_.ops(rank); }
  const char* peer_note(std::uint32_t peer) const {
    if (peer == goal::kAny) return "";
    if (has_finished(peer)) return "; that rank has finished";
    return is_busy_[peer] ? "; that rank waits too" : "; that rank is stuck";
  }

  std::string receive_line(const Waiting& waiting) const {
    const std::uint32_t local = home_[waiting.rank].local();
    const goal::Op& op = op_of(waiting);
    const MatchKey key{local, op.peer, op.tag, op.comm};
    std::string line =
        fmt::format("rank {} waits to receive {} bytes from rank {}, {} [{}]{}", waiting.rank, op.value,
                    or_any(op.peer), describe_key(key), where(waiting), peer_note(op.peer));
    for (const auto& [there, slot] : messages_at(*waiting.share, local)) {
      const std::string miss = near_miss(key, there);
      if (miss.empty()) continue;
      return line + fmt::format("; nearly fits: a message from rank {}, {} ({})", there.source,
                                describe_key(there), miss);
    }
    return line;
  }
  std::string step_line(const Waiting& waiting) const {
    const ActiveCollective& active = waiting.share->collectives().of_lane(waiting.lane);
    const OpenStep& open = waiting.share->collectives().lane(waiting.lane).steps[waiting.step];
    if (open.step.count > 1) {
      return fmt::format("rank {} waits to receive {} more messages from {} ranks [{}]", waiting.rank,
                         open.left, open.step.count, where(waiting));
    }
    const std::uint32_t peer = program_.facts().world_rank(active.comm, open.step.peer);
    return fmt::format("rank {} waits to receive {} bytes from rank {} [{}]{}", waiting.rank,
                       active.call.wire_bytes(open.step, open.step.peer), peer, where(waiting),
                       peer_note(peer));
  }
  std::string send_line(const Waiting& waiting) const {
    const Task& task = *waiting.send;
    const Home& peer = home_[task.peer];
    const char* why = "above the eager limit, and no receive for it";
    if (!waiting.of_graph) {
      return fmt::format("rank {} waits to send {} bytes to rank {}: {} [{}]{}", waiting.rank, task.bytes,
                         task.peer, why, where(waiting), peer_note(task.peer));
    }
    const goal::Op& op = op_of(waiting);
    const MatchKey key{peer.local(), waiting.rank, op.tag, op.comm};
    std::string line =
        fmt::format("rank {} waits to send {} bytes to rank {}, {}: {} [{}]{}", waiting.rank, task.bytes,
                    task.peer, describe_key(key), why, where(waiting), peer_note(task.peer));
    for (const auto& [there, receive] : receives_at(*peer.share, key.rank)) {
      const std::string miss = near_miss(there, key);
      if (miss.empty()) continue;
      return line + fmt::format("; nearly fits: a receive from rank {}, {} ({})", or_any(there.source),
                                describe_key(there), miss);
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
      lines_.push_back(waiting.send != nullptr ? send_line(waiting)
                       : waiting.of_graph      ? receive_line(waiting)
                                               : step_line(waiting));
    }
    if (ranks > limit) lines_.push_back(fmt::format("… and {} more ranks wait", ranks - limit));
  }

  // Ranks with nothing under way, but operations left: their dependencies can't be met.
  void describe_cycles(std::size_t limit) {
    std::size_t stuck = 0;
    for (std::uint32_t r = 0; r < program_.ranks(); ++r) {
      if (is_busy_[r] || has_finished(r)) continue;
      if (++stuck > limit) continue;
      const RankState& state = *home_[r].state;
      const goal::OpIndex first = home_[r].share->progress().first_unfinished(home_[r].local());
      lines_.push_back(
          fmt::format("rank {}: {} operations can never start, their dependencies form a cycle (first: {})",
                      r, program_.ops(r) - state.ops_done, op_text(r, first)));
    }
    if (stuck > limit) lines_.push_back(fmt::format("… and {} more ranks have a cycle", stuck - limit));
  }

  void describe_unreceived(std::size_t limit) {
    std::size_t shown = 0;
    for (std::uint32_t r = 0; r < program_.ranks() && shown < std::min(limit, unreceived_); ++r) {
      const ReplayShare& share = *home_[r].share;
      const std::uint32_t local = home_[r].local();
      const auto tell = [&](std::uint32_t source, const std::string& what) {
        lines_.push_back(
            fmt::format("no receive took a message from rank {} to rank {}, {}", source, r, what));
        ++shown;
      };
      for (const auto& [key, source] : messages_at(share, local)) {
        if (shown == limit) break;
        tell(source, describe_key(key));
      }
      const EarlyMessages::Queues& early = share.early().queues();
      for (std::uint32_t i = early.first_of_rank(local); i != kNone && shown < limit;
           i = early.entry(i).rank_next) {
        const StepKey& key = early.entry(i).key;
        tell(early.entry(i).value.source,
             fmt::format("collective {} of communicator {}, tag {}", key.number, key.comm, key.tag));
      }
    }
    if (unreceived_ > shown) lines_.push_back(fmt::format("… and {} more messages", unreceived_ - shown));
  }

  const goal::Program& program_;
  std::vector<Home> home_;  // of each rank
  std::vector<bool> is_busy_;
  std::vector<Waiting> waiting_;
  std::size_t unreceived_ = 0;
  std::vector<std::string> lines_;
};

// What members of a communicator call differently, which others may wait for without end.
static void add_differing_collectives(const goal::Program& program, std::vector<std::string>& lines) {
  const goal::Report report = goal::check_collectives(program, {.examples = 1});
  constexpr auto kKind = goal::FindingKind::kCollectiveMismatch;
  const std::uint64_t count = report.counts[static_cast<std::size_t>(kKind)];
  const auto first = std::ranges::find(report.findings, kKind, &goal::Finding::kind);
  if (first == report.findings.end()) return;
  lines.push_back(count == 1 ? first->sentence
                             : fmt::format("{}; {} more ranks call another collective than the rest of a "
                                           "communicator",
                                           first->sentence, count - 1));
}

std::vector<std::string> Replay::diagnose(std::size_t limit) const {
  std::vector<std::string> lines;
  add_differing_collectives(plan_->program, lines);
  for (std::string& line : Diagnosis(plan_->program, shares_).lines(limit)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace weft::sim
