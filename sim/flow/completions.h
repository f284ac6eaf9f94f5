// When flows will be done, the earliest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::sim::flow {

// A heap with four branches that knows where each flow is, so that its time can change. Source: D. B.
// Johnson, "Priority queues with update and finding minimum spanning trees", IPL 4(3), 1975.
class Completions {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // REQUIRES: not empty, here and for pop().
  Time first() const { return Time::ps(heap_.front().time_ps); }
  // Takes out one of the earliest; which one of equal times is of no meaning.
  std::uint32_t pop() {
    const std::uint32_t flow = heap_.front().flow;
    erase(flow);
    return flow;
  }
  // The flow is done then; replaces what was said before.
  void set(std::uint32_t flow, Time time) {
    if (flow >= place_.size()) place_.resize(flow + 1, kNone);
    if (place_[flow] == kNone) {
      place_[flow] = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back({time.ps(), flow});
      rise(heap_.size() - 1);
      return;
    }
    const std::size_t at = place_[flow];
    const bool earlier = time.ps() < heap_[at].time_ps;
    heap_[at].time_ps = time.ps();
    if (earlier) {
      rise(at);
    } else {
      sink(at);
    }
  }
  // Nothing, if it has no time.
  void erase(std::uint32_t flow) {
    if (flow >= place_.size() || place_[flow] == kNone) return;
    const std::size_t at = place_[flow];
    place_[flow] = kNone;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    put(at, last);
    rise(at);
    sink(place_[last.flow]);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kBranches = 4;
  struct Entry {
    std::int64_t time_ps = 0;
    std::uint32_t flow = 0;
  };

  void put(std::size_t at, Entry entry) {
    heap_[at] = entry;
    place_[entry.flow] = static_cast<std::uint32_t>(at);
  }
  void rise(std::size_t at) {
    const Entry entry = heap_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / kBranches;
      if (heap_[parent].time_ps <= entry.time_ps) break;
      put(at, heap_[parent]);
      at = parent;
    }
    put(at, entry);
  }
  void sink(std::size_t at) {
    const Entry entry = heap_[at];
    for (;;) {
      const std::size_t first = at * kBranches + 1;
      if (first >= heap_.size()) break;
      const std::size_t end = first + kBranches < heap_.size() ? first + kBranches : heap_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (heap_[child].time_ps < heap_[least].time_ps) least = child;
      }
      if (heap_[least].time_ps >= entry.time_ps) break;
      put(at, heap_[least]);
      at = least;
    }
    put(at, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> place_;  // by flow
};

}  // namespace weft::sim::flow
