// Executes a GOAL graph on simulated hosts, over any network model.
//
// The rules (what occupies a cpu when, eager and rendezvous, ordering) are written down in README.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "goal/collectives/schedule.h"
#include "goal/graph/graph.h"
#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/matching.h"
#include "sim/results/records.h"

namespace weft::sim {

// The hosts' part of the LogGOPS parameters, the same for every rank.
struct HostConfig {
  Time overhead;                        // o: cpu time to send or to receive a message
  TimePerByte overhead_per_byte;        // O: cpu time per byte after the first
  std::uint64_t eager_limit_bytes = 0;  // S: larger messages wait for their receive (rendezvous)
  TimePerByte reduction_per_byte;       // cpu time to combine received data, inside collectives
  std::uint32_t ranks_per_host = 1;     // rank r runs on host r / ranks_per_host
  // Algorithm per kind of collective, by name; "" is the default.
  std::array<std::string, goal::kCollectiveKinds> collective_algorithms;
};

struct ReplayTotals {
  std::uint64_t ops = 0, executed_ops = 0;  // of the graph
  std::uint64_t messages = 0, bytes = 0;    // sent by ranks, those of collectives included
  std::uint64_t unreceived = 0;             // arrived, but no receive took them
  Time makespan;                            // latest finish of any rank
};

// One replay of one graph. The graph must outlive it.
class Replay : public NetworkClient {
 public:
  // Throws InputError if a collective algorithm is unknown. While the network runs, InputError is thrown
  // where the graph can't be replayed: a collective of a rank that is no member, or times and bytes past all
  // limits.
  Replay(const goal::Graph& graph, const HostConfig& hosts, Engine& engine);

  std::uint32_t hosts_needed() const;
  // Schedules the first operations at time 0. Called once, before network.run().
  void start(Network& network);

  bool complete() const { return totals_.executed_ops == totals_.ops && matching_.unexpected().size() == 0; }
  ReplayTotals totals() const;
  std::vector<results::Rank> ranks() const;
  // Engine digest joined with every rank's finish time.
  std::uint64_t digest() const;
  // For a replay that ended incomplete: which ranks wait, for what, and what nearly matches; at most `limit`
  // ranks are described, the rest counted. One line each. REQUIRES: no events are left (the run was not
  // stopped).
  std::vector<std::string> diagnose(std::size_t limit = 10) const;

  void on_sent(const Message& message) override;
  void on_delivered(const Message& message) override;
  void on_event(const Event& event) override;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  enum EventKind : std::uint16_t {
    kRankStart = kClientKinds,
    kOpStarted,  // payload: operation
    kCalcDone,   // payload: operation
    kTaskDone,   // payload: task; its cpu work is done
  };
  enum class MessageKind : std::uint32_t { kEager = 0, kRequestToSend = 1, kClearToSend = 2, kData = 3 };
  enum class TaskState : std::uint8_t {
    kFree,
    kSendCpu,
    kAwaitClear,
    kSending,
    kPosted,
    kAwaitData,
    kReceiveCpu,
    kLocal
  };

  // A send, receive or local step under way: of the graph (active == kNone) or of a collective.
  struct Task {
    std::uint64_t bytes = 0;
    std::uint32_t rank = 0, op = 0, active = kNone, peer = 0;
    std::uint32_t next_free = kNone;
    std::uint16_t cpu = 0;
    std::uint8_t nic = 0;
    TaskState state = TaskState::kFree;
  };
  // A collective operation under way on one rank.
  struct Active {
    goal::Schedule schedule;
    std::vector<std::uint32_t> remaining;  // dependencies, per step
    std::uint32_t rank = 0, op = 0, left = 0, next_free = kNone;
  };
  struct Ready {
    std::uint32_t rank, op, active;
  };
  struct RankState {
    std::uint64_t first_op = 0, first_cpu = 0;
    std::uint32_t cpus = 0, ops_done = 0;
    bool any_tag = false;      // a receive takes, or a message to it fits, any tag: order them over all tags
    bool sparse_cpus = false;  // the numbers of its cpus have gaps
    Time finish, compute, overhead;
    std::uint64_t messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0;
  };
  struct OrderKey {
    std::uint32_t source, destination, context, tag;
    auto operator<=>(const OrderKey&) const = default;
  };
  struct Order {
    std::uint32_t sent = 0, accepted = 0;  // messages so far
  };

  // Readiness.
  void drain();
  void begin(const Ready& ready);
  void begin_calc(std::uint32_t rank, goal::OpIndex op);
  void calc_done(std::uint32_t rank, goal::OpIndex op);
  void begin_send(std::uint32_t task);
  void begin_receive(std::uint32_t task, const MatchKey& key);
  void begin_collective(std::uint32_t rank, goal::OpIndex op);
  void begin_step(std::uint32_t active, std::uint32_t step);
  void op_started(std::uint32_t rank, goal::OpIndex op, Time start);
  void release(std::uint32_t rank, goal::OpIndex op, bool on_start);
  void finish_op(std::uint32_t rank, goal::OpIndex op);
  void finish_task(std::uint32_t task);
  void finish_step(std::uint32_t active, std::uint32_t step);

  // Messages.
  MatchKey key_of(const Task& task, std::uint32_t source, std::uint32_t receiver) const;
  void inject(std::uint32_t task, MessageKind kind, std::uint32_t other_task);
  void task_cpu_done(std::uint32_t task);
  void arrive(const Message& message);
  void matched(std::uint32_t receive, const Message& message);
  void occupy_for_receive(std::uint32_t task, std::uint64_t bytes);
  bool is_ordered(const Message& message) const;
  OrderKey order_key(const Message& message) const;
  void accept_in_order(const Message& message);
  Time overhead(std::uint64_t bytes) const;
  Time calc_duration(std::uint32_t rank, goal::OpIndex op) const;
  Time local_duration(const goal::Step& step) const;
  void find_cpus(std::uint32_t rank);
  // Reserves a cpu from the earliest possible time on; returns the start.
  Time reserve_cpu(std::uint32_t rank, std::uint16_t cpu, Time duration);

  std::uint32_t new_task(const Task& task);
  void free_task(std::uint32_t task);
  std::uint32_t new_active();
  std::uint32_t position_in(std::uint32_t comm, std::uint32_t rank);

  const goal::Graph& graph_;
  HostConfig hosts_;
  Engine& engine_;
  Network* network_ = nullptr;
  EntityId first_entity_ = 0;
  std::array<const goal::CollectiveAlgorithm*, goal::kCollectiveKinds> algorithms_{};
  bool keep_order_ = false;

  std::vector<std::uint32_t> remaining_;  // unmet dependencies, per operation
  std::vector<RankState> ranks_;
  std::vector<Time> cpu_free_;            // per cpu of each rank
  std::vector<std::uint16_t> cpu_names_;  // the number it has in the graph, ascending in a rank
  std::vector<Ready> ready_;
  std::size_t ready_next_ = 0;
  std::vector<Task> tasks_;
  std::uint32_t free_task_ = kNone;
  std::vector<std::unique_ptr<Active>> actives_;
  std::uint32_t free_active_ = kNone;
  Matching matching_;
  std::vector<Message> parked_;  // unexpected messages
  std::vector<std::uint32_t> free_parked_;
  // Rank to position, per communicator, filled when first needed.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> positions_;
  // Only where messages may overtake each other, and only while some are under way.
  std::map<OrderKey, Order> orders_;
  std::map<std::pair<OrderKey, std::uint32_t>, Message> held_back_;
  ReplayTotals totals_;
};

}  // namespace weft::sim
