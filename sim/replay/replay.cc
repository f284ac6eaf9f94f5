#include "sim/replay/replay.h"

#include <algorithm>

namespace weft::sim {
namespace {

// Words of Message::client. The kind shares a word with the context, which needs 29 bits.
enum Word {
  kSenderTask,
  kReceiverTask,
  kSourceRank,
  kDestinationRank,
  kTag,
  kContextAndKind,
  kSub,
  kSequence
};
constexpr std::uint32_t kCollectiveContext = 1u << 28;
constexpr int kKindShift = 30;
constexpr std::uint32_t kContextMask = (1u << kKindShift) - 1;

MatchKey key_of_message(const Message& message) {
  const auto& word = message.client;
  return {word[kDestinationRank], word[kSourceRank], word[kTag], word[kContextAndKind] & kContextMask,
          word[kSub]};
}

}  // namespace

Replay::Replay(const goal::Graph& graph, const HostConfig& hosts, Engine& engine)
    : graph_(graph), hosts_(hosts), engine_(engine), ranks_(graph.ranks()), matching_(graph.ranks()) {
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    algorithms_[kind] = &goal::find_collective_algorithm(static_cast<goal::CollectiveKind>(kind),
                                                         hosts.collective_algorithms[kind]);
  }
  first_entity_ = engine.add_entities(graph.ranks());
  remaining_.reserve(graph.ops());
  positions_.resize(graph.communicators().size());
  for (std::uint32_t r = 0; r < graph.ranks(); ++r) {
    const goal::RankView view = graph.rank(r);
    const std::vector<std::uint32_t> counts = view.dependency_counts();
    remaining_.insert(remaining_.end(), counts.begin(), counts.end());
    RankState& state = ranks_[r];
    state.first_op = view.first_op();
    state.first_cpu = cpu_free_.size();
    std::uint32_t max_cpu = 0;
    for (goal::OpIndex i = 0; i < view.ops(); ++i) {
      max_cpu = std::max<std::uint32_t>(max_cpu, view.cpu(i));
      state.any_tag |= view.kind(i) == goal::OpKind::kRecv && view.tag(i) == goal::kAny;
    }
    state.cpus = max_cpu + 1;
    cpu_free_.resize(cpu_free_.size() + state.cpus);
  }
  totals_.ops = graph.ops();
}

std::uint32_t Replay::hosts_needed() const {
  return (graph_.ranks() + hosts_.ranks_per_host - 1) / hosts_.ranks_per_host;
}

void Replay::start(Network& network) {
  network_ = &network;
  keep_order_ = !network.delivers_in_order();
  for (std::uint32_t r = 0; r < graph_.ranks(); ++r)
    engine_.schedule(Time(), first_entity_ + r, kRankStart, 0);
}

// ---- Events ----

void Replay::on_event(const Event& event) {
  const std::uint32_t rank = event.source - first_entity_;
  switch (event.kind) {
    case kRankStart: {
      const std::uint32_t* remaining = remaining_.data() + ranks_[rank].first_op;
      for (goal::OpIndex i = 0, ops = graph_.rank(rank).ops(); i < ops; ++i) {
        if (remaining[i] == 0) ready_.push_back({rank, i, kNone});
      }
      break;
    }
    case kOpStarted:
      release(rank, event.payload, true);
      break;
    case kCalcDone:
      finish_op(rank, event.payload);
      break;
    case kTaskDone:
      task_cpu_done(event.payload);
      break;
  }
  drain();
}

void Replay::drain() {
  while (ready_next_ < ready_.size()) {
    const Ready ready = ready_[ready_next_++];
    begin(ready);
  }
  ready_.clear();
  ready_next_ = 0;
}

