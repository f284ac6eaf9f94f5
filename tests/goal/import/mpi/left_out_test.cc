// What no operation stands for: its time stays compute, and it is counted.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {
namespace {

constexpr std::int32_t kAnySource = trace::kAnySource, kNull = trace::kProcNull;

}  // namespace

TEST_CASE("what is done with processes of another world is left out, counted, and its time stays compute") {
  Files files;
  files.communicators = {
      {.id = 2, .key = 9, .ranks = {0, trace::kOutsideWorld, 1}, .outside = true},
      {.id = 3, .key = 10, .ranks = {0, 1}, .inter = true, .remote_ranks = {trace::kOutsideWorld}}};
  constexpr std::int32_t kOutside = trace::kOutsideWorld;
  TraceRecord merge = on_comm(3, call(Function::kIntercomm_merge, 0, 100));
  merge.new_comm = 2;
  TraceRecord bcast = on_comm(2, message(Function::kBcast, 100, 110, 0, 0, 3, 1));
  bcast.root = 2;
  TraceRecord started = on_comm(2, call(Function::kIallreduce, 900, 901));
  started.request = 7;
  TraceRecord any = received(message(Function::kRecv, 1100, 1300, kAnySource, 0, 1), got(kOutside, 0, 8));
  TraceRecord exchange = received(message(Function::kSendrecv, 1300, 1600, kOutside, 0, 1), got(kNull, 0, 0));
  exchange.recv_peer = kNull;
  const std::vector<TraceRecord> rank0 = {init(0),
                                          merge,
                                          bcast,
                                          on_comm(2, call(Function::kBarrier, 110, 700)),
                                          on_comm(2, message(Function::kAllreduce, 700, 900, 0, 0, 1)),
                                          started,
                                          done(Function::kWait, 901, 1000, {request(7)}),
                                          message(Function::kRecv, 1000, 1100, kOutside, 0, 1),
                                          any,
                                          exchange,
                                          on_comm(3, call(Function::kComm_disconnect, 1600, 2000)),
                                          message(Function::kSend, 2000, 2010, 1, 5, 1),
                                          finalize(2010)};
  files.ranks = {rank0, {init(0), received(message(Function::kRecv, 0, 2010, 0, 5, 1), got(0, 5, 8))}};
  for (TraceRecord& record : files.ranks[0]) record.inside_ns = record.leave_ns - record.enter_ns;
  const std::string text = to_text(files.import());
  INFO(text);
  // The 2000 ns before the send to rank 1, in which rank 0 met nobody of its world alone.
  CHECK(text.find("rank 0 {\nl1: calc 2000\nl2: send 8b to 1 tag 5\nl2 requires l1\n}\n") !=
        std::string::npos);
  CHECK(files.notes.count(Note::kOutsideWorld) == 9);  // all but the Wait
  CHECK(files.notes.count(Note::kCommunicatorCreations) == 0);
  CHECK(files.notes.not_replayed.total().calls == 10);
  CHECK(files.notes.not_replayed.total().time_ns == 2000);
}

TEST_CASE("a window's synchronization with processes of another world is left out and counted") {
  Files files;
  files.communicators = {{.id = 2, .key = 9, .ranks = {0, trace::kOutsideWorld, 1}, .outside = true}};
  TraceRecord created = on_comm(2, call(Function::kWin_create, 0, 10));
  created.window = 1;
  TraceRecord fence = call(Function::kWin_fence, 10, 50);
  fence.window = 1;
  created.inside_ns = 10;
  fence.inside_ns = 40;
  files.ranks = {{init(0), created, fence, finalize(50)}, {init(0), created, fence, finalize(50)}};
  const std::string text = to_text(files.import());
  CHECK(text.find("rank 0 {\ncalc 50\n}\n") != std::string::npos);
  CHECK(files.notes.not_replayed.total().time_ns == 2 * 50);
}

