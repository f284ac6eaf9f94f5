#include "sim/replay/share.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace weft::sim {

std::uint64_t add_message_bytes(std::uint64_t sum, std::uint64_t bytes) {
  if (!__builtin_add_overflow(sum, bytes, &sum)) return sum;
  throw InputError("the messages sent have more than 2^64 bytes in all");
}

ReplayShare::ReplayShare(const ReplayPlan& plan, Engine& engine, const std::vector<std::uint32_t>& ranks)
    : plan_(plan),
      graph_(plan.graph),
      hosts_(plan.hosts),
      local_(plan.local.data()),
      first_entity_(plan.first_entity),
      engine_(engine),
      ranks_(ranks.size()),
      matching_(static_cast<std::uint32_t>(ranks.size())),
      early_(static_cast<std::uint32_t>(ranks.size())),
      held_back_(static_cast<std::uint32_t>(ranks.size())) {
  std::uint64_t ops = 0;
  for (const std::uint32_t rank : ranks) ops += graph_.rank(rank).ops();
  remaining_.reserve(ops);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks_[i].rank = ranks[i];
    ranks_[i].first_op = remaining_.size();
    const std::vector<std::uint32_t> counts = graph_.rank(ranks[i]).dependency_counts();
    remaining_.insert(remaining_.end(), counts.begin(), counts.end());
    find_cpus(ranks_[i]);
  }
  cpu_free_.resize(cpu_names_.size());
}

