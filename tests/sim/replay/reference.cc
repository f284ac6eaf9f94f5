#include "tests/sim/replay/reference.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "goal/collectives/steps.h"

namespace weft::sim {
namespace {

using goal::kAny;

enum class What { kCalc, kSend, kRecv, kCollective, kGroup };

struct Lane;

// An operation of the graph, a message of a collective (then it has a lane), or a group of them that may
// begin.
struct Node {
  What what = What::kCalc;
  std::uint32_t rank = 0, cpu = 0, nic = 0;
  std::uint32_t peer = 0, tag = 0, comm = 0, step_tag = 0;
  std::uint64_t bytes = 0;
  std::int64_t duration_ps = 0;  // calc
  std::uint64_t combine = 0;
  bool in_turn = false, blocks = false;  // of a collective
  const goal::Collective* collective = nullptr;
  Lane* lane = nullptr;
  std::uint32_t waits = 0;
  std::vector<std::pair<Node*, bool>> dependents;  // true: waits for the start only
  std::size_t lanes_left = 0;                      // of a collective
};

// One lane of a collective on one rank: its present group, message by message, step by step.
struct Lane {
  Node* collective = nullptr;
  goal::CollectiveCall call;
  goal::ChosenAlgorithm chosen;
  std::vector<std::uint32_t> members;
  std::uint32_t number = 0, groups = 0;
  std::vector<std::vector<Node*>> steps;
  std::size_t left = 0;
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
    const std::int64_t copied =
        bytes <= std::min(p_.S, p_.collective_limit) ? per_byte(p_.copy_fs, bytes) : 0;
    return p_.o_ps + (bytes == 0 ? 0 : per_byte(p_.O_fs, bytes - 1)) + copied;
  }

  // A cpu does what it was given first come, first served. `begin` tells the duration; `end` whether the cpu
  // goes on with the same work.
  struct Work {
    std::function<std::int64_t()> begin;
    std::function<bool()> end;
  };
  struct Cpu {
    bool is_busy = false;
    std::deque<Work> queue;
  };
  using CpuKey = std::pair<std::uint32_t, std::uint32_t>;

  void give(const CpuKey& cpu, const Work& work) {
    cpus_[cpu].queue.push_back(work);
    if (!cpus_[cpu].is_busy) take_up(cpu);
  }
  void take_up(const CpuKey& cpu) {
    while (true) {
      Cpu& state = cpus_[cpu];
      state.is_busy = !state.queue.empty();
      if (!state.is_busy) return;
      const Work work = state.queue.front();
      state.queue.pop_front();
      const std::int64_t duration = work.begin();
      if (duration > 0) return end_later(cpu, duration, work.end);
      if (work.end()) return;
    }
  }
  void end_later(const CpuKey& cpu, std::int64_t duration, const std::function<bool()>& end) {
    schedule(now_ + duration, rank_source(cpu.first), [this, cpu, end] {
      if (!end()) take_up(cpu);
    });
  }
  void work(Node* node, std::int64_t duration_ps, bool tells_start, const std::function<void()>& done) {
    give({node->rank, node->cpu}, {[=, this] {
                                     if (tells_start) free_dependents(node, true);
                                     return duration_ps;
                                   },
                                   [done] {
                                     done();
                                     return false;
                                   }});
  }

  void free_dependents(Node* node, bool on_start) {
    for (const auto& [dependent, start_only] : node->dependents) {
      if (start_only == on_start && --dependent->waits == 0) ready_.push_back(dependent);
    }
  }

  void finish(Node* node) {
    if (node->lane != nullptr) {
      Lane* const lane = node->lane;
      if (node->in_turn) begin_next_in_turn(lane, node);
      if (--lane->left == 0) next_group(lane);
      return;
    }
    free_dependents(node, false);
    ReferenceRank& rank = result_.ranks[node->rank];
    rank.finish_ps = now_;
    ++rank.ops;
    ++result_.executed_ops;
  }

  void begin(Node* node) {
    switch (node->what) {
      case What::kCalc:
        work(node, node->duration_ps, true, [this, node] {
          result_.ranks[node->rank].compute_ps += node->duration_ps;
          finish(node);
        });
        break;
      case What::kSend:
        work(node, overhead(node->bytes), true, [this, node] { sent_by_cpu(node); });
        break;
      case What::kRecv:
        free_dependents(node, true);
        post(node);
        break;
      case What::kCollective:
        free_dependents(node, true);
        call(node);
        break;
      case What::kGroup:
        for (bool first = true; const std::vector<Node*>& step : std::vector(node->lane->steps)) {
          if (step.front()->in_turn && !std::exchange(first, false)) continue;
          if (step.front()->what == What::kSend) {
            begin_train(step);
          } else if (step.front()->what == What::kCalc) {
            begin(step.front());
          } else {
            begin_receives(step);
          }
        }
        break;
    }
  }

