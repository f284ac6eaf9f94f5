// What of a program must be known before its operations are read: when each block of them is needed at the
// latest.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/packed_file.h"

namespace weft::goal {

// A number for each operation of a rank, 0 unless it was set, of which only those at hand take memory: blocks
// of `block` operations each.
class BlockedNumbers {
 public:
  explicit BlockedNumbers(OpIndex block) : block_(block) {}

  std::uint32_t& at(OpIndex op) {
    std::vector<std::uint32_t>& numbers = blocks_[op / block_];
    if (numbers.empty()) numbers.resize(block_);
    return numbers[op % block_];
  }
  // Moves the numbers of block b to `numbers`; false, and `numbers` as it was, if none of them was set.
  bool take(std::uint32_t b, std::vector<std::uint32_t>& numbers) {
    const auto found = blocks_.find(b);
    if (found == blocks_.end()) return false;
    numbers = std::move(found->second);
    blocks_.erase(found);
    return true;
  }
  std::uint64_t memory_bytes() const { return blocks_.size() * (block_ * sizeof(std::uint32_t) + 80); }

 private:
  OpIndex block_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> blocks_;
};

// An operation's *gate* is one that lies before its block and without which it can't become ready: the last
// one there that it waits for, or that another of its block waits for which it waits for. A reader that loads
// blocks in their order, each before the gate of any operation in it or behind it starts or finishes, has
// every operation before it is ready.
struct ProgramOutline {
  OpIndex ops = 0;
  OpIndex block = 1;  // operations in each block but the last
  // Each block from number blocks_at_start on has in `gates` the least gate of the operations in it and
  // behind it. So it never falls. Those before must be there at the start.
  std::uint32_t blocks_at_start = 0;
  std::vector<OpIndex> gates;
  // Operations that wait for one in a later block than theirs, ascending; as often as they do.
  std::vector<OpIndex> wait_for_later;
  std::vector<std::uint16_t> cpus;  // that its operations name, ascending
  std::uint8_t max_nic = 0;
  bool has_wildcards = false;  // as Graph::has_wildcards

  std::uint32_t blocks() const { return (ops + block - 1) / block; }
  // Must block b be there before operation `op` starts or finishes?
  bool is_due(std::uint32_t b, OpIndex op) const {
    return b < blocks_at_start || gates[b - blocks_at_start] <= op;
  }
  // How often operation `op` waits for one in a later block.
  std::uint32_t waits_for_later(OpIndex op) const;
  std::uint64_t memory_bytes() const;
};

// Reads the rank of `reader`, which stands before its first operation and is at its end afterwards.
// REQUIRES: ops is the rank's number of operations, block > 0.
ProgramOutline outline_of(RankReader& reader, OpIndex ops, OpIndex block);

}  // namespace weft::goal
