#include "goal/transform/ideal_schedule.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <string>
#include <tuple>

#include "goal/transform/ideal_collectives.h"
#include "goal/transform/ideal_matching.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kLastMoment = 1ULL << 62;
constexpr std::uint64_t kMostOps = 0x7FFFFFFFu;

struct Place {
  Rank rank;
  OpIndex op;
};

// Throws for what would lead the schedule out of its arrays.
void require_sound(const Graph& graph) {
  if (graph.ops() >= kMostOps) throw InputError("the graph has 2^31 - 1 operations or more: cut it first");
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      const OpKind kind = rank.kind(i);
      const bool message = kind == OpKind::kSend || kind == OpKind::kRecv;
      const bool any = kind == OpKind::kRecv && rank.peer(i) == kAny;
      const bool bad_peer = message && rank.peer(i) >= graph.ranks() && !any;
      if (bad_peer || rank.comm(i) >= graph.communicators().size()) {
        throw InputError("operation " + std::to_string(i) + " of rank " + std::to_string(r) + " names a " +
                         (bad_peer ? "rank" : "communicator") + " that does not exist");
      }
    }
  }
}

class Scheduler {
 public:
  Scheduler(const Graph& graph, const IdealOptions& options)
      : graph_(graph), options_(options), places_(graph), matching_(graph), collectives_(graph) {
    const std::size_t ops = graph.ops();
    result_.start_ns.assign(ops, kNever);
    result_.finish_ns.assign(ops, kNever);
    result_.partner.assign(ops, kNoOp);
    result_.start_cause.assign(ops, Cause());
    result_.finish_cause.assign(ops, Cause());
    next_on_cpu_.assign(ops, kNoOp);
    waits_.assign(ops, 0);
    find_cpus();
  }

