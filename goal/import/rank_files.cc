#include "goal/import/rank_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "goal/graph/graph.h"
#include "goal/import/sniff.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

// The name of a rank's file: PREFIX, the rank, and ".txt" or "-of-8.txt".
struct FileName {
  std::string prefix;
  Rank rank = 0;
};

std::optional<FileName> parse_name(const fs::path& path) {
  std::string name = path.filename().string();
  if (!name.ends_with(".txt")) return std::nullopt;
  name.resize(name.size() - 4);
  constexpr std::string_view kDigits = "0123456789";
  const auto digits_at = [&] { return name.find_last_not_of(kDigits) + 1; };
  if (const std::size_t of = name.rfind("-of-");
      of != name.npos && of + 4 == digits_at() && of + 4 < name.size()) {
    name.resize(of);
  }
  const std::size_t begin = digits_at();
  FileName made{name.substr(0, begin)};
  const char* end = name.data() + name.size();
  if (begin == name.size() || std::from_chars(name.data() + begin, end, made.rank).ptr != end)
    return std::nullopt;
  return made;
}

// The files of a folder, by prefix and rank.
std::map<std::string, std::map<Rank, fs::path>> traces_in(const fs::path& folder, const RankFileKind& kind) {
  std::map<std::string, std::map<Rank, fs::path>> traces;
  for (const fs::path& path : folder_entries(folder)) {
    const std::optional<FileName> name = parse_name(path);
    if (name && kind.looks_like(first_bytes(path))) traces[name->prefix][name->rank] = path;
  }
  return traces;
}

}  // namespace

bool has_rank_files(const fs::path& path, const RankFileKind& kind) {
  std::error_code error;
  if (fs::is_directory(path, error)) return !traces_in(path, kind).empty();
  return parse_name(path) && kind.looks_like(first_bytes(path));
}

std::vector<fs::path> rank_files(const fs::path& path, const RankFileKind& kind) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto traces = traces_in(folder ? path : parent, kind);
  std::string prefix;
  if (!folder) {
    const std::optional<FileName> name = parse_name(path);
    if (name) prefix = name->prefix;
  } else if (traces.size() == 1) {
    prefix = traces.begin()->first;
  } else if (traces.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [other, files] : traces) names.push_back(files.begin()->second.filename().string());
    throw InputError(fmt::format("{}: several traces here; give the path of one rank's file: {}",
                                 path.string(), fmt::join(names, ", ")));
  }
  const auto found = traces.find(prefix);
  if (found == traces.end()) {
    throw InputError(fmt::format("{}: {}", path.string(), kind.expected));
  }
  std::vector<fs::path> files;
  for (const auto& [rank, file] : found->second) {
    if (rank != files.size()) {
      throw InputError(fmt::format("{}: the file of rank {} is missing, but that of rank {} is there",
                                   file.parent_path().string(), files.size(), rank));
    }
    files.push_back(file);
  }
  return files;
}

}  // namespace weft::goal
