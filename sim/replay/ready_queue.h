// What may begin now, in the order in which that became so.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::sim {

// First in, first out. It is empty again after each event, so it needs no ring.
template <typename T>
class ReadyQueue {
 public:
  bool empty() const { return first_ == end_; }
  void push(const T& value) {
    if (end_ == limit_) [[unlikely]]
      grow();
    *end_++ = value;
  }
  // REQUIRES: !empty().
  T pop() {
    const T value = *first_++;
    if (first_ == end_) first_ = end_ = memory_.data();
    return value;
  }
  std::uint64_t memory_bytes() const { return memory_.size() * sizeof(T); }

 private:
  [[gnu::noinline]] void grow() {
    const auto first = first_ - memory_.data(), end = end_ - memory_.data();
    memory_.resize(memory_.empty() ? 16 : 2 * memory_.size());
    first_ = memory_.data() + first;
    end_ = memory_.data() + end;
    limit_ = memory_.data() + memory_.size();
  }

  std::vector<T> memory_;
  T* first_ = nullptr;
  T* end_ = nullptr;
  T* limit_ = nullptr;
};

}  // namespace weft::sim
