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

TEST_CASE("the times of several threads add up to the time of all of them") {
  const fs::path path = folder("threads");
  TraceFile(0, 2)
      .fact("cores", "0")
      .init(100'000)
      .off_core(30, 20, 10)
      .send(200'000, 300'000, 1, 5, 64)
      .thread(1)
      .off_core(400, 0, 50)  // before its first call it had no time of its own
      .send(250'000, 400'000, 1, 6, 36)
      .off_core(200, 0, 0)  // more than the gap has
      .send(500'000, 600'000, 1, 7, 36)
      .thread(0)
      .finalize(700'000)
      .end(trace::End::kFinalize)
      .write(path);
  const RankState rank = summarize_traces(path).ranks.at(0);
  CHECK(rank.threads == 2);
  CHECK(rank.elapsed_ns == 600'000);
  CHECK(rank.threads_ns == 600'000 + 350'000);
  CHECK(rank.mpi_ns == 100'000 + 150'000 + 100'000);
  CHECK(rank.off_between == trace::OffCore{.waiting_ns = 30'000 + 100'000, .asleep_ns = 20'000});
  CHECK(rank.off_inside == trace::OffCore{.waiting_ns = 10'000 + 50'000, .asleep_ns = 0});
  CHECK(summarize_traces(path).mpi_share == Approx(350.0 / 950));
}

TEST_CASE("a rank's time goes on to where its first thread ended the process") {
  const fs::path path = folder("exited");
  TraceFile(0, 1).init(100).send(150, 160, 0, 5, 64).thread_end(0, 1000).end(trace::End::kExit).write(path);
  const TraceSummary summary = summarize_traces(path);
  CHECK(summary.elapsed_ns == 900);
  CHECK(summary.mpi_share == Approx(10.0 / 900));
  CHECK(summary.span() == "from MPI_Init on");
}

}  // namespace weft::goal
