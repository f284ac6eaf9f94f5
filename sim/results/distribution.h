// The distribution of a quantity over many events, in bounded memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace weft::results {

// A histogram of whole numbers with buckets of equal relative width, as in G. Tene's HdrHistogram: 256 to
// each power of two, so that a value read back is off by at most 1/512 (0.2%). Count, mean, least and largest
// are exact. The order of add() and merge() makes no difference to anything. At most 114 KiB; less where
// values are small.
class Distribution {
 public:
  void add(std::uint64_t value) {
    const std::size_t bucket = bucket_of(value);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    ++counts_[bucket];
    ++count_;
    sum_ += value;
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
  }
  void merge(const Distribution& other);

  std::uint64_t count() const { return count_; }
  // These are 0 where there are no values.
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  std::uint64_t least() const { return count_ == 0 ? 0 : least_; }
  std::uint64_t largest() const { return largest_; }
  // The percentile by nearest rank: the least of the values that at least `per_mille` / 1000 of all do not
  // exceed; 500 is the median, 999 is p99.9. REQUIRES: per_mille <= 1000.
  std::uint64_t percentile(std::uint32_t per_mille) const;
  // Calls visit(first, last, count) for each bucket that holds values, which are first to last.
  template <typename Visit>
  void for_each_bucket(Visit&& visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != 0) visit(first_of(i), first_of(i + 1) - 1, counts_[i]);
    }
  }

 private:
  static constexpr int kBits = 8;  // buckets to a power of two, as a power of two

  // Values below 2^(kBits + 1) have a bucket each.
  static std::size_t bucket_of(std::uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - (kBits + 1));
    return (static_cast<std::size_t>(shift) << kBits) + (value >> shift);
  }
  // The inverse: above the first 2^(kBits + 1), each power of two has 2^kBits buckets.
  static int shift_of(std::size_t bucket) {
    return bucket < (std::size_t{2} << kBits) ? 0 : static_cast<int>(bucket >> kBits) - 1;
  }
  static std::uint64_t first_of(std::size_t bucket) {
    const int shift = shift_of(bucket);
    return static_cast<std::uint64_t>(bucket - (static_cast<std::size_t>(shift) << kBits)) << shift;
  }
  static std::uint64_t middle_of(std::size_t bucket);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, least_ = UINT64_MAX, largest_ = 0;
  unsigned __int128 sum_ = 0;
};

}  // namespace weft::results
