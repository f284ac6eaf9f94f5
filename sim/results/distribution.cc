#include "sim/results/distribution.h"

namespace weft::results {

void Distribution::merge(const Distribution& other) {
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  largest_ = std::max(largest_, other.largest_);
}

std::uint64_t Distribution::percentile(std::uint32_t per_mille) const {
  if (count_ == 0) return 0;
  const auto scaled = static_cast<unsigned __int128>(count_) * per_mille;
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>((scaled + 999) / 1000));
  // The ends are known exactly.
  if (rank == 1) return least_;
  if (rank == count_) return largest_;
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while ((seen += counts_[bucket]) < rank) ++bucket;
  return std::clamp(middle_of(bucket), least_, largest_);
}

std::uint64_t Distribution::middle_of(std::size_t bucket) {
  return first_of(bucket) + ((std::uint64_t{1} << shift_of(bucket)) >> 1);
}

}  // namespace weft::results
