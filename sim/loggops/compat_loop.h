// What the loops of both compatibility modes share: resources, dependencies, queues and bookkeeping.
// Private to classic.cc and atlahs.cc. Times are unsigned 64-bit nanoseconds that wrap, as in both programs.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "sim/loggops/compat.h"
#include "sim/replay/matching.h"

namespace weft::sim {

// The numbers are the programs' own: classic sorts by them.
enum class CompatEventKind : std::uint32_t { kSend = 1, kRecv = 2, kCalc = 3, kMessage = 4 };

struct CompatEvent {
  std::uint64_t time = 0;
  std::uint64_t stamp = 0;   // classic: orders equal times
  std::uint32_t rank = 0;    // where it happens
  std::uint32_t sender = 0;  // message: the rank that sent it
  std::uint32_t op = 0;      // operation of `rank`; message: the send operation of `sender`
  CompatEventKind kind = CompatEventKind::kCalc;
};

class CompatLoop {
 public:
  CompatLoop(const goal::Graph& graph, const CompatParameters& parameters, const std::string& program,
             bool record_flows);

 protected:
  struct FreedOp {
    std::uint32_t rank, op;
  };

  void record(const CompatEvent& event);
  CompatResult finish();

  std::vector<FreedOp> roots(std::uint32_t rank) const;
  CompatEvent op_event(const FreedOp& freed) const {
    return {0, 0, freed.rank, freed.rank, freed.op, CompatEventKind(graph_.rank(freed.rank).kind(freed.op))};
  }

  // The operation began: frees its irequires dependents.
  void mark_started(std::uint32_t rank, std::uint32_t op);
  // The operation ended at `time`: frees its requires dependents.
  void mark_done(std::uint32_t rank, std::uint32_t op, std::uint64_t time);
  // Latest end of the operations that this one requires, as ATLAHS keeps it: forgotten where an irequires
  // dependency is the last to be met.
  std::uint64_t ready_time(const FreedOp& op) const { return ready_time_[first_op_[op.rank] + op.op]; }

  // Receives wait in posted_ and arrived messages in unexpected_, both in order; values are operations.
  using Queues = Matching::Receives;
  static MatchKey key(std::uint32_t receiver, std::uint32_t sender, std::uint32_t tag) {
    return {.rank = receiver, .source = sender, .tag = tag};
  }
  // A receive that counts as rendezvous (its own size decides) was matched: the send ends. An eager send has
  // ended before; its dependents, if it has any, would be freed a second time: InputError.
  void release_send(std::uint32_t sender, std::uint32_t send, std::uint64_t time);
  // Does any receive of the rank, or message to it, name any tag or any source?
  bool has_wildcards(std::uint32_t rank) const { return has_wildcards_[rank]; }
  void record_message(const CompatEvent& send, std::uint64_t arrival);
  void record_receive(std::uint32_t rank, std::uint64_t bytes);

  std::uint64_t& cpu_free(std::uint32_t rank, std::uint32_t cpu) { return cpu_free_[rank * cpus_ + cpu]; }
  std::uint64_t& send_free(std::uint32_t rank, std::uint32_t nic) { return send_free_[rank * nics_ + nic]; }
  std::uint64_t& receive_free(std::uint32_t rank, std::uint32_t nic) {
    return receive_free_[rank * nics_ + nic];
  }
  void add_compute(std::uint32_t rank, std::uint64_t ns) { compute_ns_[rank] += ns; }
  void add_overhead(std::uint32_t rank, std::uint64_t ns) { overhead_ns_[rank] += ns; }

  static Time to_time(std::uint64_t ns);

  const goal::Graph& graph_;
  const std::uint64_t L_, o_, g_, O_, S_;
  const double G_;
  Queues posted_, unexpected_;
  // What the current event freed, in order, and the (at most two) ranks it touched, in order of first touch.
  std::vector<FreedOp> freed_;
  std::array<std::uint32_t, 2> touched_{};
  std::uint32_t touched_count_ = 0;
  CompatResult result_;

 private:
  void check_graph(const std::string& program, const CompatParameters& parameters);
  void touch(std::uint32_t rank);
  void diagnose();

  bool record_flows_;
  std::size_t cpus_, nics_;
  std::vector<std::uint64_t> first_op_;                             // per rank
  std::vector<std::uint64_t> cpu_free_, send_free_, receive_free_;  // per rank and cpu or NIC
  std::vector<std::uint64_t> compute_ns_, overhead_ns_;             // per rank
  std::vector<std::uint32_t> remaining_;                            // per operation: dependencies not met
  std::vector<std::uint64_t> ready_time_;                           // per operation
  std::vector<bool> started_, done_;                                // per operation
  std::vector<bool> has_wildcards_;                                 // per rank
};

// The event queue and what both programs do alike with it. `Mode` supplies send, recv, message (each handles
// an event of that kind) and push_freed (queues what an event freed); `Later` orders events.
template <typename Mode, typename Later>
class CompatQueueLoop : protected CompatLoop {
 protected:
  using CompatLoop::CompatLoop;

  void run_events(RunControl& control) {
    control.begin([this] {
      return result_.total_ops == 0
                 ? 1.0
                 : static_cast<double>(result_.executed_ops) / static_cast<double>(result_.total_ops);
    });
    run_until_stopped(control);
    control.end();
  }

  // For an event whose resources are busy until `time`.
  void put_back(CompatEvent event, std::uint64_t time) {
    event.time = time;
    queue_.push(event);
  }

  // std::priority_queue: its binary heap decides ties where Later leaves any.
  std::priority_queue<CompatEvent, std::vector<CompatEvent>, Later> queue_;

 private:
  void run_until_stopped(RunControl& control) {
    Mode& mode = static_cast<Mode&>(*this);
    const RunControl::Bounds& bounds = control.bounds();
    while (!queue_.empty()) {
      const CompatEvent event = queue_.top();
      if (to_time(event.time) > bounds.time) [[unlikely]] {
        return stop(StopReason::kTimeLimit, bounds.time);
      }
      if (result_.events >= bounds.events) [[unlikely]] {
        return stop(StopReason::kEventLimit, to_time(event.time));
      }
      queue_.pop();
      record(event);
      switch (event.kind) {
        case CompatEventKind::kSend:
          mode.send(event);
          break;
        case CompatEventKind::kRecv:
          mode.recv(event);
          break;
        case CompatEventKind::kCalc:
          calc(event);
          break;
        case CompatEventKind::kMessage:
          mode.message(event);
          break;
      }
      if (!freed_.empty()) mode.push_freed();
      freed_.clear();
      touched_count_ = 0;
      if ((result_.events & (RunControl::kPollInterval - 1)) == 0 ||
          control.asked().load(std::memory_order_relaxed)) [[unlikely]] {
        const StopReason reason = control.answer(to_time(event.time), result_.events);
        if (reason != StopReason::kNone) return stop(reason, to_time(event.time));
      }
    }
  }

  void stop(StopReason reason, Time at) {
    result_.stop = reason;
    result_.stopped_at = at;
  }

  void calc(const CompatEvent& event) {
    const goal::RankView view = graph_.rank(event.rank);
    std::uint64_t& cpu = cpu_free(event.rank, view.cpu(event.op));
    if (cpu > event.time) return put_back(event, cpu);
    cpu = event.time + view.value(event.op);
    add_compute(event.rank, view.value(event.op));
    mark_started(event.rank, event.op);
    mark_done(event.rank, event.op, cpu);
  }
};

}  // namespace weft::sim