void Replay::begin(const Ready& ready) {
  if (ready.active != kNone) return begin_step(ready.active, ready.op);
  const goal::RankView view = graph_.rank(ready.rank);
  const goal::OpIndex op = ready.op;
  switch (view.kind(op)) {
    case goal::OpKind::kCalc:
      return begin_calc(ready.rank, op);
    case goal::OpKind::kCollective:
      return begin_collective(ready.rank, op);
    case goal::OpKind::kSend:
      return begin_send(new_task({.bytes = view.value(op),
                                  .rank = ready.rank,
                                  .op = op,
                                  .peer = view.peer(op),
                                  .cpu = view.cpu(op),
                                  .nic = view.nic(op),
                                  .state = TaskState::kSendCpu}));
    case goal::OpKind::kRecv: {
      const std::uint32_t task = new_task({.bytes = view.value(op),
                                           .rank = ready.rank,
                                           .op = op,
                                           .peer = view.peer(op),
                                           .cpu = view.cpu(op),
                                           .nic = view.nic(op),
                                           .state = TaskState::kPosted});
      op_started(ready.rank, op, engine_.now());
      return begin_receive(task, key_of(tasks_[task], view.peer(op), ready.rank));
    }
  }
}

// ---- Cpus ----

Time Replay::overhead(std::uint64_t bytes) const {
  return hosts_.overhead + hosts_.overhead_per_byte.after_first(bytes);
}

Time Replay::reserve_cpu(std::uint32_t rank, std::uint16_t cpu, Time duration) {
  Time& free = cpu_free_[ranks_[rank].first_cpu + cpu];
  const Time start = std::max(engine_.now(), free);
  free = start + duration;
  return start;
}

void Replay::begin_calc(std::uint32_t rank, goal::OpIndex op) {
  const goal::RankView view = graph_.rank(rank);
  const Time duration = Time::ns(static_cast<std::int64_t>(view.value(op)));
  const Time start = reserve_cpu(rank, view.cpu(op), duration);
  ranks_[rank].compute += duration;
  op_started(rank, op, start);
  if (start + duration == engine_.now()) {
    finish_op(rank, op);
  } else {
    engine_.schedule(start + duration, first_entity_ + rank, kCalcDone, op);
  }
}

void Replay::begin_send(std::uint32_t task) {
  const Task& send = tasks_[task];
  const Time duration = overhead(send.bytes);
  const Time start = reserve_cpu(send.rank, send.cpu, duration);
  RankState& state = ranks_[send.rank];
  state.overhead += duration;
  ++state.messages_sent;
  state.bytes_sent += send.bytes;
  if (send.active == kNone) op_started(send.rank, send.op, start);
  if (start + duration == engine_.now()) {
    task_cpu_done(task);
  } else {
    engine_.schedule(start + duration, first_entity_ + send.rank, kTaskDone, task);
  }
}

void Replay::task_cpu_done(std::uint32_t task) {
  Task& work = tasks_[task];
  if (work.state != TaskState::kSendCpu) return finish_task(task);
  if (work.bytes <= hosts_.eager_limit_bytes) {
    inject(task, MessageKind::kEager, kNone);
    finish_task(task);
  } else {
    work.state = TaskState::kAwaitClear;
    inject(task, MessageKind::kRequestToSend, kNone);
  }
}

// ---- Progress through the graph ----

void Replay::op_started(std::uint32_t rank, goal::OpIndex op, Time start) {
  if (start == engine_.now()) return release(rank, op, true);
  for (const goal::Edge edge : graph_.rank(rank).dependents(op)) {
    if (edge.on_start()) {
      engine_.schedule(start, first_entity_ + rank, kOpStarted, op);
      return;
    }
  }
}

void Replay::release(std::uint32_t rank, goal::OpIndex op, bool on_start) {
  std::uint32_t* remaining = remaining_.data() + ranks_[rank].first_op;
  for (const goal::Edge edge : graph_.rank(rank).dependents(op)) {
    if (edge.on_start() == on_start && --remaining[edge.dependent()] == 0) {
      ready_.push_back({rank, edge.dependent(), kNone});
    }
  }
}