void ReplayShare::find_cpus(RankState& state) {
  const goal::RankView view = graph_.rank(state.rank);
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

void ReplayShare::start(Network& network) {
  network_ = &network;
  // Messages through different NICs overtake each other in any network.
  keep_order_ = !network.delivers_in_order() || graph_.max_nic() > 0;
  for (const RankState& state : ranks_) engine_.schedule(Time(), first_entity_ + state.rank, kRankStart, 0);
}

// ---- Events ----

void ReplayShare::on_event(const Event& event) {
  const std::uint32_t local = local_[event.source - first_entity_];
  switch (event.kind) {
    case kRankStart: {
      const std::uint32_t* remaining = remaining_.data() + ranks_[local].first_op;
      for (goal::OpIndex i = 0, ops = view(local).ops(); i < ops; ++i) {
        if (remaining[i] == 0) ready_.push_back({local, i, kNone});
      }
      break;
    }
    case kOpStarted:
      release(local, event.payload, true);
      break;
    case kCalcDone:
      calc_done(local, event.payload);
      break;
    case kTaskDone:
      task_cpu_done(event.payload);
      break;
  }
  drain();
}

void ReplayShare::drain() {
  while (ready_next_ < ready_.size()) {
    const Ready ready = ready_[ready_next_++];
    begin(ready);
  }
  ready_.clear();
  ready_next_ = 0;
}

void ReplayShare::begin(const Ready& ready) {
  if (ready.lane != kNone) return begin_group(ready.lane);
  const goal::RankView view = this->view(ready.local);
  const goal::OpIndex op = ready.op;
  switch (view.kind(op)) {
    case goal::OpKind::kCalc:
      return begin_calc(ready.local, op);
    case goal::OpKind::kCollective:
      return begin_collective(ready.local, op);
    case goal::OpKind::kSend:
      return begin_send(new_task({.bytes = view.value(op),
                                  .local = ready.local,
                                  .op = op,
                                  .peer = view.peer(op),
                                  .cpu = view.cpu(op),
                                  .nic = view.nic(op),
                                  .state = TaskState::kSendCpu}));
    case goal::OpKind::kRecv: {
      const std::uint32_t task = new_task({.bytes = view.value(op),
                                           .local = ready.local,
                                           .op = op,
                                           .peer = view.peer(op),
                                           .cpu = view.cpu(op),
                                           .nic = view.nic(op),
                                           .state = TaskState::kPosted});
      op_started(ready.local, op, engine_.now());
      return begin_receive(task, view.peer(op));
    }
  }
}

// ---- Cpus ----

Time ReplayShare::overhead(std::uint64_t bytes) const {
  return after(hosts_.overhead, hosts_.overhead_per_byte.after_first(bytes));
}

Time ReplayShare::reserve_cpu(std::uint32_t local, std::uint16_t cpu, Time duration) {
  const RankState& state = ranks_[local];
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

Time ReplayShare::calc_duration(std::uint32_t local, goal::OpIndex op) const {
  const std::uint64_t ns = view(local).value(op);
  return ns > static_cast<std::uint64_t>(Time::max().ps()) / 1000 ? Time::max()
                                                                  : Time::ns(static_cast<std::int64_t>(ns));
}

void ReplayShare::begin_calc(std::uint32_t local, goal::OpIndex op) {
  const Time duration = calc_duration(local, op);
  const Time start = reserve_cpu(local, view(local).cpu(op), duration);
  op_started(local, op, start);
  if (start + duration == engine_.now()) {
    calc_done(local, op);
  } else {
    engine_.schedule(start + duration, entity(local), kCalcDone, op);
  }
}

void ReplayShare::calc_done(std::uint32_t local, goal::OpIndex op) {
  Time& compute = ranks_[local].compute;
  compute = after(compute, calc_duration(local, op));
  finish_op(local, op);
}

void ReplayShare::begin_send(std::uint32_t task) {
  const Task& send = tasks_[task];
  const Time duration = overhead(send.bytes);
  const Time start = reserve_cpu(send.local, send.cpu, duration);
  op_started(send.local, send.op, start);
  if (start + duration == engine_.now()) {
    task_cpu_done(task);
  } else {
    engine_.schedule(start + duration, entity(send.local), kTaskDone, task);
  }
}

void ReplayShare::task_cpu_done(std::uint32_t task) {
  Task& work = tasks_[task];
  RankState& state = ranks_[work.local];
  if (work.state == TaskState::kTrain) return train_message_done(task);
  if (work.state == TaskState::kCombine) {
    state.compute = after(state.compute, combine_duration(work));
    return finish_task(task);
  }
  state.overhead = after(state.overhead, overhead(work.bytes));
  if (work.state == TaskState::kReceiveCpu) {
    ++state.messages_received;
    state.bytes_received += work.bytes;
    return work.lane == kNone ? finish_task(task) : received_in_step(task);
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

void ReplayShare::op_started(std::uint32_t local, goal::OpIndex op, Time start) {
  if (start == engine_.now()) return release(local, op, true);
  for (const goal::Edge edge : view(local).dependents(op)) {
    if (edge.on_start()) {
      engine_.schedule(start, entity(local), kOpStarted, op);
      return;
    }
  }
}

void ReplayShare::release(std::uint32_t local, goal::OpIndex op, bool on_start) {
  std::uint32_t* remaining = remaining_.data() + ranks_[local].first_op;
  for (const goal::Edge edge : view(local).dependents(op)) {
    if (edge.on_start() == on_start && --remaining[edge.dependent()] == 0) {
      ready_.push_back({local, edge.dependent(), kNone});
    }
  }
}

void ReplayShare::finish_op(std::uint32_t local, goal::OpIndex op) {
  RankState& state = ranks_[local];
  state.finish = engine_.now();
  ++state.ops_done;
  ++executed_ops_;
  release(local, op, false);
}

void ReplayShare::finish_task(std::uint32_t task) {
  const Task done = tasks_[task];
  free_task(task);
  if (done.lane != kNone) {
    finish_message(done.lane);
  } else {
    finish_op(done.local, done.op);
  }
}

// ---- Messages ----

// The key under which `receiver` gets a message of this operation from `source`.
MatchKey ReplayShare::key_of(const Task& task, std::uint32_t source, std::uint32_t receiver) const {
  const goal::RankView view = this->view(task.local);
  return {receiver, source, view.tag(task.op), view.comm(task.op), 0};
}

void ReplayShare::inject(std::uint32_t task, MessageKind kind, std::uint32_t other_task) {
  const Task& from = tasks_[task];
  Message message;
  const std::uint32_t rank = ranks_[from.local].rank;
  message.source = rank / hosts_.ranks_per_host;
  message.destination = from.peer / hosts_.ranks_per_host;
  message.source_nic = message.destination_nic = from.nic;
  auto& word = message.client;
  word[kSourceRank] = rank;
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
    if (from.lane == kNone) {
      const goal::RankView view = this->view(from.local);
      word[kTag] = view.tag(from.op);
      context = view.comm(from.op);
    } else {
      const Lane& lane = lanes_[from.lane];
      const Active& active = actives_[lane.active];
      word[kReceiverTask] = active.call.me;
      word[kTag] = active.number;
      word[kSub] = lane.steps[from.op].step.tag;
      context = active.comm | kCollectiveContext;
    }
    ++messages_;
    bytes_ = add_message_bytes(bytes_, from.bytes);
  }
  word[kContextAndKind] = context | static_cast<std::uint32_t>(kind) << kKindShift;
  if (is_ordered(message)) word[kSequence] = sent_.next({rank, from.peer, context});
  network_->inject(message);
}

void ReplayShare::on_sent(const Message& message) {
  finish_task(message.client[kSenderTask]);
  drain();
}

void ReplayShare::on_delivered(const Message& message) {
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
bool ReplayShare::is_ordered(const Message& message) const {
  const std::uint32_t word = message.client[kContextAndKind];
  const auto kind = static_cast<MessageKind>(word >> kKindShift);
  return keep_order_ && (kind == MessageKind::kEager || kind == MessageKind::kRequestToSend) &&
         (word & kCollectiveContext) == 0;
}

// Holds a message back until every earlier one of its stream has arrived.
void ReplayShare::accept_in_order(const Message& message) {
  const auto& word = message.client;
  const MessageStream stream{word[kDestinationRank], word[kSourceRank], word[kContextAndKind] & kContextMask};
  MatchKey key{local_[stream.rank], stream.peer, word[kSequence], stream.communicator, 0};
  if (!accepted_.advance(stream, key.tag)) return held_back_.push(key, park(message), 0);
  arrive(message);
  while (held_back_.size() > 0) {
    ++key.tag;
    const std::uint32_t next = held_back_.front(key);
    if (next == kNone) return;
    accepted_.advance(stream, key.tag);
    arrive(unpark(held_back_.take(next)));
  }
}

void ReplayShare::arrive(const Message& message) {
  const auto& word = message.client;
  if ((word[kContextAndKind] & kCollectiveContext) != 0) return arrive_in_collective(message);
  const MatchKey key{local_[word[kDestinationRank]], word[kSourceRank], word[kTag],
                     word[kContextAndKind] & kContextMask, 0};
  const std::uint32_t slot = park(message);
  const std::uint32_t receive = matching_.arrive(key, slot);
  if (receive == Matching::kNone) return;
  free_parked_.push_back(slot);
  matched(receive, message);
}

void ReplayShare::begin_receive(std::uint32_t task, std::uint32_t source) {
  const std::uint32_t slot = matching_.post(key_of(tasks_[task], source, tasks_[task].local), task);
  if (slot != Matching::kNone) matched(task, unpark(slot));
}

void ReplayShare::matched(std::uint32_t receive, const Message& message) {
  const auto& word = message.client;
  Task& task = tasks_[receive];
  task.peer = word[kSourceRank];
  if (static_cast<MessageKind>(word[kContextAndKind] >> kKindShift) == MessageKind::kEager) {
    return occupy_for_receive(receive, message.bytes);
  }
  task.state = TaskState::kAwaitData;
  inject(receive, MessageKind::kClearToSend, word[kSenderTask]);
}

void ReplayShare::occupy_for_receive(std::uint32_t handle, std::uint64_t bytes) {
  Task& task = tasks_[handle];
  task.state = TaskState::kReceiveCpu;
  task.bytes = bytes;
  const Time duration = overhead(bytes);
  const Time start = reserve_cpu(task.local, task.cpu, duration);
  if (start + duration == engine_.now()) {
    task_cpu_done(handle);
  } else {
    engine_.schedule(start + duration, entity(task.local), kTaskDone, handle);
  }
}

// ---- Pools ----

std::uint32_t ReplayShare::new_task(const Task& task) {
  if (free_task_ == kNone) {
    tasks_.push_back(task);
    return static_cast<std::uint32_t>(tasks_.size() - 1);
  }
  const std::uint32_t handle = free_task_;
  free_task_ = tasks_[handle].next_free;
  tasks_[handle] = task;
  return handle;
}

void ReplayShare::free_task(std::uint32_t task) {
  tasks_[task].state = TaskState::kFree;
  tasks_[task].next_free = free_task_;
  free_task_ = task;
}

std::uint32_t ReplayShare::park(const Message& message) {
  if (free_parked_.empty()) {
    parked_.push_back(message);
    return static_cast<std::uint32_t>(parked_.size() - 1);
  }
  const std::uint32_t slot = free_parked_.back();
  free_parked_.pop_back();
  parked_[slot] = message;
  return slot;
}

Message ReplayShare::unpark(std::uint32_t slot) {
  free_parked_.push_back(slot);
  return parked_[slot];
}

// ---- Results ----

ReplayTotals ReplayShare::totals() const {
  ReplayTotals totals{.ops = remaining_.size(),
                      .executed_ops = executed_ops_,
                      .messages = messages_,
                      .bytes = bytes_,
                      .unreceived = unreceived(),
                      .makespan = {}};
  for (const RankState& state : ranks_) totals.makespan = std::max(totals.makespan, state.finish);
  return totals;
}

results::Rank ReplayShare::result(std::uint32_t rank) const {
  const RankState& state = ranks_[local_[rank]];
  results::Rank row;
  row.rank = rank;
  row.host = rank / hosts_.ranks_per_host;
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
  return row;
}

}  // namespace weft::sim
