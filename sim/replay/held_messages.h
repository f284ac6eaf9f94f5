// Messages that wait at their rank, before the network gets them or before their turn to be received.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/network.h"

namespace weft::sim {

class HeldMessages {
 public:
  // Returns its place.
  std::uint32_t hold(const Message& message) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(messages_.size()));
      messages_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    messages_[place] = message;
    return place;
  }
  // The message, which is there until the next hold().
  Message& release(std::uint32_t place) {
    free_.push_back(place);
    return messages_[place];
  }
  // Fetches into the cache what release() gives.
  void prefetch(std::uint32_t place) const {
    __builtin_prefetch(&messages_[place]);
    __builtin_prefetch(reinterpret_cast<const char*>(&messages_[place]) + 64);
  }
  std::uint64_t memory_bytes() const { return messages_.capacity() * sizeof(Message); }

 private:
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::sim
