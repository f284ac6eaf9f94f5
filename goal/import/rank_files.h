// Text traces with a file for each rank, whose number ends its name: trace0.txt, trace1.txt …
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace weft::goal {

struct RankFileKind {
  const char* expected;  // "no trace of liballprof; expected a file for each rank, as trace0.txt": for people
  bool (*looks_like)(std::string_view head);  // by its first bytes
};

// Is the path such a file, or a folder with one? Names end in the rank and ".txt" or "-of-8.txt", with or
// without leading zeros. What can't be read has none.
bool has_rank_files(const std::filesystem::path& path, const RankFileKind& kind);

// The files of all ranks, in their order: those of the folder, or those named like the one given. Throws
// InputError if there are none, if a rank is missing, or if a folder has several traces.
std::vector<std::filesystem::path> rank_files(const std::filesystem::path& path, const RankFileKind& kind);

}  // namespace weft::goal