  IdealSchedule run() {
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      const RankView rank = graph_.rank(r);
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        for (const Edge& edge : rank.dependents(i)) ++waits_[places_.global(r, edge.dependent())];
      }
    }
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      for (OpIndex i = 0; i < graph_.rank(r).ops(); ++i) {
        if (waits_[places_.global(r, i)] == 0) ready_.push_back({r, i});
      }
      drain();
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      if (graph_.rank(event.at.rank).kind(event.at.op) == OpKind::kSend) {
        arrive(event.at);
      } else {
        end_on_cpu(event.at);
      }
      drain();
    }
    for (const std::uint64_t finish : result_.finish_ns) {
      if (finish == kNever) {
        ++result_.unfinished;
      } else {
        result_.makespan_ns = std::max(result_.makespan_ns, finish);
      }
    }
    return std::move(result_);
  }

 private:
  // The end of a calc, or the arrival of a send's message.
  struct Event {
    std::uint64_t time;
    Place at;
    bool operator<(const Event& other) const {  // the least is on top
      return std::tuple(time, at.rank, at.op) > std::tuple(other.time, other.at.rank, other.at.op);
    }
  };
  struct Cpu {
    bool busy = false;
    GlobalOp first = kNoOp, last = kNoOp;  // waiting
  };

  // One Cpu for each stream that a rank uses, whatever its number.
  void find_cpus() {
    for (Rank r = 0; r < graph_.ranks(); ++r) {
      const RankView rank = graph_.rank(r);
      first_cpu_.push_back(cpu_numbers_.size());
      const auto begin = static_cast<std::ptrdiff_t>(cpu_numbers_.size());
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        if (i == 0 || rank.cpu(i) != rank.cpu(i - 1)) cpu_numbers_.push_back(rank.cpu(i));
      }
      std::sort(cpu_numbers_.begin() + begin, cpu_numbers_.end());
      cpu_numbers_.erase(std::unique(cpu_numbers_.begin() + begin, cpu_numbers_.end()), cpu_numbers_.end());
    }
    first_cpu_.push_back(cpu_numbers_.size());
    cpus_.resize(cpu_numbers_.size());
  }
  Cpu& cpu_of(Place at) {
    const auto begin = cpu_numbers_.begin() + static_cast<std::ptrdiff_t>(first_cpu_[at.rank]);
    const auto end = cpu_numbers_.begin() + static_cast<std::ptrdiff_t>(first_cpu_[at.rank + 1]);
    const auto found = std::lower_bound(begin, end, graph_.rank(at.rank).cpu(at.op));
    return cpus_[static_cast<std::size_t>(found - cpu_numbers_.begin())];
  }

  GlobalOp global(Place at) const { return places_.global(at.rank, at.op); }

  void drain() {
    while (!ready_.empty()) {
      const Place at = ready_.front();
      ready_.pop_front();
      begin(at);
    }
  }

  void begin(Place at) {
    const RankView rank = graph_.rank(at.rank);
    switch (rank.kind(at.op)) {
      case OpKind::kCalc:
      case OpKind::kSend:
        return take_cpu(at);
      case OpKind::kRecv: {
        started(at);
        const Envelope receive{at.rank, rank.peer(at.op), rank.tag(at.op), rank.comm(at.op)};
        const GlobalOp send = matching_.post(receive, global(at));
        if (send == kNoOp) return;
        pair(send, global(at));
        return take_cpu(at);
      }
      case OpKind::kCollective:
        started(at);
        collectives_.call(at.rank, at.op, global(at), [&](GlobalOp op, GlobalOp last) {
          if (last != op) result_.finish_cause[op] = Cause(last, true);
          const auto [other, index] = places_.place(op);
          take_cpu({other, index});
        });
    }
  }

  void pair(GlobalOp send, GlobalOp receive) {
    result_.partner[send] = receive;
    result_.partner[receive] = send;
  }

  // Work for a cpu: a calc, a send, or the end of a receive or collective.
  void take_cpu(Place at) {
    Cpu& cpu = cpu_of(at);
    if (!cpu.busy) return start_on_cpu(at, cpu);
    const GlobalOp op = global(at);
    (cpu.first == kNoOp ? cpu.first : next_on_cpu_[cpu.last]) = op;
    cpu.last = op;
  }

  void start_on_cpu(Place at, Cpu& cpu) {
    const RankView rank = graph_.rank(at.rank);
    const OpKind kind = rank.kind(at.op);
    if (kind == OpKind::kCalc || kind == OpKind::kSend) started(at);
    const std::uint64_t ns = kind == OpKind::kCalc && options_.calc ? rank.value(at.op) : 0;
    if (kind == OpKind::kSend) {
      if (options_.message_ns == 0) {
        arrive(at);
      } else {
        events_.push({later(options_.message_ns), at});
      }
    }
    if (ns == 0) return finished(at);
    cpu.busy = true;
    events_.push({later(ns), at});
  }

  std::uint64_t later(std::uint64_t ns) const {
    if (ns > kLastMoment - now_) throw InputError("the graph's compute times add up to more than 2^62 ns");
    return now_ + ns;
  }

  void end_on_cpu(Place at) {
    Cpu& cpu = cpu_of(at);
    cpu.busy = false;
    finished(at);
    while (cpu.first != kNoOp && !cpu.busy) {
      const GlobalOp op = cpu.first;
      cpu.first = op == cpu.last ? kNoOp : next_on_cpu_[op];
      const Place next{at.rank, static_cast<OpIndex>(op - places_.global(at.rank, 0))};
      const OpKind kind = graph_.rank(at.rank).kind(next.op);
      const bool starts = kind == OpKind::kCalc || kind == OpKind::kSend;
      (starts ? result_.start_cause : result_.finish_cause)[op] = Cause(global(at), false);
      start_on_cpu(next, cpu);
    }
  }

  void arrive(Place at) {
    const RankView rank = graph_.rank(at.rank);
    const Rank to = rank.peer(at.op);
    const Envelope message{to, at.rank, rank.tag(at.op), rank.comm(at.op)};
    const GlobalOp receive = matching_.arrive(message, global(at));
    if (receive == kNoOp) return;
    pair(global(at), receive);
    result_.finish_cause[receive] = Cause(global(at), true);
    take_cpu({to, static_cast<OpIndex>(receive - places_.global(to, 0))});
  }

  void started(Place at) {
    result_.start_ns[global(at)] = now_;
    free_dependents(at, true);
  }
  void finished(Place at) {
    result_.finish_ns[global(at)] = now_;
    free_dependents(at, false);
  }
  void free_dependents(Place at, bool on_start) {
    for (const Edge& edge : graph_.rank(at.rank).dependents(at.op)) {
      if (edge.on_start() != on_start) continue;
      const GlobalOp dependent = places_.global(at.rank, edge.dependent());
      if (--waits_[dependent] > 0) continue;
      result_.start_cause[dependent] = Cause(global(at), on_start);
      ready_.push_back({at.rank, edge.dependent()});
    }
  }

  const Graph& graph_;
  const IdealOptions options_;
  const OpPlaces places_;
  IdealMatching matching_;
  IdealCollectives collectives_;
  IdealSchedule result_;
  std::uint64_t now_ = 0;
  std::priority_queue<Event> events_;
  std::deque<Place> ready_;
  std::vector<std::uint32_t> waits_;
  std::vector<GlobalOp> next_on_cpu_;
  std::vector<std::uint16_t> cpu_numbers_;  // rank by rank, ascending
  std::vector<std::size_t> first_cpu_;
  std::vector<Cpu> cpus_;
};

}  // namespace

