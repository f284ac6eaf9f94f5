#include "sim/units/printable.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace weft {
namespace {

constexpr std::size_t kMostQuoted = 80, kShownOfQuoted = 60;
constexpr std::size_t kMostOfAll = 4000, kShownFirst = 3000, kShownLast = 800;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// The bytes of the character that `text` begins with; 0 if it is no UTF-8 (RFC 3629, section 4), or nothing
// for a terminal. REQUIRES: text is not empty.
std::size_t printable_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool is_control = code < 0xA0 || code == 0x2028 || code == 0x2029;
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return code < kLeast[bytes] || code > 0x10FFFF || is_surrogate || is_control || turns ? 0 : bytes;
}

// The first, and the last, bytes of a text, without half characters.
std::string_view beginning(std::string_view text, std::size_t bytes) {
  for (int i = 0; i < 3 && bytes > 0 && is_continuation(text[bytes]); ++i) --bytes;
  return text.substr(0, bytes);
}
std::string_view ending(std::string_view text, std::size_t bytes) {
  text.remove_prefix(text.size() - bytes);
  for (int i = 0; i < 3 && !text.empty() && is_continuation(text[0]); ++i) text.remove_prefix(1);
  return text;
}

// Where the quote ends that begins there: at one that no word follows, or npos. Thus the apostrophes of
// "can't" end nothing.
std::size_t closing_quote(std::string_view text, std::size_t opening) {
  for (std::size_t at = opening + 1; (at = text.find('\'', at)) != std::string_view::npos; ++at) {
    if (at + 1 == text.size() || !is_word(text[at + 1])) return at;
  }
  return std::string_view::npos;
}

std::string with_short_quotes(std::string_view text) {
  std::string shorter;
  std::size_t copied = 0;
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string_view::npos; ++at) {
    if (at > 0 && is_word(text[at - 1])) continue;
    const std::size_t end = closing_quote(text, at);
    if (end == std::string_view::npos) break;
    const std::string_view quoted = text.substr(at + 1, end - at - 1);
    if (quoted.size() > kMostQuoted) {
      shorter += text.substr(copied, at - copied);
      shorter += fmt::format("'{}…' ({} bytes)", beginning(quoted, kShownOfQuoted), quoted.size());
      copied = end + 1;
    }
    at = end;
  }
  return shorter += text.substr(copied);
}

}  // namespace

std::string printable(std::string_view message) {
  std::string text = with_short_quotes(message);
  if (text.size() > kMostOfAll) {
    text = fmt::format("{} … ({} bytes are left out) … {}", beginning(text, kShownFirst),
                       text.size() - kShownFirst - kShownLast, ending(text, kShownLast));
  }
  std::string shown;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t bytes = printable_character(rest);
    if (bytes > 0) {
      shown += rest.substr(0, bytes);
    } else {
      shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(rest[0]));
    }
    rest.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return shown;
}

}  // namespace weft
