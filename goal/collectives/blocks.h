// The blocks that algorithms deal in: of each rank, one after the other, or of a vector cut in near-equal
// parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal {

// A vector in n blocks of whole elements, the first of them one element longer where it does not divide;
// bytes that make no whole element go with the last block.
class EvenBlocks {
 public:
  EvenBlocks(Part vector, std::uint32_t element_bytes, std::uint32_t n)
      : vector_(vector),
        element_(std::max<std::uint64_t>(element_bytes, 1)),
        each_(vector.count / element_ / n),
        longer_(vector.count / element_ % n),
        n_(n) {}
  // Divides the call's whole vector.
  EvenBlocks(const CollectiveCall& call, std::uint32_t n)
      : EvenBlocks({0, call.collective->bytes}, call.collective->element_bytes, n) {}
  // Where the block begins; block == n: where the vector ends.
  std::uint64_t begin(std::uint32_t block) const {
    if (block == n_) return vector_.begin + vector_.count;
    return vector_.begin + (block * each_ + std::min<std::uint64_t>(block, longer_)) * element_;
  }
  // `count` blocks that follow upon each other. REQUIRES: block + count <= n.
  Part part(std::uint32_t block, std::uint32_t count = 1) const {
    return {begin(block), begin(block + count) - begin(block)};
  }

 private:
  Part vector_;
  std::uint64_t element_;
  std::uint64_t each_, longer_;  // elements of a block; how many blocks have one more
  std::uint32_t n_;
};

// A vector in segments of whole elements and at most so many bytes (but at least one element); 0: in one.
class Segments {
 public:
  Segments(Part vector, std::uint32_t element_bytes, std::uint64_t most_bytes) : vector_(vector) {
    const std::uint64_t element = std::max<std::uint64_t>(element_bytes, 1);
    each_ = most_bytes == 0 ? std::max<std::uint64_t>(vector.count, 1)
                            : std::max<std::uint64_t>(most_bytes / element, 1) * element;
  }
  // Divides the call's whole vector into segments of the option `segment`.
  explicit Segments(const CollectiveCall& call)
      : Segments({0, call.collective->bytes}, call.collective->element_bytes, call.options->segment_bytes) {}
  // At least 1.
  std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>((vector_.count + each_ - 1) / each_, 1));
  }
  Part part(std::uint32_t segment) const {
    const std::uint64_t before = std::min(segment * each_, vector_.count);
    return {vector_.begin + before, std::min(each_, vector_.count - before)};
  }

 private:
  Part vector_;
  std::uint64_t each_;
};

// The blocks of ranks first, first + 1, … (past the last rank going on at the first) of an allgather or
// reduce_scatter, or of a gather or scatter as its root sees them.
inline Part rank_blocks(const CollectiveCall& call, std::uint32_t first, std::uint32_t count,
                        const Group& out) {
  const Collective& collective = *call.collective;
  if (collective.counts.empty()) return {first * collective.bytes, count * collective.bytes};
  Part part;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t rank = std::uint64_t{first} + i;
    part.count += collective.counts[rank < call.size ? rank : rank - call.size];
  }
  // Where they begin is of interest to tests only.
  for (std::uint32_t i = 0; i < first && out.keeps_parts(); ++i) part.begin += collective.counts[i];
  return part;
}

inline Part rank_block(const CollectiveCall& call, std::uint32_t rank, const Group& out) {
  return rank_blocks(call, rank, 1, out);
}

}  // namespace weft::goal
