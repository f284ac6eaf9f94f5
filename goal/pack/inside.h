// What a PackedFile holds. For this folder only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "goal/file.h"
#include "goal/pack/block_cache.h"
#include "goal/pack/catalog.h"
#include "goal/pack/frame.h"
#include "goal/pack/packed_file.h"
#include "goal/pack/unpacked.h"
#include "goal/pack/values.h"

namespace weft::goal {

// Where everything is in a packed file: found when it is opened, read by any number of readers.
struct PackedFile::Index {
  // Where a rank's things are.
  struct RankEntry {
    OpIndex ops;
    std::uint32_t program;
    std::uint64_t edges, table;    // 3 * table + how the peers follow the rank
    std::uint64_t values, labels;  // byte offsets; 0: none
  };
  struct ProgramPlace {
    std::uint32_t block, token;
  };

  Index(std::string_view bytes, const std::string& file_name);

  [[noreturn]] void bad_index(const pack::FrameReader& frames) const {
    frames.damaged(catalog_begin, "the catalog", "its index does not fit the file");
  }

  std::unique_ptr<FileView> view;  // none if the bytes are somebody else's
  std::string_view bytes;
  std::string file_name;
  pack::FileTables tables;
  PackInfo info;
  std::vector<RankEntry> ranks;
  std::uint64_t ops = 0, edges = 0, catalog_begin = 0;
  std::vector<std::uint64_t> program_blocks, table_blocks;  // byte offsets
  std::vector<ProgramPlace> programs;
  std::vector<std::uint64_t> first_table;  // of each block of tables, one more at the end

 private:
  void read_blocks(const pack::FrameReader& frames, const pack::Catalog& catalog);
  void read_ranks(const pack::FrameReader& frames, const pack::Catalog& catalog);
};

// The blocks that one reader of the file holds unpacked.
struct PackedFile::Inside {
  struct TablePlace {
    std::shared_ptr<const pack::TableBlock> block;
    const pack::TableBlock::Table* table;
    std::uint64_t offset;  // of the block
  };

  Inside(std::shared_ptr<const Index> index, const Options& options);

  // The blocks, from the caches or unpacked for `rank`.
  std::shared_ptr<const pack::ProgramBlock> program_block(std::uint32_t block, Rank rank);
  std::shared_ptr<const pack::ValueBlock> value_block(std::uint64_t at, Rank rank);
  std::shared_ptr<const pack::LabelBlock> label_block(std::uint64_t at, Rank rank);
  TablePlace table(Rank rank);

  std::shared_ptr<const Index> index;
  pack::FrameReader frames;

 private:
  pack::BlockCache<pack::ProgramBlock> program_cache_;
  pack::BlockCache<pack::TableBlock> table_cache_;
  pack::BlockCache<pack::ValueBlock> value_cache_;
  pack::BlockCache<pack::LabelBlock> label_cache_;
};

}  // namespace weft::goal
