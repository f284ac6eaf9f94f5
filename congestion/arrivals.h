// Which packets of a flow have arrived: what a receiver needs for duplicates, cumulative ACKs and completion.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::congestion {

// The 64 packets that a selective acknowledgement speaks of: those up to the highest it answers, but none
// that `cumulative` covers anyway.
inline std::uint32_t sack_base(std::uint32_t cumulative, std::uint32_t highest) {
  return std::max(cumulative, highest >= 63 ? highest - 63 : 0);
}

// Packets are numbered from 0. Memory is one bit per packet between the first missing one and the last seen,
// rounded up to a power of two words; none while packets come in order. A cleared object keeps its memory.
class Arrivals {
 public:
  void clear() {
    std::fill(bits_.begin(), bits_.end(), 0);
    first_missing_ = 0;
    held_ = 0;
  }
  // Gives memory back. REQUIRES: no packet has come after a missing one.
  void rest() {
    if (bits_.capacity() > 0) bits_ = {};
  }
  // By how many numbers a packet that comes now would be late: how far the highest that has come is ahead of
  // it. 0: in order.
  std::uint32_t lateness(std::uint32_t number) const {
    return held_ > 0 && number < highest_ ? highest_ - number : 0;
  }
  // All packets below this one have arrived.
  std::uint32_t first_missing() const { return first_missing_; }
  // Records a packet. False: it had arrived before.
  bool add(std::uint32_t number) {
    if (number < first_missing_) return false;
    if (number == first_missing_ && held_ == 0) [[likely]] {
      ++first_missing_;
      return true;
    }
    const std::uint32_t words_ahead = number / 64 - first_missing_ / 64;
    if (words_ahead >= bits_.size()) grow(words_ahead);
    std::uint64_t& word = word_of(number);
    const std::uint64_t bit = std::uint64_t{1} << (number & 63);
    if (word & bit) return false;
    word |= bit;
    highest_ = held_ == 0 ? number : std::max(highest_, number);
    ++held_;
    if (number == first_missing_) advance();
    return true;
  }
  bool has(std::uint32_t number) const {
    if (number < first_missing_) return true;
    const std::uint32_t words_ahead = number / 64 - first_missing_ / 64;
    return words_ahead < bits_.size() && (bits_[number / 64 & (bits_.size() - 1)] >> (number & 63) & 1);
  }
  // Which of the packets from sack_base(first_missing(), highest) on have arrived: bit i stands for base + i.
  std::uint64_t sack(std::uint32_t highest) const {
    const std::uint32_t base = sack_base(first_missing_, highest);
    const std::uint64_t low = word_if_kept(base / 64), high = word_if_kept(base / 64 + 1);
    return (base & 63) == 0 ? low : low >> (base & 63) | high << (64 - (base & 63));
  }
  // Fetches the packet's bit into the cache.
  [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
    // As a number, since there is no array until a packet is missing; nothing is read or written there.
    const auto begin = reinterpret_cast<std::uintptr_t>(bits_.data());
    const std::uintptr_t word = number / 64 & (bits_.size() - 1);
    __builtin_prefetch(reinterpret_cast<const void*>(begin + word * sizeof(std::uint64_t)), 1);
  }

 private:
  std::uint64_t word_if_kept(std::uint32_t word) const {
    return word - first_missing_ / 64 < bits_.size() ? bits_[word & (bits_.size() - 1)] : 0;
  }
  std::uint64_t& word_of(std::uint32_t number) { return bits_[number / 64 & (bits_.size() - 1)]; }

  // Moves over the run of packets that have arrived, a word at a time.
  void advance() {
    while (held_ > 0) {
      std::uint64_t& word = word_of(first_missing_);
      const int run = std::countr_one(word >> (first_missing_ & 63));
      if (run == 0) return;
      word &= ~((run == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << run) - 1) << (first_missing_ & 63));
      first_missing_ += static_cast<std::uint32_t>(run);
      held_ -= static_cast<std::uint32_t>(run);
    }
  }

  void grow(std::size_t words_ahead) {
    std::vector<std::uint64_t> wider(std::bit_ceil(words_ahead + 1), 0);
    const std::uint32_t first = first_missing_ / 64;
    for (std::uint32_t i = 0; i < bits_.size(); ++i) {
      wider[(first + i) & (wider.size() - 1)] = bits_[(first + i) & (bits_.size() - 1)];
    }
    bits_ = std::move(wider);
  }

  std::vector<std::uint64_t> bits_;  // a ring of words; bit n of the flow is bit n % 64 of word n / 64
  std::uint32_t first_missing_ = 0;
  std::uint32_t held_ = 0;     // set bits: arrived, but after a missing one
  std::uint32_t highest_ = 0;  // of these
};

}  // namespace weft::congestion
