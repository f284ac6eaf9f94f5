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
      collectives_(pauses_.size()),
      free_(records_) {
  for (CpuPath& cpu : cpus_) cpu.keep_free(setting.start, Time(), false);
}

[[gnu::noinline]] void Trails::look_up_nic(std::uint64_t bytes) {
  nic_bytes_ = bytes;
  nic_time_ = nic_.of(bytes);
}

[[gnu::noinline]] void Trails::note_message(PathSteps::Place place, std::uint32_t index,
                                            const Message& message, Time now) {
  const wire::Ends ends = wire::ends_of(message);
  steps_->at_message(place, index, now_->path(now - start_), ends.source, ends.destination,
                     wire::is_handshake(wire::kind_of(message)));
}

// Work that goes on there takes the chain along as any other does, so that it is a step.
[[gnu::noinline]] void Trails::note_cpu(std::uint32_t cpu) {
  set_apart(cpus_[cpu].chain);
  steps_->at(PathSteps::Place::kCpu, cpu);
}

void Trails::at_sent(std::uint32_t task, const Message& message, Time now) {
  const Trail& trail = sending_[task];
  set_apart(trail.chain);
  set_cause(kOpen);
  const Time taken = now - trail.injected;
  const Time nic = std::min(nic_.of(message.bytes), taken);
  const Time alone = std::max(Time::ps(static_cast<std::int64_t>(message.alone_ps)), nic);
  const Time one_way = std::min(alone - nic, longest_latency_);
  const Time bytes = std::min(alone - one_way, taken);
  // There and, as an acknowledgement, back.
  const Time latency = std::min(one_way * 2, taken - bytes);
  apart_.bandwidth += bytes;
  apart_.latency += latency;
  apart_.queueing += taken - bytes - latency;
  if (steps_) note_message(PathSteps::Place::kTask, task, message, now);
}

void Trails::remember(std::uint32_t task, Time now) {
  if (sending_.size() <= task) sending_.resize(task + 1);
  copy_now(sending_[task].chain);
  sending_[task].injected = now;
  if (steps_) steps_->keep(PathSteps::Place::kTask, task);
}

void Trails::finish(const RankState& rank, Time now) {
  if (is_open()) set_cause(CommunicationClasses::kNone);
  if (rank.cpus > 0) end_pause(rank, now);
  Chain chain;
  copy_now(chain);
  const Last end{chain.path(now - start_), now, rank.view.rank()};
  if (!end.is_behind(last_)) return;
  last_ = end;
  if (steps_) steps_->keep_last();
}

// ---- The first cpu of each rank ----

Time Trails::computed(const RankState& rank, Time now) const {
  const CpuPath& cpu = cpus_[rank.first_cpu];
  const Time to_come = cpu.computes() ? std::max(cpu.free() - now, Time()) : Time();
  return Time::ps(cpu.note) - to_come;
}

void Trails::begin_collective(const RankState& rank, const goal::Op& op, Time now) {
  UnderWay& own = collectives_[place(rank, classes_.of(op))];
  if (own.count++ == 0) own.before = computed(rank, now);
  copy_now(apart_);
  set_now(apart_);
  apart_.began = now;
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

[[gnu::noinline]] void Trails::note_step(PathSteps::Place place, std::uint32_t index, std::uint32_t rank,
                                         const goal::Op& op, Time end) {
  const Chain& chain = place == PathSteps::Place::kCpu    ? cpus_[index].chain
                       : place == PathSteps::Place::kLane ? lanes_[index]
                                                          : held_[index];
  steps_->work(place, index, chain.path(end - start_), rank, op);
}

void Trails::keep(std::vector<Chain>& chains, std::uint32_t index) {
  if (chains.size() <= index) chains.resize(index + 1);
  copy_now(chains[index]);
}

}  // namespace weft::sim
