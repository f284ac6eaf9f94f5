// Programs that use MPI 4's Sessions, alone and beside MPI_Init: programs/sessions.c against what its source
// says, where the MPI has them.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "tests/tracer/traced_run.h"

namespace weft::trace::test {
namespace {

using Ranks = std::vector<std::int32_t>;

// The communicator that the i-th MPI_Comm_create_from_group made.
const goal::TraceCommunicator& made(const Trace& trace, std::size_t i) {
  const std::vector<goal::TraceRecord> calls = trace.of(Function::kComm_create_from_group);
  REQUIRE(calls.size() == 3);
  CHECK(calls[i].comm == kNoComm);
  REQUIRE(calls[i].new_comm < trace.communicators.size());
  return trace.communicators[calls[i].new_comm];
}

void check_rank(const Run& all, int rank) {
  INFO("rank " << rank);
  const Trace& trace = all.ranks[static_cast<std::size_t>(rank)];
  CHECK(trace.complete);
  CHECK(trace.end == End::kFinalize);
  CHECK(trace.communicators[kCommWorld].ranks == Ranks{0, 1, 2, 3});
  CHECK(trace.communicators[kCommSelf].ranks == Ranks{rank});
  CHECK(trace.of(Function::kSession_init).size() == 4);
  CHECK(trace.of(Function::kSession_finalize).size() == 4);
  CHECK(made(trace, 0).ranks == Ranks{0, 1, 2, 3});
  CHECK(made(trace, 0).key == made(all.ranks[0], 0).key);
  CHECK(made(trace, 0).key != trace.communicators[kCommWorld].key);
  CHECK(made(trace, 1).ranks == (rank % 2 == 0 ? Ranks{0, 2} : Ranks{1, 3}));
  CHECK(made(trace, 1).key == made(all.ranks[static_cast<std::size_t>(rank % 2)], 1).key);
  CHECK(made(trace, 2).ranks == Ranks{rank});
  const std::vector<goal::TraceRecord> sent = trace.of(Function::kSendrecv);
  REQUIRE(sent.size() == 3);
  CHECK(sent[0].peer == (rank + 1) % 4);
  CHECK(sent[0].bytes() == 20);
  CHECK(sent[1].peer == (rank + 2) % 4);
  CHECK(sent[1].bytes() == 28);
  CHECK(sent[2].received == goal::TraceMessage{true, rank, 3, 24});
  for (const goal::TraceCounter& counter : trace.counters) {
    INFO(counter.name);
    CHECK(counter.call_class == CallClass::kLocal);
  }
}

}  // namespace

TEST_CASE("sessions are traced without MPI_Init, with ranks in the set of all processes") {
  if (std::system("command -v mpirun.mpich > /dev/null") != 0) {
    WARN("skipped: mpirun.mpich is not installed");
    return;
  }
  const Run alone = run("mpich", 4, "sessions");
  REQUIRE(alone.status == 0);
  for (int rank = 0; rank < 4; ++rank) {
    check_rank(alone, rank);
    const Trace& trace = alone.ranks[static_cast<std::size_t>(rank)];
    CHECK(trace.records.front().function == Function::kSession_init);
    CHECK(trace.records.back().function == Function::kSession_finalize);
  }
  const Run both = run("mpich", 4, "sessions", "both");
  REQUIRE(both.status == 0);
  for (int rank = 0; rank < 4; ++rank) {
    check_rank(both, rank);
    const Trace& trace = both.ranks[static_cast<std::size_t>(rank)];
    CHECK(trace.only(Function::kBarrier).comm == kCommWorld);
    // The last session goes on behind it.
    CHECK(trace.of(Function::kFinalize).size() == 1);
    CHECK(trace.records.back().function == Function::kSession_finalize);
  }
}

}  // namespace weft::trace::test
