// Folders with trace files that a fuzzer fills, for the importers of traces.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace weft::fuzz {

class TraceFolders {
 public:
  // Files are named PREFIX, their number from 0, ".wtrc".
  explicit TraceFolders(const std::string& prefix);
  ~TraceFolders();
  TraceFolders(const TraceFolders&) = delete;
  TraceFolders& operator=(const TraceFolders&) = delete;

  // The folder with the files in `bytes`, at most four, one behind the other, their checksums put right: else
  // damage would get no further. Empty if there are none.
  std::string fill(std::string_view bytes);

 private:
  static constexpr std::size_t kMostFiles = 4;
  std::string folder(std::size_t files) const { return root_ + "/" + std::to_string(files); }

  std::string root_;
  std::array<MemoryFile, kMostFiles> files_;
};

}  // namespace weft::fuzz
