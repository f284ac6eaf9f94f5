#include "topologies/export/text_sink.h"

#include <iterator>

namespace weft::topologies {

void TextSink::append(fmt::string_view format, fmt::format_args args) {
  constexpr std::size_t kPiece = 1 << 16;
  fmt::vformat_to(std::back_inserter(buffer_), format, args);
  if (buffer_.size() >= kPiece) finish();
}

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool unprintable = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    switch (c) {
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
        result += unprintable ? '?' : c;
    }
  }
  return result;
}

}  // namespace weft::topologies
