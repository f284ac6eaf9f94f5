// The tracer in real MPI programs: every program of programs/ runs under Open MPI and under MPICH, and what
// its files hold is compared with what the program's source says it does.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "goal/import/mpi/trace_reader.h"
#include "tests/tracer/traced_run.h"

namespace {

namespace fs = std::filesystem;
using weft::goal::TraceCommunicator;
using weft::goal::TraceCompletion;
using weft::goal::TraceCounter;
using weft::goal::TraceMessage;
using weft::goal::TraceRecord;
using weft::trace::End;
using weft::trace::Function;
using weft::trace::test::installed;
using weft::trace::test::read_ranks;
using weft::trace::test::run;
using weft::trace::test::Run;
using weft::trace::test::Trace;
using Bytes = std::vector<std::uint64_t>;

TraceMessage message(int source, int tag, std::uint64_t bytes) { return {true, source, tag, bytes}; }

void check_posted(const TraceRecord& r, std::uint32_t comm, int peer, int tag, std::uint64_t count,
                  std::uint64_t type_size) {
  INFO(r.function_name());
  CHECK(r.comm == comm);
  CHECK(r.peer == peer);
  CHECK(r.tag == tag);
  CHECK(r.count == count);
  CHECK(r.type_size == type_size);
}

// A request that completes once, as a receive of this message, or as a send.
void check_done(const Trace& trace, const TraceRecord& made, const TraceMessage& expected = {}) {
  INFO(made.function_name() << " " << made.request);
  REQUIRE(made.request != 0);
  const auto done = trace.completions(made.request);
  REQUIRE(done.size() == 1);
  CHECK(done[0].message == expected);
  CHECK_FALSE(done[0].cancelled);
}

struct Side {
  std::uint64_t count = 0, type_size = 0;
};

void check_collective(const TraceRecord& r, Side send, Side receive, const Bytes& send_bytes = {},
                      const Bytes& recv_bytes = {}, int root = weft::trace::kUndefined,
                      bool in_place = false) {
  INFO(r.function_name());
  CHECK(r.comm == 0);
  CHECK(r.count == send.count);
  CHECK(r.type_size == send.type_size);
  CHECK(r.recv_count == receive.count);
  CHECK(r.recv_type_size == receive.type_size);
  CHECK(r.send_bytes == send_bytes);
  CHECK(r.recv_bytes == recv_bytes);
  CHECK(r.root == root);
  CHECK(r.in_place == in_place);
}

// What must hold of any trace of a program that ends well.
void check_invariants(const Trace& trace) {
  CHECK(trace.status == "complete");
  CHECK(trace.end == End::kFinalize);
  REQUIRE(!trace.records.empty());
  CHECK(trace.records.back().function == Function::kFinalize);
  std::uint64_t next_request = 1;
  std::set<std::uint64_t> persistent;
  std::map<std::uint64_t, int> open;
  std::map<std::uint32_t, std::uint64_t> last_leave;
  for (const TraceRecord& r : trace.records) {
    CHECK(r.enter_ns <= r.leave_ns);
    CHECK(r.inside_ns <= r.leave_ns - r.enter_ns);
    CHECK(r.enter_ns >= last_leave[r.thread]);  // one thread's calls do not overlap
    last_leave[r.thread] = r.leave_ns;
    const auto shape = weft::trace::function_info(r.function).shape;
    using weft::trace::Shape;
    if (shape == Shape::kSendRequest || shape == Shape::kRecvRequest || shape == Shape::kCollectiveRequest ||
        shape == Shape::kMessageRecvRequest || shape == Shape::kCommCreateRequest) {
      CHECK(r.request == next_request++);
      if (r.function >= Function::kSend_init && r.function <= Function::kRecv_init) {
        persistent.insert(r.request);
      } else {
        ++open[r.request];
      }
    }
    for (const std::uint64_t started : r.started) {
      CHECK(persistent.contains(started));
      ++open[started];
    }
    for (const TraceCompletion& c : r.completions) {
      CHECK(c.request != weft::trace::kUnknownRequest);
      CHECK(--open[c.request] == 0);
    }
  }
  for (const auto& [request, count] : open) {
    INFO("request " << request);
    CHECK(count == 0);
  }
}

void check_sub_communicator(const Trace& t, int rank) {
  const TraceRecord split = t.of(Function::kComm_split).at(0);
  CHECK(split.comm == 0);
  REQUIRE(split.new_comm == 2);
  CHECK(t.communicators.at(2).ranks == (rank % 2 == 0 ? std::vector<int>{2, 0} : std::vector<int>{3, 1}));
  CHECK(t.communicators.at(2).parent == 0);
  // Rank 0 of each half is world rank 2 or 3, rank 1 is world rank 0 or 1.
  if (rank >= 2) {
    check_posted(t.tagged(Function::kSend, 11), 2, rank - 2, 11, 3, 8);
  } else {
    const TraceRecord r = t.tagged(Function::kRecv, weft::trace::kAnyTag);
    check_posted(r, 2, weft::trace::kAnySource, weft::trace::kAnyTag, 10, 8);
    CHECK(r.received == message(rank + 2, 11, 24));
  }
}

void check_waits_and_tests(const Trace& t, int rank, int left, int right) {
  // Five given, one of them null; the receives' messages resolved.
  const TraceRecord all = t.of(Function::kWaitall).at(0);
  CHECK(all.requests_given == 5);
  const std::vector<TraceCompletion> expected = {
      {t.tagged(Function::kIrecv, 21).request, false, message(left, 21, 8)},
      {t.tagged(Function::kIrecv, 22).request, false, message(left, 22, 4)},
      {t.tagged(Function::kIsend, 21).request, false, {}},
      {t.only(Function::kIssend).request, false, {}}};
  CHECK(all.completions == expected);
  check_posted(t.tagged(Function::kIrecv, 22), 0, weft::trace::kAnySource, 22, 2, 4);
  check_posted(t.only(Function::kIssend), 0, right, 22, 1, 4);
  for (int tag = 23; tag <= 27; ++tag) {
    check_posted(t.tagged(Function::kIrecv, tag), 0, left, tag, 2, 4);
    check_posted(t.tagged(Function::kIsend, tag), 0, right, tag, 2, 4);
    check_done(t, t.tagged(Function::kIrecv, tag), message(left, tag, 8));
    check_done(t, t.tagged(Function::kIsend, tag));
  }
  CHECK(t.of(Function::kWaitany).size() == 2);
  CHECK(t.of(Function::kWaitany)[0].completions.size() == 1);
  CHECK(t.of(Function::kWaitany)[1].completions.empty());
  CHECK(t.only(Function::kTestall).completions.size() == 2);
  check_posted(t.only(Function::kSsend), 0, right == 0 ? weft::trace::kProcNull : right, 28, 1, 4);
  const auto last = t.completions(t.tagged(Function::kIrecv, 28).request);
  REQUIRE(last.size() == 1);
  CHECK(last[0].cancelled == (rank == 0));
  CHECK(last[0].message == (rank == 0 ? TraceMessage{} : message(left, 28, 4)));
  CHECK(t.of(Function::kCancel).size() == (rank == 0 ? 1u : 0u));
}

void check_persistent(const Trace& t, int left, int right) {
  const TraceRecord in = t.only(Function::kRecv_init), out = t.only(Function::kSend_init);
  check_posted(in, 0, left, 31, 1, 4);
  check_posted(out, 0, right, 31, 1, 4);
  CHECK(t.only(Function::kStartall).started == Bytes{in.request, out.request});
  CHECK(t.of(Function::kStart).at(0).started == Bytes{in.request});
  CHECK(t.of(Function::kStart).at(1).started == Bytes{out.request});
  // Started twice, complete twice; the third Wait found it inactive.
  const std::vector<TraceCompletion> twice(2, {in.request, false, message(left, 31, 4)});
  CHECK(t.completions(in.request) == twice);
  CHECK(t.completions(out.request).size() == 2);
  Bytes freed;
  for (const TraceRecord& r : t.of(Function::kRequest_free)) freed.push_back(r.request);
  CHECK(freed == Bytes{in.request, out.request, t.only(Function::kBsend_init).request,
                       t.only(Function::kSsend_init).request, t.only(Function::kRsend_init).request});
}

void check_exchanges_and_probes(const Trace& t, int left, int right) {
  const TraceRecord exchange = t.tagged(Function::kSendrecv, 41);
  check_posted(exchange, 0, right, 41, 3, 4);
  CHECK(exchange.recv_peer == left);
  CHECK(exchange.recv_tag == 41);
  CHECK(exchange.recv_posted_bytes() == 16);
  CHECK(exchange.received == message(left, 41, 12));
  const TraceRecord replace = t.tagged(Function::kSendrecv_replace, 42);
  CHECK(replace.recv_peer == weft::trace::kAnySource);
  CHECK(replace.received == message(left, 42, 8));
  const TraceRecord none = t.tagged(Function::kSendrecv, 43);
  CHECK(none.peer == weft::trace::kProcNull);
  CHECK(none.recv_peer == weft::trace::kProcNull);
  CHECK(none.received == TraceMessage{});

  check_posted(t.only(Function::kProbe), 0, left, 44, 0, 0);
  CHECK(t.only(Function::kProbe).received == message(left, 44, 4));
  CHECK(t.only(Function::kIprobe).peer == weft::trace::kAnySource);
  CHECK(t.only(Function::kIprobe).received == message(left, 45, 8));
  CHECK(t.tagged(Function::kRecv, 45).received == message(left, 45, 8));
  CHECK(t.only(Function::kMprobe).received == message(left, 46, 12));
  CHECK(t.only(Function::kMprobe).message == 1);
  CHECK(t.only(Function::kMrecv).message == 1);
  CHECK(t.only(Function::kMrecv).comm == 0);
  CHECK(t.only(Function::kMrecv).received == message(left, 46, 12));
  CHECK(t.only(Function::kImprobe).message == 2);
  CHECK(t.only(Function::kImrecv).message == 2);
  check_done(t, t.only(Function::kImrecv), message(left, 47, 16));

  check_posted(t.only(Function::kBsend), 0, right, 51, 1, 4);
  check_posted(t.only(Function::kIbsend), 0, right, 52, 1, 4);
  check_posted(t.only(Function::kRsend), 0, right, 53, 1, 4);
  check_posted(t.only(Function::kIrsend), 0, right, 54, 1, 4);
  for (int tag = 51; tag <= 54; ++tag) {
    check_done(t, t.tagged(Function::kIrecv, tag), message(left, tag, 4));
  }
}

void check_collectives(const Trace& t, int rank) {
  const auto r = static_cast<std::uint64_t>(rank);
  const Bytes parts = {8, 16, 24, 32};
  Bytes to, from;
  for (std::uint64_t i = 0; i < 4; ++i) {
    to.push_back(8 * (r + 2 * i));
    from.push_back(8 * (i + 2 * r));
  }
  const bool root = rank == 1;
  const Side none, two = {2, 8}, mine = {r + 1, 8};
  using F = Function;
  // The blocking and the nonblocking form of each have the same arguments.
  const auto both = [&](F blocking, F nonblocking, const auto&... expected) {
    check_collective(t.of(blocking).at(0), expected...);
    check_collective(t.only(nonblocking), expected...);
    check_done(t, t.only(nonblocking));
  };
  both(F::kBarrier, F::kIbarrier, none, none);
  check_collective(t.of(F::kBcast).at(1), Side{5, 8}, none, Bytes{}, Bytes{}, 2);
  check_collective(t.only(F::kIbcast), Side{5, 8}, none, Bytes{}, Bytes{}, 2);
  both(F::kGather, F::kIgather, two, root ? two : none, Bytes{}, Bytes{}, 1);
  both(F::kGatherv, F::kIgatherv, mine, none, Bytes{}, root ? parts : Bytes{}, 1);
  both(F::kScatter, F::kIscatter, root ? two : none, two, Bytes{}, Bytes{}, 1);
  both(F::kScatterv, F::kIscatterv, root ? Side{0, 8} : none, mine, root ? parts : Bytes{}, Bytes{}, 1);
  both(F::kAllgather, F::kIallgather, two, two);
  both(F::kAllgatherv, F::kIallgatherv, mine, none, Bytes{}, parts);
  both(F::kAlltoall, F::kIalltoall, two, Side{4, 4});
  both(F::kAlltoallv, F::kIalltoallv, Side{0, 8}, none, to, from);
  both(F::kAlltoallw, F::kIalltoallw, none, none, to, from);
  both(F::kReduce, F::kIreduce, Side{6, 8}, none, Bytes{}, Bytes{}, 3);
  both(F::kAllreduce, F::kIallreduce, Side{7, 8}, none);
  both(F::kReduce_scatter, F::kIreduce_scatter, Side{10, 8}, none, Bytes{}, parts);
  both(F::kReduce_scatter_block, F::kIreduce_scatter_block, Side{12, 8}, Side{3, 8});
  both(F::kScan, F::kIscan, Side{8, 8}, none);
  both(F::kExscan, F::kIexscan, Side{9, 8}, none);
  const int undefined = weft::trace::kUndefined;
  check_collective(t.of(F::kAllgather).at(1), {3, 8}, {3, 8}, {}, {}, undefined, true);
  check_collective(t.of(F::kAllreduce).at(1), {7, 8}, none, {}, {}, undefined, true);
  check_collective(t.of(F::kGather).at(1), two, root ? two : none, {}, {}, 1, root);
  check_collective(t.of(F::kScatterv).at(1), root ? Side{0, 8} : none, mine, root ? parts : Bytes{}, {}, 1,
                   root);
}

void check_communicators(const Trace& t, int rank) {
  const std::vector<int> all = {0, 1, 2, 3},
                         half = rank < 2 ? std::vector<int>{0, 1} : std::vector<int>{2, 3},
                         other_half = rank < 2 ? std::vector<int>{2, 3} : std::vector<int>{0, 1};
  const auto made = [&](Function f) -> const TraceCommunicator& {
    const TraceRecord r = t.of(f).at(0);
    INFO(r.function_name());
    REQUIRE(r.new_comm < t.communicators.size());
    CHECK(t.communicators[r.new_comm].parent == r.comm);
    return t.communicators[r.new_comm];
  };
  for (const Function f : {Function::kComm_dup, Function::kComm_dup_with_info, Function::kComm_idup,
                           Function::kComm_split_type, Function::kCart_create, Function::kGraph_create,
                           Function::kDist_graph_create, Function::kDist_graph_create_adjacent}) {
    CHECK(made(f).ranks == all);
  }
  // The handle of a duplicate is known only after the Wait; the Barrier on it then is.
  CHECK(t.of(Function::kBarrier).at(2).comm == t.only(Function::kComm_idup).new_comm);
  check_done(t, t.only(Function::kComm_idup));
  if (rank < 2) {
    CHECK(made(Function::kComm_create).ranks == half);
    CHECK(made(Function::kComm_create_group).ranks == half);
  } else {
    CHECK(t.only(Function::kComm_create).new_comm == weft::trace::kNoComm);
  }
  // Cart_sub keeps the first dimension of the 2 x 2 grid: ranks 0 and 2, 1 and 3.
  CHECK(made(Function::kCart_sub).ranks == std::vector<int>{rank % 2, rank % 2 + 2});
  const TraceCommunicator& inter = made(Function::kIntercomm_create);
  CHECK(inter.inter);
  CHECK(inter.ranks == half);
  CHECK(inter.remote_ranks == other_half);
  const TraceRecord across = t.tagged(Function::kSendrecv_replace, 61);
  CHECK(across.comm == inter.id);
  CHECK(across.peer == 3 - rank);  // rank 1 - i of the other side
  CHECK(across.received == message(3 - rank, 61, 4));
  const TraceRecord bcast = t.of(Function::kBcast).at(2);
  CHECK(bcast.comm == inter.id);
  CHECK(bcast.root == (rank == 0 ? weft::trace::kRootHere : rank == 1 ? weft::trace::kProcNull : 0));
  // The low group is the one that did not ask to be high.
  CHECK(made(Function::kIntercomm_merge).ranks == std::vector<int>{2, 3, 0, 1});
  CHECK(t.of(Function::kBarrier).at(3).comm == t.only(Function::kIntercomm_merge).new_comm);
  CHECK(t.only(Function::kComm_disconnect).comm == t.of(Function::kComm_dup).at(1).new_comm);
  std::set<std::uint32_t> freed;
  for (const TraceRecord& r : t.of(Function::kComm_free)) freed.insert(r.comm);
  // All but the world, self and the disconnected one.
  CHECK(freed.size() == t.communicators.size() - 3);
}

// All members of a communicator call it by one number, and no two communicators share a number.
void check_keys(const std::vector<Trace>& ranks) {
  std::map<std::uint64_t, std::vector<int>> members;
  for (const Trace& t : ranks) {
    std::set<std::uint64_t> keys;
    for (const TraceCommunicator& c : t.communicators) {
      CHECK(keys.insert(c.key).second);
      // Each side of an intercommunicator sees its own group first.
      std::vector<int> all = c.ranks;
      all.insert(all.end(), c.remote_ranks.begin(), c.remote_ranks.end());
      if (c.inter) std::sort(all.begin(), all.end());
      const auto [known, added] = members.try_emplace(c.key, all);
      CHECK(known->second == all);
    }
  }
  for (const auto& [key, expected] : members) {
    int holders = 0;
    for (const Trace& t : ranks) {
      for (const TraceCommunicator& c : t.communicators) holders += c.key == key ? 1 : 0;
    }
    CHECK(holders == static_cast<int>(expected.size()));
  }
}

// The forms with large counts are recorded as the plain ones.
void check_large_counts(const Trace& t, int left, int right) {
  check_posted(t.tagged(Function::kIrecv, 71), 0, left, 71, 4, 8);
  check_posted(t.tagged(Function::kIsend, 71), 0, right, 71, 3, 8);
  check_done(t, t.tagged(Function::kIrecv, 71), message(left, 71, 24));
  check_collective(t.of(Function::kAllgatherv).at(1), {1, 8}, {}, {}, Bytes(4, 8));
}

void check_undecoded_and_failed(const Trace& t) {
  const TraceCounter* open = t.counter("MPI_File_open");
  REQUIRE(open != nullptr);
  CHECK(open->calls == 1);
  CHECK(open->call_class == weft::trace::CallClass::kCommunication);
  CHECK(open->ns > 0);
  REQUIRE(t.counter("MPI_File_sync") != nullptr);
  CHECK(t.counter("MPI_File_sync")->calls == 2);
  CHECK(t.of(Function::kUndecoded).size() == 5);  // open, set_size, sync, sync, close
  REQUIRE(t.counter("MPI_Comm_size") != nullptr);
  CHECK(t.counter("MPI_Comm_size")->calls == 101);
  CHECK(t.counter("MPI_Comm_size")->call_class == weft::trace::CallClass::kLocal);
  const TraceRecord failed = t.tagged(Function::kSend, 0);
  CHECK(failed.error != 0);
  CHECK(failed.peer == weft::trace::kUndefined);
}

// What the four ranks of programs/calls.c leave.
void check_calls(const std::string& mpi, const std::vector<Trace>& ranks) {
  REQUIRE(ranks.size() == 4);
  for (int rank = 0; rank < 4; ++rank) {
    INFO("rank " << rank);
    const Trace& t = ranks[static_cast<std::size_t>(rank)];
    const int left = (rank + 3) % 4, right = (rank + 1) % 4;
    check_invariants(t);
    CHECK(t.header.mpi_library.find(mpi == "mpich" ? "MPICH" : "Open MPI") != std::string::npos);
    check_sub_communicator(t, rank);
    check_waits_and_tests(t, rank, left, right);
    check_persistent(t, left, right);
    check_exchanges_and_probes(t, left, right);
    check_collectives(t, rank);
    check_communicators(t, rank);
    if (mpi == "mpich") check_large_counts(t, left, right);
    check_undecoded_and_failed(t);
  }
  check_keys(ranks);
}

}  // namespace

