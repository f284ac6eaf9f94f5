#include "sim/replay/share.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/replay/timeline_tap.h"
#include "sim/units/graph_error.h"

namespace weft::sim {

namespace {

Time calc_duration(std::uint64_t ns) {
  return ns > static_cast<std::uint64_t>(Time::max().ps()) / 1000 ? Time::max()
                                                                  : Time::ns(static_cast<std::int64_t>(ns));
}

}  // namespace

ReplayShare::ReplayShare(const ReplayPlan& plan, Engine& engine, const std::vector<std::uint32_t>& ranks)
    : plan_(plan),
      program_(plan.program.facts()),
      hosts_(plan.hosts),
      local_(plan.local.data()),
      first_entity_(plan.first_entity),
      engine_(engine),
      overhead_(plan.hosts.overhead),
      has_overhead_per_byte_(!(plan.hosts.overhead_per_byte == TimePerByte())),
      progress_(plan, ranks_),
      user_messages_(static_cast<std::uint32_t>(ranks.size()), program_.has_wildcards),
      early_(static_cast<std::uint32_t>(ranks.size())),
      turns_(static_cast<std::uint32_t>(ranks.size()), held_),
      departures_(plan, engine) {
  ranks_.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) {
    RankState& state = ranks_.emplace_back();
    state.view = {rank, plan.program.ops(rank), nullptr, nullptr};
    if (!plan.place.events_so_far.empty()) state.scheduled = plan.place.events_so_far[rank];
    cpus_.add(state, plan.program.cpus(rank));
  }
  cpus_.open();
  progress_.open();
}

void ReplayShare::start(Network& network) {
  departures_.set_network(network);
  // Messages through different NICs or connections overtake each other in any network.
  if (!network.delivers_in_order() || program_.max_nic > 0 || hosts_.connections_per_pair > 1) {
    turns_.keep_order();
  }
  for (RankState& state : ranks_) {
    engine_.schedule_counted(plan_.place.start, first_entity_ + state.view.rank(), state.scheduled++,
                             kRankStart, 0);
  }
}

// ---- Events ----

[[gnu::flatten]] void ReplayShare::on_event(const Event& event) {
  RankState& rank = ranks_[local_[event.source - first_entity_]];
  if (event.kind != kCpuDone) [[unlikely]] {
    on_rare_event(rank, event);
  } else {
    if (trails_) trails_->at_cpu(event.payload);
    Cpu& cpu = cpus_[event.payload];
    bool goes_on = false;
    try {
      goes_on = end_work(rank, cpu);
    } catch (const InputError& error) {
      refuse_work(rank, cpu.current, error);
    }
    if (!goes_on) {
      cpu.current = kNone;
      take_up(rank, cpu);
    }
  }
  drain();
}

[[gnu::noinline]] void ReplayShare::on_rare_event(RankState& rank, const Event& event) {
  switch (event.kind) {
    case kLaneDone:
      if (trails_) trails_->at_lane(event.payload);
      return end_work_of_lane(event.payload);
    case kMessageReady:
      if (trails_) trails_->at_held(event.payload);
      return departures_.inject(held_.release(event.payload));
    default:
      if (trails_) trails_->at_start();
      return begin_rank(rank);
  }
}

[[gnu::noinline]] void ReplayShare::begin_rank(RankState& rank) {
  rank.finish = engine_.now();
  progress_.begin_rank(rank);
}

inline void ReplayShare::drain() {
  while (progress_.has_ready()) begin(progress_.next_ready());
}

inline void ReplayShare::begin(const Progress::Ready& ready) {
  if (ready.lane != kNone) [[unlikely]]
    return begin_group(ready.lane);
  RankState& rank = *ready.rank;
  const goal::Op& op = rank.view.op(ready.op);
  switch (op.kind) {
    case goal::OpKind::kCalc:
    case goal::OpKind::kSend:
      return give(rank, cpus_.of(rank, op.cpu), ready.op);
    case goal::OpKind::kRecv:
      progress_.start(rank, ready.op);
      return begin_receive(rank, ready.op);
    case goal::OpKind::kCollective:
      return begin_collective(local_of(rank), ready.op);
  }
}

// ---- Cpus ----

// Queues work at a cpu; an idle one takes it up at once.
inline void ReplayShare::give(RankState& rank, std::uint32_t index, std::uint32_t work) {
  Cpu& cpu = cpus_[index];
  if (cpu.is_idle()) {
    if (!begin_work(rank, cpu, work)) take_up(rank, cpu);
    return;
  }
  cpu.queue(work, [&](std::uint32_t other) -> std::uint32_t& { return next_work(rank, other); });
}

// The cpu is free: it takes up what waits.
void ReplayShare::take_up(RankState& rank, Cpu& cpu) {
  while (cpu.has_waiting()) {
    const std::uint32_t work =
        cpu.take([&](std::uint32_t other) -> std::uint32_t& { return next_work(rank, other); });
    if (begin_work(rank, cpu, work)) return;
  }
}

