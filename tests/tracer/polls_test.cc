// Rows of tests and probes in vain: programs/polls.c under each MPI against what its source says.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "tests/tracer/traced_run.h"

namespace weft::trace::test {
namespace {

using goal::TraceRecord;

std::uint64_t in_vain(const Trace& trace, Function function) {
  std::uint64_t polls = 0;
  for (const TraceRecord& r : trace.of(function)) {
    CHECK(r.enter_ns <= r.leave_ns);
    CHECK(r.inside_ns <= r.leave_ns - r.enter_ns);
    if (!r.flag) polls += r.polls;
  }
  return polls;
}

}  // namespace

TEST_CASE("polls in vain are counted, and what ends a row of them is recorded") {
  for (const std::string& mpi : installed()) {
    INFO(mpi);
    const Run all = run(mpi, 1, "polls");
    REQUIRE(all.status == 0);
    const Trace& t = all.ranks[0];
    // As the program counts them; at least 1000 of each of the ways it polls.
    std::string counted = "in vain:";
    for (const Function function :
         {Function::kTest, Function::kTestany, Function::kTestall, Function::kTestsome,
          Function::kRequest_get_status, Function::kIprobe, Function::kImprobe}) {
      CHECK(in_vain(t, function) >= 1000);
      counted += " " + std::to_string(in_vain(t, function));
    }
    CHECK_THAT(all.output, Catch::Contains(counted + "\n"));
    // Each request is found complete once, in the order in which the messages were sent, which is that in
    // which the requests were made; but for the one of MPI_Request_get_status, which stays.
    std::uint64_t next = 1;
    for (const TraceRecord& r : t.records) {
      if (r.function == Function::kRequest_get_status || !r.flag) continue;
      if (r.function == Function::kTestall) {
        for (std::size_t i = r.completions.size(); i > 0; --i) CHECK(r.completions[i - 1].request == next++);
        continue;
      }
      for (const auto& completion : r.completions) {
        if (completion.request != kUnknownRequest) CHECK(completion.request == next++);
      }
    }
    CHECK(next == 1 + 2 + 3 * (1 + 3 + 40) + 2);
    CHECK(t.of(Function::kImprobe).back().message == t.only(Function::kMrecv).message);
    // Rows of a loop that does nothing else are few records, unless the machine takes the core away.
    CHECK(t.records.size() < 2000);
    std::uint64_t last = 0;
    for (const TraceRecord& r : t.records) {
      CHECK(r.leave_ns >= last);
      last = r.leave_ns;
    }
  }
}

}  // namespace weft::trace::test
