#include <catch2/catch.hpp>

#include "goal/check/check.h"
#include "sim/units/input_error.h"
#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {
namespace {

TraceRecord on_window(Function function, std::uint64_t at_ns, std::int32_t peer = trace::kUndefined) {
  TraceRecord record = call(function, at_ns, at_ns);
  record.comm = trace::kNoComm;
  record.window = 1;
  record.peer = peer;
  return record;
}

TraceRecord created(std::uint64_t at_ns, std::uint32_t comm = trace::kCommWorld) {
  TraceRecord record = on_window(Function::kWin_create, at_ns);
  record.comm = comm;
  return record;
}

TraceRecord moved(Function function, std::uint64_t at_ns, std::int32_t target, std::uint64_t out,
                  std::uint64_t in, std::uint64_t request = 0) {
  TraceRecord record = on_window(function, at_ns, target);
  record.bytes_out = out;
  record.bytes_in = in;
  record.request = request;
  return record;
}

TraceRecord group(Function function, std::uint64_t at_ns, std::vector<std::int32_t> ranks) {
  TraceRecord record = on_window(function, at_ns);
  record.group = std::move(ranks);
  return record;
}

std::string text_of(const Graph& graph, Rank rank) {
  std::string text;
  GraphRanks ranks(graph);
  print_rank(ranks, rank, [&](std::string_view piece) { text += piece; });
  return text;
}

// Every graph must be sound, whatever the case.
Graph import(Files& files) {
  Graph graph = files.import();
  CHECK(check(graph).clean());
  return graph;
}

}  // namespace

TEST_CASE("fences: a put is a message that the target takes on a stream of its own, by the next fence") {
  Files files;
  files.ranks = {
      {init(0), created(0), on_window(Function::kWin_fence, 0), moved(Function::kPut, 0, 1, 1000, 0),
       on_window(Function::kWin_fence, 0), finalize(0)},
      {init(0), created(0), on_window(Function::kWin_fence, 0), on_window(Function::kWin_fence, 30),
       finalize(30)},
  };
  const Graph graph = import(files);
  CHECK(text_of(graph, 0) ==
        "rank 0 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: barrier\n"
        "l2 requires l1\n"
        "l3: send 1000b to 1 comm 1\n"
        "l3 requires l2\n"
        "l4: barrier\n"
        "l4 requires l3\n"
        "}\n");
  CHECK(text_of(graph, 1) ==
        "rank 1 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: barrier\n"
        "l2 requires l1\n"
        "l3: recv 1000b from 0 cpu 1 comm 1\n"
        "l3 irequires l2\n"
        "l4: calc 30\n"
        "l4 requires l2\n"
        "l5: barrier\n"
        "l5 requires l3\n"
        "l5 requires l4\n"
        "}\n");
  CHECK(graph.communicators()[1].name == "window1");
  CHECK(files.notes.count(Note::kOneSided) == 1);
  CHECK(files.notes.count(Note::kWindows) == 2);
  CHECK_FALSE(files.notes.not_replayed.any());
  CHECK(files.notes.not_replayed.all_bytes == 1000);
}

TEST_CASE("a get is a request and an answer; what operates and fetches takes its operands along") {
  Files files;
  files.ranks = {
      {init(0), created(0), on_window(Function::kWin_fence, 0), moved(Function::kGet, 0, 1, 0, 64),
       moved(Function::kCompare_and_swap, 0, 1, 16, 8), on_window(Function::kWin_fence, 0), finalize(0)},
      {init(0), created(0), on_window(Function::kWin_fence, 0), on_window(Function::kWin_fence, 0),
       finalize(0)},
  };
  const Graph graph = import(files);
  CHECK(text_of(graph, 0) ==
        "rank 0 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: barrier\n"
        "l2 requires l1\n"
        "l3: send 0b to 1 tag 1 comm 1\n"
        "l3 requires l2\n"
        "l4: recv 64b from 1 tag 2 comm 1\n"
        "l4 irequires l3\n"
        "l5: send 16b to 1 tag 1 comm 1\n"
        "l5 irequires l4\n"
        "l6: recv 8b from 1 tag 2 comm 1\n"
        "l6 irequires l5\n"
        "l7: barrier\n"
        "l7 requires l4\n"
        "l7 requires l6\n"
        "}\n");
  CHECK(text_of(graph, 1) ==
        "rank 1 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: barrier\n"
        "l2 requires l1\n"
        "l3: recv 0b from 0 tag 1 cpu 1 comm 1\n"
        "l3 irequires l2\n"
        "l4: send 64b to 0 tag 2 cpu 1 comm 1\n"
        "l4 requires l3\n"
        "l5: recv 16b from 0 tag 1 cpu 1 comm 1\n"
        "l5 irequires l2\n"
        "l6: send 8b to 0 tag 2 cpu 1 comm 1\n"
        "l6 requires l5\n"
        "l7: barrier\n"
        "l7 requires l2\n"
        "l7 requires l4\n"
        "l7 requires l6\n"
        "}\n");
}