void Replay::finish_op(std::uint32_t rank, goal::OpIndex op) {
  RankState& state = ranks_[rank];
  state.finish = engine_.now();
  ++state.ops_done;
  ++totals_.executed_ops;
  release(rank, op, false);
}

void Replay::finish_task(std::uint32_t task) {
  const Task done = tasks_[task];
  free_task(task);
  if (done.active != kNone) {
    finish_step(done.active, done.op);
  } else {
    finish_op(done.rank, done.op);
  }
}

// ---- Collectives ----

void Replay::begin_collective(std::uint32_t rank, goal::OpIndex op) {
  const goal::RankView view = graph_.rank(rank);
  const goal::Collective& collective = view.collective(op);
  const std::uint32_t index = new_active();
  Active& active = *actives_[index];
  active.rank = rank;
  active.op = op;
  active.schedule.clear();
  algorithms_[static_cast<int>(collective.kind)]->expand(
      {&collective, graph_.communicator_size(collective.comm), position_in(collective.comm, rank)},
      active.schedule);
  active.schedule.finish();
  active.left = active.schedule.size();
  active.remaining.resize(active.left);
  op_started(rank, op, engine_.now());
  if (active.left == 0) {
    active.next_free = free_active_;
    free_active_ = index;
    return finish_op(rank, op);
  }
  for (std::uint32_t step = 0; step < active.left; ++step) {
    active.remaining[step] = active.schedule.dependencies(step);
    if (active.remaining[step] == 0) ready_.push_back({rank, step, index});
  }
}

void Replay::begin_step(std::uint32_t index, std::uint32_t step_index) {
  const Active& active = *actives_[index];
  const goal::Step& step = active.schedule.step(step_index);
  const goal::RankView view = graph_.rank(active.rank);
  const goal::Collective& collective = view.collective(active.op);
  Task task{.bytes = step.bytes,
            .rank = active.rank,
            .op = step_index,
            .active = index,
            .cpu = view.cpu(active.op),
            .nic = view.nic(active.op)};
  if (step.kind == goal::StepKind::kSend || step.kind == goal::StepKind::kRecv) {
    task.peer = graph_.world_rank(collective.comm, step.peer);
    task.state = step.kind == goal::StepKind::kSend ? TaskState::kSendCpu : TaskState::kPosted;
    const std::uint32_t handle = new_task(task);
    if (step.kind == goal::StepKind::kSend) return begin_send(handle);
    return begin_receive(handle, key_of(task, task.peer, active.rank));
  }
  const Time duration =
      step.kind == goal::StepKind::kReduce ? hosts_.reduction_per_byte.of(step.bytes) : Time();
  const Time start = reserve_cpu(active.rank, task.cpu, duration);
  ranks_[active.rank].compute += duration;
  if (start + duration == engine_.now()) return finish_step(index, step_index);
  task.state = TaskState::kLocal;
  const std::uint32_t handle = new_task(task);
  engine_.schedule(start + duration, first_entity_ + active.rank, kTaskDone, handle);
}

void Replay::finish_step(std::uint32_t index, std::uint32_t step) {
  Active& active = *actives_[index];
  for (const std::uint32_t dependent : active.schedule.dependents(step)) {
    if (--active.remaining[dependent] == 0) ready_.push_back({active.rank, dependent, index});
  }
  if (--active.left > 0) return;
  active.next_free = free_active_;
  free_active_ = index;
  finish_op(active.rank, active.op);
}

std::uint32_t Replay::position_in(std::uint32_t comm, std::uint32_t rank) {
  const std::vector<goal::Rank>& members = graph_.communicators()[comm].ranks;
  if (members.empty()) return rank;
  auto& positions = positions_[comm];
  if (positions.empty()) {
    for (std::uint32_t i = 0; i < members.size(); ++i) positions.emplace_back(members[i], i);
    std::sort(positions.begin(), positions.end());
  }
  return std::lower_bound(positions.begin(), positions.end(), std::pair(rank, 0u))->second;
}

