// What stays of a trace when programs crash, hang, are killed, leave without MPI_Finalize or fill the disk:
// every call that has returned, and the call that each rank was in. programs/crash.c says what they do.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"
#include "tests/tracer/traced_run.h"

namespace {

using weft::goal::TraceNowIn;
using weft::goal::TraceRecord;
using weft::trace::End;
using weft::trace::Function;
using weft::trace::kCommWorld;
using weft::trace::kUndefined;
using weft::trace::test::installed;
using weft::trace::test::run;
using weft::trace::test::Run;
using weft::trace::test::Trace;

// MPI_Init, 100 exchanges with itself, and nothing else before `last`.
void check_calls(const Trace& t, Function last) {
  CAPTURE(t.header.rank, t.status);
  REQUIRE(t.records.size() == 102);
  CHECK(t.records.front().function == Function::kInit);
  const std::vector<TraceRecord> exchanges = t.of(Function::kSendrecv_replace);
  REQUIRE(exchanges.size() == 100);
  for (int i = 0; i < 100; ++i) {
    CHECK(exchanges[static_cast<std::size_t>(i)].tag == i);
    CHECK(exchanges[static_cast<std::size_t>(i)].received.bytes == 4);
  }
  CHECK(t.records.back().function == last);
}

void check_in(const Trace& t, const std::string& name, std::uint32_t comm, int peer, int tag) {
  CAPTURE(t.header.rank);
  CHECK(t.end == End::kNone);
  CHECK_FALSE(t.complete);
  REQUIRE(t.now_in.size() == 1);
  const TraceNowIn& now = t.now_in[0];
  CHECK(t.now_in_names[0] == name);
  CHECK(now.thread == 0);
  CHECK(now.comm == comm);
  CHECK(now.peer == peer);
  CHECK(now.tag == tag);
  CHECK(now.enter_ns >= t.records.back().leave_ns);
}

// Rank 0 has sent to rank 1 and waits for an answer.
void check_waiting(const Trace& t) {
  check_calls(t, Function::kSend);
  check_in(t, "MPI_Recv", kCommWorld, 1, 9);
}

}  // namespace

TEST_CASE("a crash, a kill or an end without MPI_Finalize loses no call of any rank") {
  for (const std::string& mpi : installed()) {
    for (const std::string mode : {"segv", "kill", "_exit"}) {
      SECTION(mpi + " " + mode) {
        const Run result = run(mpi, 2, "crash", mode);
        CHECK(result.status != 0);
        check_waiting(result.ranks[0]);
        const Trace& crashed = result.ranks[1];
        check_calls(crashed, Function::kRecv);
        CHECK(crashed.end == End::kNone);
        CHECK(crashed.now_in.empty());
        CHECK(crashed.status.find("truncated after 102 records: the file ends without an end mark") == 0);
      }
    }
    SECTION(mpi + " exit") {
      const Run result = run(mpi, 2, "crash", "exit");
      check_waiting(result.ranks[0]);
      check_calls(result.ranks[1], Function::kRecv);
      CHECK(result.ranks[1].end == End::kExit);
      REQUIRE(result.ranks[1].thread_ends.size() == 1);
      const weft::goal::TraceThreadEnd& end = result.ranks[1].thread_ends[0];
      CHECK(end.thread == 0);
      CHECK(end.at_ns >= result.ranks[1].records.back().leave_ns + 300'000'000);  // it slept as long
    }
    SECTION(mpi + " abort") {
      const Run result = run(mpi, 2, "crash", "abort");
      check_waiting(result.ranks[0]);
      CHECK(result.ranks[1].records.size() == 103);
      CHECK(result.ranks[1].end == End::kAbort);
    }
    SECTION(mpi + " polls in vain") {
      const Trace t = run(mpi, 2, "crash", "polls").ranks[1];
      std::uint64_t polls = 0;
      for (const TraceRecord& r : t.of(Function::kIprobe)) {
        CHECK_FALSE(r.flag);
        CHECK(r.peer == 0);
        CHECK(r.tag == 4);
        CHECK(r.inside_ns <= r.leave_ns - r.enter_ns);
        polls += r.polls;
      }
      CHECK(polls == 1000);
    }
  }
}

