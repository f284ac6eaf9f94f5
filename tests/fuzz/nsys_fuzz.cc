// Reports of Nsight Systems, as SQLite files.
#include "goal/import/nsys/profile.h"
#include "tests/fuzz/disk_file.h"
#include "tests/fuzz/fuzz.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::DiskFile file("nsys");
  file.fill(fuzz::text_of(data, size));
  fuzz::attempt([] { return goal::is_nsys_report(file.path()); });
  fuzz::attempt([] {
    goal::NsysNotes notes;
    const auto processes = goal::read_nsys_report(file.path(), notes);
    for (const auto& process : processes) {
      fuzz::require(process.end_ns >= process.begin_ns, "a process that ends before it begins");
    }
    return processes.size();
  });
  return 0;
}
