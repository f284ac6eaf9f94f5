// Collectives over intercommunicators that a real program can't be made to call, or not alike everywhere.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "goal/import/mpi/rank_importer.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {
TEST_CASE("ranks of two groups: messages and collectives, but for persistent ones and processes outside") {
  Files files;
  files.communicators = {
      {.id = 2, .key = 5, .parent = 0, .ranks = {0}, .inter = true, .remote_ranks = {1, 2}},
      {.id = 3, .key = 6, .ranks = {0}, .inter = true, .remote_ranks = {trace::kOutsideWorld}}};
  files.ranks = {
      {init(0), on_comm(2, message(Function::kSend, 0, 1, 2, 3, 1)),
       on_comm(2, call(Function::kBarrier, 1, 10)), on_comm(2, call(Function::kBarrier_init, 10, 12)),
       on_comm(3, call(Function::kBarrier, 12, 20)), finalize(20)},
      {init(0), message(Function::kSend, 0, 1, trace::kOutsideWorld, 3, 1), finalize(1)},
      {}};
  const std::string text = to_text(files.import());
  INFO(text);
  // Alone in its group, rank 0 has only the other leader to meet.
  CHECK(text.find("l1: send 8b to 2 tag 3 comm 1\nl2: recv 1b from 1 comm 3\n") != std::string::npos);
  CHECK(text.find("l3: send 1b to 1 comm 3\n") != std::string::npos);
  // What takes place with another world, or is left out, stays compute: 2 and 8, and 1.
  CHECK(text.find("l5: calc 10\n") != std::string::npos);
  CHECK(text.find("rank 1 {\ncalc 1\n}\n") != std::string::npos);
  CHECK(files.notes.count(Note::kIntercommunicatorCollectives) == 1);
  CHECK(files.notes.count(Note::kOutsideWorld) == 2);
  std::vector<std::string> names;
  for (const auto& function : files.notes.not_replayed.functions) names.push_back(function.name);
  CHECK(names == std::vector<std::string>{"MPI_Barrier", "MPI_Barrier_init", "MPI_Send"});
}

TEST_CASE("a root or counts that a group has no ranks for are refused") {
  Files files;
  files.communicators = {
      {.id = 2, .key = 5, .parent = 0, .ranks = {0, 1}, .inter = true, .remote_ranks = {2}}};
  TraceRecord bcast = on_comm(2, message(Function::kBcast, 0, 1, 0, 0, 3));
  bcast.root = 1;
  files.ranks = {{init(0), bcast}, {}, {}};
  CHECK_THROWS_WITH(files.import(), "root 1 in a group of 1 ranks");
  TraceRecord allgatherv = on_comm(2, message(Function::kAllgatherv, 0, 1, 0, 0, 3));
  allgatherv.recv_bytes = {8, 8};
  files.ranks = {{init(0), allgatherv}, {}, {}};
  CHECK_THROWS_WITH(files.import(), "2 counts for a group of 1 ranks");
}

}  // namespace weft::goal
