#include "sim/loggops/atlahs.h"

#include <algorithm>

#include "sim/loggops/compat_loop.h"

namespace weft::sim {
namespace {

// By time only: which of several equal events comes first follows from the binary heap of the standard
// library and the order of pushes, and is part of what is reproduced.
struct AtlahsLater {
  bool operator()(const CompatEvent& a, const CompatEvent& b) const { return a.time > b.time; }
};

class Atlahs : private CompatQueueLoop<Atlahs, AtlahsLater> {
  friend CompatQueueLoop;

 public:
  Atlahs(const goal::Graph& graph, const CompatParameters& parameters, bool record_flows)
      : CompatQueueLoop(graph, parameters, "ATLAHS", record_flows) {}

  CompatResult run(RunControl& control) {
    for (std::uint32_t r = 0; r < graph_.ranks(); ++r) {
      for (const FreedOp& root : roots(r)) queue_.push(op_event(root));
    }
    run_events(control);
    return finish();
  }

 private:
  void send(const CompatEvent& event) {
    const goal::Op op = graph_.rank(event.rank).op(event.op);
    std::uint64_t& cpu = cpu_free(event.rank, op.cpu);
    std::uint64_t& nic = send_free(event.rank, op.nic);
    if (std::max(cpu, nic) > event.time) return put_back(event, std::max(cpu, nic));
    mark_started(event.rank, event.op);
    const std::uint64_t bytes = at_least_one(op.value);
    const std::uint64_t transmission = transmission_ns(bytes);
    cpu = event.time + cpu_cost(bytes);
    nic = event.time + g_ + transmission;
    add_overhead(event.rank, cpu_cost(bytes));
    const std::uint64_t arrival = cpu + L_ + transmission;
    record_message(event, arrival);
    queue_.push({arrival, 0, op.peer, event.rank, event.op, CompatEventKind::kMessage});
    if (bytes <= S_) mark_done(event.rank, event.op, cpu);
  }

  void recv(const CompatEvent& event) {
    const goal::Op op = graph_.rank(event.rank).op(event.op);
    mark_started(event.rank, event.op);
    const MatchKey wanted = key(event.rank, op.peer, op.tag);
    const std::uint32_t found = unexpected_.front(wanted);
    if (found == Queues::kNone) return posted_.push(wanted, event.op);
    const std::uint32_t sent = unexpected_.take(found);
    const std::uint64_t bytes = at_least_one(op.value);
    // The gap of the sending side: a slip that is reproduced.
    const std::uint64_t nic_time = std::max(send_free(event.rank, op.nic), event.time) + g_;
    const Resources own{op.cpu, op.nic};
    receive({event.rank, event.op, own}, {op.peer, sent, own}, bytes, nic_time);
  }

  void message(const CompatEvent& event) {
    const goal::Op sent = graph_.rank(event.sender).op(event.op);
    const MatchKey carried = key(event.rank, event.sender, sent.tag);
    const std::uint32_t found = posted_.front(carried);
    if (found == Queues::kNone) return unexpected_.push(carried, event.op);
    const std::uint32_t received = posted_.take(found);
    const std::uint32_t cpu = graph_.rank(event.rank).cpu(received);
    const std::uint64_t nic_free = receive_free(event.rank, sent.nic);
    const std::uint64_t free = std::max(cpu_free(event.rank, cpu), nic_free);
    if (free > event.time) {
      // The receive goes to the end of its queue, so that receives with the same tag may change places.
      posted_.push(carried, received);
      return put_back(event, free);
    }
    receive({event.rank, received, {cpu, sent.nic}}, {event.sender, event.op, {sent.cpu, sent.nic}},
            at_least_one(sent.value), event.time + g_);
  }

  struct Resources {
    std::uint32_t cpu, nic;
  };
  // One side of a message, and the resources of its rank that are charged.
  struct Side {
    std::uint32_t rank, op;
    Resources charged;
  };
  // The receiver's NIC is busy until nic_time and its cpu from there on; a rendezvous sender is held back as
  // long. When the message was there first, the sender's resources are those with the receive's numbers.
  void receive(const Side& to, const Side& from, std::uint64_t bytes, std::uint64_t nic_time) {
    const std::uint64_t cpu_time = nic_time + cpu_cost(bytes);
    cpu_free(to.rank, to.charged.cpu) = cpu_time;
    receive_free(to.rank, to.charged.nic) = nic_time;
    add_overhead(to.rank, cpu_cost(bytes));
    if (bytes > S_) {
      std::uint64_t& sender_cpu = cpu_free(from.rank, from.charged.cpu);
      std::uint64_t& sender_nic = send_free(from.rank, from.charged.nic);
      sender_cpu = std::max(sender_cpu, cpu_time);
      sender_nic = std::max(sender_nic, nic_time);
      release_send(from.rank, from.op, cpu_time);
    }
    record_receive(to.rank, graph_.rank(from.rank).value(from.op));
    mark_done(to.rank, to.op, cpu_time);
  }

  // The ranks come in the order in which an std::unordered_set of the GNU library yields at most two numbers:
  // the last inserted first.
  void push_freed() {
    for (std::uint32_t t = touched_count_; t-- > 0;) {
      for (const FreedOp& freed : freed_) {
        if (freed.rank != touched_[t]) continue;
        CompatEvent event = op_event(freed);
        const goal::Op op = graph_.rank(event.rank).op(event.op);
        event.time = ready_time(freed);
        if (op.kind == goal::OpKind::kCalc) event.time = std::max(event.time, cpu_free(freed.rank, op.cpu));
        if (op.kind == goal::OpKind::kSend) event.time = std::max(event.time, send_free(freed.rank, op.nic));
        queue_.push(event);
      }
    }
  }

  // The product in double precision, then cut off.
  std::uint64_t transmission_ns(std::uint64_t bytes) const {
    constexpr double kTooLong = 18446744073709551616.0;  // 2^64: such a cast would be undefined
    const double ns = static_cast<double>(bytes - 1) * G_;
    return ns < kTooLong ? static_cast<std::uint64_t>(ns) : ~std::uint64_t{0};
  }
  static std::uint64_t at_least_one(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, 1); }
  std::uint64_t cpu_cost(std::uint64_t bytes) const { return o_ + (bytes - 1) * O_; }
};

}  // namespace

CompatResult run_atlahs(const goal::Graph& graph, const CompatParameters& parameters, RunControl& control,
                        bool record_flows) {
  return Atlahs(graph, parameters, record_flows).run(control);
}

}  // namespace weft::sim
