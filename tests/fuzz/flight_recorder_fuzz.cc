// A dump of PyTorch's flight recorder, pickle or JSON.
#include "goal/import/flight_recorder/importer.h"
#include "goal/import/flight_recorder/stuck.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::MemoryFile file;
  file.fill(fuzz::text_of(data, size));
  fuzz::attempt([] { return goal::looks_like_dump(file.path()); });
  fuzz::attempt([] {
    std::vector<goal::RankDump> dumps = {goal::read_dump(file.path())};
    if (dumps[0].rank < 0) dumps[0].rank = 0;
    fuzz::require(!goal::progress_text(dumps).empty(), "nothing to say of a dump");
    return dumps.size();
  });
  const auto graph = fuzz::attempt([] {
    goal::PackInfo info;
    return goal::import_flight_recorder(std::filesystem::path(file.path()), false, &info);
  });
  if (graph) fuzz::check_graph(*graph);
  return 0;
}
