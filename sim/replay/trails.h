// What the time of a run consists of: the longest chain of work and messages up to each moment, kept forward.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/network.h"
#include "sim/replay/communication_classes.h"
#include "sim/replay/path_steps.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/record_pool.h"
#include "sim/replay/wire.h"
#include "sim/results/cpu_times.h"
#include "sim/results/critical_path.h"
#include "sim/units/quantity.h"

namespace weft::sim {

// The longest chain up to a moment. Its overhead is what the other parts leave of the time since the start:
// most work of cpus is overhead, and adds nothing.
struct Chain {
  Time compute, latency, bandwidth, queueing, matching;  // as CriticalPath has them
  Time began;  // when it entered the collective that it is in, or was in last: a member's call

  // `since`: from the start of the program to the moment that the chain leads to.
  results::CriticalPath path(Time since) const {
    const Time known = compute + latency + bandwidth + queueing + matching;
    return {compute, since - known, latency, bandwidth, queueing, matching};
  }
};

// A message under way has this: the chain that led to it, and when the network got it.
struct alignas(64) Trail {
  Chain chain;
  Time injected;
  Time nic;  // until its sender's NIC has sent it, were there nothing but NICs
};
static_assert(sizeof(Trail) == 64);
class TrailRecords : public RecordPool<Trail> {};

// Follows the chains of one share. What begins in an event begins because of that event: of all that it
// waited for, this came last. So there is one chain at a time, that of the event at hand; work that ends
// later, and messages, take it along, and no graph of what has happened is needed. Until then it stays where
// it is kept: most work goes on at the cpu whose work has ended. For the same reason a pause of the first cpu
// of a rank, which is the one that computes, was spent on the communication that the event which ends it is
// of. Memory: 64 bytes for each cpu and for each message under way; for each rank 16, and 40 for each class
// of communication.
class Trails {
 public:
  // What all shares know, and who is in this one. Bytes of messages take so long at a NIC.
  struct Setting {
    TrailRecords& records;
    const CommunicationClasses& classes;
    const std::vector<std::uint32_t>& local;  // of each rank of the program
    TimePerByte nic;
    Time longest_latency;  // as HostConfig has it
    Time start;            // of the program
  };
  Trails(const Setting& setting, std::size_t cpus, std::size_t ranks);

  // From the start on its chains are kept step by step, too. REQUIRES: the replay has no other share.
  void keep_steps() { steps_ = std::make_unique<PathSteps>(); }
  PathSteps* steps() const { return steps_.get(); }  // null: they aren't

  // The event at hand: the start of a rank; work of a cpu or a lane that has ended; a message that was held.
  void at_start() {
    set_apart({});
    set_cause(CommunicationClasses::kNone);
    if (steps_) steps_->at_start();
  }
  // The first of a rank has had no pause then, so nobody asks what the event is of.
  void at_first_cpu(std::uint32_t cpu) {
    set_now(cpus_[cpu].chain);
    set_cause(CommunicationClasses::kNone);
    if (steps_) [[unlikely]]
      note_cpu(cpu);
  }
  void at_cpu(std::uint32_t cpu, const goal::Op& op) {
    set_now(cpus_[cpu].chain);
    set_cause(classes_.of(op), Time::ps(cpus_[cpu].note));
    if (steps_) [[unlikely]]
      note_cpu(cpu);
  }
  void at_lane(std::uint32_t lane, const goal::Op& op) {
    set_apart(lanes_[lane]);
    set_cause(classes_.of(op), now_->began);
    if (steps_) steps_->at(PathSteps::Place::kLane, lane);
  }
  void at_held(std::uint32_t place) {
    set_apart(held_[place]);
    set_cause(CommunicationClasses::kNone);
    if (steps_) steps_->at(PathSteps::Place::kHeld, place);
  }
  // A message has come; or the data that this task sends are sent.
  void at_message(std::uint32_t local, const Message& message, Time now) {
    const wire::Kind kind = wire::kind_of(message);
    Trail& trail = records_[message.trail];
    set_now(trail.chain);
    if (kind == wire::Kind::kEager) [[likely]] {
      const std::uint32_t comm = wire::communicator_of(message);
      if (wire::is_of_collective(message)) {
        set_cause(classes_.of_collectives(comm), trail.chain.began);
      } else {
        set_cause(classes_.of_messages(comm), trail.injected);
      }
    } else {
      set_cause(kOpen, trail.injected);
    }
    if (wire::is_handshake(kind)) [[unlikely]] {
      trail.chain.matching += now - trail.injected;
    } else {
      add_message(nics_[local], trail, message, now);
    }
    // Messages that leave in this event may get the record; the chain in it remains what it is.
    free_.give(message.trail);
    if (steps_) [[unlikely]] {
      set_cause(kOpen, trail.injected);  // so that the step learns
      note_message(PathSteps::Place::kMessage, message.trail, message, now);
    }
  }
  void at_sent(std::uint32_t task, const Message& message, Time now);

