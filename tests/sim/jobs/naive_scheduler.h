// Batch schedulers written from their definitions, with no thought of speed: what starts when, for whole
// lists. Capacity is looked up by adding all jobs that overlap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/jobs/queue_run.h"

namespace weft::jobs {

class NaiveScheduler {
 public:
  // `policy`: fcfs, easy, conservative. REQUIRES: no job takes longer than its estimate.
  NaiveScheduler(std::span<const TimedJob> jobs, std::uint32_t nodes, std::string policy)
      : jobs_(jobs), nodes_(nodes), policy_(std::move(policy)), states_(jobs.size()) {}

  std::vector<Time> run() {
    // Nothing starts but when a job comes or ends.
    while (true) {
      Time now = Time::max();
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (states_[i].state == kComing) now = std::min(now, jobs_[i].submit);
        if (states_[i].state == kRunning) now = std::min(now, states_[i].start + jobs_[i].runtime);
      }
      if (now == Time::max()) break;
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        State& state = states_[i];
        if (state.state == kRunning && state.start + jobs_[i].runtime == now) state.state = kOver;
        if (state.state == kComing && jobs_[i].submit == now) state.state = kWaiting;
      }
      schedule(now);
    }
    std::vector<Time> starts;
    for (const State& each : states_) starts.push_back(each.start);
    return starts;
  }

 private:
  enum Phase : std::uint8_t { kComing, kWaiting, kRunning, kOver };
  struct State {
    Phase state = kComing;
    Time start, reserved = Time::max();
  };
  struct Use {
    Time from, until;
    std::uint32_t nodes = 0;
  };

  std::uint32_t free_at(Time at, const std::vector<Use>& uses) const {
    std::uint32_t used = 0;
    for (const Use& use : uses) {
      if (use.from <= at && at < use.until) used += use.nodes;
    }
    return nodes_ - used;
  }
  bool fits(Time from, const TimedJob& job, const std::vector<Use>& uses) const {
    if (free_at(from, uses) < job.nodes) return false;
    return std::none_of(uses.begin(), uses.end(), [&](const Use& use) {
      return use.from > from && use.from < from + job.estimate && free_at(use.from, uses) < job.nodes;
    });
  }
  Time earliest(Time now, const TimedJob& job, const std::vector<Use>& uses) const {
    if (fits(now, job, uses)) return now;
    Time best = Time::max();
    for (const Use& use : uses) {
      if (use.until > now && use.until < best && fits(use.until, job, uses)) best = use.until;
    }
    return best;
  }
  std::vector<Use> running() const {
    std::vector<Use> uses;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (states_[i].state != kRunning) continue;
      uses.push_back({states_[i].start, states_[i].start + jobs_[i].estimate, jobs_[i].nodes});
    }
    return uses;
  }
  void start(std::size_t i, Time now) { states_[i] = {.state = kRunning, .start = now}; }

  void schedule(Time now) {
    if (policy_ == "conservative") return reserve(now);
    std::size_t first = jobs_.size();  // that waits and doesn't fit
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (states_[i].state != kWaiting) continue;
      if (first == jobs_.size()) {
        if (fits(now, jobs_[i], running())) {
          start(i, now);
        } else {
          first = i;
        }
      } else if (policy_ == "easy" && fits(now, jobs_[i], running())) {
        // Would the first one start later?
        std::vector<Use> uses = running();
        const Time before = earliest(now, jobs_[first], uses);
        uses.push_back({now, now + jobs_[i].estimate, jobs_[i].nodes});
        if (earliest(now, jobs_[first], uses) == before) start(i, now);
      }
    }
  }
  void reserve(Time now) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (states_[i].state == kWaiting) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return states_[a].reserved < states_[b].reserved;
    });
    std::vector<Use> uses = running();
    for (const std::size_t i : order) {
      const Time at = earliest(now, jobs_[i], uses);
      uses.push_back({at, at + jobs_[i].estimate, jobs_[i].nodes});
      states_[i].reserved = at;
      if (at == now) start(i, now);
    }
  }

  std::span<const TimedJob> jobs_;
  const std::uint32_t nodes_;
  const std::string policy_;
  std::vector<State> states_;
};

}  // namespace weft::jobs
