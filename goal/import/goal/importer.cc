#include "goal/import/goal/importer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "goal/binary/binary.h"
#include "goal/import/sniff.h"
#include "goal/read_graph.h"

namespace weft::goal {
namespace {

// Packed graphs (.weft) need no import; weft goal convert makes other formats of them.
bool looks_like_goal(const std::filesystem::path& path) {
  const std::string head = first_bytes(path);
  std::uint64_t magic = 0;
  if (head.size() >= sizeof magic) std::memcpy(&magic, head.data(), sizeof magic);
  if (magic == kBinaryMagic || magic == kBinaryMagicSpent) return true;
  std::size_t at = 0;
  const auto skip_blanks = [&] { at = std::min(head.find_first_not_of(" \t\r\n", at), head.size()); };
  for (skip_blanks(); head.compare(at, 2, "//") == 0; skip_blanks())
    at = std::min(head.find('\n', at), head.size());
  for (; head.compare(at, 2, "/*") == 0; skip_blanks())
    at = std::min(head.find("*/", at), head.size() - 2) + 2;
  return head.compare(at, 9, "num_ranks") == 0;
}

Graph import_goal(const std::filesystem::path& path, const Parameters&, PackInfo& info) {
  Graph graph = read_graph(path.string(), &info);
  info.metadata.try_emplace("source", "GOAL");
  return graph;
}

}  // namespace

Importer goal_importer() {
  return {
      .info = {.name = "goal",
               .summary = "Graphs of GOAL tools, text or binary.",
               .source = "T. Hoefler, C. Siebert, A. Lumsdaine, Group Operation Assembly Language, ICPP 2009",
               .parameters = {}},
      .looks_like = "a text file that begins with num_ranks, or binary GOAL",
      .span = "",
      .sniff = looks_like_goal,
      .import = import_goal};
}

}  // namespace weft::goal
