#include "sim/loggops/classic.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/loggops/compat_loop.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

struct ClassicLater {
  bool operator()(const CompatEvent& a, const CompatEvent& b) const {
    return a.time != b.time ? a.time > b.time : a.stamp > b.stamp;
  }
};

class Classic : private CompatQueueLoop<Classic, ClassicLater> {
  friend CompatQueueLoop;

 public:
  Classic(const goal::Graph& graph, const CompatParameters& parameters, bool record_flows)
      : CompatQueueLoop(graph, parameters, "LogGOPSim", record_flows) {
    if (parameters.G != std::floor(parameters.G)) {
      throw InputError(fmt::format("parameter G is {}; the mode classic expects whole nanoseconds per byte",
                                   parameters.G));
    }
    whole_G_ = static_cast<std::uint64_t>(parameters.G);
  }

  CompatResult run(RunControl& control) {
    for (std::uint32_t r = 0; r < graph_.ranks(); ++r) {
      for (const FreedOp& root : roots(r)) events_.push_back(op_event(root));
      push_sorted();
    }
    run_events(control);
    return finish();
  }

 private:
  // An event keeps its stamp when it is put back, so it stays ahead of those made after it.
  void push_new(CompatEvent event) {
    event.stamp = next_stamp_++;
    queue_.push(event);
  }

  void send(const CompatEvent& event) {
    const goal::Op op = graph_.rank(event.rank).op(event.op);
    std::uint64_t& cpu = cpu_free(event.rank, op.cpu);
    std::uint64_t& nic = send_free(event.rank, op.nic);
    if (std::max(cpu, nic) > event.time) return put_back(event, std::max(cpu, nic));
    mark_started(event.rank, event.op);
    // Bytes after the first; wraps for 0 bytes, as there.
    const std::uint64_t more = op.value - 1;
    cpu = event.time + o_ + more * O_;
    nic = event.time + g_ + more * whole_G_;
    add_overhead(event.rank, o_ + more * O_);
    const std::uint64_t arrival = event.time + o_ + L_;
    record_message(event, arrival);
    push_new({arrival, 0, op.peer, event.rank, event.op, CompatEventKind::kMessage});
    if (op.value <= S_) mark_done(event.rank, event.op, cpu);
  }

  void recv(const CompatEvent& event) {
    const goal::Op op = graph_.rank(event.rank).op(event.op);
    mark_started(event.rank, event.op);
    const MatchKey wanted = key(event.rank, op.peer, op.tag);
    const std::uint32_t found = find_message(wanted);
    if (found == Queues::kNone) return posted_.push(wanted, event.op);
    const std::uint32_t sender = unexpected_.entry(found).key.source;
    const std::uint32_t sent = unexpected_.take(found);
    if (op.value > S_) release_sender(sender, sent, op, event.time);
    record_receive(event.rank, op.value);
    mark_done(event.rank, event.op, event.time);
  }

  void message(const CompatEvent& event) {
    const goal::Op sent = graph_.rank(event.sender).op(event.op);
    std::uint64_t& cpu = cpu_free(event.rank, sent.cpu);
    std::uint64_t& nic = receive_free(event.rank, sent.nic);
    if (std::max(cpu, nic) > event.time) return put_back(event, std::max(cpu, nic));
    const std::uint64_t more = sent.value - 1;
    const std::uint64_t busy = o_ + std::max(more * O_, more * whole_G_);
    cpu = event.time + busy;
    nic = event.time + g_ + more * whole_G_;
    add_overhead(event.rank, busy);
    const MatchKey carried = key(event.rank, event.sender, sent.tag);
    const std::uint32_t found = find_receive(carried);
    if (found == Queues::kNone) return unexpected_.push(carried, event.op);
    const std::uint32_t received = posted_.take(found);
    if (sent.value > S_) release_sender(event.sender, event.op, sent, event.time);
    record_receive(event.rank, sent.value);
    mark_done(event.rank, received, event.time);
  }

  // A rendezvous send ends when its receive is matched. The resources held back are those of the operation
  // at hand (`side`), even where that is the receive.
  void release_sender(std::uint32_t sender, std::uint32_t sent, const goal::Op& side, std::uint64_t time) {
    std::uint64_t& cpu = cpu_free(sender, side.cpu);
    std::uint64_t& nic = send_free(sender, side.nic);
    cpu = std::max(cpu, time);
    nic = std::max(nic, time);
    release_send(sender, sent, time);
  }

  // The oldest arrived message that the receive takes.
  std::uint32_t find_message(const MatchKey& receive) const {
    if (!has_wildcards(receive.rank)) return unexpected_.front(receive);
    return find(unexpected_, receive.rank, [&](const MatchKey& message) { return receive.accepts(message); });
  }
  // The oldest posted receive that takes the message.
  std::uint32_t find_receive(const MatchKey& message) const {
    if (!has_wildcards(message.rank)) return posted_.front(message);
    return find(posted_, message.rank, [&](const MatchKey& receive) { return receive.accepts(message); });
  }
  template <typename Fits>
  static std::uint32_t find(const Queues& queues, std::uint32_t rank, Fits&& fits) {
    std::uint32_t i = queues.first_of_rank(rank);
    while (i != Queues::kNone && !fits(queues.entry(i).key)) i = queues.entry(i).rank_next;
    return i;
  }

  // Takes events_, sorted: sends first, then receives, then calcs. std::sort is not stable, and where it puts
  // equals is part of what is reproduced.
  void push_sorted() {
    std::sort(events_.begin(), events_.end(),
              [](const CompatEvent& a, const CompatEvent& b) { return a.kind < b.kind; });
    for (const CompatEvent& event : events_) push_new(event);
    events_.clear();
  }

  void push_freed() {
    std::sort(touched_.begin(), touched_.begin() + touched_count_);
    for (std::uint32_t t = 0; t < touched_count_; ++t) {
      for (const FreedOp& freed : freed_) {
        if (freed.rank != touched_[t]) continue;
        CompatEvent event = op_event(freed);
        const goal::Op op = graph_.rank(event.rank).op(event.op);
        event.time = cpu_free(event.rank, op.cpu);
        if (op.kind == goal::OpKind::kSend) event.time = std::max(event.time, send_free(event.rank, op.nic));
        events_.push_back(event);
      }
      push_sorted();
    }
  }

  std::uint64_t whole_G_ = 0;
  std::uint64_t next_stamp_ = 0;
  std::vector<CompatEvent> events_;
};

}  // namespace

CompatResult run_classic(const goal::Graph& graph, const CompatParameters& parameters, RunControl& control,
                         bool record_flows) {
  return Classic(graph, parameters, record_flows).run(control);
}

}  // namespace weft::sim
