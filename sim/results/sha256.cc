#include "sim/results/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>

namespace weft::results {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2): the
// greatest x with x³ <= prime · 2^96, without what is above 32 bits.
constexpr std::array<std::uint32_t, 64> make_constants() {
  std::array<std::uint32_t, 64> constants{};
  unsigned found = 0;
  for (unsigned number = 2; found < 64; ++number) {
    bool is_prime = true;
    for (unsigned divisor = 2; divisor * divisor <= number; ++divisor) is_prime &= number % divisor != 0;
    if (!is_prime) continue;
    const unsigned __int128 wanted = static_cast<unsigned __int128>(number) << 96;
    std::uint64_t root = 0;
    for (int bit = 34; bit >= 0; --bit) {
      const std::uint64_t next = root | std::uint64_t{1} << bit;
      if (static_cast<unsigned __int128>(next) * next * next <= wanted) root = next;
    }
    constants[found++] = static_cast<std::uint32_t>(root);
  }
  return constants;
}
constexpr std::array<std::uint32_t, 64> kConstants = make_constants();

std::uint32_t load(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         bytes[3];
}

}  // namespace

void Sha256::take_block(const unsigned char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) words[i] = load(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + kConstants[i] + words[i];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < added.size(); ++i) state_[i] += added[i];
}

void Sha256::add(std::string_view bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (held_ == 0 && bytes.size() >= block_.size()) {
      take_block(reinterpret_cast<const unsigned char*>(bytes.data()));
      bytes.remove_prefix(block_.size());
      continue;
    }
    const std::size_t taken = std::min(bytes.size(), block_.size() - held_);
    std::memcpy(block_.data() + held_, bytes.data(), taken);
    held_ += taken;
    bytes.remove_prefix(taken);
    if (held_ < block_.size()) return;
    take_block(block_.data());
    held_ = 0;
  }
}

std::string Sha256::finish() {
  const std::uint64_t bits = 8 * bytes_;
  add(std::string_view("\x80", 1));
  while (held_ != 56) add(std::string_view("\0", 1));
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  add(length);
  std::string text;
  for (const std::uint32_t word : state_) text += fmt::format("{:08x}", word);
  return text;
}

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string buffer(1 << 18, '\0');
  Sha256 digest;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    digest.add({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
  return file.eof() ? digest.finish() : "";
}

}  // namespace weft::results
