// Room in the buffer behind a cable, on its way back to whoever sends into it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/units/quantity.h"

namespace weft::sim::packet {

// Written where packets leave the buffer, read at the other end of the cable when that runs short: so it
// costs a packet one entry here, and nothing there. In the order of time; entries come in about that order.
class RoomReturns {
 public:
  struct Return {
    Time departure;             // when the packet's last bit leaves the buffer
    std::uint32_t content = 0;  // as NodeActions::return_room
  };

  void add(const Return& back) {
    if (last_ - first_ == size_) [[unlikely]]
      grow();
    ring_[last_ & (size_ - 1)] = back;
    for (std::uint32_t i = last_++; i != first_ && at(i).departure < at(i - 1).departure; --i) {
      std::swap(at(i), at(i - 1));
    }
  }
  // Takes what left until `then`.
  template <typename Use>
  void take_until(Time then, Use&& use) {
    while (first_ != last_ && at(first_).departure <= then) use(at(first_++).content);
  }
  template <typename See>
  void for_each(See&& see) const {
    for (std::uint32_t i = first_; i != last_; ++i) see(ring_[i & (size_ - 1)]);
  }
  // Fetches what add() will touch.
  [[gnu::always_inline]] void prefetch() const { __builtin_prefetch(ring_.get() + (last_ & (size_ - 1)), 1); }
  // The same for take_until().
  [[gnu::always_inline]] void prefetch_oldest() const {
    const char* const oldest = reinterpret_cast<const char*>(ring_.get() + (first_ & (size_ - 1)));
    for (int line = 0; line < 4; ++line) __builtin_prefetch(oldest + line * 64);
  }

 private:
  static constexpr std::uint32_t kFirstEntries = 16;
  Return& at(std::uint32_t i) { return ring_[i & (size_ - 1)]; }
  void grow() {
    const std::uint32_t wider = size_ == 0 ? kFirstEntries : size_ * 2;
    auto ring = std::make_unique<Return[]>(wider);
    std::uint32_t count = 0;
    for_each([&](const Return& back) { ring[count++] = back; });
    ring_ = std::move(ring);
    size_ = wider;
    first_ = 0;
    last_ = count;
  }

  std::unique_ptr<Return[]> ring_;
  std::uint32_t size_ = 0;              // a power of two
  std::uint32_t first_ = 0, last_ = 0;  // counted without end
};
static_assert(sizeof(RoomReturns) == 24);

}  // namespace weft::sim::packet
