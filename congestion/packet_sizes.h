// How many bytes each packet of a connection carries: full packets, but for the last one of each message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::congestion {

// Packets are numbered from 0 over all messages. Memory: 8 bytes for each message beyond the first that is
// not forgotten.
class PacketSizes {
 public:
  explicit PacketSizes(std::uint32_t full_bytes) : full_bytes_(full_bytes) {}

  std::uint32_t full_bytes() const { return full_bytes_; }
  // All packets of all messages so far.
  std::uint32_t end() const { return end_; }

  // A message of `packets` packets follows, full but for the last one. REQUIRES: packets > 0, the sum is
  // below 2^32.
  void append(std::uint32_t packets, std::uint32_t last_bytes) {
    end_ += packets;
    if (oldest_.end == 0) {
      oldest_ = {end_, last_bytes};
    } else {
      later_.push_back({end_, last_bytes});
    }
  }
  // REQUIRES: number < end(), and its message isn't forgotten.
  std::uint32_t of(std::uint32_t number) const {
    if (number + 1 < oldest_.end) [[likely]]
      return full_bytes_;
    if (number + 1 == oldest_.end) return oldest_.last_bytes;
    return of_later(number);
  }
  // Messages that end at or below `number` are asked for no more.
  void forget_below(std::uint32_t number) {
    if (oldest_.end > number) [[likely]]
      return;
    while (oldest_.end <= number && first_later_ < later_.size()) oldest_ = later_[first_later_++];
    if (oldest_.end <= number) oldest_ = {};
    if (first_later_ == later_.size()) {
      later_.clear();
      first_later_ = 0;
    } else if (first_later_ >= 32 && first_later_ * 2 > later_.size()) {
      later_.erase(later_.begin(), later_.begin() + static_cast<std::ptrdiff_t>(first_later_));
      first_later_ = 0;
    }
  }
  // Nothing is asked for any more but what is appended from now on: gives memory back.
  void rest() {
    later_ = {};
    first_later_ = 0;
    oldest_ = {};
  }

 private:
  struct Message {
    std::uint32_t end = 0;  // number behind its last packet; 0: there is none
    std::uint32_t last_bytes = 0;
  };

  std::uint32_t of_later(std::uint32_t number) const {
    const auto message =
        std::upper_bound(later_.begin() + static_cast<std::ptrdiff_t>(first_later_), later_.end(), number,
                         [](std::uint32_t n, const Message& each) { return n < each.end; });
    return number + 1 == message->end ? message->last_bytes : full_bytes_;
  }

  std::uint32_t full_bytes_;
  std::uint32_t end_ = 0;
  Message oldest_;              // that isn't forgotten
  std::vector<Message> later_;  // from first_later_ on
  std::size_t first_later_ = 0;
};

}  // namespace weft::congestion