// True if the cpu is busy with it from now on. What takes no time is done at once.
inline bool ReplayShare::begin_work(RankState& rank, Cpu& cpu, std::uint32_t work) {
  cpu.current = work;
  try {
    const Time duration = start_of_work(rank, work);
    if (duration > Time()) [[likely]] {
      schedule_done(rank, cpu, duration);
      return true;
    }
    if (end_work(rank, cpu)) return true;
  } catch (const InputError& error) {
    refuse_work(rank, work, error);
  }
  cpu.current = kNone;
  return false;
}

// The same error with the operation that the work is for.
[[gnu::noinline]] void ReplayShare::refuse_work(const RankState& rank, std::uint32_t work,
                                                const InputError& error) const {
  if (dynamic_cast<const GraphError*>(&error) != nullptr) throw;
  goal::OpIndex op = work;
  if ((work & kTask) != 0) {
    const Task& task = tasks_[work & ~kTask];
    op = task.lane == kNone ? task.op : actives_[lanes_[task.lane].active].op;
  }
  throw GraphError(fmt::format("rank {}, operation {}: {}", rank.view.rank(), op, error.what()));
}

// Returns how long it takes.
inline Time ReplayShare::start_of_work(RankState& rank, std::uint32_t work) {
  if ((work & kTask) == 0) {
    const goal::Op& op = rank.view.op(work);
    if (op.kind == goal::OpKind::kRecv) return overhead(op.value);
    const Time duration = op.kind == goal::OpKind::kSend ? overhead(op.value) : calc_duration(op.value);
    progress_.start(rank, work);  // may move the operation
    return duration;
  }
  Task& task = tasks_[work & ~kTask];
  if (task.state == TaskState::kCombine) return combine_duration(task);
  if (task.state == TaskState::kTrain) point_train(task);
  return overhead(task.bytes);
}

// True if the cpu goes on with what it works on: with the next message of a train.
bool ReplayShare::end_work(RankState& rank, Cpu& cpu) {
  const std::uint32_t work = cpu.current;
  if ((work & kTask) != 0) {
    const std::uint32_t task = work & ~kTask;
    if (tasks_[task].state == TaskState::kTrain) return end_of_train_message(cpu, task);
    end_of_task(task);
    return false;
  }
  const goal::Op& op = rank.view.op(work);
  if (op.kind == goal::OpKind::kSend) {
    count_sent(rank, op.value);
    if (op.value > hosts_.eager_limit_bytes || op.kind.synchronous()) [[unlikely]] {
      request_to_send(rank, work);
      return false;
    }
    send_first(rank, work, op.value, kNone);
  } else if (op.kind == goal::OpKind::kCalc) {
    rank.compute = after(rank.compute, calc_duration(op.value));
  } else {
    count_received(rank, op.value);
  }
  finish_op(rank, work);
  return false;
}

inline void ReplayShare::count_received(RankState& rank, std::uint64_t bytes) {
  rank.overhead = after(rank.overhead, overhead(bytes));
  ++rank.messages_received;
  rank.bytes_received += bytes;
}

void ReplayShare::count_sent(RankState& rank, std::uint64_t bytes) {
  rank.overhead = after(rank.overhead, overhead(bytes));
  ++rank.messages_sent;
  rank.bytes_sent += bytes;
  if (__builtin_add_overflow(bytes_, bytes, &bytes_)) throw InputError(kTooManyBytes);
}

// The handshake of a large message begins.
[[gnu::noinline]] void ReplayShare::request_to_send(RankState& rank, goal::OpIndex index) {
  const goal::Op& op = rank.view.op(index);
  rank.words[index] = 0;
  send_first(rank, index, first_fragment(op.value),
             tasks_.add({.bytes = op.value,
                         .local = local_of(rank),
                         .op = index,
                         .peer = op.peer,
                         .nic = op.nic,
                         .state = TaskState::kAwaitClear}));
}

// A receive, or the combining of what was received.
[[gnu::noinline]] void ReplayShare::end_of_task(std::uint32_t handle) {
  if (tap_ != nullptr) tap_->end_of_task(handle);
  Task& task = tasks_[handle];
  RankState& rank = ranks_[task.local];
  if (task.state == TaskState::kCombine) {
    rank.compute = after(rank.compute, combine_duration(task));
    return finish_task(handle);
  }
  count_received(rank, task.bytes);
  if (task.lane == kNone || lanes_[task.lane].steps[task.op].step.combine == 0) return finish_task(handle);
  task.state = TaskState::kCombine;
  give_task(handle);
}

[[gnu::noinline]] void ReplayShare::give_task(std::uint32_t handle) {
  const Task& task = tasks_[handle];
  RankState& rank = ranks_[task.local];
  const goal::OpIndex op = task.lane == kNone ? task.op : actives_[lanes_[task.lane].active].op;
  give(rank, cpus_.of(rank, rank.view.cpu(op)), handle | kTask);
}

// ---- Progress through the graph ----

