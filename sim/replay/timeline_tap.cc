#include "sim/replay/timeline_tap.h"

#include <algorithm>
#include <utility>

namespace weft::sim {

std::vector<std::string> timeline_collectives() {
  std::vector<std::string> names = {""};
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    names.emplace_back(goal::name(static_cast<goal::CollectiveKind>(kind)));
  }
  return names;
}

TimelineTap::TimelineTap(ReplayShare& share, std::uint32_t job, results::TimelinePart& recorder,
                         TimelineRecords& messages)
    : share_(share),
      job_(job),
      recorder_(recorder),
      messages_(messages),
      since_(share.cpus().size(), share.plan().place.start),
      closed_(share.ranks().size()),
      free_messages_(messages) {
  share.set_tap(*this);
}

void TimelineTap::start(Network& network, std::function<TimelineTap&(std::uint32_t rank)> tap_of) {
  network_ = &network;
  tap_of_ = std::move(tap_of);
  share_.start(*this);
}

// ---- Gaps: what the network's call or an event lets a rank go on with ----

template <typename Call>
void TimelineTap::watch(std::uint32_t local, const Cause& cause, Call&& call) {
  const std::uint32_t first = rank_of(local).first_cpu, cpus = rank_of(local).cpus;
  was_idle_.resize(cpus);
  for (std::uint32_t i = 0; i < cpus; ++i) was_idle_[i] = share_.cpus()[first + i].current == kNone;
  cause_ = cause;
  call();
  const RankState& rank = rank_of(local);
  const bool is_done = rank.ops_done == rank.view.ops() && !closed_[local];
  for (std::uint32_t i = 0; i < cpus; ++i) {
    const bool is_idle = share_.cpus()[first + i].current == kNone;
    if (is_done || (was_idle_[i] && !is_idle)) close_gap(local, first + i);
  }
  if (is_done) closed_[local] = true;
}

void TimelineTap::close_gap(std::uint32_t local, std::uint32_t cpu) {
  const Time start = std::exchange(since_[cpu], share_.now()), end = since_[cpu];
  if (closed_[local] || start == end) return;
  if (cause_.message == results::kNoMessage) return add_gap(local, cpu, SliceKind::kWaitOther, start, end);
  const Time sent = std::clamp(cause_.sent, start, end);
  add_gap(local, cpu, SliceKind::kWaitPeer, start, sent);
  add_gap(local, cpu, SliceKind::kWaitNetwork, sent, end);
}

void TimelineTap::add_gap(std::uint32_t local, std::uint32_t cpu, SliceKind kind, Time start, Time end) {
  if (start == end) return;
  Slice slice = slice_of(local, cpu, results::kNotGiven, kind);
  slice.start = start;
  slice.end = end;
  slice.message = cause_.message;
  slice.peer = cause_.peer;
  slice.bytes = cause_.bytes;
  recorder_.add(slice);
}

// ---- Work ----

TimelineTap::Slice TimelineTap::slice_of(std::uint32_t local, std::uint32_t cpu, std::uint32_t op,
                                         SliceKind kind) {
  return {.start = share_.now(),
          .end = share_.now(),
          .job = job_,
          .rank = rank_of(local).view.rank(),
          .op = op,
          .cpu = share_.cpus().name(cpu),
          .kind = kind};
}

std::uint8_t TimelineTap::collective_of(const ActiveCollective& active) {
  return static_cast<std::uint8_t>(1 + static_cast<int>(active.call.collective->kind));
}

