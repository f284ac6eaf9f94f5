// What dumpi2ascii prints: the same text for two ranks, or two, the second behind the end of the first.
#include <array>
#include <memory>

#include "goal/import/dumpi/text_file.h"
#include "goal/import/mpi_calls/import_calls.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::array<fuzz::MemoryFile, 2> files;
  const std::string_view text = fuzz::text_of(data, size);
  const std::size_t second = text.find("\nversion=");
  files[0].fill(text.substr(0, second));
  files[1].fill(second == text.npos ? text : text.substr(second + 1));
  goal::DumpiNotes own;
  goal::ImportNotes notes;
  const auto open = [&](goal::Rank rank) {
    return std::make_unique<goal::DumpiTextFile>(files[rank].path(), 2, own);
  };
  const auto made = fuzz::attempt([&] { return goal::import_calls(2, open, {}, notes); });
  if (made) fuzz::check_graph(made->graph);
  return 0;
}
