#include "tests/sim/replay/reference.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "goal/collectives/schedule.h"

namespace weft::sim {
namespace {

using goal::kAny;

enum class What { kCalc, kSend, kRecv, kCollective, kLocal };

// An operation of the graph, or a step of a collective (then `parent` is the collective).
struct Node {
  What what = What::kCalc;
  std::uint32_t rank = 0, cpu = 0, nic = 0;
  std::uint32_t peer = 0, tag = 0, comm = 0, round = 0;
  std::uint64_t bytes = 0;
  std::int64_t duration_ps = 0;  // calc and local steps
  const goal::Collective* collective = nullptr;
  Node* parent = nullptr;
  std::uint32_t waits = 0;
  std::vector<std::pair<Node*, bool>> dependents;  // true: waits for the start only
  std::size_t steps_left = 0;
};

// A user message or the request to send one.
struct Envelope {
  Node* send = nullptr;
  bool arrived = false, accepted = false;
};

class Reference {
 public:
  Reference(const goal::Graph& graph, const ReferenceParameters& parameters) : graph_(graph), p_(parameters) {
    result_.ranks.resize(graph.ranks());
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) add_rank(r);
    for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
      schedule(0, rank_source(r), [this, r] {
        for (Node* node : of_rank_[r]) {
          if (node->waits == 0) ready_.push_back(node);
        }
      });
    }
  }

