#include "goal/pack/values.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

namespace weft::goal::pack {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
using Values = std::vector<std::uint64_t>;

std::string packed(const std::vector<Values>& columns) {
  ValueColumns collector;
  for (std::uint32_t c = 0; c < columns.size(); ++c) {
    for (const std::uint64_t value : columns[c]) collector.add(c + 1, value);
  }
  std::vector<std::size_t> parts;
  return collector.finish(parts);
}

void check_round_trip(const std::vector<Values>& columns) {
  ValueBlock block;
  const char* error = unpack_values(packed(columns), block);
  REQUIRE((error == nullptr ? "" : std::string(error)) == "");
  REQUIRE(block.columns() == columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    REQUIRE(Values(block.values.begin() + block.column_begin[c],
                   block.values.begin() + block.column_begin[c + 1]) == columns[c]);
  }
}

}  // namespace

TEST_CASE("columns of values come back") {
  check_round_trip({{0}});
  check_round_trip({{5, 5, 5}, {}, {kMost, 0, kMost}});
  check_round_trip({{0, std::uint64_t{1} << 63, 0, kMost}, {kMost, kMost - 1, kMost - 3}});
  check_round_trip({{1, (std::uint64_t{1} << 63) + 1, 1, (std::uint64_t{1} << 63) + 1}});
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Values> columns(1 + random() % 5);
    const std::uint64_t step = 1 + random() % 3 * (random() % 1000);
    for (Values& column : columns) {
      std::uint64_t value = random() >> random() % 64;
      const std::uint64_t spread = std::uint64_t{1} << random() % 63;
      const bool walks = random() % 2 == 0;
      for (std::uint64_t n = &column == &columns.back() ? 1 + random() % 20 : random() % 20; n > 0; --n) {
        column.push_back(walks ? value += step * (random() % 64) - 10 * step
                               : value + step * (random() % spread));
      }
    }
    check_round_trip(columns);
  }
}

TEST_CASE("bytes that columns take") {
  // Its head: number of columns, values (2 bytes), width and coding, base, step; then a byte for each value.
  Values steps, walk, same(1000, 7);
  std::mt19937_64 random(1);
  std::uint64_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    steps.push_back(40 + 1000 * (random() % 256));
    walk.push_back(at += random() % 100);
  }
  CHECK(packed({steps}).size() == 1 + 2 + 1 + 1 + 2 + 1000);
  CHECK(packed({walk}).size() <= 1 + 2 + 1 + 1 + 1 + 1000);
  CHECK(packed({same}).size() == 1 + 2 + 1 + 1 + 1);
}

TEST_CASE("whatever bytes there are, a block is refused or within its bounds") {
  const std::string right = packed({{1, 2, 3, 70000}, {9, 9, 9}, {1000, 3000}});
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = right.substr(0, right.size() - random() % 3);
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    ValueBlock block;
    if (unpack_values(bytes, block) != nullptr) {
      ++refused;
      continue;
    }
    REQUIRE(block.values.size() <= kMaxBlockValues);
    REQUIRE(block.column_begin.back() == block.values.size());
  }
  CHECK(refused > 1000);
}

}  // namespace weft::goal::pack