void ReplayShare::finish_op(RankState& rank, goal::OpIndex op) {
  rank.finish = engine_.now();
  if (trails_ && rank.ops_done + 1 == rank.view.ops()) trails_->finish(rank.view.rank(), rank.finish);
  progress_.finish(rank, op);
}

void ReplayShare::finish_task(std::uint32_t task) {
  const Task done = tasks_[task];
  tasks_.remove(task);
  if (done.lane != kNone) {
    finish_message(done.lane);
  } else {
    finish_op(ranks_[done.local], done.op);
  }
}

// ---- Messages out ----

// The eager message of a send, or (task != kNone) its request and what goes with that.
inline void ReplayShare::send_first(RankState& rank, goal::OpIndex index, std::uint64_t bytes,
                                    std::uint32_t task) {
  const goal::Op& op = rank.view.op(index);
  const MessageRoute route{op.peer, op.nic, departures_.next_connection(rank)};
  Message message = departures_.message(rank.view.rank(), route);
  message.bytes = bytes;
  wire::FirstOfSend first{.ends = {rank.view.rank(), op.peer}, .tag = op.tag, .communicator = op.comm};
  if (task != kNone) [[unlikely]] {
    tasks_[task].connection = route.connection;
    message.control = bytes == 0;
    first.kind = wire::Kind::kRequestToSend;
    first.sender = task;
  }
  first.number = turns_.number({first.ends.source, op.peer, op.comm});
  first.encode(message);
  departures_.inject(message);
}

void ReplayShare::on_sent(const Message& message) {
  const std::uint32_t send = wire::sender_of(message);
  Task& task = tasks_[send];
  --task.next;
  if (trails_) trails_->at_sent(send, message.bytes, engine_.now());
  if (task.bytes > 0) {
    Message data = message;
    send_piece(send, data);
  } else if (task.next == 0) {
    finish_task(send);
    drain();
  }
}

// ---- Messages in ----

[[gnu::flatten]] void ReplayShare::on_delivered(const Message& message) {
  const wire::Kind kind = wire::kind_of(message);
  if (trails_) {
    trails_->at_message(local_[wire::ends_of(message).destination], message, wire::is_handshake(kind),
                        engine_.now());
  }
  switch (kind) {
    case wire::Kind::kClearToSend:
      send_data(wire::ClearToSend::decode(message));
      break;
    case wire::Kind::kData:
      receive_data(wire::Data::decode(message), message.bytes);
      break;
    case wire::Kind::kAllReceived:
      finish_task(wire::AllReceived::decode(message).sender);
      break;
    default:
      if (turns_.is_ordered(message)) {
        accept_in_order(message);
      } else {
        arrive(message);
      }
  }
  drain();
}

// Those that have their turn arrive.
[[gnu::noinline]] void ReplayShare::accept_in_order(const Message& message) {
  turns_.accept(local_[wire::ends_of(message).destination], message,
                [this](const Message& first) { arrive(first); });
}

ArrivedMessage ReplayShare::arrived(const Message& message) const {
  const std::uint32_t source = wire::ends_of(message).source, sender = wire::sender_of(message);
  if (wire::kind_of(message) == wire::Kind::kEager) return {message.bytes, source, sender};
  const std::uint64_t connection = departures_.connection_of(message);
  return {message.bytes | connection << ArrivedMessage::kConnectionShift, source, sender};
}

void ReplayShare::arrive(const Message& message) {
  if (wire::is_of_collective(message)) return arrive_in_collective(message);
  const auto first = wire::FirstOfSend::decode(message);
  const std::uint32_t local = local_[first.ends.destination];
  RankState& rank = ranks_[local];
  const ArrivedMessage there = arrived(message);
  const std::uint32_t receive =
      user_messages_.arrive(local, rank.words, {first.ends.source, first.tag, first.communicator}, there);
  if (receive != kNone) matched(rank, receive, there);
}

void ReplayShare::begin_receive(RankState& rank, goal::OpIndex index) {
  const goal::Op& op = rank.view.op(index);
  const auto message = user_messages_.post(local_of(rank), rank.words, {op.peer, op.tag, op.comm}, index);
  if (message) matched(rank, index, *message);
}

// The receive has its message, or the request for it.
inline void ReplayShare::matched(RankState& rank, goal::OpIndex index, const ArrivedMessage& message) {
  const goal::Op& op = rank.view.op(index);
  if (message.sender == kNone && message.bytes == op.value) [[likely]]
    return give(rank, cpus_.of(rank, op.cpu), index);
  matched_otherwise(rank, index, message);
}

// The handshake of a large message goes on, or an eager one has another size than was asked for.
[[gnu::noinline]] void ReplayShare::matched_otherwise(RankState& rank, goal::OpIndex index,
                                                      const ArrivedMessage& message) {
  rank.words[index] = 0;
  begin_task(message, {.local = local_of(rank),
                       .op = index,
                       .peer = message.source,
                       .nic = rank.view.op(index).nic,
                       .state = TaskState::kReceiveCpu});
}

}  // namespace weft::sim
