// Records of messages that are under way, which all shares of a replay have in common.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
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
// record a message gets decides nothing. Each share has some at hand, and others may be taken from it.
template <typename T>
class RecordPool {
 public:
  T& operator[](std::uint32_t record) { return rows_[record]; }

  // The free records of one share.
  class AtHand {
   public:
    explicit AtHand(RecordPool& pool) : pool_(pool) {}
    std::uint32_t take() {
      if (count_ == 0) [[unlikely]]
        pool_.hand_out(*this);
      return free_[--count_];
    }
    // No other share gets it before this one gives the next.
    void give(std::uint32_t record) {
      if (count_ == kMost) [[unlikely]]
        pool_.take_back(*this);
      free_[count_++] = record;
    }
    std::span<const std::uint32_t> all() const { return {free_.data(), count_}; }

   private:
    friend class RecordPool;
    static constexpr std::uint32_t kAtATime = 256, kMost = 3 * kAtATime;

    RecordPool& pool_;
    std::uint32_t count_ = 0;
    std::array<std::uint32_t, kMost> free_;
  };

  // So many were made, and these of them are with no share.
  std::uint32_t made() const { return made_; }
  const std::vector<std::uint32_t>& free() const { return free_; }

 private:
  // To a share that has none left, and from one that has many.
  [[gnu::noinline]] void hand_out(AtHand& share) {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t i = 0; i < AtHand::kAtATime; ++i) {
      if (free_.empty()) {
        rows_.reach(made_);
        free_.push_back(made_++);
      }
      share.free_[share.count_++] = free_.back();
      free_.pop_back();
    }
  }
  [[gnu::noinline]] void take_back(AtHand& share) {
    const std::lock_guard lock(mutex_);
    share.count_ -= AtHand::kAtATime;
    const std::uint32_t* const first = share.free_.data() + share.count_;
    free_.insert(free_.end(), first, first + AtHand::kAtATime);
  }

  std::mutex mutex_;
  GrowingArray<T> rows_;
  std::uint32_t made_ = 0;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::sim