  ReferenceResult run() {
    while (!events_.empty()) {
      const auto next = std::min_element(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
        return std::tie(a.time_ps, a.source, a.number) < std::tie(b.time_ps, b.source, b.number);
      });
      now_ = next->time_ps;
      const std::function<void()> act = next->act;
      events_.erase(next);
      act();
      while (!ready_.empty()) {
        Node* node = ready_.front();
        ready_.pop_front();
        begin(node);
      }
    }
    result_.unreceived = unexpected_.size();
    return result_;
  }

 private:
  // Who schedules an event: ranks first, then NICs by host and number.
  using Source = std::tuple<int, std::uint32_t, std::uint32_t>;
  struct Event {
    std::int64_t time_ps;
    Source source;
    std::uint64_t number;
    std::function<void()> act;
  };
  struct Nic {
    std::int64_t transmit_free_ps = 0, receive_free_ps = 0;
    int to_deliver = 0;
  };
  using NicKey = std::pair<std::uint32_t, std::uint32_t>;

  static Source rank_source(std::uint32_t rank) { return {0, rank, 0}; }
  static Source nic_source(const NicKey& nic) { return {1, nic.first, nic.second}; }
  void schedule(std::int64_t time_ps, const Source& source, std::function<void()> act) {
    events_.push_back({time_ps, source, next_number_++, std::move(act)});
  }

  Node* new_node() {
    nodes_.push_back(std::make_unique<Node>());
    return nodes_.back().get();
  }

  void add_rank(std::uint32_t r) {
    const goal::RankView view = graph_.rank(r);
    of_rank_.emplace_back();
    for (goal::OpIndex i = 0; i < view.ops(); ++i) {
      const goal::Op op = view.op(i);
      Node* node = new_node();
      node->rank = r, node->cpu = op.cpu, node->nic = op.nic;
      node->tag = op.tag, node->comm = op.comm;
      if (op.kind == goal::OpKind::kCalc) {
        node->duration_ps = static_cast<std::int64_t>(op.value) * 1000;
      } else if (op.kind == goal::OpKind::kCollective) {
        node->what = What::kCollective;
        node->collective = &view.collective(i);
      } else {
        node->what = op.kind == goal::OpKind::kSend ? What::kSend : What::kRecv;
        node->peer = op.peer, node->bytes = op.value;
      }
      of_rank_[r].push_back(node);
    }
    for (goal::OpIndex i = 0; i < view.ops(); ++i) {
      for (const goal::Edge edge : view.dependents(i)) {
        of_rank_[r][i]->dependents.emplace_back(of_rank_[r][edge.dependent()], edge.on_start());
        ++of_rank_[r][edge.dependent()]->waits;
      }
    }
  }

  // ---- Hosts ----

  static std::int64_t per_byte(std::int64_t fs, std::uint64_t bytes) {
    return static_cast<std::int64_t>(static_cast<__int128>(fs) * bytes / 1000);
  }
  std::int64_t overhead(std::uint64_t bytes) const {
    return p_.o_ps + (bytes == 0 ? 0 : per_byte(p_.O_fs, bytes - 1));
  }

  // Queues work at a cpu; `done` is called at its end.
  void work(Node* node, std::int64_t duration_ps, bool tells_start, const std::function<void()>& done) {
    std::int64_t& free = cpu_free_[{node->rank, node->cpu}];
    const std::int64_t start = std::max(now_, free);
    free = start + duration_ps;
    if (tells_start && start == now_) free_dependents(node, true);
    if (tells_start && start > now_) {
      schedule(start, rank_source(node->rank), [this, node] { free_dependents(node, true); });
    }
    if (free == now_) {
      done();
    } else {
      schedule(free, rank_source(node->rank), done);
    }
  }

  void free_dependents(Node* node, bool on_start) {
    for (const auto& [dependent, start_only] : node->dependents) {
      if (start_only == on_start && --dependent->waits == 0) ready_.push_back(dependent);
    }
  }

  void finish(Node* node) {
    free_dependents(node, false);
    if (node->parent != nullptr) {
      if (--node->parent->steps_left == 0) finish(node->parent);
      return;
    }
    ReferenceRank& rank = result_.ranks[node->rank];
    rank.finish_ps = now_;
    ++rank.ops;
    ++result_.executed_ops;
  }

  void begin(Node* node) {
    const bool is_op = node->parent == nullptr;
    switch (node->what) {
      case What::kCalc:
      case What::kLocal:
        work(node, node->duration_ps, is_op, [this, node] {
          result_.ranks[node->rank].compute_ps += node->duration_ps;
          finish(node);
        });
        break;
      case What::kSend:
        work(node, overhead(node->bytes), is_op, [this, node] { sent_by_cpu(node); });
        break;
      case What::kRecv:
        if (is_op) free_dependents(node, true);
        post(node);
        break;
      case What::kCollective:
        free_dependents(node, true);
        call(node);
        break;
    }
  }

  void call(Node* node) {
    const goal::Collective& collective = *node->collective;
    std::vector<std::uint32_t> members = graph_.communicators()[collective.comm].ranks;
    for (std::uint32_t r = 0; members.size() < graph_.communicator_size(collective.comm); ++r)
      members.push_back(r);
    const auto me =
        static_cast<std::uint32_t>(std::find(members.begin(), members.end(), node->rank) - members.begin());
    goal::Schedule schedule;
    goal::find_collective_algorithm(collective.kind, p_.algorithms[static_cast<int>(collective.kind)])
        .expand({&collective, static_cast<std::uint32_t>(members.size()), me}, schedule);
    schedule.finish();
    std::vector<Node*> steps;
    for (std::uint32_t i = 0; i < schedule.size(); ++i) {
      const goal::Step& step = schedule.step(i);
      Node* child = new_node();
      child->parent = node;
      child->rank = node->rank, child->cpu = node->cpu, child->nic = node->nic;
      child->tag = node->tag, child->comm = node->comm, child->round = step.round, child->bytes = step.bytes;
      child->waits = schedule.dependencies(i);
      if (step.kind == goal::StepKind::kSend || step.kind == goal::StepKind::kRecv) {
        child->what = step.kind == goal::StepKind::kSend ? What::kSend : What::kRecv;
        child->peer = members[step.peer];
      } else {
        child->what = What::kLocal;
        if (step.kind == goal::StepKind::kReduce) child->duration_ps = per_byte(p_.reduction_fs, step.bytes);
      }
      steps.push_back(child);
    }
    for (std::uint32_t i = 0; i < schedule.size(); ++i) {
      for (const std::uint32_t dependent : schedule.dependents(i)) {
        steps[i]->dependents.emplace_back(steps[dependent], false);
      }
    }
    node->steps_left = steps.size();
    if (steps.empty()) return finish(node);
    for (Node* step : steps) {
      if (step->waits == 0) ready_.push_back(step);
    }
  }

  // ---- Messages ----

  void sent_by_cpu(Node* send) {
    ReferenceRank& rank = result_.ranks[send->rank];
    rank.overhead_ps += overhead(send->bytes);
    ++rank.messages_sent;
    rank.bytes_sent += send->bytes;
    ++result_.messages;
    result_.bytes += send->bytes;
    envelopes_.push_back({send});
    Envelope* envelope = &envelopes_.back();
    const bool eager = send->bytes <= p_.S;
    transmit(send, send->rank, send->peer, eager ? send->bytes : 0, {}, [this, envelope] {
      envelope->arrived = true;
      accept_what_can_be();
    });
    if (eager) finish(send);
  }

  // Users' messages of one sender, receiver and communicator are taken in the order in which they were handed
  // over.
  static bool may_not_overtake(const Node& a, const Node& b) {
    if (a.parent != nullptr || b.parent != nullptr) return false;
    return a.rank == b.rank && a.peer == b.peer && a.comm == b.comm;
  }
  void accept_what_can_be() {
    for (auto it = envelopes_.begin(); it != envelopes_.end(); ++it) {
      if (!it->arrived || it->accepted) continue;
      const bool is_early = std::any_of(envelopes_.begin(), it, [&](const Envelope& before) {
        return !before.accepted && may_not_overtake(*before.send, *it->send);
      });
      if (is_early) continue;
      it->accepted = true;
      arrive(it->send);
    }
  }

  static bool fits(const Node& recv, const Node& send) {
    const bool same_space = (recv.parent == nullptr) == (send.parent == nullptr);
    return same_space && recv.rank == send.peer && recv.comm == send.comm && recv.round == send.round &&
           (recv.peer == kAny || recv.peer == send.rank) &&
           (recv.tag == kAny || send.tag == kAny || recv.tag == send.tag);
  }
  void post(Node* recv) {
    for (auto it = unexpected_.begin(); it != unexpected_.end(); ++it) {
      if (!fits(*recv, **it)) continue;
      Node* send = *it;
      unexpected_.erase(it);
      return matched(recv, send);
    }
    posted_.push_back(recv);
  }
  void arrive(Node* send) {
    for (auto it = posted_.begin(); it != posted_.end(); ++it) {
      if (!fits(**it, *send)) continue;
      Node* recv = *it;
      posted_.erase(it);
      return matched(recv, send);
    }
    unexpected_.push_back(send);
  }

  void matched(Node* recv, Node* send) {
    if (send->bytes <= p_.S) return receive(recv, send);
    // The clear-to-send goes back, then the data.
    transmit(recv, recv->rank, send->rank, 0, {}, [this, recv, send] {
      transmit(
          send, send->rank, send->peer, send->bytes, [this, send] { finish(send); },
          [this, recv, send] { receive(recv, send); });
    });
  }
  void receive(Node* recv, Node* send) {
    work(recv, overhead(send->bytes), false, [this, recv, send] {
      ReferenceRank& rank = result_.ranks[recv->rank];
      rank.overhead_ps += overhead(send->bytes);
      ++rank.messages_received;
      rank.bytes_received += send->bytes;
      finish(recv);
    });
  }

  // ---- The LogGOPS network ----

  // Sends bytes through the NIC that `cause` names to the one of the same number at the other host.
  void transmit(const Node* cause, std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                const std::function<void()>& left, const std::function<void()>& delivered) {
    const NicKey out{from / p_.ranks_per_host, cause->nic}, in{to / p_.ranks_per_host, cause->nic};
    const std::int64_t length = bytes == 0 ? 0 : per_byte(p_.G_fs, bytes - 1);
    const std::int64_t first = std::max(now_, nics_[out].transmit_free_ps);
    nics_[out].transmit_free_ps = first + length + p_.g_ps;
    if (left) schedule(first + length, nic_source(out), left);
    schedule(first + p_.L_ps, nic_source(out), [this, in, length, delivered] {
      Nic& nic = nics_[in];
      const std::int64_t last = std::max(now_, nic.receive_free_ps) + length;
      nic.receive_free_ps = last + p_.g_ps;
      if (last == now_ && nic.to_deliver == 0) return delivered();
      ++nic.to_deliver;
      schedule(last, nic_source(in), [this, in, delivered] {
        --nics_[in].to_deliver;
        delivered();
      });
    });
  }

  const goal::Graph& graph_;
  const ReferenceParameters& p_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::vector<Node*>> of_rank_;  // operations of the graph
  std::vector<Event> events_;
  std::uint64_t next_number_ = 0;
  std::int64_t now_ = 0;
  std::deque<Node*> ready_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> cpu_free_;
  std::map<NicKey, Nic> nics_;
  std::list<Envelope> envelopes_;  // in the order handed over
  std::list<Node*> posted_, unexpected_;
  ReferenceResult result_;
};

}  // namespace

ReferenceResult reference_run(const goal::Graph& graph, const ReferenceParameters& parameters) {
  return Reference(graph, parameters).run();
}

}  // namespace weft::sim