  // ---- Collectives ----

  void call(Node* node) {
    const goal::Collective& collective = *node->collective;
    std::vector<std::uint32_t> members = graph_.communicators()[collective.comm].ranks;
    for (std::uint32_t r = 0; members.size() < graph_.communicator_size(collective.comm); ++r)
      members.push_back(r);
    const auto me =
        static_cast<std::uint32_t>(std::find(members.begin(), members.end(), node->rank) - members.begin());
    if (members.size() == 1) return finish(node);
    const goal::ChosenAlgorithm chosen =
        goal::choose_collective_algorithm(collective.kind, p_.algorithms[static_cast<int>(collective.kind)]);
    std::vector<Lane*> lanes;
    const auto size = static_cast<std::uint32_t>(members.size());
    node->lanes_left = chosen.lanes({&collective, size, me, &chosen.options});
    for (std::uint32_t i = 0; i < node->lanes_left; ++i) {
      lanes_.push_back(std::make_unique<Lane>());
      Lane* lane = lanes_.back().get();
      lane->collective = node, lane->chosen = chosen, lane->members = members, lane->number = i;
      lane->call = {&collective, size, me, &lane->chosen.options};
      lanes.push_back(lane);
    }
    if (lanes.empty()) return finish(node);
    for (Lane* lane : lanes) next_group(lane);
  }

  void next_group(Lane* lane) {
    lane->steps.clear();
    while (lane->left == 0) {
      goal::Group group;
      if (!lane->chosen.algorithm->expand(lane->call, lane->number, lane->groups++, group)) {
        if (--lane->collective->lanes_left == 0) finish(lane->collective);
        return;
      }
      for (const goal::Step& step : group.steps()) add_step(lane, step);
    }
    Node* group = new_node();
    group->what = What::kGroup, group->lane = lane;
    ready_.push_back(group);
  }

  void add_step(Lane* lane, const goal::Step& step) {
    const Node* parent = lane->collective;
    std::vector<Node*> messages;
    if (step.kind == goal::StepKind::kCopy) {
      const std::int64_t duration = per_byte(p_.copy_fs, step.bytes);
      if (duration == 0) return;
      Node* node = new_node();
      node->lane = lane, node->rank = parent->rank, node->cpu = parent->cpu, node->duration_ps = duration;
      ++lane->left;
      return lane->steps.push_back({node});
    }
    for (std::uint32_t i = 0; i < step.count; ++i) {
      const std::uint32_t size = lane->call.size;
      const std::uint32_t peer = (step.down ? step.peer + size - i : step.peer + i) % size;
      const std::uint64_t bytes = step.by_peer ? lane->call.block_bytes(step.kind, peer) : step.bytes;
      if (bytes == 0 && !step.signal) continue;
      Node* node = new_node();
      node->what = step.kind == goal::StepKind::kSend ? What::kSend : What::kRecv;
      node->lane = lane, node->rank = parent->rank, node->cpu = parent->cpu, node->nic = parent->nic;
      node->tag = parent->tag, node->comm = parent->comm, node->step_tag = step.tag;
      node->in_turn = step.in_turn, node->blocks = step.count == 1 && blocks(lane->chosen);
      node->bytes = bytes, node->combine = step.combine, node->peer = lane->members[peer];
      messages.push_back(node);
    }
    lane->left += messages.size();
    if (!messages.empty()) lane->steps.push_back(messages);
  }

  void begin_next_in_turn(Lane* lane, const Node* before) {
    bool passed = false;
    for (const std::vector<Node*>& step : lane->steps) {
      if (passed && step.front()->in_turn) return begin_train(step);
      if (step.front() == before) passed = true;
    }
  }

  // One piece of work for the cpu, with a message at the end of each part.
  void begin_train(const std::vector<Node*>& sends) {
    give({sends[0]->rank, sends[0]->cpu},
         {[=, this] { return overhead(sends[0]->bytes); }, [=, this] { return train_message(sends, 0); }});
  }
  bool train_message(const std::vector<Node*>& sends, std::size_t i) {
    for (;; ++i) {
      sent_by_cpu(sends[i]);
      if (i + 1 == sends.size()) return false;
      const std::int64_t duration = overhead(sends[i + 1]->bytes);
      if (duration == 0) continue;
      end_later({sends[0]->rank, sends[0]->cpu}, duration, [=, this] { return train_message(sends, i + 1); });
      return true;
    }
  }

