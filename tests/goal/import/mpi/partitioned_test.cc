#include <catch2/catch.hpp>

#include "goal/check/check.h"
#include "sim/units/input_error.h"
#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {
namespace {

TraceRecord made(Function function, std::int32_t peer, std::uint32_t partitions, std::uint64_t count,
                 std::uint64_t request = 1, std::int32_t tag = 5) {
  TraceRecord record = message(function, 0, 0, peer, tag, count, request);
  record.partitions = partitions;
  return record;
}

TraceRecord started(std::uint64_t at_ns, std::uint64_t request = 1) {
  TraceRecord record = call(Function::kStart, at_ns, at_ns);
  record.started = {request};
  return record;
}

TraceRecord ready(std::uint64_t at_ns, std::vector<std::uint32_t> partitions, std::uint64_t request = 1) {
  TraceRecord record = call(Function::kPready_list, at_ns, at_ns);
  record.request = request;
  record.ready = std::move(partitions);
  return record;
}

TraceRecord arrived(std::uint64_t at_ns, std::uint32_t partition, bool flag) {
  TraceRecord record = call(Function::kParrived, at_ns, at_ns);
  record.request = 1;
  record.flag = flag;
  if (flag) record.ready = {partition};
  return record;
}

TraceRecord waited(std::uint64_t at_ns, std::uint64_t request = 1) {
  return done(Function::kWait, at_ns, at_ns, {{.request = request, .message = got(0, 5, 999)}});
}

std::string text_of(const Graph& graph, Rank rank) {
  std::string text;
  GraphRanks ranks(graph);
  print_rank(ranks, rank, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

TEST_CASE("a partition is a message from its Pready on, and Parrived waits for those it has bytes of") {
  Files files;
  files.ranks = {
      {init(0), made(Function::kPsend_init, 1, 4, 10), started(0), ready(100, {3, 1}), ready(150, {0, 2}),
       waited(150), finalize(150)},
      {init(0), made(Function::kPrecv_init, 0, 2, 20), started(0), arrived(10, 1, false),
       arrived(20, 1, true), waited(50), finalize(50)},
  };
  const Graph graph = files.import();
  CHECK(check(graph).clean());
  CHECK(text_of(graph, 0) ==
        "rank 0 {\n"
        "l1: calc 100\n"
        "l2: send 80b to 1 tag 3 comm 1\n"
        "l2 requires l1\n"
        "l3: send 80b to 1 tag 1 comm 1\n"
        "l3 irequires l2\n"
        "l4: calc 50\n"
        "l4 irequires l3\n"
        "l5: send 80b to 1 comm 1\n"
        "l5 requires l4\n"
        "l6: send 80b to 1 tag 2 comm 1\n"
        "l6 irequires l5\n"
        "}\n");
  // Partition 1 of the receiver is 2 and 3 of the sender. The 10 ns between two polls are waiting.
  CHECK(text_of(graph, 1) ==
        "rank 1 {\n"
        "l1: recv 80b from 0 comm 1\n"
        "l2: recv 80b from 0 tag 1 comm 1\n"
        "l2 irequires l1\n"
        "l3: recv 80b from 0 tag 2 comm 1\n"
        "l3 irequires l2\n"
        "l4: recv 80b from 0 tag 3 comm 1\n"
        "l4 irequires l3\n"
        "l5: calc 10\n"
        "l5 irequires l4\n"
        "l6: calc 30\n"
        "l6 requires l3\n"
        "l6 requires l4\n"
        "l6 requires l5\n"
        "}\n");
  CHECK(graph.communicators()[1].name == "partitioned1");
  CHECK(files.notes.count(Note::kPartitions) == 4);
  CHECK(files.notes.not_replayed.all_bytes == 320);
  CHECK_FALSE(files.notes.not_replayed.any());
}

TEST_CASE("a partition that another thread gives follows the start of its request") {
  TraceRecord other = ready(30, {0});
  other.thread = 1;
  Files files;
  files.ranks = {
      {init(0), message(Function::kSend, 0, 0, 1, 9, 1), made(Function::kPsend_init, 1, 2, 1), started(20),
       other, ready(40, {1}), waited(40), finalize(40)},
      {init(0), message(Function::kRecv, 0, 0, 0, 9, 1), made(Function::kPrecv_init, 0, 2, 1), started(0),
       waited(0), finalize(0)},
  };
  const Graph graph = files.import();
  CHECK(check(graph).clean());
  CHECK(text_of(graph, 0) ==
        "rank 0 {\n"
        "l1: send 8b to 1 tag 9\n"
        "l2: calc 20\n"
        "l2 requires l1\n"
        "l3: calc 10 cpu 1\n"
        "l3 requires l2\n"
        "l4: send 8b to 1 cpu 1 comm 1\n"
        "l4 requires l2\n"
        "l4 requires l3\n"
        "l5: calc 20\n"
        "l5 requires l2\n"
        "l6: send 8b to 1 tag 1 comm 1\n"
        "l6 requires l5\n"
        "}\n");
}

TEST_CASE("partitioned requests meet by tag in the order in which they were made") {
  Files files;
  // The second request of tag 5 is longer; the one of tag 6 lies between them.
  files.ranks = {
      {init(0), made(Function::kPsend_init, 1, 2, 1, 1, 5), made(Function::kPsend_init, 1, 3, 2, 2, 6),
       made(Function::kPsend_init, 1, 1, 9, 3, 5), started(0, 3), ready(0, {0}, 3), started(0, 2),
       ready(0, {0, 1, 2}, 2), waited(0, 3), waited(0, 2), finalize(0)},
      {init(0), made(Function::kPrecv_init, 0, 6, 1, 1, 6), made(Function::kPrecv_init, 0, 2, 1, 2, 5),
       made(Function::kPrecv_init, 0, 3, 3, 3, 5), started(0, 1), started(0, 2), started(0, 3), waited(0, 1),
       waited(0, 3), finalize(0)},
  };
  const Graph graph = files.import();
  CHECK(check(graph).clean());
  // What was never made ready is not received: the trace may end there.
  CHECK(text_of(graph, 1) ==
        "rank 1 {\n"
        "l1: recv 16b from 0 tag 2 comm 1\n"
        "l2: recv 16b from 0 tag 3 comm 1\n"
        "l2 irequires l1\n"
        "l3: recv 16b from 0 tag 4 comm 1\n"
        "l3 irequires l2\n"
        "l4: recv 72b from 0 tag 5 comm 1\n"
        "l4 irequires l3\n"
        "}\n");
}

TEST_CASE("partitions without another side are told, and those of MPI_PROC_NULL are nothing") {
  Files files;
  files.ranks = {{init(0), made(Function::kPrecv_init, 1, 2, 1), started(0), waited(0),
                  made(Function::kPsend_init, trace::kProcNull, 2, 1, 2), started(0, 2), ready(0, {0, 1}, 2),
                  waited(0, 2), finalize(0)},
                 {init(0), finalize(0)}};
  const Graph graph = files.import();
  CHECK(text_of(graph, 0) == "rank 0 {\n}\n");
  CHECK(files.notes.count(Note::kLostPartitions) == 1);
  CHECK(files.notes.not_replayed.all_bytes == 0);

  Files many;
  many.ranks = {
      {init(0), made(Function::kPsend_init, 1, 0x7FFFFFFF, 1, 1), made(Function::kPsend_init, 1, 9, 1, 2)},
      {}};
  CHECK_THROWS_AS(many.import(), InputError);
}

}  // namespace weft::goal
