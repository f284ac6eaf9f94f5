#include "sim/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/units/input_error.h"

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
    ranks_[r].first_op = view.first_op();
    for (goal::OpIndex i = 0; i < view.ops(); ++i) {
      if (view.tag(i) != goal::kAny) continue;
      if (view.kind(i) == goal::OpKind::kRecv) ranks_[r].any_tag = true;
      if (view.kind(i) == goal::OpKind::kSend) ranks_[view.peer(i)].any_tag = true;
    }
    find_cpus(r);
  }
  cpu_free_.resize(cpu_names_.size());
  totals_.ops = graph.ops();
}

void Replay::find_cpus(std::uint32_t rank) {
  const goal::RankView view = graph_.rank(rank);
  RankState& state = ranks_[rank];
  state.first_cpu = cpu_names_.size();
  std::vector<bool> named;
  for (goal::OpIndex i = 0; i < view.ops(); ++i) {
    const std::uint16_t cpu = view.cpu(i);
    if (cpu >= named.size()) named.resize(cpu + 1u);
    named[cpu] = true;
  }
  for (std::size_t cpu = 0; cpu < named.size(); ++cpu) {
    if (named[cpu]) cpu_names_.push_back(static_cast<std::uint16_t>(cpu));
  }
  state.cpus = static_cast<std::uint32_t>(cpu_names_.size() - state.first_cpu);
  state.sparse_cpus = state.cpus < named.size();
}

std::uint32_t Replay::hosts_needed() const {
  return (graph_.ranks() + hosts_.ranks_per_host - 1) / hosts_.ranks_per_host;
}

void Replay::start(Network& network) {
  network_ = &network;
  // Messages through different NICs overtake each other in any network.
  keep_order_ = !network.delivers_in_order() || graph_.max_nic() > 0;
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
      calc_done(rank, event.payload);
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
  return after(hosts_.overhead, hosts_.overhead_per_byte.after_first(bytes));
}

Time Replay::reserve_cpu(std::uint32_t rank, std::uint16_t cpu, Time duration) {
  const RankState& state = ranks_[rank];
  std::uint64_t index = state.first_cpu + cpu;
  if (state.sparse_cpus) [[unlikely]] {
    const auto first = cpu_names_.begin() + static_cast<std::ptrdiff_t>(state.first_cpu);
    index = static_cast<std::uint64_t>(std::lower_bound(first, first + state.cpus, cpu) - cpu_names_.begin());
  }
  Time& free = cpu_free_[index];
  const Time start = std::max(engine_.now(), free);
  free = after(start, duration);
  return start;
}

Time Replay::calc_duration(std::uint32_t rank, goal::OpIndex op) const {
  const std::uint64_t ns = graph_.rank(rank).value(op);
  return ns > static_cast<std::uint64_t>(Time::max().ps()) / 1000 ? Time::max()
                                                                  : Time::ns(static_cast<std::int64_t>(ns));
}

void Replay::begin_calc(std::uint32_t rank, goal::OpIndex op) {
  const Time duration = calc_duration(rank, op);
  const Time start = reserve_cpu(rank, graph_.rank(rank).cpu(op), duration);
  op_started(rank, op, start);
  if (start + duration == engine_.now()) {
    calc_done(rank, op);
  } else {
    engine_.schedule(start + duration, first_entity_ + rank, kCalcDone, op);
  }
}

void Replay::calc_done(std::uint32_t rank, goal::OpIndex op) {
  Time& compute = ranks_[rank].compute;
  compute = after(compute, calc_duration(rank, op));
  finish_op(rank, op);
}

void Replay::begin_send(std::uint32_t task) {
  const Task& send = tasks_[task];
  const Time duration = overhead(send.bytes);
  const Time start = reserve_cpu(send.rank, send.cpu, duration);
  if (send.active == kNone) op_started(send.rank, send.op, start);
  if (start + duration == engine_.now()) {
    task_cpu_done(task);
  } else {
    engine_.schedule(start + duration, first_entity_ + send.rank, kTaskDone, task);
  }
}

