// The blocks that algorithms deal in: of each rank, one after the other, or of a vector cut in equal parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal {

class Blocks {
 public:
  // One block for each rank, as the call names them: all of `bytes`, or of its counts.
  // `places`: does it matter where a block begins? Only to tests, and counts take a pass to add up; else 0.
  static Blocks of_ranks(const CollectiveCall& call, bool places) {
    Blocks blocks;
    const Collective& collective = *call.collective;
    blocks.number_ = call.size;
    blocks.places_ = places;
    if (collective.counts.empty()) {
      blocks.base_ = collective.bytes;
    } else {
      blocks.counts_ = collective.counts.data();
    }
    return blocks;
  }
  // The call's vector in `number` parts of whole elements, the first of them one element longer where it does
  // not divide; bytes that make no whole element go with the last part.
  static Blocks of_vector(const CollectiveCall& call, std::uint32_t number) {
    Blocks blocks;
    const Collective& collective = *call.collective;
    blocks.number_ = number;
    blocks.element_ = std::max<std::uint64_t>(collective.element_bytes, 1);
    blocks.base_ = collective.bytes / blocks.element_ / number * blocks.element_;
    blocks.longer_ = static_cast<std::uint32_t>(collective.bytes / blocks.element_ % number);
    blocks.tail_ = collective.bytes % blocks.element_;
    return blocks;
  }

  std::uint64_t bytes(std::uint32_t block) const {
    if (counts_ != nullptr) return counts_[block];
    return base_ + (block < longer_ ? element_ : 0) + (block + 1 == number_ ? tail_ : 0);
  }
  Part part(std::uint32_t block) const { return {places_ ? offset(block) : 0, bytes(block)}; }
  // Blocks first, first + 1, … past the last one going on at the first. REQUIRES: first < number,
  // count <= number.
  Part range(std::uint32_t first, std::uint32_t count) const {
    const std::uint64_t end = std::uint64_t{first} + count;
    std::uint64_t bytes = 0;
    if (counts_ != nullptr) {
      for (std::uint64_t i = first; i < end; ++i) bytes += counts_[i < number_ ? i : i - number_];
    } else if (end <= number_) {
      bytes = offset(static_cast<std::uint32_t>(end)) - offset(first);
    } else {
      bytes = offset(number_) - offset(first) + offset(static_cast<std::uint32_t>(end - number_));
    }
    return {places_ ? offset(first) : 0, bytes};
  }

 private:
  // Bytes of all blocks before this one.
  std::uint64_t offset(std::uint32_t block) const {
    if (counts_ == nullptr) {
      return block * base_ + std::min(block, longer_) * element_ + (block == number_ ? tail_ : 0);
    }
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < block; ++i) bytes += counts_[i];
    return bytes;
  }

  std::uint32_t number_ = 0;
  bool places_ = true;
  const std::uint64_t* counts_ = nullptr;  // null: by the rule below
  std::uint64_t base_ = 0, element_ = 0;   // bytes of a block, and how much longer the first `longer_` are
  std::uint32_t longer_ = 0;
  std::uint64_t tail_ = 0;  // of the last block
};

}  // namespace weft::goal
