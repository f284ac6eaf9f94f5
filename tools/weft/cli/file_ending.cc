#include "tools/weft/cli/file_ending.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "sim/units/input_error.h"

namespace weft::cli {
namespace {

constexpr std::string_view kKnown[] = {
    // Archives and compressed files.
    ".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".txz", ".zst", ".lz4", ".7z", ".rar",
    // Pictures and pages.
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".pdf", ".ps", ".eps", ".pgm", ".html", ".htm",
    // Tables and data.
    ".csv", ".tsv", ".json", ".xml", ".yaml", ".yml", ".sqlite", ".db", ".parquet", ".xls", ".xlsx", ".ods",
    // Graphs of programs and networks.
    ".goal", ".weft", ".bin", ".et", ".dot", ".gv", ".graphml", ".edges", ".topo", ".txtpb"};

}  // namespace

void refuse_ending_of_another(const std::string& path, std::string_view what,
                              std::initializer_list<std::string_view> own) {
  std::string name = path;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto ends_name = [&](std::string_view ending) { return name.ends_with(ending); };
  if (std::ranges::any_of(own, ends_name) || std::ranges::none_of(kKnown, ends_name)) return;
  throw InputError(SourceLocation{.file = path},
                   fmt::format("{}; expected a name that ends in {}", what, fmt::join(own, " or ")));
}

void refuse_ending_of_another(const std::string& path, bool json) {
  if (json) return refuse_ending_of_another(path, "what --json writes is JSON", {".json"});
  const bool wants_json = path.ends_with(".json");
  refuse_ending_of_another(path, wants_json ? "this is text, and JSON with --json only" : "this is text",
                           {".txt"});
}

}  // namespace weft::cli