void Replay::task_cpu_done(std::uint32_t task) {
  Task& work = tasks_[task];
  RankState& state = ranks_[work.rank];
  if (work.state == TaskState::kLocal) {
    state.compute = after(state.compute, local_duration(actives_[work.active]->schedule.step(work.op)));
    return finish_task(task);
  }
  state.overhead = after(state.overhead, overhead(work.bytes));
  if (work.state == TaskState::kReceiveCpu) {
    ++state.messages_received;
    state.bytes_received += work.bytes;
    return finish_task(task);
  }
  ++state.messages_sent;
  state.bytes_sent += work.bytes;
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
  const Time duration = local_duration(step);
  const Time start = reserve_cpu(active.rank, task.cpu, duration);
  if (duration == Time() && start == engine_.now()) return finish_step(index, step_index);
  task.state = TaskState::kLocal;
  const std::uint32_t handle = new_task(task);
  engine_.schedule(start + duration, first_entity_ + active.rank, kTaskDone, handle);
}

Time Replay::local_duration(const goal::Step& step) const {
  return step.kind == goal::StepKind::kReduce ? hosts_.reduction_per_byte.of(step.bytes) : Time();
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
  const auto found = std::lower_bound(positions.begin(), positions.end(), std::pair(rank, 0u));
  if (found == positions.end() || found->first != rank) {
    throw InputError(fmt::format(
        "rank {} calls a collective on communicator {}{}, of which it is no member", rank, comm,
        graph_.communicators()[comm].name.empty() ? "" : " (" + graph_.communicators()[comm].name + ")"));
  }
  return found->second;
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
    if (__builtin_add_overflow(totals_.bytes, from.bytes, &totals_.bytes)) {
      throw InputError("the messages sent have more than 2^64 bytes in all");
    }
  }
  word[kContextAndKind] = context | static_cast<std::uint32_t>(kind) << kKindShift;
  if (is_ordered(message)) word[kSequence] = orders_[order_key(message)].sent++;
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
    default:
      if (is_ordered(message)) {
        accept_in_order(message);
      } else {
        arrive(message);
      }
  }
  drain();
}

// Must this message not overtake others? In a collective no two messages fit the same receive.
bool Replay::is_ordered(const Message& message) const {
  const std::uint32_t word = message.client[kContextAndKind];
  const auto kind = static_cast<MessageKind>(word >> kKindShift);
  return keep_order_ && (kind == MessageKind::kEager || kind == MessageKind::kRequestToSend) &&
         (word & kCollectiveContext) == 0;
}

Replay::OrderKey Replay::order_key(const Message& message) const {
  const auto& word = message.client;
  const std::uint32_t destination = word[kDestinationRank];
  return {word[kSourceRank], destination, word[kContextAndKind] & kContextMask,
          ranks_[destination].any_tag ? 0 : word[kTag]};
}

// Holds a message back until every earlier one that it may not overtake has arrived.
void Replay::accept_in_order(const Message& message) {
  const auto order = orders_.find(order_key(message));
  std::uint32_t& accepted = order->second.accepted;
  if (message.client[kSequence] != accepted) {
    held_back_.emplace(std::pair(order->first, message.client[kSequence]), message);
    return;
  }
  arrive(message);
  ++accepted;
  for (auto held = held_back_.find({order->first, accepted}); held != held_back_.end();
       held = held_back_.find({order->first, accepted})) {
    arrive(held->second);
    held_back_.erase(held);
    ++accepted;
  }
  if (accepted == order->second.sent) orders_.erase(order);
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
  task.bytes = bytes;
  const Time duration = overhead(bytes);
  const Time start = reserve_cpu(task.rank, task.cpu, duration);
  if (start + duration == engine_.now()) {
    task_cpu_done(handle);
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
    // Work after the last operation that finished (in a replay that stopped short) is no part of the finish.
    const __int128 waiting =
        static_cast<__int128>(state.finish.ps()) * state.cpus - (state.compute + state.overhead).ps();
    row.waiting = Time::ps(static_cast<std::int64_t>(std::clamp<__int128>(waiting, 0, Time::max().ps())));
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