TEST_CASE("a wait for nothing but files or unknown requests stays compute; with messages it is told") {
  TraceRecord file = call(Function::kFile_iwrite_at, 0, 10);
  file.request = 1;
  const auto waits = [&](std::vector<TraceCompletion> completions, ImportNotes& notes) {
    TraceRecord wait = done(Function::kWaitall, 100, 1100, std::move(completions));
    wait.inside_ns = 1000;
    return text_of_rank0({init(0), file, message(Function::kIrecv, 10, 20, 1, 5, 1, 2),
                          message(Function::kIrecv, 20, 30, kNull, 0, 1, 3), wait, finalize(1100)},
                         2, {}, &notes);
  };
  const std::string receive = "rank 0 {\nl1: calc 10\nl2: recv 8b from 1 tag 5\nl2 requires l1\n";
  ImportNotes of_file, unknown, mixed, empty;
  CHECK(waits({request(1)}, of_file) == receive + "l3: calc 1070\nl3 irequires l2\n}\n");
  CHECK(of_file.not_replayed.total().calls == 2);
  CHECK(of_file.not_replayed.total().time_ns == 1000);
  CHECK(waits({request(1), request(3), request(trace::kUnknownRequest)}, unknown) ==
        receive + "l3: calc 1070\nl3 irequires l2\n}\n");
  CHECK(unknown.count(Note::kUnknownCompletions) == 1);
  CHECK(waits({request(1), request(2, got(1, 5, 8))}, mixed) ==
        receive + "l3: calc 70\nl3 irequires l2\n}\n");
  CHECK(mixed.count(Note::kMixedWaitsNs) == 1000);
  CHECK(waits({request(3)}, empty) == receive + "l3: calc 70\nl3 irequires l2\n}\n");
  CHECK(of_file.count(Note::kMixedWaitsNs) + empty.count(Note::kMixedWaitsNs) == 0);
}

TEST_CASE("a receive given up after MPI_Cancel is none; a send, and a receive seen complete, are") {
  const auto on = [](Function function, std::uint64_t number) {
    TraceRecord record = call(function, 1, 1);
    record.request = number;
    return record;
  };
  const auto start = [](std::uint64_t at_ns) {
    TraceRecord record = call(Function::kStart, at_ns, at_ns);
    record.started = {1};
    return record;
  };
  ImportNotes notes;
  const auto of = [&](std::vector<TraceRecord> records) {
    records.insert(records.begin(), init(0));
    records.push_back(finalize(1));
    return text_of_rank0(records, 2, {}, &notes);
  };
  const TraceRecord receive = message(Function::kIrecv, 1, 1, kAnySource, 5, 1, 1);
  const TraceRecord persistent = message(Function::kRecv_init, 1, 1, 1, 5, 1, 1);
  const TraceRecord cancel = on(Function::kCancel, 1), free = on(Function::kRequest_free, 1);
  const std::string nothing = "rank 0 {\nl1: calc 1\nl2: calc 0\nl2 requires l1\n}\n";
  CHECK(of({receive, cancel, free}) == nothing);
  CHECK(notes.count(Note::kCancelled) == 1);
  CHECK(notes.count(Note::kUnresolvedWildcards) == 0);
  CHECK(of({receive, cancel}) == nothing);  // nor is it freed
  CHECK(of({persistent, start(1), cancel, free}) == nothing);
  CHECK(of({receive, free}).find("recv") != std::string::npos);
  CHECK(of({message(Function::kIsend, 1, 1, 1, 5, 1, 1), cancel, free}).find("send") != std::string::npos);
  // The first start is cancelled, the second one is received.
  CHECK(of({persistent, start(1), cancel,
            done(Function::kWait, 1, 1, {{.request = 1, .cancelled = true, .message = {}}}), start(1),
            done(Function::kWait, 1, 1, {request(1, got(1, 5, 4))}), free})
            .find("recv 4b from 1 tag 5") != std::string::npos);
  // Cancelled too late, and then started again.
  CHECK(of({persistent, start(1), cancel, done(Function::kWait, 1, 1, {request(1, got(1, 5, 4))}), start(1),
            free}) ==
        "rank 0 {\nl1: calc 1\nl2: recv 4b from 1 tag 5\nl2 requires l1\nl3: recv 8b from 1 tag 5\n"
        "l3 requires l2\n}\n");
}

}  // namespace weft::goal