  // The messages that are there are taken in the order of their arrival, whoever sent them.
  void begin_receives(std::vector<Node*> receives) {
    for (auto it = unexpected_.begin(); it != unexpected_.end();) {
      const auto taker =
          std::find_if(receives.begin(), receives.end(), [&](Node* recv) { return fits(*recv, **it); });
      if (taker == receives.end()) {
        ++it;
        continue;
      }
      Node* recv = *taker;
      Node* send = *it;
      receives.erase(taker);
      it = unexpected_.erase(it);
      matched(recv, send);
    }
    posted_.insert(posted_.end(), receives.begin(), receives.end());
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
    const bool eager = is_eager(send);
    transmit(send, send->rank, send->peer, eager ? send->bytes : first_fragment(send), {}, [this, envelope] {
      envelope->arrived = true;
      accept_what_can_be();
    });
    if (eager) finish(send);
  }

  // Users' messages of one sender, receiver and communicator are taken in the order in which they were handed
  // over.
  static bool may_not_overtake(const Node& a, const Node& b) {
    if (a.lane != nullptr || b.lane != nullptr) return false;
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
    const bool same_space = (recv.lane == nullptr) == (send.lane == nullptr);
    return same_space && recv.rank == send.peer && recv.comm == send.comm && recv.step_tag == send.step_tag &&
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
    if (is_eager(send)) return receive(recv, send);
    // The clear-to-send, or what asks for the data, goes back. Then come the data.
    transmit(recv, recv->rank, send->rank, 0, {}, [this, recv, send] {
      const std::uint64_t rest = send->bytes - first_fragment(send);
      if (p_.get) {
        return transmit(send, send->rank, send->peer, rest, {}, [this, recv, send] {
          transmit(recv, recv->rank, send->rank, 0, {}, [this, send] { finish(send); });
          receive(recv, send);
        });
      }
      pieces_.push_back({});
      Pieces* pieces = &pieces_.back();
      for (std::uint64_t at = 0; at < rest; at += pieces->sizes.back()) {
        pieces->sizes.push_back(std::min(p_.fragment, rest - at));
      }
      for (std::uint32_t i = 0; i < p_.depth; ++i) send_piece(recv, send, pieces);
    });
  }
  bool is_eager(const Node* send) const {
    return send->bytes <= (send->blocks ? std::min(p_.S, p_.collective_limit) : p_.S);
  }
  static bool blocks(const goal::ChosenAlgorithm& chosen) {
    const auto& parameters = chosen.algorithm->info.parameters;
    return chosen.options.segment_bytes == 0 && chosen.options.parallel == 0 &&
           std::ranges::find(parameters, "channels", &ParameterSpec::name) == parameters.end();
  }
  std::uint64_t first_fragment(const Node* send) const { return std::min(send->bytes, p_.first_fragment); }

  // What follows the request, in pieces: the network takes the next when it has sent one.
  struct Pieces {
    std::vector<std::uint64_t> sizes;
    std::size_t handed_over = 0, sent = 0, received = 0;
  };
  void send_piece(Node* recv, Node* send, Pieces* pieces) {
    if (pieces->handed_over == pieces->sizes.size()) return;
    transmit(
        send, send->rank, send->peer, pieces->sizes[pieces->handed_over++],
        [this, recv, send, pieces] {
          if (++pieces->sent == pieces->sizes.size()) finish(send);
          send_piece(recv, send, pieces);
        },
        [this, recv, send, pieces] {
          if (++pieces->received == pieces->sizes.size()) receive(recv, send);
        });
  }
  void receive(Node* recv, Node* send) {
    work(recv, overhead(send->bytes), false, [this, recv, send] {
      ReferenceRank& rank = result_.ranks[recv->rank];
      rank.overhead_ps += overhead(send->bytes);
      ++rank.messages_received;
      rank.bytes_received += send->bytes;
      if (recv->combine == 0) return finish(recv);
      const std::int64_t duration = per_byte(p_.reduction_fs, send->bytes * recv->combine);
      work(recv, duration, false, [this, recv, duration] {
        result_.ranks[recv->rank].compute_ps += duration;
        finish(recv);
      });
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
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::vector<Node*>> of_rank_;  // operations of the graph
  std::vector<Event> events_;
  std::uint64_t next_number_ = 0;
  std::int64_t now_ = 0;
  std::deque<Node*> ready_;
  std::map<CpuKey, Cpu> cpus_;
  std::map<NicKey, Nic> nics_;
  std::list<Envelope> envelopes_;  // in the order handed over
  std::list<Pieces> pieces_;
  std::list<Node*> posted_, unexpected_;
  ReferenceResult result_;
};

}  // namespace

ReferenceResult reference_run(const goal::Graph& graph, const ReferenceParameters& parameters) {
  return Reference(graph, parameters).run();
}

}  // namespace weft::sim
