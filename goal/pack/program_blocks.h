// Where the writer of packed files puts programs and tables: into blocks that many ranks share. For this
// folder only.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "goal/pack/frame.h"
#include "goal/pack/pack.pb.h"
#include "goal/pack/shapes.h"

namespace weft::goal::pack {

// A shape and where its value is from.
struct Symbol {
  std::uint32_t shape = 0;
  std::uint32_t column = 0;  // 0: `value`
  std::uint64_t value = 0;
  bool operator==(const Symbol&) const = default;
};

// Programs of many ranks, the blocks written when full.
class ProgramBlocks {
 public:
  explicit ProgramBlocks(FrameWriter& frames) : frames_(frames) {}

  // Appends a program in tokens of loops.h, whose symbols are indices of `symbols`. Returns its number.
  std::uint32_t add(Rank rank, const std::vector<std::uint32_t>& tokens, const std::vector<Symbol>& symbols,
                    const ShapeBook& book);
  // To be called when the numbering of `symbols` starts afresh, and at the end.
  void flush();
  void describe(Catalog& catalog) const;

 private:
  void add_shape(const Symbol& symbol, const ShapeBook& book);

  FrameWriter& frames_;
  Programs block_;
  Rank first_rank_ = 0;
  std::vector<std::uint32_t> local_;     // by symbol: its number in the block being filled
  std::vector<std::uint32_t> in_block_;  // the symbols that have one
  std::int64_t target_ = 0, tag_ = 0;    // of the shape added last
  std::vector<std::uint64_t> block_begin_;
  std::vector<std::uint32_t> programs_in_block_, program_begin_;
};

// Tables of many ranks, the blocks written when full. Tables that agree but for a shift of the peers are
// stored once.
class TableBlocks {
 public:
  explicit TableBlocks(FrameWriter& frames) : frames_(frames) {}

  // Returns 3 * number + how the peers follow the rank (see Catalog.rank_table).
  std::uint64_t add(Rank rank, Rank ranks, const std::vector<std::uint32_t>& peers,
                    const std::vector<std::uint32_t>& comms, const std::vector<std::uint32_t>& collectives);
  void flush();
  void describe(Catalog& catalog) const;

 private:
  FrameWriter& frames_;
  Tables block_;
  std::uint32_t tables_ = 0;
  std::unordered_map<Digest, std::uint32_t, DigestHash> known_;  // only asked, never walked
  std::vector<std::uint64_t> block_begin_;
  std::vector<std::uint32_t> tables_in_block_;
};

}  // namespace weft::goal::pack
