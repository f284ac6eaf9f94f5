// Sums over traces whose calls are written out here.
#include "goal/import/mpi/trace_summary.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "sim/units/input_error.h"
#include "tests/goal/import/mpi/trace_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

fs::path folder(const std::string& name) {
  const char* base = std::getenv("TEST_TMPDIR");
  const fs::path path = fs::path(base != nullptr ? base : "/tmp") / name;
  fs::remove_all(path);
  return path;
}

const FunctionUse& use_of(const TraceSummary& summary, const std::string& name) {
  for (const FunctionUse& use : summary.functions) {
    if (use.name == name) return use;
  }
  throw InputError("no " + name);
}

}  // namespace

TEST_CASE("calls, bytes, times and messages add up over ranks") {
  const fs::path path = folder("whole");
  TraceFile(0, 2)
      .init(100)
      .send(150, 160, 1, 5, 64)
      .send(170, 200, 1, 6, 36)
      .counter("MPI_Put", trace::CallClass::kCommunication, 3, 25)
      .counter("MPI_Comm_rank", trace::CallClass::kLocal, 4, 0)
      .finalize(300)
      .end(trace::End::kFinalize)
      .write(path);
  TraceFile(1, 2).init(10).recv(10, 90, 0, 5, 64).recv(95, 100, 0, 6, 36).end(trace::End::kExit).write(path);
  const TraceSummary summary = summarize_traces(path);
  CHECK(summary.calls == 7);
  CHECK(summary.sent_bytes == 100);
  CHECK(summary.elapsed_ns == 200);  // rank 0: 100 to 300; rank 1: 10 to 100
  CHECK(summary.mpi_share == Approx((10.0 + 30 + 80 + 5) / (200 + 90)));
  CHECK(summary.any_source == 2);  // TraceFile receives from any source with any tag
  CHECK(summary.one_run());
  CHECK(use_of(summary, "MPI_Send").calls == 2);
  CHECK(use_of(summary, "MPI_Send").bytes == 100);
  CHECK(use_of(summary, "MPI_Send").ns == 40);
  CHECK(use_of(summary, "MPI_Recv").bytes == 100);
  CHECK(use_of(summary, "MPI_Recv").ns == 85);
  CHECK(use_of(summary, "MPI_Put").coverage == Coverage::kTimed);
  CHECK(use_of(summary, "MPI_Put").calls == 3);
  CHECK(use_of(summary, "MPI_Put").ns == 25);
  CHECK(use_of(summary, "MPI_Comm_rank").coverage == Coverage::kCounted);
  CHECK(summary.functions[0].name == "MPI_Recv");  // most time first
  REQUIRE(summary.exchanges.size() == 1);
  CHECK(summary.exchanges[0].from == 0);
  CHECK(summary.exchanges[0].to == 1);
  CHECK(summary.exchanges[0].messages == 2);
  CHECK(summary.exchanges[0].bytes == 100);
  REQUIRE(summary.communicators.size() == 1);
  CHECK(summary.communicators[0].calls == 4);
  CHECK(summary.communicators[0].bytes == 200);
  REQUIRE(summary.ranks.size() == 2);
  CHECK(summary.ranks[0].end == RankEnd::kFinished);
  CHECK(summary.ranks[0].last->function == "MPI_Finalize");
  CHECK(summary.ranks[1].end == RankEnd::kExited);
  CHECK(summary.ranks[1].last->function == "MPI_Recv");
  CHECK(summary.ranks[1].last->leave_ns == 90);  // since MPI_Init
}

TEST_CASE("ranks that another program has spawned are none of the first one's run") {
  const fs::path path = folder("spawned");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    TraceFile(rank, 2).init(100).finalize(200).end(trace::End::kFinalize).write(path);
  }
  fs::create_directories(path / "theirs");
  TraceFile(0, 1)
      .fact("spawned", "1")
      .init(100)
      .finalize(200)
      .end(trace::End::kFinalize)
      .write(path / "theirs");
  fs::rename(path / "theirs" / "rank-000000.wtrc", path / "rank-000000.2.wtrc");
  const TraceSummary summary = summarize_traces(path);
  CHECK(summary.ranks.size() == 3);
  CHECK(summary.spawned == 1);
  CHECK(summary.one_run());
}

TEST_CASE("files of version 1 without an end are cut; a peer that can't be is an error") {
  const fs::path path = folder("cut");
  TraceFile(0, 2)
      .init(100)
      .send(150, 160, 1, 5, 64)
      .flush()
      .finalize(9)
      .end(trace::End::kFinalize)
      .write(path, 1);
  const TraceSummary summary = summarize_traces(path);
  CHECK_FALSE(summary.one_run());
  CHECK(summary.ranks[0].end == RankEnd::kCut);
  CHECK(summary.ranks[0].calls == 2);
  CHECK(summary.ranks[0].now_in.empty());
  TraceFile(0, 2).init(100).send(150, 160, 2, 5, 64).end(trace::End::kFinalize).write(path);
  CHECK_THROWS_AS(summarize_traces(path), InputError);
  CHECK_THROWS_AS(summarize_traces(folder("none")), InputError);
}

}  // namespace weft::goal
