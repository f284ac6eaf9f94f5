#include "goal/pack/values.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "goal/pack/frame.h"

namespace weft::goal::pack {
namespace {

enum class Coding : std::uint64_t {
  kOffsets = 0,      // code = (value - base) / step
  kDifferences = 1,  // code = zigzag((value - the one before) / step); before the first: base
};

struct Column {
  Coding coding = Coding::kOffsets;
  std::uint64_t base = 0, step = 1;
  std::uint64_t bits = 0;  // about how many the codes take together
};

void put_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

std::int64_t difference(const std::vector<std::uint64_t>& values, std::size_t i) {
  return static_cast<std::int64_t>(values[i] - (i == 0 ? values[0] : values[i - 1]));
}

Column as_offsets(const std::vector<std::uint64_t>& values) {
  Column column{.base = *std::min_element(values.begin(), values.end()), .step = 0};
  for (const std::uint64_t value : values) {
    if (column.step != 1) column.step = std::gcd(column.step, value - column.base);
  }
  column.step = std::max<std::uint64_t>(column.step, 1);
  for (const std::uint64_t value : values) {
    column.bits += static_cast<std::uint64_t>(std::bit_width((value - column.base) / column.step));
  }
  return column;
}

Column as_differences(const std::vector<std::uint64_t>& values) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 61;
  Column column{.coding = Coding::kDifferences, .base = values[0], .step = 0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t folded = zigzag(difference(values, i));
    const std::uint64_t size = (folded >> 1) + (folded & 1);  // without its sign
    if (size > kLargest) return {.bits = ~std::uint64_t{0}};
    if (column.step != 1) column.step = std::gcd(column.step, size);
  }
  column.step = std::max<std::uint64_t>(column.step, 1);
  const auto step = static_cast<std::int64_t>(column.step);
  for (std::size_t i = 0; i < values.size(); ++i) {
    column.bits += static_cast<std::uint64_t>(std::bit_width(zigzag(difference(values, i) / step)));
  }
  return column;
}

}  // namespace

// A block has as varints the number of columns and for each its number of values, coding and width, base,
// step; then for each column its codes byte plane by byte plane, the lowest first.
std::string ValueColumns::finish(std::vector<std::size_t>& parts) {
  std::string bytes;
  parts.clear();
  put_varint(bytes, columns_.size());
  std::vector<std::vector<std::uint64_t>> codes(columns_.size());
  std::vector<int> widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::vector<std::uint64_t>& values = columns_[c];
    put_varint(bytes, values.size());
    if (values.empty()) continue;
    Column column = as_offsets(values);
    // Differences of unrelated values are larger than the values are; that they must spare a good deal keeps
    // what only seems related, and what repeats, as it is.
    if (column.bits > 0) {
      const Column other = as_differences(values);
      if (other.bits < column.bits - column.bits / 8) column = other;
    }
    std::uint64_t any = 0;
    codes[c].reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      codes[c].push_back(column.coding == Coding::kOffsets
                             ? (values[i] - column.base) / column.step
                             : zigzag(difference(values, i) / static_cast<std::int64_t>(column.step)));
      any |= codes[c].back();
    }
    widths[c] = (std::bit_width(any) + 7) / 8;
    put_varint(bytes, static_cast<std::uint64_t>(widths[c]) * 2 + static_cast<std::uint64_t>(column.coding));
    put_varint(bytes, column.base);
    put_varint(bytes, column.step);
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    for (int plane = 0; plane < widths[c]; ++plane) {
      parts.push_back(bytes.size());
      for (const std::uint64_t code : codes[c]) bytes.push_back(static_cast<char>(code >> (8 * plane)));
    }
    columns_[c].clear();
  }
  size_ = 0;
  return bytes;
}

const char* unpack_values(std::string_view bytes, ValueBlock& block) {
  struct Head {
    std::uint64_t count = 0, form = 0, base = 0, step = 0;
  };
  constexpr const char* kBadHead = "the heads of its columns do not hold";
  std::uint64_t columns = 0, total = 0, body = 0;
  if (!take_varint(bytes, columns) || columns > kMaxColumns) return kBadHead;
  std::vector<Head> heads(columns);
  block.column_begin.assign(1, 0);
  for (Head& head : heads) {
    if (!take_varint(bytes, head.count) || head.count > kMaxBlockValues) return kBadHead;
    total += head.count;
    block.column_begin.push_back(static_cast<std::uint32_t>(total));
    if (head.count == 0) continue;
    if (!take_varint(bytes, head.form) || !take_varint(bytes, head.base) || !take_varint(bytes, head.step) ||
        head.form > 17) {
      return kBadHead;
    }
    body += head.count * (head.form / 2);
  }
  if (total == 0 || total > kMaxBlockValues) return kBadHead;
  if (body != bytes.size()) return "its columns do not fill it";
  block.values.assign(total, 0);
  const char* plane = bytes.data();
  std::uint64_t* values = block.values.data();
  for (const Head& head : heads) {
    for (std::uint64_t shift = 0; shift < 8 * (head.form / 2); shift += 8, plane += head.count) {
      for (std::uint64_t i = 0; i < head.count; ++i) {
        values[i] |= std::uint64_t{static_cast<unsigned char>(plane[i])} << shift;
      }
    }
    if (static_cast<Coding>(head.form % 2) == Coding::kOffsets) {
      for (std::uint64_t i = 0; i < head.count; ++i) values[i] = head.base + values[i] * head.step;
    } else {
      std::uint64_t before = head.base;
      for (std::uint64_t i = 0; i < head.count; ++i) {
        before += static_cast<std::uint64_t>(unzigzag(values[i])) * head.step;
        values[i] = before;
      }
    }
    values += head.count;
  }
  return nullptr;
}

}  // namespace weft::goal::pack
