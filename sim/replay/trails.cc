#include "sim/replay/trails.h"

#include <algorithm>

#include "sim/replay/wire.h"

namespace weft::sim {

Trails::Trails(const Setting& setting, std::size_t cpus, std::size_t ranks)
    : records_(setting.records),
      classes_(setting.classes),
      local_(setting.local.data()),
      classes_count_(static_cast<std::uint32_t>(setting.classes.names().size())),
      nic_(setting.nic),
      longest_latency_(setting.longest_latency),
      start_(setting.start),
      cpus_(cpus),
      nics_(ranks),
      pauses_(ranks * classes_count_),
      collectives_(pauses_.size()) {
  for (CpuPath& cpu : cpus_) cpu.keep_free(setting.start, false);
}

void Trails::at_message(std::uint32_t local, const Message& message, bool is_handshake, Time now) {
  const Trail& trail = records_[message.trail];
  const Time injected = trail.injected;
  const Time taken = now - injected;
  Time latency, bandwidth, queueing;
  if (!is_handshake) {
    const Time known = Time::ps(static_cast<std::int64_t>(message.alone_ps));
    const Time alone = message.alone_ps > 0 && known < taken ? known : taken;
    const Time bytes = nic_.of(message.bytes);
    latency = bytes < alone ? alone - bytes : Time();
    if (latency > longest_latency_) latency = longest_latency_;
    Time received = nics_[local].received;
    if (received < injected) received = injected;
    nics_[local].received = received = after(received, bytes);
    bandwidth = received - injected;
    if (bandwidth < trail.nic) bandwidth = trail.nic;
    if (bandwidth < alone - latency) bandwidth = alone - latency;
    if (bandwidth > taken - latency) bandwidth = taken - latency;
    queueing = taken - latency - bandwidth;
  }
  const Chain& before = trail.chain;
  set_now({before.compute, before.overhead, before.latency + latency, before.bandwidth + bandwidth,
           before.queueing + queueing, before.began},
          kOpen, injected);
  if (steps_) [[unlikely]]
    note_message(PathSteps::Place::kMessage, message.trail, message, is_handshake, now);
  free_.push_back(message.trail);
  if (free_.size() > 3 * TrailRecords::kAtATime) records_.give_back(free_);
}

void Trails::note_message(PathSteps::Place place, std::uint32_t index, const Message& message,
                          bool is_handshake, Time now) {
  const wire::Ends ends = wire::ends_of(message);
  steps_->at_message(place, index, now_.path(now - start_), ends.source, ends.destination, is_handshake);
}

void Trails::at_sent(std::uint32_t task, const Message& message, Time now) {
  const Trail& trail = sending_[task];
  set_now(trail.chain, kOpen);
  const Time taken = now - trail.injected;
  const Time nic = std::min(nic_.of(message.bytes), taken);
  const Time alone = std::max(Time::ps(static_cast<std::int64_t>(message.alone_ps)), nic);
  const Time one_way = std::min(alone - nic, longest_latency_);
  const Time bytes = std::min(alone - one_way, taken);
  // There and, as an acknowledgement, back.
  const Time latency = std::min(one_way * 2, taken - bytes);
  now_.bandwidth += bytes;
  now_.latency += latency;
  now_.queueing += taken - bytes - latency;
  if (steps_) note_message(PathSteps::Place::kTask, task, message, false, now);
}

std::uint32_t Trails::leave(std::uint32_t rank, std::uint64_t bytes, Time now) {
  Nic& nic = nics_[local_[rank]];
  const Time free = after(nic.sent < now ? now : nic.sent, nic_.of(bytes));
  nic.sent = free;
  if (free_.empty()) records_.take(free_);
  const std::uint32_t record = free_.back();
  free_.pop_back();
  records_[record] = {now_, now, free - now};
  if (steps_) [[unlikely]]
    steps_->keep(PathSteps::Place::kMessage, record);
  return record;
}

void Trails::remember(std::uint32_t task, Time now) {
  if (sending_.size() <= task) sending_.resize(task + 1);
  sending_[task] = {.chain = now_, .injected = now, .nic = {}};
  if (steps_) steps_->keep(PathSteps::Place::kTask, task);
}

void Trails::finish(const RankState& rank, Time now) {
  if (rank.cpus > 0) end_pause(rank, now);
  const Last end{now_.path(now - start_), now, rank.view.rank()};
  if (!end.is_behind(last_)) return;
  last_ = end;
  if (steps_) steps_->keep_last();
}

// ---- The first cpu of each rank ----

void Trails::add_pause(const RankState& rank, Time from, Time now) {
  Pauses& sum = pauses_[place(rank, cause_ == kOpen ? CommunicationClasses::kNone : cause_)];
  sum.all += now - from;
  if (sent_ > from) sum.unsent += (sent_ < now ? sent_ : now) - from;
}

void Trails::on_cpu(const RankState& rank, std::uint32_t cpu, Time duration, bool computes, Time now) {
  CpuPath& own = cpus_[cpu];
  if (cpu != rank.first_cpu) {
    own.note = sent_.ps();
  } else {
    if (own.free() < now) add_pause(rank, own.free(), now);
    if (computes) own.note += duration.ps();
  }
  own.chain = now_;
  (computes ? own.chain.compute : own.chain.overhead) += duration;
  own.keep_free(after(now, duration), computes);
}

Time Trails::computed(const RankState& rank, Time now) const {
  const CpuPath& cpu = cpus_[rank.first_cpu];
  const Time to_come = cpu.computes() ? std::max(cpu.free() - now, Time()) : Time();
  return Time::ps(cpu.note) - to_come;
}

void Trails::begin_collective(const RankState& rank, const goal::Op& op, Time now) {
  UnderWay& own = collectives_[place(rank, classes_.of(op))];
  if (own.count++ == 0) own.before = computed(rank, now);
  now_.began = now;
}

void Trails::end_collective(const RankState& rank, const goal::Op& op, Time now) {
  settle(op);
  if (is_first(rank, op.cpu)) end_pause(rank, now);
  UnderWay& own = collectives_[place(rank, classes_.of(op))];
  if (--own.count == 0) own.computed += computed(rank, now) - own.before;
}

void Trails::fill(const RankState& rank, Time runtime, results::CpuTimes& times) const {
  const std::size_t classes = classes_count_;
  times.communication.resize(classes - 1);
  times.compute = times.overhead = times.idle = Time();
  if (rank.cpus > 0) {
    times.compute = Time::ps(cpus_[rank.first_cpu].note);
    times.idle = pauses_[place(rank, CommunicationClasses::kNone)].all;
  }
  for (std::size_t of = 1; of < classes; ++of) {
    results::CommunicationTime& one = times.communication[of - 1];
    const std::size_t at = place(rank, static_cast<std::uint8_t>(of));
    if (one.name.empty()) one.name = classes_.names()[of];
    one.has_collectives = classes_.has_collectives(static_cast<std::uint8_t>(of));
    one.exposed_mean = one.exposed_most = pauses_[at].all;
    one.unsent_mean = pauses_[at].unsent;
    one.hidden_mean = one.hidden_most = collectives_[at].computed;
  }
  // All that is neither computing nor a pause.
  if (rank.cpus > 0) times.overhead = runtime - times.compute - times.idle - times.exposed();
}

// ---- Chains ----

void Trails::note_step(PathSteps::Place place, std::uint32_t index, std::uint32_t rank, const goal::Op& op,
                       Time end) {
  const Chain& chain = place == PathSteps::Place::kCpu    ? cpus_[index].chain
                       : place == PathSteps::Place::kLane ? lanes_[index]
                                                          : held_[index];
  steps_->work(place, index, chain.path(end - start_), rank, op);
}

void Trails::add_overhead(std::vector<Chain>& chains, std::uint32_t index, Time duration) {
  if (chains.size() <= index) chains.resize(index + 1);
  chains[index] = now_;
  chains[index].overhead += duration;
}

}  // namespace weft::sim
