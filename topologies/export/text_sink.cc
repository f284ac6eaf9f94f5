#include "topologies/export/text_sink.h"

#include <iterator>

namespace weft::topologies {

void TextSink::append(fmt::string_view format, fmt::format_args args) {
  constexpr std::size_t kPiece = 1 << 16;
  fmt::vformat_to(std::back_inserter(buffer_), format, args);
  if (buffer_.size() >= kPiece) finish();
}

}  // namespace weft::topologies
