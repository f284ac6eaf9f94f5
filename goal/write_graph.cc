#include "goal/write_graph.h"

#include "goal/binary/binary.h"
#include "goal/chakra/chakra.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

struct FormatName {
  Format format;
  std::string_view name, ending;
};
constexpr FormatName kFormats[] = {{Format::kText, "text", ".goal"},
                                   {Format::kBinary, "binary", ".bin"},
                                   {Format::kPack, "pack", ".weft"},
                                   {Format::kChakra, "chakra", ".et"}};

}  // namespace

Format format_of_name(std::string_view name) {
  for (const FormatName& known : kFormats) {
    if (name == known.name) return known.format;
  }
  throw InputError("'" + std::string(name) +
                   "' is not a format of GOAL graphs; known: text, binary, pack, chakra");
}

Format format_of_path(const std::string& path) {
  for (const FormatName& known : kFormats) {
    if (path.ends_with(known.ending)) return known.format;
  }
  throw InputError(
      SourceLocation{.file = path},
      "expected a name that ends in .weft (packed), .goal (text), .bin (binary) or .et (Chakra)");
}

void write_graph(const Graph& graph, const PackInfo& info, const std::string& path, Format format) {
  GraphRanks ranks(graph);
  write_graph(ranks, info, path, format);
}

void write_graph(RankSource& graph, const PackInfo& info, const std::string& path, Format format) {
  switch (format) {
    case Format::kText:
      return write_text_file(graph, path);
    case Format::kBinary:
      return write_binary_file(graph, path);
    case Format::kPack:
      return write_pack_file(graph, info, path);
    case Format::kChakra:
      return write_chakra_files(graph, path);
  }
}

}  // namespace weft::goal
