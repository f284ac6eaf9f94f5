#include <catch2/catch.hpp>

#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {
namespace {

TraceRecord on_thread(std::uint32_t thread, TraceRecord record) {
  record.thread = thread;
  return record;
}

}  // namespace

TEST_CASE("each thread has its own program order and cpu, and begins where thread 0 was") {
  // Thread 1 posts its receive at 25, before thread 0's second send returns, but returns itself last.
  CHECK(text_of_rank0({init(0), message(Function::kSend, 10, 20, 1, 0, 1),
                       message(Function::kSend, 30, 90, 2, 0, 1),
                       on_thread(1, received(message(Function::kRecv, 25, 100, 3, 0, 1), got(3, 0, 8))),
                       on_thread(1, message(Function::kSend, 103, 110, 3, 0, 1)), finalize(140)}) ==
        "rank 0 {\n"
        "l1: calc 10\n"
        "l2: send 8b to 1\n"
        "l2 requires l1\n"
        "l3: calc 10\n"
        "l3 requires l2\n"
        "l4: send 8b to 2\n"
        "l4 requires l3\n"
        "l5: calc 5 cpu 1\n"
        "l5 requires l2\n"
        "l6: recv 8b from 3 cpu 1\n"
        "l6 requires l5\n"
        "l7: calc 3 cpu 1\n"
        "l7 requires l6\n"
        "l8: send 8b to 3 cpu 1\n"
        "l8 requires l7\n"
        "l9: calc 50\n"
        "l9 requires l4\n"
        "}\n");
}

TEST_CASE("a thread goes on after the call of another that it slept through, whose time is no compute") {
  // Times in us. Thread 1 sends at 1,000, computes 100, and waits at a barrier for thread 0, which receives
  // from 1,200 to 5,200; then it computes 300 and sends at 5,500.
  const auto at = [](std::uint64_t us) { return us * 1000; };
  TraceRecord last = on_thread(1, message(Function::kSend, at(5500), at(5501), 3, 0, 1));
  const auto text = [&](std::uint64_t asleep_us, ComputeTimes times) {
    last.off_before.asleep_ns = at(asleep_us);
    ImportNotes notes;
    const std::string all =
        text_of_rank0({init(0), on_thread(1, message(Function::kSend, at(1000), at(1001), 3, 0, 1)),
                       received(message(Function::kRecv, at(1200), at(5200), 2, 0, 1), got(2, 0, 8)), last,
                       finalize(at(5600))},
                      4, {.compute_times = times}, &notes);
    CHECK(notes.count(Note::kThreadWaitsNs) ==
          (all.find("l6 requires l4") == std::string::npos ? 0 : at(4000)));
    return all;
  };
  const std::string waited =
      "rank 0 {\n"
      "l1: calc 1000000 cpu 1\n"
      "l2: send 8b to 3 cpu 1\n"
      "l2 requires l1\n"
      "l3: calc 1200000\n"
      "l4: recv 8b from 2\n"
      "l4 requires l3\n"
      "l5: calc 199000 cpu 1\n"
      "l5 requires l2\n"
      "l6: calc 300000 cpu 1\n"
      "l6 requires l4\n"
      "l6 requires l5\n"
      "l7: send 8b to 3 cpu 1\n"
      "l7 requires l6\n"
      "l8: calc 400000\n"
      "l8 requires l4\n"
      "}\n";
  CHECK(text(4099, ComputeTimes::kAuto) == waited);
  // Who has slept for a part of the call only has computed beside it; and with all time as compute nobody
  // waits.
  for (const std::string& beside : {text(2000, ComputeTimes::kAuto), text(4099, ComputeTimes::kWall)}) {
    CHECK(beside.find("calc 4499000 cpu 1") != std::string::npos);
  }
}

TEST_CASE("what a new thread waited for a core before its first call is no compute") {
  TraceRecord first = on_thread(1, message(Function::kSend, 9'000'000, 9'001'000, 3, 0, 1));
  first.off_before.waiting_ns = 3'900'000;
  CHECK(text_of_rank0(
            {init(0), message(Function::kSend, 4'000'000, 5'000'000, 1, 0, 1), first, finalize(10'000'000)})
            .find("calc 100000 cpu 1") != std::string::npos);
}

}  // namespace weft::goal