TEST_CASE(
    "locks: a flush or unlock waits for word that all that was put has arrived; a local flush does not") {
  Files files;
  files.ranks = {
      {init(0), created(0), on_window(Function::kWin_lock, 0, 1), moved(Function::kPut, 0, 1, 8, 0),
       moved(Function::kAccumulate, 0, 1, 16, 0), on_window(Function::kWin_flush_local, 0, 1),
       on_window(Function::kWin_flush, 5, 1), on_window(Function::kWin_flush, 5, 1),
       moved(Function::kGet, 5, 1, 0, 24), on_window(Function::kWin_unlock, 5, 1), finalize(9)},
      {init(0), created(0), finalize(7)},
  };
  const Graph graph = import(files);
  CHECK(text_of(graph, 0) ==
        "rank 0 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: send 8b to 1 comm 1\n"
        "l2 requires l1\n"
        "l3: send 16b to 1 comm 1\n"
        "l3 irequires l2\n"
        "l4: calc 5\n"
        "l4 requires l2\n"
        "l4 requires l3\n"
        "l5: recv 0b from 1 tag 3 comm 1\n"
        "l5 requires l4\n"
        "l6: send 0b to 1 tag 1 comm 1\n"
        "l6 requires l5\n"
        "l7: recv 24b from 1 tag 2 comm 1\n"
        "l7 irequires l6\n"
        "l8: calc 4\n"
        "l8 requires l7\n"
        "}\n");
  CHECK(text_of(graph, 1) ==
        "rank 1 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: recv 8b from 0 cpu 1 comm 1\n"
        "l2 irequires l1\n"
        "l3: recv 16b from 0 cpu 1 comm 1\n"
        "l3 irequires l1\n"
        "l4: send 0b to 0 tag 3 cpu 1 comm 1\n"
        "l4 requires l2\n"
        "l4 requires l3\n"
        "l5: recv 0b from 0 tag 1 cpu 1 comm 1\n"
        "l5 irequires l1\n"
        "l6: send 24b to 0 tag 2 cpu 1 comm 1\n"
        "l6 requires l5\n"
        "l7: calc 7\n"
        "l7 requires l1\n"
        "}\n");
}

TEST_CASE("what a lock lets through is taken from the last synchronization that both ranks have passed") {
  const auto passes = [](std::uint64_t at_ns, bool puts) {
    std::vector<TraceRecord> records = {init(0), created(0), on_window(Function::kWin_lock_all, 0)};
    for (int i = 0; i < 2; ++i) {
      if (puts) records.push_back(moved(Function::kPut, at_ns, 1, 8u + i, 0));
      if (puts) records.push_back(on_window(Function::kWin_flush_all, at_ns));
      records.push_back(call(Function::kBarrier, at_ns, at_ns));
    }
    records.push_back(on_window(Function::kWin_unlock_all, at_ns));
    records.push_back(finalize(at_ns));
    return records;
  };
  Files files;
  files.ranks = {passes(0, true), passes(0, false)};
  CHECK(text_of(import(files), 1) ==
        "rank 1 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: recv 8b from 0 cpu 1 comm 1\n"
        "l2 irequires l1\n"
        "l3: send 0b to 0 tag 3 cpu 1 comm 1\n"
        "l3 requires l2\n"
        "l4: barrier\n"
        "l4 requires l1\n"
        "l5: recv 9b from 0 cpu 1 comm 1\n"
        "l5 irequires l4\n"
        "l6: send 0b to 0 tag 3 cpu 1 comm 1\n"
        "l6 requires l5\n"
        "l7: barrier\n"
        "l7 requires l4\n"
        "}\n");
}

TEST_CASE("exposures: start waits for post, wait for complete and for what was put") {
  Files files;
  TraceRecord tested = on_window(Function::kWin_test, 3);
  files.ranks = {
      {init(0), created(0), group(Function::kWin_start, 0, {1}), moved(Function::kPut, 0, 1, 40, 0),
       on_window(Function::kWin_complete, 0), finalize(0)},
      {init(0), created(0), group(Function::kWin_post, 3, {0}), tested, finalize(3)},
  };
  const Graph graph = import(files);
  CHECK(text_of(graph, 0) ==
        "rank 0 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: recv 0b from 1 tag 4 comm 1\n"
        "l2 requires l1\n"
        "l3: send 40b to 1 comm 1\n"
        "l3 requires l2\n"
        "l4: send 0b to 1 tag 5 comm 1\n"
        "l4 requires l3\n"
        "}\n");
  CHECK(text_of(graph, 1) ==
        "rank 1 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: calc 3\n"
        "l2 requires l1\n"
        "l3: send 0b to 0 tag 4 comm 1\n"
        "l3 requires l2\n"
        "l4: recv 40b from 0 cpu 1 comm 1\n"
        "l4 irequires l3\n"
        "l5: recv 0b from 0 tag 5 comm 1\n"
        "l5 irequires l3\n"
        "}\n");
}

