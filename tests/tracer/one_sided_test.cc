// Records of one-sided communication: programs/one_sided.c under each MPI against what its source says.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/tracer/traced_run.h"

namespace weft::trace::test {
namespace {

using goal::TraceRecord;

struct Move {
  std::int32_t target;
  std::uint64_t out, in;
  bool operator==(const Move&) const = default;
};

// Returns what the first `count` calls of one function moved.
std::vector<Move> moves(const Trace& trace, Function function, std::size_t count) {
  std::vector<Move> found;
  for (const TraceRecord& r : trace.of(function)) {
    CHECK(r.window == 1);
    if (found.size() < count) found.push_back({r.peer, r.bytes_out, r.bytes_in});
  }
  return found;
}

void check_synchronization(const Trace& trace, int right) {
  for (const Function function : {Function::kWin_lock, Function::kWin_unlock, Function::kWin_flush_local}) {
    CHECK(trace.only(function).peer == right);
    CHECK(trace.only(function).window == 1);
  }
  REQUIRE(trace.of(Function::kWin_flush).size() == 2);
  CHECK(trace.of(Function::kWin_flush)[0].peer == right);
  CHECK(trace.of(Function::kWin_flush)[1].peer == 0);
  for (const Function function :
       {Function::kWin_lock_all, Function::kWin_unlock_all, Function::kWin_flush_all,
        Function::kWin_flush_local_all, Function::kWin_sync}) {
    CHECK(trace.only(function).window == 1);
  }
}

void check_exposures(const Trace& trace, int rank) {
  const std::vector<std::int32_t> partner = {rank ^ 1};
  if (rank % 2 == 0) {
    REQUIRE(trace.of(Function::kWin_start).size() == 2);
    CHECK(trace.of(Function::kWin_start)[0].group == partner);
    CHECK(trace.of(Function::kWin_complete).size() == 2);
    CHECK(trace.of(Function::kWin_post).empty());
  } else {
    REQUIRE(trace.of(Function::kWin_post).size() == 2);
    CHECK(trace.of(Function::kWin_post)[1].group == partner);
    CHECK(trace.only(Function::kWin_wait).window == 1);
    const std::vector<TraceRecord> tests = trace.of(Function::kWin_test);
    REQUIRE_FALSE(tests.empty());
    CHECK(tests.back().flag);
    // Tests in vain are few records, however many there were.
    for (std::size_t i = 0; i + 1 < tests.size(); ++i) CHECK_FALSE(tests[i].flag);
  }
}

void check_windows(const Trace& trace, int rank) {
  const TraceRecord created = trace.of(Function::kWin_create)[0];
  CHECK(created.comm == kCommWorld);
  CHECK(created.window == 1);
  CHECK(created.window_bytes == 64 * 8);
  std::uint64_t next = 2;
  if (rank % 2 == 0) {
    const TraceRecord part = trace.only(Function::kWin_allocate);
    CHECK(part.window == next++);
    CHECK(trace.communicators[part.comm].ranks == std::vector<std::int32_t>{2, 0});
  }
  CHECK(trace.only(Function::kWin_create_dynamic).window == next++);
  CHECK(trace.only(Function::kWin_allocate_shared).window == next);
  CHECK(trace.of(Function::kWin_free)[0].window == 1);
}

}  // namespace

TEST_CASE("one-sided calls are recorded with targets, bytes both ways, windows and groups") {
  for (const std::string& mpi : installed()) {
    INFO(mpi);
    const Run all = run(mpi, 4, "one_sided");
    REQUIRE(all.status == 0);
    for (int rank = 0; rank < 4; ++rank) {
      INFO("rank " << rank);
      const Trace& trace = all.ranks[static_cast<std::size_t>(rank)];
      CHECK(trace.complete);
      const int right = (rank + 1) % 4, left = (rank + 3) % 4;
      const auto of = [&](Function function, std::size_t count) { return moves(trace, function, count); };
      std::vector<TraceRecord> puts = trace.of(Function::kPut);
      REQUIRE(puts.size() >= 4);
      CHECK(puts[0].peer == right);
      CHECK(puts[0].bytes_out == 24);
      CHECK(puts[1].peer == kProcNull);
      CHECK(puts[3].bytes_out == 48);
      CHECK(of(Function::kAccumulate, 9) == std::vector<Move>{{right, 16, 0}});
      CHECK(of(Function::kGet, 9) == std::vector<Move>{{right, 0, 40}});
      CHECK(of(Function::kFetch_and_op, 9) == std::vector<Move>{{0, 8, 8}, {0, 0, 8}});
      CHECK(of(Function::kCompare_and_swap, 9) == std::vector<Move>{{right, 16, 8}});
      CHECK(of(Function::kGet_accumulate, 9) == std::vector<Move>{{right, 16, 16}});
      CHECK(of(Function::kRput, 9) == std::vector<Move>{{right, 56, 0}});
      CHECK(of(Function::kRget, 9) == std::vector<Move>{{left, 0, 64}});
      CHECK(of(Function::kRaccumulate, 9) == std::vector<Move>{{right, 8, 0}});
      CHECK(of(Function::kRget_accumulate, 9) == std::vector<Move>{{right, 0, 8}});
      for (const Function function : {Function::kRput, Function::kRget, Function::kRaccumulate}) {
        CHECK(trace.completions(trace.only(function).request).size() == 1);
      }
      check_synchronization(trace, right);
      check_exposures(trace, rank);
      check_windows(trace, rank);
      for (const goal::TraceCounter& counter : trace.counters) {
        INFO(counter.name);
        CHECK(counter.call_class == CallClass::kLocal);
      }
    }
    // Over all ranks, by the source; the Put to MPI_PROC_NULL moves nothing.
    const std::vector<std::pair<Function, std::uint64_t>> moved = {
        {Function::kPut, 4 * (24 + 32 + 48) + 2 * 2 * 72 + 2 * 80 + (mpi == "mpich" ? 4 * 88 : 0)},
        {Function::kGet, 4 * 40},
        {Function::kAccumulate, 4 * 16},
        {Function::kFetch_and_op, 4 * (16 + 8)},
        {Function::kCompare_and_swap, 4 * (16 + 8)},
        {Function::kGet_accumulate, 4 * (16 + 16)},
        {Function::kRput, 4 * 56},
        {Function::kRget, 4 * 64},
        {Function::kRaccumulate, 4 * 8},
        {Function::kRget_accumulate, 4 * 8}};
    for (const auto& [function, bytes] : moved) {
      INFO(function_info(function).name);
      CHECK(moved_bytes(all, function) == bytes);
    }
    if (mpi == "mpich") CHECK(all.ranks[0].of(Function::kPut).back().bytes_out == 88);
  }
}

}  // namespace weft::trace::test
