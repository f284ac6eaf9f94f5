// How fast importers read text: megabytes a second of one core, without and with the graph.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>

#include "goal/import/liballprof/rank_file.h"
#include "goal/import/mpi_calls/import_calls.h"
#include "goal/import/spc/storage_graph.h"
#include "goal/import/spc/trace.h"

using namespace weft;
using namespace weft::goal;

namespace {

template <typename Work>
void measure(const char* what, std::size_t bytes, const Work& work) {
  const auto cpu_seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double begin = cpu_seconds();
  const std::uint64_t items = work();
  const double seconds = cpu_seconds() - begin;
  fmt::print("{:<32} {:7.1f} MB/s {:8.2f} million lines/s\n", what,
             static_cast<double>(bytes) * 1e-6 / seconds, static_cast<double>(items) * 1e-6 / seconds);
}

// Requests of 24 storage units.
std::string spc_text(std::uint64_t lines) {
  std::string text;
  std::uint64_t draw = 1;
  for (std::uint64_t i = 0; i < lines; ++i) {
    draw = draw * 6364136223846793005u + 1442695040888963407u;
    text += fmt::format("{},{},{},{},{}.{:06}\n", (draw >> 33) % 24, (draw >> 20) % (1 << 28),
                        512 * (1 + (draw >> 40) % 64), (draw >> 50) % 2 == 0 ? 'R' : 'W', i / 5000,
                        i % 5000 * 200);
  }
  return text;
}

// One rank that sends to itself: a receive, a send and a wait for both, over and over.
std::string allprof_text(std::uint64_t rounds) {
  std::string text = "MPI_Init:-:140720308486144:140720308486144:1700000000000000\n";
  std::uint64_t now = 1'700'000'000'000'000;
  for (std::uint64_t i = 0; i < rounds; ++i, now += 45) {
    for (const char* name : {"Irecv", "Isend"}) {
      text += fmt::format("MPI_{}:{}:140720308486144:100:10,8,8:0:{}:94120304,0,1:14072030849000{}:{}\n",
                          name, now + 10, i % 1000, name[1] == 's' ? 0 : 8, now + 15);
    }
    text += fmt::format("MPI_Waitall:{}:2:140720308490000:140720308480000:{}\n", now + 40, now + 45);
  }
  return text + fmt::format("MPI_Finalize:{}:-\n", now + 10);
}

}  // namespace

int main() {
  constexpr std::uint64_t kLines = 3'000'000;
  const std::string spc = spc_text(kLines);
  SpcTrace trace;
  measure("spc, reading", spc.size(), [&] { return (trace = parse_spc(spc, "made up")).ios.size(); });
  measure("spc, graph of what was read", spc.size(), [&] {
    storage_graph(trace.ios, {});
    return trace.ios.size();
  });

  std::string path = "/tmp/import_bench.XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return 1;
  close(descriptor);
  const std::string allprof = allprof_text(kLines / 3);
  std::ofstream(path) << allprof;
  AllprofNotes notes;
  measure("liballprof, reading once", allprof.size(), [&] {
    AllprofRankFile file(path, 0, notes);
    MpiCall call;
    std::uint64_t calls = 0;
    while (file.next(call)) ++calls;
    return calls;
  });
  measure("liballprof, twice and the graph", allprof.size(), [&] {
    ImportNotes import_notes;
    import_calls(
        1, [&](Rank) { return std::make_unique<AllprofRankFile>(path, 0, notes); }, {}, import_notes);
    return kLines;
  });
  std::remove(path.c_str());
}