// What a cpu sends, if it works on that.
std::optional<TimelineTap::Sent> TimelineTap::send_of(std::uint32_t local, std::uint32_t cpu) {
  const std::uint32_t work = share_.cpus()[cpu].current;
  if (work == kNone) return std::nullopt;
  if ((work & RankWork::kTask) == 0) {
    const goal::Op& op = rank_of(local).view.op(work);
    if (op.kind != goal::OpKind::kSend) return std::nullopt;
    Sent sent{.slice = slice_of(local, cpu, work, SliceKind::kSend), .cpu = cpu, .work = work};
    sent.slice.peer = op.peer;
    sent.slice.tag = op.tag;
    sent.slice.bytes = op.value;
    sent.comm = op.comm;
    return sent;
  }
  const ReplayTask& task = share_.tasks()[work & ~RankWork::kTask];
  if (task.state != TaskState::kTrain) return std::nullopt;
  const ActiveCollective& active = share_.collectives().of_lane(task.lane);
  Sent sent{.slice = slice_of(local, cpu, active.op, SliceKind::kSend), .cpu = cpu, .work = work};
  sent.slice.peer = task.peer;
  sent.slice.bytes = task.bytes;
  sent.slice.collective = collective_of(active);
  sent.is_step = true;
  sent.number = active.number;
  sent.comm = active.comm;
  sent.step_tag = share_.collectives().step(task).step.tag;
  return sent;
}

// Before the share knows of it: receives and what is combined are told by end_of_task().
void TimelineTap::end_of_work(std::uint32_t local, std::uint32_t cpu) {
  const std::uint32_t work = share_.cpus()[cpu].current;
  sent_ = send_of(local, cpu);
  if (sent_) {
    sent_->slice.start = std::exchange(since_[cpu], share_.now());
    return;
  }
  if ((work & RankWork::kTask) != 0) {
    ends_work_ = true;
    return;
  }
  Slice slice = slice_of(local, cpu, work, SliceKind::kCompute);
  slice.start = std::exchange(since_[cpu], share_.now());
  recorder_.add(slice);
}

void TimelineTap::end_of_task(std::uint32_t handle) {
  const ReplayTask& task = share_.tasks()[handle];
  const bool in_lane = task.lane != kNone;
  const OpenCollectives& collectives = share_.collectives();
  const std::uint32_t op = collectives.op_of(task);
  const std::uint32_t cpu = share_.cpus().of(rank_of(task.local), rank_of(task.local).view.cpu(op));
  const bool combines = task.state == TaskState::kCombine;
  if (!ends_work_) close_gap(task.local, cpu);  // it takes no time
  Slice slice = slice_of(task.local, cpu, op, combines ? SliceKind::kCompute : SliceKind::kReceive);
  slice.start = std::exchange(since_[cpu], share_.now());
  ends_work_ = false;
  slice.peer = task.peer;
  slice.bytes = task.bytes;
  if (in_lane) slice.collective = collective_of(collectives.of_lane(task.lane));
  const std::uint32_t record = combines ? kNone : std::exchange(record_of(handle), kNone);
  if (record != kNone) {
    slice.message = messages_[record].number;
    slice.tag = messages_[record].tag;
    recorder_.add(messages_[record]);
    free_messages_.give(record);
  }
  if (!combines || slice.end > slice.start) recorder_.add(slice);
}

// ---- Events ----

void TimelineTap::on_event(const Event& event) {
  const std::uint32_t local = share_.local_of(event);
  if (event.kind == RankWork::kCpuDone && !share_.goes_on(event)) end_of_work(local, event.payload);
  is_held_message_ = event.kind == RankWork::kMessageReady;
  watch(local, {}, [&] { share_.on_event(event); });
  is_held_message_ = false;
  if (sent_) held_.push_back(*std::exchange(sent_, std::nullopt));
}

void TimelineTap::on_sent(const Message& message) {
  const Cause& cause = rendezvous_[wire::sender_of(message)].cause;
  watch(share_.plan().local[wire::ends_of(message).source], cause, [&] { share_.on_sent(message); });
}