TEST_CASE("a rank that hangs is seen in the call it is in") {
  for (const std::string& mpi : installed()) {
    SECTION(mpi + " MPI_Recv") {
      const Run result = run(mpi, 2, "crash", "hang");
      check_waiting(result.ranks[0]);
      CHECK(result.ranks[1].records.size() == 101);
      check_in(result.ranks[1], "MPI_Recv", kCommWorld, 0, 8);
    }
    SECTION(mpi + " MPI_Waitall") {
      const Run result = run(mpi, 2, "crash", "wait");
      check_waiting(result.ranks[0]);
      const Trace& t = result.ranks[1];
      CHECK(t.of(Function::kIrecv).size() == 2);
      check_in(t, "MPI_Waitall", weft::trace::kNoComm, kUndefined, kUndefined);
      CHECK(t.now_in[0].requests == 2);
    }
    SECTION(mpi + " MPI_Bcast of a communicator with its own order of ranks") {
      const Run result = run(mpi, 2, "crash", "reduce");
      const Trace& t = result.ranks[1];
      REQUIRE(t.communicators.size() == 3);
      CHECK(t.communicators[2].ranks == std::vector<int>{1, 0});
      check_in(t, "MPI_Bcast", 2, 0, kUndefined);  // rank 1 of it is rank 0 of the world
    }
    SECTION(mpi + " two threads") {
      const Run result = run(mpi, 2, "crash", "threads");
      const Trace& t = result.ranks[1];
      CHECK(t.records.size() == 101);
      REQUIRE(t.now_in.size() == 2);
      for (const std::uint32_t thread : {0u, 1u}) {
        CHECK(t.now_in_names[thread] == "MPI_Recv");
        CHECK(t.now_in[thread].thread == thread);
        CHECK(t.now_in[thread].peer == 0);
        CHECK(t.now_in[thread].tag == (thread == 0 ? 8 : 7));
      }
    }
    SECTION(mpi + " MPI_Win_fence") {
      const Run result = run(mpi, 2, "crash", "put");
      REQUIRE(result.ranks[1].now_in.size() == 1);
      CHECK(result.ranks[1].now_in_names[0] == "MPI_Win_fence");
    }
  }
}

TEST_CASE("a child that is forked and exits leaves its parent's trace alone") {
  for (const std::string& mpi : installed()) {
    SECTION(mpi) {
      const Run result = run(mpi, 2, "crash", "fork");
      for (const Trace& t : result.ranks) {
        CHECK(t.complete);
        CHECK(t.end == End::kFinalize);
        CHECK(t.records.size() == 102);
        CHECK(t.file_bytes == t.used_bytes);
      }
    }
  }
}

TEST_CASE("a disk that fails ends the traces, which say so, and not the program") {
  struct Case {
    std::string mode, fault, told;
    bool has_records;
  };
  const std::vector<Case> cases = {
      {"limit", "", "write: File too large", true},
      {"many", "write:ENOSPC@8+1", "write: No space left on device", true},
      {"many", "write:EDQUOT@2+1", "write: Disk quota exceeded", false},
      {"many", "write:EIO@1+1", "write: Input/output error", false},
      // The first is of the number that the file had before it was put out of the program's way.
      {"many", "close:EIO@2", "close: Input/output error", true},
      {"many", "write:short@1+1", "", true},
  };
  for (const std::string& mpi : installed()) {
    for (const Case& c : cases) {
      SECTION(mpi + " " + c.mode + " " + c.fault) {
        const Run result = run(mpi, 2, "crash", c.mode, c.fault);
        CAPTURE(result.output);
        CHECK(result.status == 0);
        for (int rank = 0; rank < 2; ++rank) {
          const std::string told = fmt::format("weft: the trace of rank {} ends here: {}", rank, c.told);
          CHECK((result.output.find(told) != std::string::npos) == !c.told.empty());
        }
        // One message a rank, and only that.
        std::size_t messages = 0;
        for (std::size_t at = 0; (at = result.output.find("weft:", at)) != std::string::npos; ++at)
          ++messages;
        CHECK(messages == (c.told.empty() ? 0 : 2));
        CHECK(result.ranks.size() == (c.fault == "write:EIO@1+1" ? 0 : 2));
        for (const Trace& t : result.ranks) {
          CHECK(t.records.empty() == !c.has_records);
          const bool whole = c.fault == "close:EIO@2" || c.told.empty();
          CHECK(t.complete == whole);
          if (whole || !c.has_records) continue;
          CHECK(t.end == End::kStopped);
          CHECK(t.status ==
                fmt::format("truncated after {} records: the tracer could not write on (a full disk)",
                            t.records.size()));
          CHECK(t.records.size() > 10000);
          CHECK(t.of(Function::kSendrecv_replace).size() == t.records.size() - 1);
        }
      }
    }
  }
}
