// Databases of results, for a page and for other programs.
#include <nlohmann/json.hpp>

#include "tests/fuzz/disk_file.h"
#include "tests/fuzz/fuzz.h"
#include "tools/export/timeline_export.h"
#include "tools/report/sections.h"
#include "topologies/families.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const topologies::Topology network = topologies::build(parse_module_choice("fat_tree:k=4"));
  static const fuzz::DiskFile file("results");
  file.fill(fuzz::text_of(data, size));
  fuzz::attempt([] {
    const tools::RunDatabase run(file.path());
    (void)tools::rows_to_export(run);
    (void)tools::export_timeline(run, *tools::make_perfetto_writer("/dev/null"));
  });
  const auto section = [](const auto& read) {
    fuzz::attempt([&] {
      const report::Database database(file.path());
      // What a page holds must be text that another program reads.
      const std::string text = read(database).dump(-1, ' ', false, report::Json::error_handler_t::replace);
      fuzz::require(report::Json::accept(text), "no JSON");
    });
  };
  const report::Budget budget;
  section([&](const report::Database& d) { return report::rank_times(d, budget); });
  section([&](const report::Database& d) { return report::jobs(d, budget); });
  section([&](const report::Database& d) { return report::messages(d, budget); });
  section([&](const report::Database& d) { return report::links(d, budget); });
  section([&](const report::Database& d) { return report::timeline(d, budget); });
  section([&](const report::Database& d) { return report::series(d, budget); });
  section([&](const report::Database& d) { return report::drawing(d, network, budget); });
  return 0;
}