// ---- Messages ----

// The key under which `receiver` gets a message of this task's operation from `source`.
MatchKey Replay::key_of(const Task& task, std::uint32_t source, std::uint32_t receiver) const {
  const goal::RankView view = graph_.rank(task.rank);
  if (task.active == kNone) return {receiver, source, view.tag(task.op), view.comm(task.op), 0};
  const Active& active = *actives_[task.active];
  return {receiver, source, view.tag(active.op), view.comm(active.op) | kCollectiveContext,
          active.schedule.step(task.op).round};
}

void Replay::inject(std::uint32_t task, MessageKind kind, std::uint32_t other_task) {
  const Task& from = tasks_[task];
  Message message;
  message.source = from.rank / hosts_.ranks_per_host;
  message.destination = from.peer / hosts_.ranks_per_host;
  message.source_nic = message.destination_nic = from.nic;
  auto& word = message.client;
  word[kSourceRank] = from.rank;
  word[kDestinationRank] = from.peer;
  word[kSub] = word[kTag] = word[kSequence] = 0;
  std::uint32_t context = 0;
  if (kind == MessageKind::kClearToSend) {
    message.control = true;
    word[kReceiverTask] = task;
    word[kSenderTask] = other_task;
  } else {
    word[kSenderTask] = task;
    word[kReceiverTask] = other_task;
  }
  if (kind == MessageKind::kData || kind == MessageKind::kEager) message.bytes = from.bytes;
  if (kind == MessageKind::kData) message.notify_sent = true;
  if (kind == MessageKind::kRequestToSend) message.control = true;
  if (kind == MessageKind::kEager || kind == MessageKind::kRequestToSend) {
    const MatchKey key = key_of(from, from.rank, from.peer);
    word[kTag] = key.tag;
    word[kSub] = key.sub;
    context = key.context;
    ++totals_.messages;
    totals_.bytes += from.bytes;
    if (keep_order_ && (key.context & kCollectiveContext) == 0) {
      word[kSequence] =
          next_to_send_[{from.rank, from.peer, key.context, ranks_[from.peer].any_tag ? 0 : key.tag}]++;
    }
  }
  word[kContextAndKind] = context | static_cast<std::uint32_t>(kind) << kKindShift;
  network_->inject(message);
}

void Replay::on_sent(const Message& message) {
  finish_task(message.client[kSenderTask]);
  drain();
}

void Replay::on_delivered(const Message& message) {
  const auto& word = message.client;
  switch (static_cast<MessageKind>(word[kContextAndKind] >> kKindShift)) {
    case MessageKind::kClearToSend: {
      tasks_[word[kSenderTask]].state = TaskState::kSending;
      inject(word[kSenderTask], MessageKind::kData, word[kReceiverTask]);
      break;
    }
    case MessageKind::kData:
      occupy_for_receive(word[kReceiverTask], message.bytes);
      break;
    default: {
      const std::uint32_t context = word[kContextAndKind] & kContextMask;
      if (!keep_order_ || (context & kCollectiveContext) != 0) {
        arrive(message);
        break;
      }
      // Hold a message back until every earlier one that it may not overtake has arrived.
      const std::uint32_t destination = word[kDestinationRank];
      const OrderKey order{word[kSourceRank], destination, context,
                           ranks_[destination].any_tag ? 0 : word[kTag]};
      std::uint32_t& expected = next_to_accept_[order];
      if (word[kSequence] != expected) {
        held_back_.emplace(std::pair(order, word[kSequence]), message);
        break;
      }
      arrive(message);
      ++expected;
      for (auto held = held_back_.find({order, expected}); held != held_back_.end();
           held = held_back_.find({order, expected})) {
        arrive(held->second);
        held_back_.erase(held);
        ++expected;
      }
    }
  }
  drain();
}