TEST_CASE("the request of a put stands for its sending, that of a get for the answer") {
  Files files;
  files.ranks = {
      {init(0), created(0), on_window(Function::kWin_lock_all, 0), moved(Function::kRput, 0, 1, 8, 0, 1),
       moved(Function::kRget, 0, 1, 0, 8, 2),
       done(Function::kWait, 0, 0, {{.request = 1, .cancelled = false, .message = {}}}),
       message(Function::kSend, 0, 0, 1, 9, 1),
       done(Function::kWait, 0, 0, {{.request = 2, .cancelled = false, .message = {}}}), finalize(4)},
      {init(0), created(0), message(Function::kRecv, 0, 0, 0, 9, 1), finalize(0)},
  };
  CHECK(text_of(import(files), 0) ==
        "rank 0 {\n"
        "l1: allreduce 8b elem 8\n"
        "l2: send 8b to 1 comm 1\n"
        "l2 requires l1\n"
        "l3: send 0b to 1 tag 1 comm 1\n"
        "l3 irequires l2\n"
        "l4: recv 8b from 1 tag 2 comm 1\n"
        "l4 irequires l3\n"
        "l5: send 8b to 1 tag 9\n"
        "l5 requires l2\n"
        "l5 irequires l4\n"
        "l6: calc 4\n"
        "l6 requires l4\n"
        "l6 requires l5\n"
        "}\n");
}

TEST_CASE("windows of sub-communicators are apart, and their ranks meet in them") {
  Files files;
  files.communicators = {{.id = 2, .key = 5, .parent = 0, .ranks = {2, 0}}};
  const auto with_second = [](TraceRecord record) {
    record.window = 2;
    return record;
  };
  const auto calls = [&](std::int32_t other) {
    return std::vector<TraceRecord>{init(0),
                                    created(0),
                                    with_second(created(0, 2)),
                                    on_window(Function::kWin_fence, 0),
                                    with_second(on_window(Function::kWin_fence, 0)),
                                    with_second(moved(Function::kPut, 0, other, 12, 0)),
                                    moved(Function::kPut, 0, 1, 11, 0),
                                    with_second(on_window(Function::kWin_fence, 0)),
                                    on_window(Function::kWin_fence, 0),
                                    with_second(on_window(Function::kWin_free, 0)),
                                    finalize(0)};
  };
  files.ranks = {calls(2),
                 {init(0), created(0), on_window(Function::kWin_fence, 0), on_window(Function::kWin_fence, 0),
                  finalize(0)},
                 calls(0)};
  const Graph graph = import(files);
  REQUIRE(graph.communicators().size() == 4);
  std::uint64_t bytes[3] = {};
  for (Rank r = 0; r < 3; ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kRecv) bytes[r] += rank.value(i);
    }
  }
  CHECK(bytes[0] == 12);
  CHECK(bytes[1] == 22);
  CHECK(bytes[2] == 12);
}

TEST_CASE("what is outside any epoch, or of an unknown window, is not replayed, and counted") {
  Files files;
  TraceRecord unknown = moved(Function::kGet, 0, 1, 0, 7);
  unknown.window = 0;
  files.ranks = {{init(0), created(0), moved(Function::kPut, 0, 1, 5, 0), unknown,
                  moved(Function::kPut, 0, trace::kProcNull, 9, 0), finalize(0)},
                 {init(0), created(0), finalize(0)}};
  const Graph graph = import(files);
  CHECK(text_of(graph, 0) == "rank 0 {\nallreduce 8b elem 8\n}\n");
  CHECK(files.notes.not_replayed.functions ==
        std::vector<NotReplayed::Function>{{"MPI_Get", 1, 7, 0}, {"MPI_Put", 1, 5, 0}});
}

TEST_CASE("a rank that does not exist is refused, and arrivals past a target's cut are taken all the same") {
  Files wrong;
  wrong.ranks = {{init(0), created(0), on_window(Function::kWin_fence, 0), moved(Function::kPut, 0, 2, 5, 0)},
                 {}};
  CHECK_THROWS_AS(wrong.import(), InputError);
  wrong.ranks[0] = {init(0), created(0), group(Function::kWin_start, 0, {2})};
  CHECK_THROWS_AS(wrong.import(), InputError);

  Files cut;
  cut.ranks = {{init(0), created(0), on_window(Function::kWin_fence, 0), moved(Function::kPut, 0, 1, 5, 0)},
               {init(0), created(0)}};
  const Graph graph = cut.import();
  CHECK(graph.rank(1).ops() == 2);
  CHECK(cut.notes.count(Note::kUngatedArrivals) == 1);
  cut.ranks[1] = {init(0)};
  CHECK(cut.import().rank(1).ops() == 0);
}

}  // namespace weft::goal
