#include "goal/pack/loops.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace weft::goal::pack {
namespace {

using Symbols = std::vector<std::uint32_t>;

Symbols tokens_of(const Symbols& symbols) {
  Symbols tokens;
  find_loops(symbols, tokens);
  return tokens;
}

// Unrolls tokens from `at` on; stops behind the end of the loop that it began in.
void unroll(const Symbols& tokens, std::size_t& at, Symbols& out, std::size_t depth = 0) {
  REQUIRE(depth <= kMaxLoopDepth);
  while (at < tokens.size()) {
    const std::uint32_t token = tokens[at++];
    if (token == kLoopEnd) return;
    if (token != kLoop) {
      out.push_back(token);
      continue;
    }
    const std::uint32_t rounds = tokens[at++];
    REQUIRE(rounds >= 2);
    const std::size_t begin = at;
    for (std::uint32_t round = 0; round < rounds; ++round) unroll(tokens, at = begin, out, depth + 1);
  }
}

Symbols repeat(const Symbols& body, int rounds) {
  Symbols all;
  for (int round = 0; round < rounds; ++round) all.insert(all.end(), body.begin(), body.end());
  return all;
}

Symbols join(std::initializer_list<Symbols> parts) {
  Symbols all;
  for (const Symbols& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("loops, nested and one behind the other") {
  CHECK(tokens_of({}).empty());
  CHECK(tokens_of({1, 2, 3}) == Symbols{1, 2, 3});
  CHECK(tokens_of(repeat({7}, 100)) == Symbols{kLoop, 100, 7, kLoopEnd});
  CHECK(tokens_of(join({{9}, repeat({1, 2, 3}, 1000), {8}})) ==
        Symbols{9, kLoop, 1000, 1, 2, 3, kLoopEnd, 8});
  const Symbols inner = repeat({1, 2, 3, 4}, 10);
  CHECK(tokens_of(repeat(join({{5}, inner, {6}}), 20)) ==
        Symbols{kLoop, 20, 5, kLoop, 10, 1, 2, 3, 4, kLoopEnd, 6, kLoopEnd});
  // Symbols that stand several times in a body do not hide its period.
  const Symbols body = {1, 2, 1, 2, 3, 1, 2, 1, 2, 4};
  CHECK(tokens_of(repeat(body, 50)).size() <= body.size() + 6);
}

TEST_CASE("what was folded unrolls to what it was") {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  std::size_t folded = 0;
  for (int round = 0; round < 3000; ++round) {
    // Grown by copying stretches of what is there already, often several times over.
    const std::uint64_t alphabet = 1 + below(6);
    Symbols symbols;
    while (symbols.size() < 300) {
      if (symbols.empty() || below(3) == 0) {
        symbols.push_back(static_cast<std::uint32_t>(below(alphabet)));
        continue;
      }
      const std::size_t begin = below(symbols.size()), length = 1 + below(symbols.size() - begin);
      const Symbols stretch(symbols.begin() + static_cast<std::ptrdiff_t>(begin),
                            symbols.begin() + static_cast<std::ptrdiff_t>(begin + length));
      for (std::uint64_t times = 1 + below(5); times > 0; --times) {
        symbols.insert(symbols.end(), stretch.begin(), stretch.end());
      }
    }
    const Symbols tokens = tokens_of(symbols);
    Symbols again;
    std::size_t at = 0;
    unroll(tokens, at, again);
    REQUIRE(again == symbols);
    folded += tokens.size() < symbols.size() / 4;
  }
  CHECK(folded > 1000);
}

TEST_CASE("sequences without loops take linear time") {
  // Words in which long stretches come back, but seldom at once: Fibonacci's, and squares far apart.
  Symbols a = {0}, b = {0, 1};
  while (b.size() < 2'000'000) {
    Symbols next = join({b, a});
    a = std::move(b);
    b = std::move(next);
  }
  Symbols tokens = tokens_of(b), again;
  std::size_t at = 0;
  unroll(tokens, at, again);
  CHECK(again == b);
  std::mt19937_64 random(1);
  Symbols stretch(500'000);
  for (std::uint32_t& symbol : stretch) symbol = static_cast<std::uint32_t>(random() % 3);
  const Symbols shifted = join({stretch, {5}, stretch, {6, 6}, stretch});
  tokens = tokens_of(shifted);
  again.clear();
  unroll(tokens, at = 0, again);
  CHECK(again == shifted);
}

}  // namespace weft::goal::pack
