// Replays of 100,000 ranks that can't go on, and what much that waits takes. Work that grew with the square
// of the ranks would run into the limit of the test.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "tests/sim/replay/replay_fixture.h"

namespace weft::sim {
namespace {

constexpr goal::Rank kRanks = 100'000;

template <typename AddRank>
goal::Graph graph_of(goal::Rank ranks, const AddRank& add_rank) {
  goal::GraphBuilder builder;
  for (goal::Rank rank = 0; rank < ranks; ++rank) {
    add_rank(builder, rank);
    builder.end_rank();
  }
  return builder.finish();
}

template <typename AddRank>
std::vector<std::string> diagnose(const LogGops& parameters, const AddRank& add_rank) {
  const LogGopsRun run(graph_of(kRanks, add_rank), parameters);
  REQUIRE_FALSE(run.replay.complete());
  return run.replay.diagnose();
}

goal::Rank after(goal::Rank rank) { return (rank + 1) % kRanks; }
goal::Rank before(goal::Rank rank) { return (rank + kRanks - 1) % kRanks; }

}  // namespace

TEST_CASE("a ring of 100,000 ranks that all receive, or send by rendezvous, first") {
  const bool send_first = GENERATE(false, true);
  const auto lines = diagnose({.S = 4}, [&](goal::GraphBuilder& builder, goal::Rank rank) {
    const goal::OpIndex first =
        send_first ? builder.add_send(8, after(rank)) : builder.add_recv(8, before(rank));
    const goal::OpIndex second =
        send_first ? builder.add_recv(8, before(rank)) : builder.add_send(8, after(rank));
    builder.add_edge(first, second);
  });
  CHECK(lines.at(1).find(send_first ? "rank 1 waits to send 8 bytes to rank 2"
                                    : "rank 1 waits to receive 8 bytes from rank 0") == 0);
  CHECK(lines.at(10) == "… and 99990 more ranks wait");
  // The requests that arrived found no receive.
  CHECK(lines.size() == (send_first ? 22 : 11));
  CHECK(lines.back() == (send_first ? "… and 99990 more messages" : lines[10]));
}

TEST_CASE("one message that is missing in a ring, and messages under other tags everywhere") {
  const auto missing = diagnose({}, [](goal::GraphBuilder& builder, goal::Rank rank) {
    if (rank != 777) builder.add_send(8, after(rank));
    builder.add_recv(8, before(rank));
  });
  CHECK(missing ==
        std::vector<std::string>{"rank 778 waits to receive 8 bytes from rank 777, tag 0 [operation 1];"
                                 " that rank has finished"});
  const auto tags = diagnose({}, [](goal::GraphBuilder& builder, goal::Rank rank) {
    builder.add_send(8, after(rank), 1);
    builder.add_recv(8, before(rank), 2);
  });
  REQUIRE(tags.size() == 22);
  CHECK(tags[0] ==
        "rank 0 waits to receive 8 bytes from rank 99999, tag 2 [operation 1]; that rank waits too; "
        "nearly fits: a message from rank 99999, tag 1 (right peer, other tag)");
  CHECK(tags[21] == "… and 99990 more messages");
}

TEST_CASE("100,000 messages and receives of one rank that nearly fit") {
  const bool any_source = GENERATE(false, true), rendezvous = GENERATE(false, true);
  const auto lines = diagnose({.S = rendezvous ? 4u : 8u}, [&](goal::GraphBuilder& builder, goal::Rank rank) {
    if (rank > 0) {
      builder.add_send(8, 0, 1);
      return;
    }
    for (goal::Rank source = 1; source < kRanks; ++source) {
      builder.add_recv(8, any_source ? goal::kAny : source, 2);
    }
  });
  CHECK(lines[0].find("nearly fits: a message from rank 1, tag 1 (right peer, other tag)") !=
        std::string::npos);
  CHECK(lines.back() == "… and 99989 more messages");
  CHECK(lines.size() == (rendezvous ? 22 : 12));
}

TEST_CASE("100,000 ranks with cycles, and a collective that one of them never calls") {
  const auto cycles = diagnose({}, [](goal::GraphBuilder& builder, goal::Rank) {
    const goal::OpIndex a = builder.add_calc(5), b = builder.add_calc(6);
    builder.add_edge(a, b);
    builder.add_edge(b, a);
  });
  REQUIRE(cycles.size() == 11);
  CHECK(cycles.back() == "… and 99990 more ranks have a cycle");
  const auto absent = diagnose({}, [](goal::GraphBuilder& builder, goal::Rank rank) {
    if (rank != 777) builder.add_collective({.kind = goal::CollectiveKind::kGather, .bytes = 8});
  });
  REQUIRE(absent.size() <= 22);
  CHECK(absent[0].find("gather number 0 of communicator 0") != std::string::npos);
}

// ---- Memory ----

namespace {

// As many as fill a table just beyond three quarters, so that it has doubled: the most room an entry ever
// has.
constexpr std::uint32_t kPending = 196'608 + 4;

// Each waits for the one before, so that few are ready at a time.
template <typename Add>
void add_chain(goal::GraphBuilder& builder, const Add& add) {
  for (std::uint32_t i = 0; i < kPending; ++i) {
    const goal::OpIndex op = add(i);
    if (i > 0) builder.add_edge(op - 1, op);
  }
}

// Returns the bytes for each of what waits; a word of 4 bytes for each operation that was executed does not
// count.
double bytes_each(const LogGopsRun& run) {
  const std::uint64_t others = run.replay.totals().executed_ops;
  return static_cast<double>(run.replay.memory_bytes() - 4 * others) / kPending;
}

}  // namespace

TEST_CASE("a receive or message that waits takes at most 64 bytes, with wildcards and without") {
  const bool wildcards = GENERATE(false, true);
  const auto add_wildcard = [wildcards](goal::GraphBuilder& builder) {
    if (wildcards) builder.add_recv(8, goal::kAny, 1 << 20);  // nothing fits it
  };
  const LogGopsRun receives(graph_of(2,
                                     [&](goal::GraphBuilder& builder, goal::Rank rank) {
                                       if (rank == 1) return;
                                       add_chain(builder, [&](std::uint32_t) { return builder.add_calc(1); });
                                       for (std::uint32_t i = 0; i < kPending; ++i) {
                                         builder.add_edge(i, builder.add_recv(8, 1, i));
                                       }
                                       add_wildcard(builder);
                                     }),
                            {});
  CHECK(receives.replay.totals().executed_ops == kPending);
  CHECK(bytes_each(receives) <= 64);
  CHECK(bytes_each(receives) >= 40);
  const LogGopsRun messages(graph_of(2,
                                     [&](goal::GraphBuilder& builder, goal::Rank rank) {
                                       if (rank == 0) return add_wildcard(builder);
                                       add_chain(builder,
                                                 [&](std::uint32_t i) { return builder.add_send(8, 0, i); });
                                     }),
                            {});
  CHECK(messages.replay.totals().unreceived == kPending);
  CHECK(bytes_each(messages) <= 64);
  CHECK(bytes_each(messages) >= 40);
}

TEST_CASE("a message of a collective that waits for its group takes at most 64 bytes") {
  // The root hands its messages over and goes on; the other rank never calls.
  const LogGopsRun run(
      graph_of(2,
               [](goal::GraphBuilder& builder, goal::Rank rank) {
                 if (rank == 1) return;
                 add_chain(builder, [&](std::uint32_t) {
                   return builder.add_collective({.kind = goal::CollectiveKind::kBcast, .bytes = 8});
                 });
               }),
      {});
  CHECK(run.replay.totals().unreceived == kPending);
  CHECK(bytes_each(run) <= 64);
  CHECK(bytes_each(run) >= 40);
}

}  // namespace weft::sim
