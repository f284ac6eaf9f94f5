// When flows will be done, the earliest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/flow/placed_heap.h"
#include "sim/units/quantity.h"

namespace weft::sim::flow {

class Completions {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // REQUIRES: not empty, here and for pop().
  Time first() const { return heap_.first_key(); }
  // Takes out one of the earliest; which one of equal times is of no meaning.
  std::uint32_t pop() {
    const std::uint32_t flow = heap_.first();
    erase(flow);
    return flow;
  }
  // The flow is done then; replaces what was said before.
  void set(std::uint32_t flow, Time time) {
    if (flow >= place_.size()) place_.resize(flow + 1, Heap::kOut);
    heap_.set(flow, time, Place{place_});
  }
  // Nothing, if it has no time.
  void erase(std::uint32_t flow) {
    if (flow < place_.size() && place_[flow] != Heap::kOut) heap_.erase(flow, Place{place_});
  }

 private:
  using Heap = PlacedHeap<Time>;
  struct Place {
    std::vector<std::uint32_t>& places;
    std::uint32_t& operator()(std::uint32_t flow) const { return places[flow]; }
  };

  Heap heap_;
  std::vector<std::uint32_t> place_;  // by flow
};

}  // namespace weft::sim::flow
