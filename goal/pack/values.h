// Blocks of values: the compute times and message sizes of one rank that its program leaves open. For this
// folder only. FORMAT.md gives the layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::goal::pack {

inline constexpr std::uint32_t kMaxColumns = 64;
inline constexpr std::uint64_t kMaxBlockValues = 1 << 16;

// Collects values column by column and packs them.
class ValueColumns {
 public:
  // REQUIRES: column is 1 to kMaxColumns, size() < kMaxBlockValues.
  void add(std::uint32_t column, std::uint64_t value) {
    if (columns_.size() < column) columns_.resize(column);
    columns_[column - 1].push_back(value);
    ++size_;
  }
  std::uint64_t size() const { return size_; }
  // Returns the block's bytes, and in `parts` where each plane of bytes begins; starts afresh.
  std::string finish(std::vector<std::size_t>& parts);

 private:
  std::vector<std::vector<std::uint64_t>> columns_;
  std::uint64_t size_ = 0;
};

// A block unpacked: 8 bytes a value.
struct ValueBlock {
  std::vector<std::uint64_t> values;        // column by column
  std::vector<std::uint32_t> column_begin;  // into values, by column number less 1; one more at the end
  std::uint64_t file_end = 0;               // byte offset behind the block

  std::uint32_t columns() const { return static_cast<std::uint32_t>(column_begin.size() - 1); }
  std::uint64_t memory_bytes() const { return 8 * values.size() + 4 * column_begin.size() + sizeof *this; }
};

// Fills `block`; returns what is wrong, or null.
const char* unpack_values(std::string_view bytes, ValueBlock& block);

}  // namespace weft::goal::pack
