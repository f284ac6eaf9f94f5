#include "topologies/import/readers.h"

#include <fmt/core.h>

#include <filesystem>
#include <initializer_list>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "topologies/import/lines.h"

namespace weft::topologies {
namespace {

const ImportFormat& format_called(std::string_view name) {
  for (const ImportFormat& format : import_formats()) {
    if (format.name == name) return format;
  }
  throw std::logic_error(fmt::format("no format {}", name));
}

bool has_word(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view known : words) {
    if (word == known) return true;
  }
  return false;
}

}  // namespace

std::span<const ImportFormat> import_formats() {
  static const std::vector<ImportFormat> list = {
      {"graphml", read_graphml},
      {"edges", read_edges},
      {"topo", read_topo},
      {"adjacency", read_adjacency},
  };
  return list;
}

const ImportFormat& detect_format(std::string_view text, const std::string& file) {
  const std::string extension = lower_case(std::filesystem::path(file).extension().string());
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const char begin = first == std::string_view::npos ? ' ' : text[first];
  if (begin == '<' || has_word(extension, {".graphml", ".xml"})) return format_called("graphml");
  if (extension == ".topo") return format_called("topo");
  if (extension == ".adj") return format_called("adjacency");
  Lines lines(text, file);
  if (lines.next()) {
    const std::string word = lower_case(lines.words()[0]);
    const bool dot = has_word(word, {"graph", "digraph", "strict"}) && text.find('{') != text.npos;
    if (begin == '{' || begin == '[' || dot || has_word(extension, {".json", ".dot", ".gv", ".gml"})) {
      throw InputError({.file = file},
                       "networks are read from GraphML, edge lists, htsim's .topo and adjacency lists, not "
                       "from JSON, DOT or GML; `weft topo gen … -o FILE.graphml` and networkx write GraphML");
    }
    if (has_word(word, {"nodes", "tiers", "podsize"}) && lines.words().size() == 2) {
      return format_called("topo");
    }
  }
  return format_called("edges");
}

std::string read_whole_file(const std::string& path) {
  std::string text = read_input(path);
  if (text.empty()) throw InputError(SourceLocation{.file = path}, "the file is empty");
  return text;
}

}  // namespace weft::topologies