void TimelineTap::on_delivered(const Message& message) {
  const std::uint32_t sender = wire::sender_of(message);
  const Kind kind = wire::kind_of(message);
  Cause cause;
  std::uint32_t record = kNone;
  if (kind == Kind::kEager) {
    record = sender & ~wire::kRecord;
  } else if (kind == Kind::kData) {
    record = record_of(wire::Data::decode(message).receiver);
  } else if (kind == Kind::kClearToSend) {
    rendezvous_[sender].cause.sent = share_.now();
  } else if (kind == Kind::kAllReceived) {
    cause = rendezvous_[sender].cause;
  }
  if (record != kNone) {
    results::TimelineMessage& row = messages_[record];
    row.arrived = share_.now();
    cause = {.message = row.number, .peer = row.source, .bytes = row.bytes, .sent = row.sent};
  }
  watch(share_.plan().local[wire::ends_of(message).destination], cause,
        [&] { share_.on_delivered(message); });
}

// ---- Messages ----

bool TimelineTap::is_of(const Sent& sent, const Message& message) const {
  const results::Slice& slice = sent.slice;
  if (!(wire::ends_of(message) == wire::Ends{slice.rank, slice.peer})) return false;
  if (sent.is_step != wire::is_of_collective(message)) return false;
  if (!sent.is_step) {
    const auto first = wire::FirstOfSend::decode(message);
    return sent.comm == first.communicator && slice.tag == first.tag;
  }
  const auto first = wire::FirstOfStep::decode(message);
  return sent.comm == first.communicator && sent.number == first.collective && sent.step_tag == first.tag;
}

// The send that a message is of, with its slice; none if that takes no time and was long ago.
std::optional<TimelineTap::Sent> TimelineTap::sender_of(const Message& message) {
  if (is_held_message_) {
    const auto found =
        std::find_if(held_.begin(), held_.end(), [&](const Sent& sent) { return is_of(sent, message); });
    if (found == held_.end()) return std::nullopt;
    const Sent sent = *found;
    held_.erase(found);
    return sent;
  }
  const std::uint32_t local = share_.plan().local[wire::ends_of(message).source];
  if (sent_ && share_.cpus()[sent_->cpu].current == sent_->work && is_of(*sent_, message)) {
    return std::exchange(sent_, std::nullopt);
  }
  const RankState& rank = rank_of(local);
  for (std::uint32_t cpu = rank.first_cpu; cpu < rank.first_cpu + rank.cpus; ++cpu) {
    std::optional<Sent> sent = send_of(local, cpu);
    if (!sent || !is_of(*sent, message) || share_.work().overhead(sent->slice.bytes) > Time()) continue;
    close_gap(local, cpu);
    return sent;
  }
  return std::nullopt;
}

std::uint32_t TimelineTap::new_record(const Message& message) {
  const std::uint32_t record = free_messages_.take();
  const wire::Ends ends = wire::ends_of(message);
  messages_[record] = {.number = recorder_.next_message(job_, ends.source),
                       .bytes = message.bytes,
                       .sent = share_.now(),
                       .job = job_,
                       .source = ends.source,
                       .destination = ends.destination};
  return record;
}

void TimelineTap::inject(const Message& message) {
  const Kind kind = wire::kind_of(message);
  const std::uint32_t task = wire::sender_of(message);
  if (kind == Kind::kClearToSend) {  // the sender may be done with its task before its data have come
    const auto clear = wire::ClearToSend::decode(message);
    record_of(clear.receiver) = tap_of_(clear.ends.destination).rendezvous_[task].record;
  }
  if (kind != Kind::kEager && kind != Kind::kRequestToSend) return network_->inject(message);
  const std::uint32_t record = new_record(message);
  results::TimelineMessage& row = messages_[record];
  Message marked = message;
  if (kind == Kind::kEager) {
    wire::set_record(marked, record);
  } else {
    row.bytes = share_.tasks()[task].bytes;
  }
  if (!wire::is_of_collective(message)) row.tag = wire::FirstOfSend::decode(message).tag;
  if (std::optional<Sent> sent = sender_of(message)) {
    row.collective = sent->slice.collective;
    sent->slice.message = row.number;
    recorder_.add(sent->slice);
  }
  if (kind == Kind::kRequestToSend) {
    rendezvous_.reach(task);
    rendezvous_[task] = {record, {row.number, row.destination, row.bytes, Time::max()}};
  }
  network_->inject(marked);
}

}  // namespace weft::sim