IdealSchedule ideal_schedule(const Graph& graph, const IdealOptions& options) {
  require_sound(graph);
  return Scheduler(graph, options).run();
}

OpPlaces::OpPlaces(const Graph& graph) {
  first_.reserve(std::size_t{graph.ranks()} + 1);
  for (Rank r = 0; r < graph.ranks(); ++r) first_.push_back(static_cast<GlobalOp>(graph.rank(r).first_op()));
  first_.push_back(static_cast<GlobalOp>(graph.ops()));
}

std::pair<Rank, OpIndex> OpPlaces::place(GlobalOp op) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), op);
  return {static_cast<Rank>(after - first_.begin() - 1), op - *(after - 1)};
}

CriticalPath critical_path(const Graph& graph, const IdealSchedule& schedule) {
  CriticalPath path;
  GlobalOp at = kNoOp;
  for (GlobalOp op = 0; op < schedule.finish_ns.size(); ++op) {
    if (schedule.finish_ns[op] != kNever && (at == kNoOp || schedule.finish_ns[op] > schedule.finish_ns[at]))
      at = op;
  }
  if (at == kNoOp) return path;
  const OpPlaces places(graph);
  path.last_rank = places.place(at).first;
  for (Cause cause(at, false); !cause.none(); ++path.ops) {
    at = cause.op();
    const auto [rank, index] = places.place(at);
    const OpKind kind = graph.rank(rank).kind(index);
    const bool before_its_end = cause.on_start();
    const Cause finish_cause = schedule.finish_cause[at];
    cause = schedule.start_cause[at];
    if (before_its_end) continue;
    if (kind == OpKind::kCalc) path.calc_ns += schedule.finish_ns[at] - schedule.start_ns[at];
    if (kind == OpKind::kCollective) ++path.collectives;
    if (finish_cause.none()) continue;
    cause = finish_cause;
    if (kind != OpKind::kRecv || cause.op() != schedule.partner[at]) continue;
    ++path.messages;
    const auto [sender, send] = places.place(cause.op());
    path.bytes += graph.rank(sender).value(send);
  }
  return path;
}

void require_complete(const IdealSchedule& schedule, const char* what) {
  if (schedule.unfinished == 0) return;
  throw InputError(std::string(what) + ": " + std::to_string(schedule.unfinished) +
                   " operations of the graph can never run; 'weft goal check' finds missing messages and "
                   "circles");
}

}  // namespace weft::goal
