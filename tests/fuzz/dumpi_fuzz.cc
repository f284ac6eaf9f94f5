// Binary DUMPI files: the same one for two ranks, or two, the second behind the end of the first.
#include <array>
#include <memory>

#include "goal/import/dumpi/rank_file.h"
#include "goal/import/mpi_calls/import_calls.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::array<fuzz::MemoryFile, 2> files;
  const std::string_view bytes = fuzz::text_of(data, size);
  constexpr std::size_t kIndexBytes = 64;
  // The second magic number is that of the first file's index.
  const std::size_t index = bytes.find(goal::kDumpiMagic, 1);
  const std::size_t second = index == bytes.npos ? index : bytes.find(goal::kDumpiMagic, index + kIndexBytes);
  files[0].fill(bytes.substr(0, second));
  files[1].fill(second == bytes.npos ? bytes : bytes.substr(second));
  goal::DumpiNotes own;
  goal::ImportNotes notes;
  const auto open = [&](goal::Rank rank) {
    return std::make_unique<goal::DumpiRankFile>(files[rank].path(), 2, own);
  };
  const auto made = fuzz::attempt([&] { return goal::import_calls(2, open, {}, notes); });
  if (made) fuzz::check_graph(made->graph);
  return 0;
}