TEST_CASE("every decoded call of a C program is recorded as its source says") {
  for (const std::string& mpi : installed()) {
    SECTION(mpi) {
      const Run result = run(mpi, 4, "calls");
      CHECK(result.status == 0);
      check_calls(mpi, result.ranks);
      CHECK(result.ranks[0].header.version == weft::trace::kVersion);
    }
  }
}

TEST_CASE("traces that were left when the format had version 3 tell the same") {
  for (const std::string mpi : {"openmpi", "mpich"}) {
    SECTION(mpi) {
      const std::vector<Trace> ranks = read_ranks("tests/tracer/version_3/" + mpi, 4);
      check_calls(mpi, ranks);
      CHECK(ranks[0].header.version == 3);
    }
  }
}

TEST_CASE("calls of a Fortran program are recorded once each") {
  for (const std::string& mpi : installed()) {
    for (const std::string program : {"fortran", "fortran08"}) {
      SECTION(mpi + " " + program) {
        const Run result = run(mpi, 4, program);
        CHECK(result.status == 0);
        check_keys(result.ranks);
        for (int rank = 0; rank < 4; ++rank) {
          INFO("rank " << rank);
          const Trace& t = result.ranks[static_cast<std::size_t>(rank)];
          const int left = (rank + 3) % 4, right = (rank + 1) % 4;
          check_invariants(t);
          check_sub_communicator(t, rank);
          const TraceRecord in = t.tagged(Function::kIrecv, 21), out = t.tagged(Function::kIsend, 21);
          const std::vector<TraceCompletion> expected = {{in.request, false, message(left, 21, 16)},
                                                         {out.request, false, {}}};
          CHECK(t.of(Function::kWaitall).at(0).completions == expected);
          check_collective(t.only(Function::kAllreduce), {7, 8}, {}, {}, {}, weft::trace::kUndefined, true);
          CHECK(t.only(Function::kSendrecv).received == message(left, 41, 24));
          check_posted(t.only(Function::kSendrecv), 0, right, 41, 3, 8);
          const std::vector<TraceCompletion> twice(
              2, {t.only(Function::kRecv_init).request, false, message(left, 31, 8)});
          CHECK(t.completions(t.only(Function::kRecv_init).request) == twice);
          // Init, split, Send or Recv, Irecv, Isend, Waitall, Allreduce, Sendrecv, two _init, two Startall,
          // two Waitall, two Request_free, Barrier, Comm_free, Finalize
          CHECK(t.records.size() == 19);
          REQUIRE(t.counter("MPI_Comm_rank") != nullptr);
          CHECK(t.counter("MPI_Comm_rank")->calls == 2);
        }
      }
    }
  }
}

