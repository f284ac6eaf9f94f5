// UTF-8, character by character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft {

struct Utf8Character {
  std::size_t bytes = 0;  // 0: what stands there is no UTF-8
  std::uint32_t code = 0;
};
// The character that a text begins with. Source: RFC 3629, section 4. REQUIRES: text is not empty.
constexpr Utf8Character utf8_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {1, first};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    code = code << 6 | (next & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes] || code > 0x10FFFF || is_surrogate) return {};
  return {bytes, code};
}

}  // namespace weft