  // Fetches into the cache what these will need.
  void expect_cpu(std::uint32_t cpu) const { __builtin_prefetch(&cpus_[cpu], 1); }
  void expect_message(const Message& message) const { __builtin_prefetch(&records_[message.trail]); }

  // What a message is of may show when it is taken up: by the first work that begins then, or by what ends.
  bool is_open() const { return cause_ == kOpen; }
  void settle(const goal::Op& op) {
    if (!is_open()) return;
    cause_ = classes_.of(op);
    if (op.kind == goal::OpKind::kCollective) sent_ = now_->began;
    if (steps_) [[unlikely]]
      steps_->settle(op);
  }
  // The first cpu of a rank has something to do, or what it waited for has ended.
  void end_pause(const RankState& rank, Time now) {
    CpuPath& cpu = cpus_[rank.first_cpu];
    if (cpu.free() >= now) return;
    add_pause(rank, cpu.free(), now);
    cpu.keep_free(now, Time(), false);
  }
  // Are operations on this cpu, by its number in the graph, those of the first?
  static bool is_first(const RankState& rank, std::uint16_t cpu) { return cpu == 0 || rank.cpus == 1; }

  // Work that begins in it, and goes on for so long. op(): what it is for.
  template <typename OpOf>
  void on_cpu(const RankState& rank, std::uint32_t cpu, Time duration, bool computes, Time now, OpOf&& op) {
    CpuPath& own = cpus_[cpu];
    const bool goes_on = now_ == &own.chain;  // from work to work, without a pause
    if (!goes_on) {
      // In a rank with no other cpu, what the event is of matters where it ends a pause.
      if (is_open() && (own.free() < now || rank.cpus > 1 || steps_)) [[unlikely]]
        settle(op());
      if (cpu != rank.first_cpu) {
        own.note = sent_.ps();
      } else if (own.free() < now) {
        add_pause(rank, own.free(), now);
      }
      copy_now(own.chain);
    }
    if (computes) {
      if (goes_on) ahead_ = duration;
      own.chain.compute += duration;
      if (cpu == rank.first_cpu) own.note += duration.ps();
    }
    own.keep_free(now, duration, computes);
    if (!goes_on && steps_) [[unlikely]]
      note_step(PathSteps::Place::kCpu, cpu, rank.view.rank(), op(), own.free());
  }
  void on_lane(std::uint32_t lane) { keep(lanes_, lane); }
  void hold(std::uint32_t place) { keep(held_, place); }
  // After both, where steps are kept: whose work that is, of what, and until when.
  void note_step(PathSteps::Place place, std::uint32_t index, std::uint32_t rank, const goal::Op& op,
                 Time end);
  // A message that this rank hands to the network; data, those that a task sends.
  std::uint32_t leave(std::uint32_t rank, std::uint64_t bytes, Time now) {
    Nic& nic = nics_[local_[rank]];
    const Time free = after(nic.sent < now ? now : nic.sent, at_nic(bytes));
    nic.sent = free;
    const std::uint32_t record = free_.take();
    Trail& trail = records_[record];
    copy_now(trail.chain);
    trail.injected = now;
    trail.nic = free - now;
    if (steps_) [[unlikely]]
      steps_->keep(PathSteps::Place::kMessage, record);
    return record;
  }
  void remember(std::uint32_t task, Time now);
  // A collective is under way at a rank, or has ended there.
  void begin_collective(const RankState& rank, const goal::Op& op, Time now);
  void end_collective(const RankState& rank, const goal::Op& op, Time now);
  // A rank is done.
  void finish(const RankState& rank, Time now);

  // Fills `times` for a rank that is done, which took so long. What there is in it is written over.
  void fill(const RankState& rank, Time runtime, results::CpuTimes& times) const;

  // Without the records of messages.
  std::uint64_t memory_bytes() const {
    return cpus_.capacity() * sizeof(CpuPath) + nics_.capacity() * sizeof(Nic) +
           pauses_.capacity() * sizeof(Pauses) + collectives_.capacity() * sizeof(UnderWay) +
           sending_.capacity() * sizeof(Trail) + (lanes_.capacity() + held_.capacity()) * sizeof(Chain);
  }

  // The chain to the last end of a rank, of the lowest of these if several end then.
  struct Last {
    results::CriticalPath path;
    Time finish = Time::ps(-1);  // none is done
    std::uint32_t rank = UINT32_MAX;
    bool is_behind(const Last& other) const {
      return finish > other.finish || (finish == other.finish && rank < other.rank);
    }
  };
  const Last& last() const { return last_; }

 private:
  // When all that a rank has handed over would have been sent, and what has come received, by NICs alone.
  struct Nic {
    Time sent, received;
  };

  static constexpr std::uint8_t kOpen = CommunicationClasses::kSeveral;  // it will show

