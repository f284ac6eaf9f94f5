// Room in the buffer behind a cable, on its way back to whoever sends into it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "sim/units/quantity.h"

namespace weft::sim::packet {

// Written where packets leave the buffer, read at the other end of the cable when that runs short: so it
// costs a packet one entry here, and nothing there. Departures are known ahead, so entries come in any order.
class RoomReturns {
 public:
  struct Return {
    Time departure;             // when the packet's last bit leaves the buffer
    std::uint32_t content = 0;  // as NodeActions::return_room
  };

  void add(const Return& back) {
    if (count_ == size_) [[unlikely]]
      grow();
    entries_[count_++] = back;
    earliest_ = std::min(earliest_, back.departure);
  }
  // Would more memory be needed for another one?
  bool full() const { return count_ == size_; }
  // Takes what left until `then`, in any order.
  template <typename Use>
  void take_until(Time then, Use&& use) {
    if (earliest_ > then) return;
    earliest_ = Time::max();
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Return back = entries_[i];
      if (back.departure <= then) {
        use(back.content);
      } else {
        entries_[left++] = back;
        earliest_ = std::min(earliest_, back.departure);
      }
    }
    count_ = left;
  }
  // In the order of time.
  template <typename See>
  void for_each(See&& see) {
    for (std::uint32_t i = 1; i < count_; ++i) {  // as good as sorted, if this was asked before
      for (std::uint32_t j = i; j > 0 && entries_[j].departure < entries_[j - 1].departure; --j) {
        std::swap(entries_[j], entries_[j - 1]);
      }
    }
    for (std::uint32_t i = 0; i < count_; ++i) see(entries_[i]);
  }
  // Fetches what add() will touch.
  [[gnu::always_inline]] void prefetch() const { __builtin_prefetch(entries_.get() + count_, 1); }

 private:
  static constexpr std::uint32_t kFirstEntries = 16;
  void grow() {
    const std::uint32_t wider = size_ == 0 ? kFirstEntries : size_ * 2;
    auto entries = std::make_unique<Return[]>(wider);
    std::copy_n(entries_.get(), count_, entries.get());
    entries_ = std::move(entries);
    size_ = wider;
  }

  std::unique_ptr<Return[]> entries_;
  std::uint32_t size_ = 0, count_ = 0;
  Time earliest_ = Time::max();
};
static_assert(sizeof(RoomReturns) == 24);

}  // namespace weft::sim::packet
