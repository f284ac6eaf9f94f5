// Allgathers of blocks among places 0 … size - 1, each of which has the block of its number: for algorithms
// of which they are a part. `rank(v)` is the rank of the communicator at place v, `blocks(first, count)` says
// where blocks lie.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal {

// Round k of size - 1 in which each block goes once around a ring, from the place that is `lead` places after
// its number to the one before that: the blocks that place `me` sends and gets.
struct RingRound {
  RingRound(std::uint32_t size, std::uint32_t me, std::uint32_t lead, std::uint32_t k)
      : outgoing(static_cast<std::uint32_t>((me + 2 * std::uint64_t{size} - lead - k) % size)),
        incoming(outgoing == 0 ? size - 1 : outgoing - 1),
        next(me + 1 == size ? 0 : me + 1),
        before(me == 0 ? size - 1 : me - 1) {}
  std::uint32_t outgoing, incoming;  // blocks
  std::uint32_t next, before;        // places
};

// Recursive doubling: round k joins the trees of 2^k places whose first ones differ in bit k. Where the
// places are no power of two, the upper tree may be short of some, and those below without a partner get its
// blocks from the others of their tree, in k steps. Source: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA
// 19(1), 2005.
template <typename Blocks, typename RankAt>
class DoublingAllgather {
 public:
  DoublingAllgather(std::uint32_t size, std::uint32_t me, Blocks blocks, RankAt rank)
      : size_(size), me_(me), blocks_(blocks), rank_(rank) {}

  // The tag is `tag` + index. False past the last group.
  bool expand(std::uint32_t index, std::uint32_t tag, Group& out) const {
    const auto rounds = static_cast<std::uint32_t>(std::bit_width(size_ - 1));
    std::uint32_t k = 0, step = index;
    for (; k < rounds; ++k) {
      const std::uint32_t steps = std::has_single_bit(size_) ? 1 : 1 + k;
      if (step < steps) break;
      step -= steps;
    }
    if (k == rounds) return false;
    const std::uint32_t width = 1u << k;  // places of a full tree
    if (step == 0) {
      exchange(width, tag + index, out);
    } else {
      pass_on(width, width >> step, tag + index, out);
    }
    return true;
  }

 private:
  std::uint32_t own_tree(std::uint32_t width) const { return me_ & ~(width - 1); }  // its first place

  void exchange(std::uint32_t width, std::uint32_t tag, Group& out) const {
    const std::uint32_t peer = me_ ^ width;
    if (peer >= size_) return;
    const auto tree = [&](std::uint32_t first) { return blocks_(first, std::min(width, size_ - first)); };
    out.send(rank_(peer), tag, tree(own_tree(width)));
    out.recv(rank_(peer), tag, tree(own_tree(width) ^ width));
  }

  // With the place `distance` away, in subtrees of twice that: the first ones of each have the blocks.
  void pass_on(std::uint32_t width, std::uint32_t distance, std::uint32_t tag, Group& out) const {
    const std::uint32_t own = own_tree(width), other = own ^ width;
    const bool short_above = other > own && other < size_ && size_ - other < width;
    if (!short_above) return;
    const std::uint32_t have = size_ - other;
    const std::uint32_t lower = me_ & ~(2 * distance - 1);
    const std::uint32_t peer = me_ ^ distance;
    const Part missing = blocks_(other, have);
    if (me_ < peer && me_ < lower + have && peer >= lower + have) out.send(rank_(peer), tag, missing);
    if (me_ > peer && peer < lower + have && me_ >= lower + have) out.recv(rank_(peer), tag, missing);
  }

  std::uint32_t size_, me_;
  Blocks blocks_;
  RankAt rank_;
};

}  // namespace weft::goal
