#include "goal/read_graph.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "goal/binary/binary.h"
#include "goal/file.h"
#include "goal/pack/packed_ranks.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr const char* kAccepted =
    "expected GOAL text (beginning with num_ranks), binary GOAL (.bin) or a packed graph (.weft)";

bool starts_like_binary(std::string_view bytes) {
  std::uint64_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kBinaryMagic || magic == kBinaryMagicSpent;
}

struct OwnedGraph {
  Graph graph;
};
class WholeGraph : private OwnedGraph, public GraphRanks {
 public:
  explicit WholeGraph(Graph&& whole) : OwnedGraph{std::move(whole)}, GraphRanks(graph) {}
};

// One pass over the ranks needs no more of the file unpacked than the rank at hand does.
struct OpenedFile {
  PackedFile file;
};
class OpenedRanks : private OpenedFile, public PackedRanks {
 public:
  OpenedRanks(std::unique_ptr<FileView> view, const std::string& path)
      : OpenedFile{PackedFile(std::move(view), path, {.cache_bytes = 64 << 20})}, PackedRanks(file) {}
  const PackInfo& info() const { return file.info(); }
};

// Text has no control characters but blanks and ends of lines.
bool looks_like_text(std::string_view bytes) {
  const std::string_view begin = bytes.substr(0, 512);
  return std::all_of(begin.begin(), begin.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t' || c == '\r';
  });
}

}  // namespace

std::unique_ptr<RankSource> open_ranks(const std::string& path, PackInfo* info) {
  auto view = std::make_unique<FileView>(path);  // once: of a pipe nothing comes again
  if (PackedFile::is_one(view->bytes())) {
    auto ranks = std::make_unique<OpenedRanks>(std::move(view), path);
    if (info != nullptr) *info = ranks->info();
    return ranks;
  }
  return std::make_unique<WholeGraph>(parse_graph(view->bytes(), path, info));
}

Graph read_graph(const std::string& path, PackInfo* info) {
  const FileView file(path);
  return parse_graph(file.bytes(), path, info);
}

Graph parse_graph(std::string_view bytes, const std::string& path, PackInfo* info) {
  if (info != nullptr) *info = {};
  const auto refuse = [&](const std::string& found) {
    throw InputError(SourceLocation{.file = path}, found + "; " + kAccepted);
  };
  if (bytes.empty()) refuse("the file is empty");
  if (bytes.starts_with("WEFTGOAL")) return parse_pack(bytes, path, info);
  if (starts_like_binary(bytes)) return parse_binary(bytes, path);
  if (bytes.starts_with("\x1f\x8b")) refuse("the file is compressed with gzip, unpack it first (gunzip)");
  if (bytes.starts_with("\x28\xb5\x2f\xfd"))
    refuse("the file is compressed with zstd, unpack it first (unzstd)");
  if (!looks_like_text(bytes)) refuse("the file is of an unknown kind");
  return parse_text(bytes, path);
}

}  // namespace weft::goal