TEST_CASE("a library that is loaded at run time, as Python loads it, is found") {
  for (const std::string& mpi : installed()) {
    SECTION(mpi) {
      const Run result =
          run(mpi, 3, "load", fs::absolute(fmt::format("tests/tracer/plugin_{}.so", mpi)).string());
      CHECK(result.status == 0);
      for (const Trace& t : result.ranks) {
        check_invariants(t);
        CHECK(t.records.size() == 3);
        check_collective(t.only(Function::kAllreduce), {1, 4}, {}, {}, {}, weft::trace::kUndefined, true);
      }
    }
  }
}

TEST_CASE("four threads in MPI at once lose no call") {
  for (const std::string& mpi : installed()) {
    SECTION(mpi) {
      const Run result = run(mpi, 2, "threads");
      CHECK(result.status == 0);
      for (const Trace& t : result.ranks) {
        check_invariants(t);
        CHECK(t.of(Function::kIrecv).size() == 4000);
        CHECK(t.of(Function::kIsend).size() == 4000);
        CHECK(t.of(Function::kWaitall).size() == 4000);
        REQUIRE(t.counter("MPI_Comm_size") != nullptr);
        CHECK(t.counter("MPI_Comm_size")->calls == 4000);
        // Each thread has its own tag, and completes what it started.
        std::map<int, std::uint32_t> thread_of_tag;
        std::map<std::uint64_t, std::uint32_t> thread_of_request;
        for (const TraceRecord& r : t.records) {
          if (r.request != 0) {
            CHECK(thread_of_tag.try_emplace(r.tag, r.thread).first->second == r.thread);
            thread_of_request[r.request] = r.thread;
          }
          for (const TraceCompletion& c : r.completions) CHECK(thread_of_request[c.request] == r.thread);
        }
        CHECK(thread_of_tag.size() == 4);
      }
    }
  }
}

TEST_CASE("a program that makes no MPI call runs under the preload as if it were not there") {
  const std::string library = fs::absolute("tracer/mpi/libweft_trace_mpi.so").string();
  CHECK(std::system(fmt::format("test \"$(LD_PRELOAD={} echo hello)\" = hello", library).c_str()) == 0);
  CHECK(std::system(fmt::format("test \"$(LD_PRELOAD={} cat /dev/null 2>&1)\" = ''", library).c_str()) == 0);
}
