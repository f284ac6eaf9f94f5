#include "sim/units/printable.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sim/units/utf8.h"

namespace weft {
namespace {

constexpr std::size_t kMostQuoted = 80, kShownOfQuoted = 60;
constexpr std::size_t kMostOfAll = 500, kShownFirst = 320, kShownLast = 120;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// The bytes of the character that `text` begins with; 0 if it is no UTF-8, or nothing for a terminal.
// REQUIRES: text is not empty.
std::size_t printable_character(std::string_view text) {
  const auto [bytes, code] = utf8_character(text);
  const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return is_control || turns ? 0 : bytes;
}

// The text with what is not printable as \xNN; all of it, or as many whole characters as fit into `most`
// bytes.
std::string escaped(std::string_view text, std::size_t most = SIZE_MAX) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t bytes = printable_character(text);
    if (shown.size() + (bytes > 0 ? bytes : 4) > most) break;
    if (bytes > 0) {
      shown += text.substr(0, bytes);
    } else {
      shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return shown;
}

// The last bytes of a text, without half characters.
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
    // Longer ones are so for certain, and may be very long.
    if (escaped(quoted, kMostQuoted + 4).size() > kMostQuoted) {
      shorter += escaped(text.substr(copied, at - copied));
      shorter += fmt::format("'{}…' ({} bytes)", escaped(quoted, kShownOfQuoted), quoted.size());
      copied = end + 1;
    }
    at = end;
  }
  return shorter += escaped(text.substr(copied));
}

std::string shortened(std::string_view message) {
  const std::string text = with_short_quotes(message);
  if (text.size() <= kMostOfAll) return text;
  return fmt::format("{} … ({} bytes are left out) … {}", escaped(text, kShownFirst),
                     text.size() - kShownFirst - kShownLast, ending(text, kShownLast));
}

}  // namespace

std::string printable(std::string_view message) {
  std::string shown = shortened(message);
  // Next to a cut other pieces may look like quotes. Each round makes the text shorter.
  for (std::string again; (again = shortened(shown)) != shown;) shown = std::move(again);
  return shown;
}

std::string printable_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    shown += escaped(text.substr(0, end));
    if (end < text.size()) shown += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

}  // namespace weft
