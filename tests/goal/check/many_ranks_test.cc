// Programs of 100,000 ranks that are wrong everywhere. Work that grew with the square of the ranks would run
// into the limit of the test.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "goal/check/check.h"
#include "goal/graph/graph.h"

namespace weft::goal {
namespace {

constexpr Rank kRanks = 100'000;

template <typename AddRank>
Report check_program(const AddRank& add_rank) {
  GraphBuilder builder;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    add_rank(builder, rank);
    builder.end_rank();
  }
  return check(builder.finish());
}

// Findings of this kind: the report counts all, shows five, and begins with this one.
void check_kind(const Report& report, FindingKind kind, std::uint64_t count, const std::string& first) {
  INFO(name(kind));
  CHECK(report.counts[static_cast<std::size_t>(kind)] == count);
  std::size_t shown = 0;
  for (const Finding& finding : report.findings) {
    if (finding.kind != kind) continue;
    if (shown++ == 0) CHECK(finding.sentence == first);
  }
  CHECK(shown == std::min<std::size_t>(count, CheckOptions().examples));
}

}  // namespace

TEST_CASE("one rank that waits for the wrong message of each other") {
  const bool any_source = GENERATE(false, true);
  const Report report = check_program([any_source](GraphBuilder& builder, Rank rank) {
    if (rank > 0) {
      builder.add_send(8, 0, 1);
      return;
    }
    for (Rank source = 1; source < kRanks; ++source) {
      const std::string label = "r" + std::to_string(source);
      builder.add({.kind = OpKind::kRecv, .peer = any_source ? kAny : source, .tag = 2, .value = 8}, label);
    }
  });
  check_kind(report, FindingKind::kUnmatchedSend, kRanks - 1,
             "no receive takes 1 message like operation 0 of rank 1 (send 8b to 0 tag 1)");
  const Rank classes = any_source ? 1 : kRanks - 1;
  CHECK(report.counts[static_cast<std::size_t>(FindingKind::kUnmatchedReceive)] == kRanks - 1);
  CHECK(report.findings.size() == 5 + std::min(classes, Rank{5}));
}

TEST_CASE("cycles on all ranks") {
  const Report report = check_program([](GraphBuilder& builder, Rank) {
    const OpIndex a = builder.add_calc(5), b = builder.add_calc(6);
    builder.add_edge(a, b);
    builder.add_edge(b, a);
  });
  check_kind(report, FindingKind::kCycle, kRanks,
             "2 operations wait for each other in a circle: operation 0 of rank 0 (calc 5), then operation 1 "
             "of rank 0 (calc 6)");
}

TEST_CASE("a ring of which one message is missing") {
  const Report report = check_program([](GraphBuilder& builder, Rank rank) {
    if (rank != 777) builder.add_send(8, (rank + 1) % kRanks, 1);
    builder.add_recv(8, (rank + kRanks - 1) % kRanks, 1);
  });
  check_kind(report, FindingKind::kUnmatchedReceive, 1,
             "no send serves 1 message like operation 1 of rank 778 (recv 8b from 777 tag 1)");
  CHECK(report.findings.size() == 1);
}

TEST_CASE("collectives that one rank never calls, and that ranks disagree on") {
  const Report missing = check_program([](GraphBuilder& builder, Rank rank) {
    if (rank != 777) builder.add_collective({.kind = CollectiveKind::kBarrier});
  });
  check_kind(missing, FindingKind::kCollectiveMissing, 1,
             "rank 777 has 0 collective operations on communicator 0 'world', but rank 0 has 1");
  const Report differ = check_program([](GraphBuilder& builder, Rank rank) {
    builder.add_collective({.kind = CollectiveKind::kBcast, .root = rank % 2, .bytes = 8});
  });
  CHECK(differ.counts[static_cast<std::size_t>(FindingKind::kCollectiveMismatch)] == kRanks / 2);
  CHECK(differ.findings.size() == 5);
}

}  // namespace weft::goal
