// Text files of liballprof: one for two ranks, or two, the second from a line "# rank" on.
#include <array>
#include <memory>

#include "goal/import/liballprof/rank_file.h"
#include "goal/import/mpi_calls/import_calls.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::array<fuzz::MemoryFile, 2> files;
  const std::string_view bytes = fuzz::text_of(data, size);
  const std::size_t second = bytes.find("# rank");
  files[0].fill(bytes.substr(0, second));
  files[1].fill(second == bytes.npos ? bytes : bytes.substr(second));
  goal::AllprofNotes own;
  goal::ImportNotes notes;
  const auto open = [&](goal::Rank rank) {
    return std::make_unique<goal::AllprofRankFile>(files[rank].path(), 0, own);
  };
  const auto made = fuzz::attempt([&] { return goal::import_calls(2, open, {}, notes); });
  if (made) fuzz::check_graph(made->graph);
  return 0;
}
