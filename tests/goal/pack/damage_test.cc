// Damage within blocks whose checksums hold: what a faulty writer, or an unfriendly one, may leave.
#include <zstd.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "goal/pack/frame.h"
#include "goal/pack/pack.h"
#include "goal/pack/pack.pb.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using pack::BlockHead;
using pack::BlockType;

struct Block {
  std::uint64_t begin;
  BlockHead head;
  std::string bytes;  // unpacked
};

std::vector<Block> blocks_of(const std::string& file) {
  std::vector<Block> blocks;
  for (std::uint64_t at = pack::kHeaderBytes; at + pack::kTrailerBytes < file.size();) {
    const auto head = load<BlockHead>(file.data() + at);
    const char* frame = file.data() + at + sizeof head;
    std::string bytes(ZSTD_getFrameContentSize(frame, head.bytes), '\0');
    REQUIRE(ZSTD_decompress(bytes.data(), bytes.size(), frame, head.bytes) == bytes.size());
    blocks.push_back({at, head, bytes});
    at += sizeof head + head.bytes;
  }
  return blocks;
}

// The offsets of blocks, which are stored as differences, once blocks have moved.
void move(google::protobuf::RepeatedField<std::int64_t>& column,
          const std::map<std::int64_t, std::int64_t>& moved) {
  std::int64_t before = 0, before_moved = 0;
  for (std::int64_t& difference : column) {
    if (difference == 0) continue;
    before += difference;
    difference = moved.at(before) - before_moved;
    before_moved = moved.at(before);
  }
}

// The file again, with these blocks.
std::string file_of(const std::vector<Block>& blocks) {
  std::string file;
  const pack::Sink sink = [&](std::string_view piece) { file += piece; };
  pack::FrameWriter writer(sink);
  std::map<std::int64_t, std::int64_t> moved;
  for (const Block& block : blocks) {
    const auto begin = static_cast<std::int64_t>(writer.written());
    moved[static_cast<std::int64_t>(block.begin)] = begin;
    pack::Catalog catalog;
    if (block.head.type != BlockType::kCatalog || !catalog.ParseFromString(block.bytes)) {
      writer.block(block.head.type, block.head.rank, block.bytes);
      continue;
    }
    try {
      for (auto* column : {catalog.mutable_program_block(), catalog.mutable_table_block(),
                           catalog.mutable_rank_values(), catalog.mutable_rank_labels()}) {
        move(*column, moved);
      }
      catalog.set_collectives_begin(
          static_cast<std::uint64_t>(moved.count(static_cast<std::int64_t>(catalog.collectives_begin())) != 0
                                         ? moved.at(static_cast<std::int64_t>(catalog.collectives_begin()))
                                         : begin));
      writer.block(block.head.type, 0, catalog);
    } catch (const std::out_of_range&) {  // offsets of its own
      writer.block(block.head.type, 0, block.bytes);
    }
  }
  writer.trailer(static_cast<std::uint64_t>(moved.at(static_cast<std::int64_t>(blocks.back().begin))));
  return file;
}

// A program that uses all that the format has: loops, columns of values, labels, tags that count, tables.
std::string sample() {
  std::string text = "num_ranks 4\ncomm 1 \"row\" { 2 0 }\n";
  std::mt19937_64 random(1);
  for (int rank = 0; rank < 4; ++rank) {
    text += "rank " + std::to_string(rank) + " {\n";
    for (int i = 0; i < 40; ++i) {
      const std::string number = std::to_string(i);
      text += "l" + number + ": calc " + std::to_string(100 + random() % 1000) + "\n";
      text += "s" + number + ": send 8b to " + std::to_string((rank + 1) % 4) + " tag " + number + "\n";
      text += "r" + number + ": recv 8b from " + (i % 7 == 0 ? "-1" : std::to_string((rank + 3) % 4)) +
              " tag " + number + "\n";
      text += "s" + number + " requires l" + number + "\nr" + number + " irequires l" + number + "\n";
      if (rank % 2 == 0) text += "gather [1 2]b root 1 elem 8 comm 1\n";
    }
    text += "}\n";
  }
  return to_pack(parse_text(text, "sample.goal"), {{{"key", "value"}}, {}});
}

}  // namespace

TEST_CASE("blocks put together again are the same graph") {
  const std::string file = sample();
  CHECK(parse_pack(file_of(blocks_of(file)), "x.weft") == parse_pack(file, "x.weft"));
}

TEST_CASE("whatever stands within a block, a file is read or refused with a place") {
  const std::vector<Block> blocks = blocks_of(sample());
  std::map<BlockType, int> refused, read;
  std::mt19937_64 random(1);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t offset = 0; offset < blocks[b].bytes.size(); ++offset) {
      for (int round = 0; round < 3; ++round) {
        std::vector<Block> changed = blocks;
        std::string& bytes = changed[b].bytes;
        if (round == 0) bytes[offset] = static_cast<char>(bytes[offset] ^ 1 << random() % 8);
        if (round == 1) bytes[offset] = static_cast<char>(random());
        if (round == 2) bytes.resize(offset);
        INFO("block " << b << ", byte " << offset << ", round " << round);
        const std::string file = file_of(changed);
        try {
          parse_pack(file, "x.weft");
          ++read[blocks[b].head.type];
        } catch (const InputError& error) {
          ++refused[blocks[b].head.type];
          CHECK(error.location().byte_offset >= 0);
          CHECK(error.location().byte_offset <= static_cast<std::int64_t>(file.size()));
        }
      }
    }
  }
  for (const BlockType type : {BlockType::kCatalog, BlockType::kPrograms, BlockType::kTables,
                               BlockType::kValues, BlockType::kLabels, BlockType::kCollectives}) {
    INFO(pack::FrameReader::block_name(type, 0));
    CHECK(refused[type] > 0);
    // Nothing tells that a label or a time is another.
    CHECK(read[type] + refused[type] > 10);
  }
}

TEST_CASE("a file cut at or within any block is refused with its rank") {
  const std::string file = sample();
  for (const Block& block : blocks_of(file)) {
    for (const std::uint64_t kept :
         {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{12}, std::uint64_t{12} + block.head.bytes / 2}) {
      const std::uint64_t length = block.begin + kept;
      try {
        parse_pack(file.substr(0, length), "x.weft");
        FAIL("a file cut at byte " << length << " was read");
      } catch (const InputError& error) {
        if (kept < 12) continue;
        CHECK(error.location().byte_offset == static_cast<std::int64_t>(block.begin));
        CHECK_THAT(error.what(),
                   Catch::Matchers::Contains(
                       "ends within " + pack::FrameReader::block_name(block.head.type, block.head.rank)));
      }
    }
  }
}

}  // namespace weft::goal
