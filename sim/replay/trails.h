// What the time of a run consists of: the longest chain of work and messages up to each moment, kept forward.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/network.h"
#include "sim/replay/record_pool.h"
#include "sim/results/critical_path.h"
#include "sim/units/quantity.h"

namespace weft::sim {

// Of a message under way: the chain that led to it, and when the network got it.
struct alignas(64) Trail {
  results::CriticalPath path;
  Time injected;
  Time nic;  // until its sender's NIC has sent it, were there nothing but NICs
};
static_assert(sizeof(Trail) == 64);
class TrailRecords : public RecordPool<Trail> {};

// Of one share. What begins in an event begins because of that event: of all that it waited for, this came
// last. So there is one chain at a time, that of the event at hand; work that ends later, and messages, take
// it along, and no graph of what has happened is needed. Memory: 64 bytes for each cpu and for each message
// under way.
class Trails {
 public:
  // Bytes of messages take so long at a NIC.
  Trails(TrailRecords& records, std::size_t cpus, std::size_t ranks, TimePerByte nic)
      : records_(records), nic_(nic), cpus_(cpus), nics_(ranks) {}

  // The event at hand: the start of a rank; work of a cpu or a lane that has ended; a message that was held.
  void at_start() { now_ = {}; }
  void at_cpu(std::uint32_t cpu) { now_ = cpus_[cpu].path; }
  void at_lane(std::uint32_t lane) { now_ = lanes_[lane]; }
  void at_held(std::uint32_t place) { now_ = held_[place]; }
  // A message has come; or the data that this task sends are sent.
  void at_message(std::uint32_t local, const Message& message, bool is_handshake, Time now);
  void at_sent(std::uint32_t task, std::uint64_t bytes, Time now);

  // Fetches into the cache what these will need.
  void expect_cpu(std::uint32_t cpu) const { __builtin_prefetch(&cpus_[cpu], 1); }
  void expect_message(const Message& message) const { __builtin_prefetch(&records_[message.trail]); }

  // Work that begins in it, and goes on for so long.
  void on_cpu(std::uint32_t cpu, Time duration, bool computes) {
    results::CriticalPath& path = cpus_[cpu].path = now_;
    (computes ? path.compute : path.overhead) += duration;
  }
  void on_lane(std::uint32_t lane, Time duration) { add_overhead(lanes_, lane, duration); }
  void hold(std::uint32_t place, Time duration) { add_overhead(held_, place, duration); }
  // A message that this rank of the share hands to the network; data, those that a task sends.
  std::uint32_t leave(std::uint32_t local, std::uint64_t bytes, Time now);
  void remember(std::uint32_t task, Time now);
  // A rank is done.
  void finish(std::uint32_t rank, Time now);

  // Without the records of messages.
  std::uint64_t memory_bytes() const {
    return cpus_.capacity() * sizeof(CpuPath) + nics_.capacity() * sizeof(Nic) +
           sending_.capacity() * sizeof(Trail) +
           (lanes_.capacity() + held_.capacity()) * sizeof(results::CriticalPath);
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
  void add_overhead(std::vector<results::CriticalPath>& paths, std::uint32_t index, Time duration);

  TrailRecords& records_;
  const TimePerByte nic_;
  results::CriticalPath now_;
  struct alignas(64) CpuPath {
    results::CriticalPath path;
  };
  // When all that a rank has handed over would have been sent, and what has come received, by NICs alone.
  struct Nic {
    Time sent, received;
  };
  std::vector<CpuPath> cpus_;
  std::vector<results::CriticalPath> lanes_, held_;
  std::vector<Nic> nics_;       // of each rank
  std::vector<Trail> sending_;  // by task
  std::vector<std::uint32_t> free_;
  Last last_;
};

}  // namespace weft::sim