void Replay::arrive(const Message& message) {
  std::uint32_t slot;
  if (free_parked_.empty()) {
    slot = static_cast<std::uint32_t>(parked_.size());
    parked_.push_back(message);
  } else {
    slot = free_parked_.back();
    free_parked_.pop_back();
    parked_[slot] = message;
  }
  const std::uint32_t receive = matching_.arrive(key_of_message(message), slot);
  if (receive == Matching::kNone) return;
  free_parked_.push_back(slot);
  matched(receive, message);
}

void Replay::begin_receive(std::uint32_t task, const MatchKey& key) {
  const std::uint32_t slot = matching_.post(key, task);
  if (slot == Matching::kNone) return;
  const Message message = parked_[slot];
  free_parked_.push_back(slot);
  matched(task, message);
}

void Replay::matched(std::uint32_t receive, const Message& message) {
  const auto& word = message.client;
  Task& task = tasks_[receive];
  task.peer = word[kSourceRank];
  if (static_cast<MessageKind>(word[kContextAndKind] >> kKindShift) == MessageKind::kEager) {
    return occupy_for_receive(receive, message.bytes);
  }
  task.state = TaskState::kAwaitData;
  inject(receive, MessageKind::kClearToSend, word[kSenderTask]);
}

void Replay::occupy_for_receive(std::uint32_t handle, std::uint64_t bytes) {
  Task& task = tasks_[handle];
  task.state = TaskState::kReceiveCpu;
  RankState& state = ranks_[task.rank];
  ++state.messages_received;
  state.bytes_received += bytes;
  const Time duration = overhead(bytes);
  const Time start = reserve_cpu(task.rank, task.cpu, duration);
  state.overhead += duration;
  if (start + duration == engine_.now()) {
    finish_task(handle);
  } else {
    engine_.schedule(start + duration, first_entity_ + task.rank, kTaskDone, handle);
  }
}

// ---- Pools ----

std::uint32_t Replay::new_task(const Task& task) {
  if (free_task_ == kNone) {
    tasks_.push_back(task);
    return static_cast<std::uint32_t>(tasks_.size() - 1);
  }
  const std::uint32_t handle = free_task_;
  free_task_ = tasks_[handle].next_free;
  tasks_[handle] = task;
  return handle;
}

void Replay::free_task(std::uint32_t task) {
  tasks_[task].state = TaskState::kFree;
  tasks_[task].next_free = free_task_;
  free_task_ = task;
}

std::uint32_t Replay::new_active() {
  if (free_active_ == kNone) {
    actives_.push_back(std::make_unique<Active>());
    return static_cast<std::uint32_t>(actives_.size() - 1);
  }
  const std::uint32_t index = free_active_;
  free_active_ = actives_[index]->next_free;
  return index;
}

// ---- Results ----

ReplayTotals Replay::totals() const {
  ReplayTotals totals = totals_;
  totals.unreceived = matching_.unexpected().size();
  for (const RankState& state : ranks_) totals.makespan = std::max(totals.makespan, state.finish);
  return totals;
}

std::vector<results::Rank> Replay::ranks() const {
  std::vector<results::Rank> rows;
  rows.reserve(ranks_.size());
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    const RankState& state = ranks_[r];
    results::Rank row;
    row.rank = r;
    row.host = r / hosts_.ranks_per_host;
    row.finish = state.finish;
    row.compute = state.compute;
    row.overhead = state.overhead;
    row.waiting = state.finish * static_cast<std::int64_t>(state.cpus) - state.compute - state.overhead;
    row.messages_sent = state.messages_sent;
    row.messages_received = state.messages_received;
    row.bytes_sent = state.bytes_sent;
    row.bytes_received = state.bytes_received;
    row.ops = state.ops_done;
    rows.push_back(row);
  }
  return rows;
}

std::uint64_t Replay::digest() const {
  std::uint64_t digest = mix64(engine_.digest());
  for (const RankState& state : ranks_)
    digest = mix64(digest ^ static_cast<std::uint64_t>(state.finish.ps()));
  return digest;
}

}  // namespace weft::sim
