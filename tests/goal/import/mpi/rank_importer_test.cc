#include <catch2/catch.hpp>

#include "sim/units/input_error.h"
#include "tests/goal/import/mpi/calls.h"

namespace weft::goal {
namespace {

constexpr std::int32_t kAnySource = trace::kAnySource, kAnyTag = trace::kAnyTag, kNull = trace::kProcNull;

}  // namespace

TEST_CASE("time between calls is compute, from the end of Init to the start of Finalize") {
  CHECK(text_of_rank0({init(100), message(Function::kSend, 150, 400, 1, 7, 3),
                       message(Function::kSend, 400, 900, 2, 0, 0), finalize(975)}) ==
        "rank 0 {\n"
        "l1: calc 50\n"
        "l2: send 24b to 1 tag 7\n"
        "l2 requires l1\n"
        "l3: send 0b to 2\n"
        "l3 requires l2\n"
        "l4: calc 75\n"
        "l4 requires l3\n"
        "}\n");
  CHECK(text_of_rank0({init(100), finalize(100)}) == "rank 0 {\n}\n");
}

TEST_CASE(
    "the program goes on when a nonblocking operation has started, and past its Wait when it has ended") {
  CHECK(text_of_rank0({init(0), message(Function::kIrecv, 10, 11, 1, 7, 10, 1),
                       message(Function::kIsend, 11, 12, 2, 5, 3, 2),
                       done(Function::kWait, 62, 80, {request(1, got(1, 7, 40))}),
                       done(Function::kWait, 80, 90, {request(2)}), finalize(120)}) ==
        "rank 0 {\n"
        "l1: calc 10\n"
        "l2: recv 40b from 1 tag 7\n"
        "l2 requires l1\n"
        "l3: send 24b to 2 tag 5\n"
        "l3 irequires l2\n"
        "l4: calc 50\n"
        "l4 irequires l3\n"
        "l5: calc 30\n"
        "l5 requires l2\n"
        "l5 requires l3\n"
        "l5 requires l4\n"
        "}\n");
}

TEST_CASE("a request waited for at once is a blocking operation") {
  CHECK(text_of_rank0({init(0), message(Function::kIsend, 0, 12, 2, 5, 3, 1),
                       done(Function::kWait, 12, 80, {request(1)}), message(Function::kSend, 80, 90, 1, 0, 1),
                       finalize(90)}) ==
        "rank 0 {\n"
        "l1: send 24b to 2 tag 5\n"
        "l2: send 8b to 1\n"
        "l2 requires l1\n"
        "}\n");
}

TEST_CASE("Waitany and Testsome join only what they found complete") {
  CHECK(
      text_of_rank0({init(0), message(Function::kIrecv, 0, 1, 1, 1, 1, 1),
                     message(Function::kIrecv, 1, 2, 2, 2, 1, 2), message(Function::kIrecv, 2, 3, 3, 3, 1, 3),
                     done(Function::kWaitany, 3, 50, {request(2, got(2, 2, 8))}),
                     message(Function::kSend, 50, 60, 1, 0, 1),
                     done(Function::kTestsome, 60, 70, {request(1, got(1, 1, 8)), request(3, got(3, 3, 8))}),
                     message(Function::kSend, 70, 80, 2, 0, 1), finalize(80)}) ==
      "rank 0 {\n"
      "l1: recv 8b from 1 tag 1\n"
      "l2: recv 8b from 2 tag 2\n"
      "l2 irequires l1\n"
      "l3: recv 8b from 3 tag 3\n"
      "l3 irequires l2\n"
      "l4: send 8b to 1\n"
      "l4 requires l2\n"
      "l4 irequires l3\n"
      "l5: send 8b to 2\n"
      "l5 requires l1\n"
      "l5 requires l3\n"
      "l5 requires l4\n"
      "}\n");
}

TEST_CASE("polling is waiting: short gaps between tests in vain are not compute, longer ones are") {
  ImportNotes notes;
  const std::vector<TraceRecord> records = {
      init(0),
      message(Function::kIrecv, 0, 1, 1, 0, 1, 1),
      done(Function::kTest, 101, 110, {}),      // 100 of compute before the first poll
      done(Function::kTest, 5110, 5120, {}),    // 5000 between polls: waiting
      call(Function::kIprobe, 10'121, 10'130),  // 5001: compute
      done(Function::kTest, 10'140, 10'150, {request(1, got(1, 0, 8))}),  // 10: waiting
      finalize(10'157),                                                   // 7 after success: compute
  };
  std::vector<TraceRecord> in_vain = records;
  in_vain[4].flag = false;
  CHECK(text_of_rank0(in_vain, 4, {}, &notes) ==
        "rank 0 {\n"
        "l1: recv 8b from 1\n"
        "l2: calc 5101\n"
        "l2 irequires l1\n"
        "l3: calc 7\n"
        "l3 requires l1\n"
        "l3 requires l2\n"
        "}\n");
  CHECK(notes.count(Note::kPolls) == 3);
  CHECK(notes.count(Note::kPollingNs) == 5010);
  CHECK(notes.count(Note::kComputeBetweenPollsNs) == 5001);
  // One record may stand for many polls: the gaps between them are waiting.
  in_vain[2].polls = 3;
  in_vain[2].inside_ns = 4;
  text_of_rank0(in_vain, 4, {}, &notes);
  CHECK(notes.count(Note::kPolls) == 5);
  CHECK(notes.count(Note::kPollingNs) == 5015);
  // With the limit at 9 ns every gap counts, and an Iprobe that found something ends the polling.
  CHECK(text_of_rank0(records, 4, {.poll_gap_ns = 9}).find("calc 10111\n") != std::string::npos);
}

TEST_CASE("a persistent request makes an operation each time it is started") {
  TraceRecord start = call(Function::kStartall, 20, 21);
  start.started = {1, 2};
  TraceRecord again = call(Function::kStart, 40, 41);
  again.started = {2};
  CHECK(text_of_rank0({init(0), message(Function::kSend_init, 0, 5, 1, 4, 2, 1),
                       message(Function::kRecv_init, 5, 6, kAnySource, 4, 9, 2), start,
                       done(Function::kWaitall, 21, 40, {request(1), request(2, got(3, 4, 16))}), again,
                       done(Function::kWait, 41, 50, {request(2, got(2, 4, 24))}), finalize(51)}) ==
        "rank 0 {\n"
        "l1: calc 14\n"
        "l2: send 16b to 1 tag 4\n"
        "l2 requires l1\n"
        "l3: recv 16b from 3 tag 4\n"
        "l3 irequires l2\n"
        "l4: recv 24b from 2 tag 4\n"
        "l4 requires l2\n"
        "l4 requires l3\n"
        "l5: calc 1\n"
        "l5 requires l4\n"
        "}\n");
}

TEST_CASE("the halves of Sendrecv run side by side") {
  TraceRecord exchange = received(message(Function::kSendrecv, 10, 20, 1, 4, 2), got(2, 5, 24));
  exchange.recv_peer = kAnySource;
  exchange.recv_tag = 5;
  exchange.recv_count = 100;
  exchange.recv_type_size = 8;
  CHECK(text_of_rank0({init(0), exchange, finalize(21)}) ==
        "rank 0 {\n"
        "l1: calc 10\n"
        "l2: recv 24b from 2 tag 5\n"
        "l2 requires l1\n"
        "l3: send 16b to 1 tag 4\n"
        "l3 requires l1\n"
        "l4: calc 1\n"
        "l4 requires l2\n"
        "l4 requires l3\n"
        "}\n");
  exchange.recv_peer = kNull;
  exchange.received = got(kNull, kAnyTag, 0);
  CHECK(text_of_rank0({init(10), exchange, finalize(20)}) == "rank 0 {\nsend 16b to 1 tag 4\n}\n");
  exchange.peer = kNull;
  CHECK(text_of_rank0({init(10), exchange, finalize(20)}) == "rank 0 {\n}\n");
}

TEST_CASE("MPI_PROC_NULL makes no operation") {
  CHECK(text_of_rank0({init(10), message(Function::kSend, 20, 25, kNull, 0, 5),
                       received(message(Function::kRecv, 30, 35, kNull, 0, 5), got(kNull, kAnyTag, 0)),
                       message(Function::kIsend, 40, 45, kNull, 0, 5, 1),
                       done(Function::kWait, 50, 55, {request(1)}), finalize(60)}) ==
        "rank 0 {\ncalc 30\n}\n");
}

TEST_CASE("wildcards become what was received, unless they are to be kept") {
  const std::vector<TraceRecord> records = {
      init(0), received(message(Function::kRecv, 0, 1, kAnySource, kAnyTag, 10), got(3, 9, 16)),
      message(Function::kIrecv, 1, 2, 2, kAnyTag, 10, 1),
      done(Function::kWait, 2, 3, {request(1, got(2, 8, 72))}), finalize(3)};
  CHECK(text_of_rank0(records) ==
        "rank 0 {\n"
        "l1: recv 16b from 3 tag 9\n"
        "l2: recv 72b from 2 tag 8\n"
        "l2 requires l1\n"
        "}\n");
  CHECK(text_of_rank0(records, 4, {.keep_wildcards = true}) ==
        "rank 0 {\n"
        "l1: recv 16b from -1 tag -1\n"
        "l2: recv 72b from 2 tag -1\n"
        "l2 requires l1\n"
        "}\n");
  ImportNotes notes;  // one that never completed stays as posted
  CHECK(text_of_rank0({init(0), message(Function::kIrecv, 0, 1, kAnySource, 5, 10, 1), finalize(1)}, 4, {},
                      &notes) == "rank 0 {\nrecv 80b from -1 tag 5\n}\n");
  CHECK(notes.count(Note::kUnresolvedWildcards) == 1);
}

TEST_CASE("a probe makes no operation; the receive of its message waits instead") {
  ImportNotes notes;
  CHECK(text_of_rank0({init(0), received(message(Function::kProbe, 0, 50, kAnySource, 5, 0), got(1, 5, 64)),
                       received(message(Function::kRecv, 60, 70, 1, 5, 8), got(1, 5, 64)), finalize(70)},
                      4, {}, &notes) ==
        "rank 0 {\n"
        "l1: calc 10\n"
        "l2: recv 64b from 1 tag 5\n"
        "l2 requires l1\n"
        "}\n");
  CHECK(notes.count(Note::kProbes) == 1);
  // A matched probe hands its source and tag to the receive of that message.
  TraceRecord probe = received(message(Function::kMprobe, 0, 50, kAnySource, kAnyTag, 0), got(2, 6, 64));
  probe.message = 4;
  TraceRecord receive = call(Function::kImrecv, 50, 51);
  receive.message = 4;
  receive.request = 1;
  CHECK(text_of_rank0({init(0), probe, receive, done(Function::kWait, 51, 60, {request(1, got(2, 6, 64))}),
                       finalize(60)}) == "rank 0 {\nrecv 64b from 2 tag 6\n}\n");
}

TEST_CASE("a cancelled operation is none, and one whose request was freed has no one to wait for it") {
  TraceRecord free = call(Function::kRequest_free, 3, 3);
  free.request = 2;
  ImportNotes notes;
  CHECK(text_of_rank0(
            {init(0), message(Function::kIrecv, 0, 1, 1, 5, 10, 1),
             message(Function::kIsend, 1, 3, 1, 5, 10, 2), free,
             done(Function::kWait, 3, 4, {{.request = 1, .cancelled = true, .message = {}}}), finalize(9)},
            4, {}, &notes) ==
        "rank 0 {\n"
        "l1: calc 0\n"
        "l2: send 80b to 1 tag 5\n"
        "l2 irequires l1\n"
        "l3: calc 5\n"
        "l3 irequires l2\n"
        "}\n");
  CHECK(notes.count(Note::kCancelled) == 1);
}

TEST_CASE("a buffered send lets the program go on; a synchronous one shakes hands") {
  ImportNotes notes;
  CHECK(
      text_of_rank0(
          {init(0), message(Function::kBsend, 0, 1, 1, 0, 1), message(Function::kIbsend, 1, 2, 1, 1, 1, 1),
           done(Function::kWait, 2, 3, {request(1)}), message(Function::kSsend, 3, 4, 1, 2, 1), finalize(5)},
          4, {}, &notes) ==
      "rank 0 {\n"
      "l1: send 8b to 1\n"
      "l2: send 8b to 1 tag 1\n"
      "l2 irequires l1\n"
      "l3: send 8b to 1 tag 2 sync\n"
      "l3 irequires l2\n"
      "l4: calc 1\n"
      "l4 requires l3\n"
      "}\n");
  CHECK(notes.count(Note::kSynchronousSends) == 1);
}

TEST_CASE("calls that are not decoded or not replayed leave their time as compute; failed ones do nothing") {
  TraceRecord put = call(Function::kUndecoded, 20, 30);
  TraceRecord failed = message(Function::kSend, 40, 50, 1, 0, 1);
  failed.error = 5;
  ImportNotes notes;
  CHECK(text_of_rank0({init(0), put, failed, finalize(60)}, 4, {}, &notes) == "rank 0 {\ncalc 50\n}\n");
  CHECK(notes.count(Note::kFailedCalls) == 1);
}

TEST_CASE("receives of messages too long for them got them") {
  TraceRecord received = message(Function::kRecv, 0, 1, 1, 0, 1);
  received.error = 15;
  received.received = {.valid = true, .source = 1, .tag = 0, .bytes = 500};
  TraceRecord in_vain = message(Function::kRecv, 1, 2, 1, 0, 1);
  in_vain.error = 15;
  ImportNotes notes;
  CHECK(text_of_rank0({init(0), received, in_vain, finalize(2)}, 4, {}, &notes) ==
        "rank 0 {\nrecv 500b from 1\n}\n");
  CHECK(notes.count(Note::kTruncatedMessages) == 1);
  CHECK(notes.count(Note::kFailedCalls) == 1);
}

TEST_CASE("a communicator has one number on all ranks, and members as world ranks") {
  // Both ranks know two more communicators, in a different order.
  Files files;
  const TraceCommunicator even = {
      .id = 2, .key = 77, .parent = 0, .ranks = {2, 0}, .inter = false, .remote_ranks = {}};
  const TraceCommunicator copy = {
      .id = 3, .key = 99, .parent = 0, .ranks = {0, 1, 2}, .inter = false, .remote_ranks = {}};
  files.communicators = {even, copy};
  files.ranks = {{init(0), on_comm(3, message(Function::kSend, 0, 1, 2, 1, 1)),
                  on_comm(2, message(Function::kSend, 1, 2, 2, 1, 1)), finalize(2)},
                 {},
                 {init(0), on_comm(2, received(message(Function::kRecv, 0, 1, 0, 1, 1), got(0, 1, 8))),
                  on_comm(3, received(message(Function::kRecv, 1, 2, 0, 1, 1), got(0, 1, 8))), finalize(2)}};
  CHECK(to_text(files.import()) ==
        "num_ranks 3\n"
        "comm 1 \"comm1\" all\n"
        "comm 2 \"comm2\" { 2 0 }\n"
        "\n"
        "rank 0 {\n"
        "l1: send 8b to 2 tag 1 comm 1\n"
        "l2: send 8b to 2 tag 1 comm 2\n"
        "l2 requires l1\n"
        "}\n"
        "\n"
        "rank 1 {\n"
        "}\n"
        "\n"
        "rank 2 {\n"
        "l1: recv 8b from 0 tag 1 comm 2\n"
        "l2: recv 8b from 0 tag 1 comm 1\n"
        "l2 requires l1\n"
        "}\n");
}

TEST_CASE("collectives become operations; those of one rank alone are none") {
  TraceRecord allreduce = message(Function::kAllreduce, 0, 1, 0, 0, 100);
  TraceRecord ibcast = message(Function::kIbcast, 1, 2, 0, 0, 3, 1);
  ibcast.root = 2;
  TraceRecord gather = message(Function::kGather, 2, 3, 0, 0, 4);
  gather.root = 0;
  gather.recv_count = 4;
  gather.recv_type_size = 8;
  CHECK(text_of_rank0({init(0), allreduce, ibcast, gather, on_comm(1, call(Function::kBarrier, 3, 3)),
                       done(Function::kWait, 3, 4, {request(1)}), call(Function::kBarrier, 4, 5),
                       finalize(5)}) ==
        "rank 0 {\n"
        "l1: allreduce 800b elem 8\n"
        "l2: bcast 24b root 2\n"
        "l2 requires l1\n"
        "l3: gather 32b root 0\n"
        "l3 irequires l2\n"
        "l4: barrier\n"
        "l4 requires l2\n"
        "l4 requires l3\n"
        "}\n");
}

TEST_CASE("the v forms carry their counts in bytes") {
  const auto only = [](TraceRecord record) { return text_of_rank0({init(0), record, finalize(1)}, 3); };
  TraceRecord record = call(Function::kAlltoallv, 0, 1);
  record.send_bytes = {0, 8, 16};
  record.recv_bytes = {0, 24, 32};
  CHECK(only(record) == "rank 0 {\nalltoall [0 8 16]b receives [0 24 32]b v\n}\n");
  record = call(Function::kAllgatherv, 0, 1);
  record.recv_bytes = {8, 8, 16};
  CHECK(only(record) == "rank 0 {\nallgather [8 8 16]b v\n}\n");
  record.recv_bytes = {8, 8, 8};
  CHECK(only(record) == "rank 0 {\nallgather 8b v\n}\n");
  record = message(Function::kReduce_scatter, 0, 1, 0, 0, 6);
  record.recv_bytes = {8, 16, 24};
  CHECK(only(record) == "rank 0 {\nreduce_scatter [8 16 24]b elem 8 v\n}\n");
  record = message(Function::kIreduce_scatter_block, 0, 1, 0, 0, 6, 1);
  record.recv_count = 2;
  record.recv_type_size = 8;
  CHECK(only(record) == "rank 0 {\nreduce_scatter 16b elem 8\n}\n");
  record = message(Function::kGatherv, 0, 1, 0, 0, 6);
  record.root = 1;
  CHECK(only(record) == "rank 0 {\ngather 48b root 1 v\n}\n");
  record.root = 0;
  record.recv_bytes = {48, 8, 0};
  CHECK(only(record) == "rank 0 {\ngather [48 8 0]b root 0 v\n}\n");
  record = call(Function::kScatterv, 0, 1);
  record.root = 2;
  record.recv_count = 5;
  record.recv_type_size = 4;
  CHECK(only(record) == "rank 0 {\nscatter 20b root 2 v\n}\n");
}

TEST_CASE("making a communicator is an agreement of its parent's ranks, or of the new one's") {
  Files files;
  files.communicators = {
      {.id = 2, .key = 5, .parent = 0, .ranks = {0, 1}, .inter = false, .remote_ranks = {}}};
  TraceRecord split = call(Function::kComm_split, 0, 1);
  split.new_comm = 2;
  TraceRecord by_group = call(Function::kComm_create_group, 1, 2);
  by_group.new_comm = 2;
  TraceRecord outside = by_group;
  outside.enter_ns = 0;
  outside.new_comm = trace::kNoComm;
  files.ranks = {{init(0), split, by_group, finalize(2)}, {init(0), outside, finalize(2)}, {}};
  const std::string text = to_text(files.import());
  CHECK(text.find("rank 0 {\nl1: allreduce 8b elem 8\nl2: allreduce 8b elem 8 comm 1\nl2 requires l1\n}\n") !=
        std::string::npos);
  CHECK(text.find("rank 1 {\n}\n") != std::string::npos);
  CHECK(files.notes.count(Note::kCommunicatorCreations) == 2);
}

TEST_CASE("a peer or communicator that cannot be is refused") {
  CHECK_THROWS_AS(text_of_rank0({init(0), message(Function::kSend, 0, 1, 4, 0, 1)}), InputError);
  CHECK_THROWS_AS(text_of_rank0({init(0), on_comm(9, message(Function::kSend, 0, 1, 1, 0, 1))}), InputError);
  CHECK_THROWS_AS(text_of_rank0({init(0), on_comm(9, call(Function::kBarrier, 0, 1))}), InputError);
}

TEST_CASE("a root or counts that the communicator has no ranks for are refused") {
  TraceRecord bcast = message(Function::kBcast, 0, 1, 0, 0, 3, 1);
  bcast.root = 3;
  CHECK_THROWS_WITH(text_of_rank0({init(0), bcast}, 3), "root 3 in a communicator of 3 ranks");
  TraceRecord gatherv = call(Function::kGatherv, 0, 1);
  gatherv.root = 0;
  gatherv.recv_bytes = {1, 2, 3, 4};
  CHECK_THROWS_WITH(text_of_rank0({init(0), gatherv}, 3), "4 counts in a communicator of 3 ranks");
  TraceRecord alltoallv = call(Function::kAlltoallv, 0, 1);
  alltoallv.recv_bytes = {1, 2, 3};
  CHECK_THROWS_WITH(text_of_rank0({init(0), alltoallv}, 3), Catch::Contains("not of both"));
}

TEST_CASE("completions of unknown requests are counted") {
  ImportNotes notes;
  text_of_rank0({init(0), done(Function::kWait, 0, 1, {request(17)}), finalize(1)}, 2, {}, &notes);
  CHECK(notes.count(Note::kUnknownCompletions) == 1);
}

TEST_CASE("a persistent collective is one operation for each Start") {
  TraceRecord made = call(Function::kAllreduce_init, 0, 0);
  made.count = 3;
  made.type_size = 8;
  made.request = 1;
  TraceRecord started = call(Function::kStart, 10, 10);
  started.started = {1};
  ImportNotes notes;
  CHECK(text_of_rank0({init(0), made, started, done(Function::kWait, 10, 20, {request(1)}), started,
                       call(Function::kRequest_free, 20, 20), finalize(27)},
                      4, {}, &notes) ==
        "rank 0 {\n"
        "l1: calc 10\n"
        "l2: allreduce 24b elem 8 comm 1\n"
        "l2 requires l1\n"
        "l3: allreduce 24b elem 8 comm 1\n"
        "l3 requires l2\n"
        "l4: calc 17\n"
        "l4 irequires l3\n"
        "}\n");
  CHECK(notes.not_replayed.all_bytes == 48);
}

TEST_CASE("collectives among neighbors have their lists, without the ends of a grid") {
  TraceRecord gather = call(Function::kNeighbor_allgatherv, 0, 0);
  gather.count = 2;
  gather.type_size = 8;
  gather.destinations = {kNull, 1};
  gather.sources = {kNull, 1};
  gather.recv_bytes = {99, 24};
  TraceRecord exchange = call(Function::kIneighbor_alltoall, 0, 0);
  exchange.count = 1;
  exchange.type_size = 4;
  exchange.destinations = {1, 1};
  exchange.sources = {3};
  exchange.request = 1;
  ImportNotes notes;
  CHECK(text_of_rank0({init(0), gather, exchange, done(Function::kWait, 0, 0, {request(1)}), finalize(1)}, 4,
                      {}, &notes) ==
        "rank 0 {\n"
        "l1: neighbor_allgather 16b receives [24]b to [1] from [1] v\n"
        "l2: neighbor_alltoall 4b to [1 1] from [3]\n"
        "l2 requires l1\n"
        "l3: calc 1\n"
        "l3 requires l2\n"
        "}\n");
  CHECK(notes.not_replayed.all_bytes == 16 + 2 * 4);  // nothing goes to the end of the grid
  exchange.sources = {4};
  CHECK_THROWS_AS(text_of_rank0({init(0), exchange}), InputError);
}

TEST_CASE("what is read and written in files stays compute, and is counted with its bytes") {
  TraceRecord written = call(Function::kFile_write_at, 10, 30);
  written.count = 5;
  written.type_size = 8;
  written.inside_ns = 20;
  TraceRecord started = call(Function::kFile_iread, 30, 34);
  started.inside_ns = 4;
  started.count = 100;
  started.type_size = 1;
  started.request = 1;
  ImportNotes notes;
  CHECK(text_of_rank0({init(0), written, started, done(Function::kWait, 40, 50, {request(1)}), finalize(57)},
                      4, {}, &notes) == "rank 0 {\ncalc 57\n}\n");
  CHECK(notes.not_replayed.functions == std::vector<NotReplayed::Function>{{"MPI_File_iread", 1, 100, 4},
                                                                           {"MPI_File_write_at", 1, 40, 20},
                                                                           {"MPI_Wait", 1, 0, 0}});
  CHECK(notes.not_replayed.all_calls == 3);  // with the Wait
  CHECK(notes.not_replayed.all_bytes == 140);
  CHECK(notes.count(Note::kUnknownCompletions) == 0);
}

TEST_CASE("time without a core is no compute; time asleep is, unless processor time is asked for") {
  std::vector<TraceRecord> records{init(1000), message(Function::kSend, 11000, 12000, 1, 5, 1),
                                   finalize(20000)};
  records[1].off_before = {.waiting_ns = 4000, .asleep_ns = 500};
  records[2].off_before = {.waiting_ns = 9000};  // more than the gap has
  const auto calcs = [&](ComputeTimes policy) {
    const std::string text = text_of_rank0(records, 4, {.compute_times = policy});
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = text.find("calc ", at)) != std::string::npos; ++at) {
      found.push_back(text.substr(at + 5, text.find_first_of(" \n", at + 5) - at - 5));
    }
    return found;
  };
  CHECK(calcs(ComputeTimes::kWall) == std::vector<std::string>{"10000", "8000"});
  CHECK(calcs(ComputeTimes::kAuto) == std::vector<std::string>{"6000"});
  CHECK(calcs(ComputeTimes::kCpu) == std::vector<std::string>{"5500"});
}

