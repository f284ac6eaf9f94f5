// The blocks that algorithms deal in: of each rank, one after the other, or of a vector cut in near-equal
// parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal {

// A call's vector in n blocks of whole elements, the first of them one element longer where it does not
// divide; bytes that make no whole element go with the last block.
class EvenBlocks {
 public:
  EvenBlocks(const CollectiveCall& call, std::uint32_t n)
      : element_(std::max<std::uint64_t>(call.collective->element_bytes, 1)),
        bytes_(call.collective->bytes),
        each_(bytes_ / element_ / n),
        longer_(bytes_ / element_ % n),
        n_(n) {}
  // Bytes of all blocks before this one; block == n: of all.
  std::uint64_t begin(std::uint32_t block) const {
    return block == n_ ? bytes_ : (block * each_ + std::min<std::uint64_t>(block, longer_)) * element_;
  }
  // `count` blocks that follow upon each other. REQUIRES: block + count <= n.
  Part part(std::uint32_t block, std::uint32_t count = 1) const {
    return {begin(block), begin(block + count) - begin(block)};
  }

 private:
  std::uint64_t element_, bytes_;
  std::uint64_t each_, longer_;  // elements of a block; how many blocks have one more
  std::uint32_t n_;
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
