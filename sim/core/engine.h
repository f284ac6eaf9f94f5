// One partition of a simulation: its clock, its events and the digest of what it executed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/event_queue.h"
#include "sim/core/random.h"
#include "sim/core/run_control.h"
#include "sim/units/quantity.h"

namespace weft::sim {

class Engine {
 public:
  explicit Engine(std::uint64_t seed, int bucket_shift = 15) : queue_(bucket_shift), seed_(seed) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Reserves `count` consecutive entity numbers and returns the first. Called while the simulation is built,
  // in an order that does not depend on partitions: the engine of each reserves the numbers of all.
  EntityId add_entities(std::uint32_t count) {
    const auto first = static_cast<EntityId>(next_sequence_.size());
    next_sequence_.resize(next_sequence_.size() + count, 0);
    return first;
  }
  // Reserves numbers, and returns the first, for entities that count their events themselves and use
  // schedule_counted() only: they need no memory here. Their numbers are above all others.
  EntityId add_counting_entities(std::uint32_t count) {
    const EntityId first = kFirstCounting + counting_entities_;
    counting_entities_ += count;
    return first;
  }
  // Schedules an event by `source`. REQUIRES: time >= now().
  void schedule(Time time, EntityId source, std::uint16_t kind, std::uint32_t payload,
                std::uint16_t detail = 0) {
    queue_.push(time.ps(), next_sequence_[source]++, source, payload, kind, detail);
  }

  // Schedules an event by a source that counts its events itself, next to what it touches anyway. REQUIRES:
  // time >= now(), and `sequence` is 0, 1, 2 … over all the events of this source, which never uses the other
  // schedule().
  void schedule_counted(Time time, EntityId source, std::uint32_t sequence, std::uint16_t kind,
                        std::uint32_t payload) {
    queue_.push(time.ps(), sequence, source, payload, kind, 0);
  }
  // Takes in an event that an entity of another partition has scheduled.
  void insert(const Event& event) { queue_.push(event); }
  void insert(std::int64_t time_ps, std::uint32_t sequence, EntityId source, std::uint32_t payload,
              std::uint16_t kind) {
    queue_.push(time_ps, sequence, source, payload, kind, 0);
  }

  Time now() const { return Time::ps(now_ps_); }
  std::uint64_t seed() const { return seed_; }
  RandomStream stream(EntityId entity, std::uint64_t purpose = 0) const {
    return RandomStream(seed_, entity, purpose);
  }
  std::uint64_t executed() const { return executed_; }
  // The event being executed was a reminder to look at something and no more: it counts for nothing, so that
  // who looks when makes no difference.
  void discount(const Event& event) {
    --executed_;
    digest_ -= hash_of(event);
  }
  // Sum over executed events of a hash of (time, source, sequence, kind): equal for equal sets of events,
  // however they were spread over partitions.
  std::uint64_t digest() const { return digest_; }
  std::uint64_t pending() const { return queue_.size(); }

  // An event about `distance` events from now, or null: a hint, as in run_before().
  const Event* upcoming(std::size_t distance) const { return queue_.upcoming(distance); }
  // Time of the least event that waits; Time::max() if there is none.
  Time next_time() { return Time::ps(queue_.next_time_ps()); }

  // From now on run_before() also ends when the control is asked for a poll. To be called before a run.
  void heed(const RunControl& control) { asked_ = &control.asked(); }
  // Executes events in order until none is left or `control` says stop. `handle(const Event&)` is inlined;
  // for far, middle and near see run_before().
  template <typename Handle, typename Far, typename Middle, typename Near>
  StopReason run(RunControl& control, Handle&& handle, Far&& far, Middle&& middle, Near&& near) {
    heed(control);
    RunWatch watch(control, executed_);
    while (pending() > 0) {
      Time limit = Time::max();
      const StopReason reason = watch.before(next_time(), executed_, &limit);
      if (reason != StopReason::kNone) return reason;
      run_before(limit, watch.most(executed_), handle, far, middle, near);
    }
    return StopReason::kNone;
  }
  template <typename Handle>
  StopReason run(RunControl& control, Handle&& handle) {
    const auto nothing = [](const Event&) {};
    return run(control, handle, nothing, nothing, nothing);
  }
  // Executes the events before `limit` in order, `most` at most. Most events are seen some time before they
  // are executed, to fetch what they need into the cache, by three functions in turn, `far(const Event&)`,
  // `middle` and `near`, each of which may rely on what the one before has fetched. They must change nothing
  // that a result depends on.
  static constexpr std::size_t kFar = 36, kMiddle = 24, kNear = 12;  // events ahead
  template <typename Handle, typename Far, typename Middle, typename Near>
  void run_before(Time limit, std::uint64_t most, Handle&& handle, Far&& far, Middle&& middle, Near&& near) {
    const std::uint64_t until = executed_ + most;
    while (executed_ < until && !asked_->load(std::memory_order_relaxed)) {
      const Event* event = queue_.pop_before(limit.ps());
      if (event == nullptr) return;
      if (const Event* upcoming = queue_.upcoming(kFar)) far(*upcoming);
      if (const Event* upcoming = queue_.upcoming(kMiddle)) middle(*upcoming);
      if (const Event* upcoming = queue_.upcoming(kNear)) near(*upcoming);
      now_ps_ = event->time_ps;
      digest_ += hash_of(*event);
      ++executed_;
      handle(*event);
    }
  }

 private:
  // One multiplication whose halves are folded (the mixing step of wyhash).
  static std::uint64_t hash_of(const Event& event) {
    const std::uint64_t time = static_cast<std::uint64_t>(event.time_ps) ^ 0x9E3779B97F4A7C15ULL;
    const std::uint64_t key =
        (event.key() ^ static_cast<std::uint64_t>(event.kind) << 48) + 0xD6E8FEB86659FD93ULL;
    const auto product = static_cast<unsigned __int128>(time) * key;
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  }

  static constexpr EntityId kFirstCounting = 0x80000000;
  static constexpr std::atomic<bool> kNobody = false;

  EventQueue queue_;
  EntityId counting_entities_ = 0;
  std::int64_t now_ps_ = 0;
  std::uint64_t executed_ = 0;
  std::uint64_t digest_ = 0;
  const std::atomic<bool>* asked_ = &kNobody;
  std::uint64_t seed_;
  std::vector<std::uint32_t> next_sequence_;  // per entity
};

}  // namespace weft::sim