  // The chain of the event at hand is kept there, and stays as it is until the event is over, but for what is
  // ahead; or it is kept nowhere else.
  void set_now(const Chain& chain) {
    now_ = &chain;
    ahead_ = Time();
  }
  void set_apart(const Chain& chain) {
    apart_ = chain;
    set_now(apart_);
  }
  void set_cause(std::uint8_t cause, Time sent = {}) {
    cause_ = cause;
    sent_ = sent;
  }
  // As it was when the event began.
  void copy_now(Chain& to) const {
    to = *now_;
    if (ahead_ > Time()) [[unlikely]]
      to.compute -= ahead_;
  }
  // How long the NIC has to do with a message. Most have as many bytes as the one before.
  Time at_nic(std::uint64_t bytes) {
    if (bytes != nic_bytes_) [[unlikely]]
      look_up_nic(bytes);
    return nic_time_;
  }
  void look_up_nic(std::uint64_t bytes);
  // Adds the way of a message to the chain that led to it.
  void add_message(Nic& nic, Trail& trail, const Message& message, Time now) {
    const Time injected = trail.injected;
    const Time taken = now - injected;
    const Time known = Time::ps(static_cast<std::int64_t>(message.alone_ps));
    const Time alone = known > Time() && known < taken ? known : taken;
    const Time bytes = at_nic(message.bytes);
    Time latency = bytes < alone ? alone - bytes : Time();
    if (latency > longest_latency_) latency = longest_latency_;
    Time received = nic.received;
    if (received < injected) received = injected;
    nic.received = received = after(received, bytes);
    Time bandwidth = received - injected;
    if (bandwidth < trail.nic) bandwidth = trail.nic;
    if (bandwidth < alone - latency) bandwidth = alone - latency;
    if (bandwidth > taken - latency) bandwidth = taken - latency;
    trail.chain.latency += latency;
    trail.chain.bandwidth += bandwidth;
    trail.chain.queueing += taken - latency - bandwidth;
  }
  void note_cpu(std::uint32_t cpu);
  std::size_t place(const RankState& rank, std::uint8_t of) const {
    return std::size_t{local_[rank.view.rank()]} * classes_count_ + of;
  }
  void note_message(PathSteps::Place place, std::uint32_t index, const Message& message, Time now);
  // REQUIRES: it is settled.
  void add_pause(const RankState& rank, Time from, Time now) {
    Pauses& sum = pauses_[place(rank, cause_)];
    sum.all += now - from;
    if (sent_ > from) sum.unsent += (sent_ < now ? sent_ : now) - from;
  }
  Time computed(const RankState& rank, Time now) const;
  void keep(std::vector<Chain>& chains, std::uint32_t index);

  TrailRecords& records_;
  const CommunicationClasses& classes_;
  const std::uint32_t* const local_;
  const std::uint32_t classes_count_;
  const TimePerByte nic_;
  const Time longest_latency_, start_;
  std::uint64_t nic_bytes_ = 0;  // take so long
  Time nic_time_;
  const Chain* now_ = &apart_;
  Time ahead_;  // of compute: computing that the cpu at hand has taken up since then, in its place
  std::uint8_t cause_ = CommunicationClasses::kNone;  // class of the communication that the event is of
  // Before then what the event brings was not the network's: its message hadn't been handed over, or the
  // member of its collective had not called.
  Time sent_;
  Chain apart_;
  struct alignas(64) CpuPath {
    Chain chain;
    // Until when it works, or has worked, times two, and one more if that is computing.
    std::uint64_t free_and_computes = 0;
    // The first of its rank: what it has computed, and will have by free(). Others: `sent_` of what they
    // work on.
    std::int64_t note = 0;

    Time free() const { return Time::ps(static_cast<std::int64_t>(free_and_computes >> 1)); }
    bool computes() const { return (free_and_computes & 1) != 0; }
    void keep_free(Time now, Time duration, bool computes) {
      const auto free = static_cast<std::uint64_t>(now.ps()) + static_cast<std::uint64_t>(duration.ps());
      free_and_computes = free << 1 | (computes ? 1 : 0);
    }
  };
  static_assert(sizeof(CpuPath) == 64);
  // Communication of one class has ended these pauses of a rank; `unsent` is the part of them before `sent_`.
  struct Pauses {
    Time all, unsent;
  };
  // Collectives of one rank and class: what it has computed meanwhile, and had when the present ones began.
  struct UnderWay {
    Time computed, before;
    std::uint32_t count = 0;
  };
  std::vector<CpuPath> cpus_;
  std::vector<Chain> lanes_, held_;
  std::vector<Nic> nics_;              // of each rank
  std::vector<Pauses> pauses_;         // of each rank, by class
  std::vector<UnderWay> collectives_;  // likewise
  std::vector<Trail> sending_;         // by task
  Last last_;
  std::unique_ptr<PathSteps> steps_;  // null: only what chains consist of is kept
  TrailRecords::AtHand free_;
};

}  // namespace weft::sim
