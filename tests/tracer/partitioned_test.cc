// Records of partitioned communication: programs/partitioned.c against what its source says, where the MPI
// has it.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "tests/tracer/traced_run.h"

namespace weft::trace::test {
namespace {

using goal::TraceRecord;
using Partitions = std::vector<std::uint32_t>;

void check_init(const TraceRecord& made, int peer, std::uint32_t partitions, std::uint64_t count) {
  CHECK(made.comm == kCommWorld);
  CHECK(made.peer == peer);
  CHECK(made.tag == 7);
  CHECK(made.partitions == partitions);
  CHECK(made.count == count);
  CHECK(made.type_size == 8);
}

std::vector<Partitions> given(const Trace& trace, Function function, std::uint32_t thread) {
  std::vector<Partitions> found;
  for (const TraceRecord& r : trace.of(function)) {
    CHECK((r.thread == 0) == (thread == 0));
    CHECK(r.request == 1);
    found.push_back(r.ready);
  }
  return found;
}

}  // namespace

TEST_CASE("partitioned calls are recorded with partitions, requests and what was received") {
  if (std::system("command -v mpirun.mpich > /dev/null") != 0) {
    WARN("skipped: mpirun.mpich is not installed");
    return;
  }
  const Run all = run("mpich", 2, "partitioned");
  REQUIRE(all.status == 0);
  const Trace &sender = all.ranks[0], &receiver = all.ranks[1];
  check_init(sender.only(Function::kPsend_init), 1, 6, 10);
  check_init(receiver.only(Function::kPrecv_init), 0, 3, 20);
  CHECK(given(sender, Function::kPready, 0) == std::vector<Partitions>{{4}, {0}, {4}, {0}});
  CHECK(given(sender, Function::kPready_range, 0) == std::vector<Partitions>{{2, 3}, {2, 3}});
  CHECK(given(sender, Function::kPready_list, 1) == std::vector<Partitions>{{5, 1}, {5, 1}});
  int found = 0;
  for (const TraceRecord& r : receiver.of(Function::kParrived)) {
    if (!r.flag) continue;
    ++found;
    CHECK(r.request == 1);
    CHECK(r.ready == Partitions{1});
  }
  CHECK(found == 2);
  const std::vector<goal::TraceCompletion> came = receiver.completions(1);
  REQUIRE(came.size() == 2);
  CHECK(came[1].message == goal::TraceMessage{true, 0, 7, 480});
  CHECK(sender.completions(1).size() == 2);
  CHECK(moved_bytes(all, Function::kPsend_init) == 960);
  for (const goal::TraceCounter& counter : receiver.counters) CHECK(counter.call_class == CallClass::kLocal);
}

}  // namespace weft::trace::test