TEST_CASE("a call that is not replayed hands its times on to the gap that it is part of") {
  TraceRecord open = call(Function::kUndecoded, 2000, 5000);
  open.name = "MPI_File_open";
  open.inside_ns = 3000;
  open.off_before = {.waiting_ns = 100};
  open.off_inside = {.waiting_ns = 1000, .asleep_ns = 1500};
  TraceRecord send = message(Function::kSend, 11000, 12000, 1, 5, 1);
  send.off_before = {.waiting_ns = 200};
  const std::string text = text_of_rank0({init(1000), open, send, finalize(12000)});
  CHECK(text.find("calc 8700") != std::string::npos);  // 10000 less 100, 1000 and 200
}

TEST_CASE("a loop of polls that was interrupted is still one") {
  TraceRecord first = done(Function::kTest, 2000, 2100, {}),
              second = done(Function::kTest, 3002200, 3002300, {});
  second.off_before = {.waiting_ns = 3000000};
  ImportNotes notes;
  text_of_rank0({init(1000), first, second, finalize(3002300)}, 4, {}, &notes);
  CHECK(notes.count(Note::kComputeBetweenPollsNs) == 0);
  CHECK(notes.count(Note::kPollingNs) == 100);
  text_of_rank0({init(1000), first, second, finalize(3002300)}, 4, {.compute_times = ComputeTimes::kWall},
                &notes);
  CHECK(notes.count(Note::kComputeBetweenPollsNs) == 3000100);
}

}  // namespace weft::goal
