// An array that grows without a copy, and without as much again in reserve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::sim {

// In chunks of 4,096 elements; only the first grows as a vector does. References are good until the next
// push_back.
template <typename T>
class Chunks {
 public:
  void push_back(const T& value) {
    if (size_ % kChunk == 0) {
      chunks_.emplace_back();
      if (size_ > 0) chunks_.back().reserve(kChunk);
    }
    chunks_.back().push_back(value);
    ++size_;
  }
  T& operator[](std::uint32_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](std::uint32_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  std::uint32_t size() const { return size_; }
  std::uint64_t memory_bytes() const {
    std::uint64_t bytes = chunks_.capacity() * sizeof(chunks_[0]);
    for (const std::vector<T>& chunk : chunks_) bytes += chunk.capacity() * sizeof(T);
    return bytes;
  }

 private:
  static constexpr std::uint32_t kChunk = 4096;
  std::vector<std::vector<T>> chunks_;
  std::uint32_t size_ = 0;
};

}  // namespace weft::sim
