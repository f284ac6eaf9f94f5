#include "sim/units/xml_text.h"

#include "sim/units/utf8.h"

namespace weft {
namespace {

// The bytes of the character that `text` begins with; 0 if XML has none such.
// Source: XML 1.0, fifth edition, section 2.2. REQUIRES: text is not empty.
std::size_t xml_character(std::string_view text) {
  const auto [bytes, code] = utf8_character(text);
  const bool is_control = code < 0x20 && code != '\t' && code != '\n' && code != '\r';
  return is_control || code == 0xFFFE || code == 0xFFFF ? 0 : bytes;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = xml_character(text);
    switch (bytes > 0 ? text[0] : '?') {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&apos;";
        break;
      default:
        result += bytes > 0 ? text.substr(0, bytes) : "?";
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return result;
}

bool fits_xml(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = xml_character(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace weft
