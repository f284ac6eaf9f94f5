// Records of messages that are under way, which all shares of a replay have in common.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::sim {

// Grows without moving what it holds, so that who was told of a place may read and write there while another
// thread lets it grow.
template <typename T>
class GrowingArray {
 public:
  T& operator[](std::uint32_t index) {
    const Place place(index);
    return chunks_[place.chunk][place.offset];
  }
  const T& operator[](std::uint32_t index) const {
    const Place place(index);
    return chunks_[place.chunk][place.offset];
  }
  // So that there is this one.
  void reach(std::uint32_t index) {
    for (; size_ <= index; ++used_) {
      const std::size_t more = kFirst << used_;
      chunks_[used_] = std::make_unique<T[]>(more);
      size_ += more;
    }
  }
  std::uint64_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kFirst = 256;
  struct Place {
    // With kFirst more, the chunk shows in the highest bit of an index, and the place within it in the
    // others.
    explicit Place(std::uint32_t index) {
      const std::uint64_t more = index + kFirst;
      const int highest = std::bit_width(more) - 1;
      chunk = static_cast<std::size_t>(highest - (std::bit_width(kFirst) - 1));
      offset = more ^ std::uint64_t{1} << highest;
    }
    std::size_t chunk, offset;
  };

  std::array<std::unique_ptr<T[]>, 25> chunks_;  // each twice as long as the one before: for all indices
  std::size_t used_ = 0;
  std::uint64_t size_ = 0;
};

// A record belongs to the sender's share until its message arrives, and from then on to the receiver's. Which
// record a message gets decides nothing.
template <typename T>
class RecordPool {
 public:
  T& operator[](std::uint32_t record) { return rows_[record]; }
  // For a share that has none left, and for one that has many: so many at a time.
  static constexpr std::uint32_t kAtATime = 256;
  [[gnu::noinline]] void take(std::vector<std::uint32_t>& free) {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t i = 0; i < kAtATime; ++i) {
      if (free_.empty()) {
        rows_.reach(made_);
        free_.push_back(made_++);
      }
      free.push_back(free_.back());
      free_.pop_back();
    }
  }
  [[gnu::noinline]] void give_back(std::vector<std::uint32_t>& free) {
    const std::lock_guard lock(mutex_);
    free_.insert(free_.end(), free.end() - kAtATime, free.end());
    free.resize(free.size() - kAtATime);
  }
  // So many were made, and these of them are with no share.
  std::uint32_t made() const { return made_; }
  const std::vector<std::uint32_t>& free() const { return free_; }

 private:
  std::mutex mutex_;
  GrowingArray<T> rows_;
  std::uint32_t made_ = 0;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::sim
