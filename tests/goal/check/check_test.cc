#include "goal/check/check.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "goal/pack/pack.h"
#include "goal/text/text.h"
#include "tests/goal/check/naive_matching.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

Report check_text(const std::string& text) { return check(parse_text(text, "test.goal")); }

// The report has `count` findings of this kind, none of another, and the first says `sentence`.
void check_only(const Report& report, FindingKind kind, std::uint64_t count, const std::string& sentence) {
  for (std::size_t k = 0; k < kFindingKinds; ++k) {
    INFO(name(static_cast<FindingKind>(k)));
    CHECK(report.counts[k] == (k == static_cast<std::size_t>(kind) ? count : 0));
  }
  REQUIRE_FALSE(report.findings.empty());
  CHECK(report.findings[0].kind == kind);
  CHECK(report.findings[0].sentence == sentence);
}

}  // namespace

TEST_CASE("a sound program has no findings") {
  const Report report = check_text(R"(num_ranks 3
comm 1 "pair" { 2 0 }
rank 0 {
a: send 8b to 1 tag 3
b: recv 8b from -1 tag 4 comm 1
b requires a
alltoall [1 2 3]b receives [1 4 7]b
barrier comm 1
}
rank 1 {
recv 8b from 0 tag -1
alltoall [4 5 6]b receives [2 5 8]b
}
rank 2 {
send 8b to 0 tag 4 comm 1
alltoall [7 8 9]b receives [3 6 9]b
barrier comm 1
}
)");
  CHECK(report.clean());
  CHECK_FALSE(report.has_errors());
}

TEST_CASE("cycles") {
  check_only(
      check_text(
          "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nd: calc 4\nb requires a\nc irequires b\n"
          "b requires c\nd requires c\n}"),
      FindingKind::kCycle, 1,
      "2 operations wait for each other in a circle: operation 1 of rank 0 ('b': calc 2), then operation 2 "
      "of "
      "rank 0 ('c': calc 3)");
  check_only(check_text("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}"), FindingKind::kCycle, 1,
             "an operation waits for itself: operation 0 of rank 0 ('a': calc 1)");
  // Backwards alone is no cycle.
  CHECK(check_text("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\n}").clean());
}

TEST_CASE("unmatched messages") {
  check_only(
      check_text("num_ranks 2\nrank 0 {\nx: send 8b to 1 tag 1\nsend 8b to 1 tag 1\nsend 8b to 1 tag 2\n}\n"
                 "rank 1 {\nrecv 8b from 0 tag 2\n}"),
      FindingKind::kUnmatchedSend, 2,
      "no receive takes 2 messages like operation 0 of rank 0 ('x': send 8b to 1 tag 1)");
  check_only(
      check_text(
          "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from -1\nrecv 8b from -1 tag -1\n}"),
      FindingKind::kUnmatchedReceive, 1,
      "no send serves 1 message like operation 1 of rank 1 (recv 8b from -1 tag -1)");
  // Communicators part messages; so do directions.
  const Report apart =
      check_text("num_ranks 2\ncomm 1 all\nrank 0 {\nsend 8b to 1 comm 1\n}\nrank 1 {\nrecv 8b from 0\n}");
  CHECK(apart.counts[static_cast<std::size_t>(FindingKind::kUnmatchedSend)] == 1);
  CHECK(apart.counts[static_cast<std::size_t>(FindingKind::kUnmatchedReceive)] == 1);
  CHECK(apart.has_errors());
  // A wildcard may serve what it must: the receive of any source has to leave tag 2 to the other.
  CHECK(check_text("num_ranks 3\nrank 0 {\nsend 8b to 2 tag 1\nsend 8b to 2 tag 2\n}\nrank 1 {\n}\n"
                   "rank 2 {\nrecv 8b from -1 tag 1\nrecv 8b from 0 tag -1\n}")
            .clean());
}

TEST_CASE("short receives, paired in order") {
  const Report report = check_text(
      "num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 16b to 1\n}\nrank 1 {\nrecv 8b from 0\nr: recv 12b from "
      "0\n}");
  check_only(report, FindingKind::kShortReceive, 1,
             "operation 1 of rank 1 ('r': recv 12b from 0) takes fewer bytes than operation 1 of rank 0 "
             "(send 16b to 1) "
             "has");
  CHECK_FALSE(report.has_errors());
}

TEST_CASE("messages on a communicator need both ends in it") {
  check_only(
      check_text("num_ranks 3\ncomm 1 \"pair\" { 0 1 }\nrank 0 {\nsend 8b to 2 comm 1\n}\nrank 1 {\n}\n"
                 "rank 2 {\nrecv 8b from 0 comm 1\n}"),
      FindingKind::kNotMember, 2,
      "operation 0 of rank 0 (send 8b to 2 comm 1) uses communicator 1 'pair', which rank 2 is not in");
}

TEST_CASE("peers that do not exist, from a builder") {
  GraphBuilder builder;
  builder.add_send(8, 7);
  builder.end_rank();
  check_only(check(builder.finish()), FindingKind::kOutOfRange, 1,
             "operation 0 of rank 0 (send 8b to 7) names a rank that does not exist");
}

TEST_CASE("collectives on which members disagree") {
  const auto two = [](const std::string& a, const std::string& b) {
    return check_text("num_ranks 2\nrank 0 {\n" + a + "\n}\nrank 1 {\n" + b + "\n}");
  };
  check_only(
      two("barrier\nbcast 8b root 0", "barrier\nbcast 8b root 1"), FindingKind::kCollectiveMismatch, 1,
      "operation 1 of rank 1 (bcast 8b root 1) and operation 1 of rank 0 (bcast 8b root 0) are the same "
      "collective (number 1 on communicator 0 'world'), but differ in root");
  const auto mismatches = [&](const std::string& a, const std::string& b) {
    return two(a, b).counts[static_cast<std::size_t>(FindingKind::kCollectiveMismatch)];
  };
  CHECK(mismatches("bcast 8b", "reduce 8b") == 1);
  CHECK(mismatches("bcast 8b", "bcast 9b") == 1);
  CHECK(mismatches("allreduce 8b by ring", "allreduce 8b") == 1);
  CHECK(mismatches("allreduce 8b by ring", "allreduce 8b by ring") == 0);
  CHECK(mismatches("allgather [1 2]b", "allgather [1 3]b") == 1);
  CHECK(mismatches("allgather [1 2]b", "allgather 2b") == 1);
  CHECK(mismatches("bcast 8b elem 8", "bcast 8b elem 4") == 0);
  // Rank 0 sends 2 bytes to rank 1, which wants 9; the other pairs agree.
  check_only(two("alltoall [1 2]b receives [1 3]b", "alltoall [3 4]b receives [9 4]b"),
             FindingKind::kCollectiveMismatch, 1,
             "operation 0 of rank 0 (alltoall, number 0 on communicator 0 'world') sends 2 bytes to rank 1, "
             "which wants "
             "9");
  // After the first difference the rest of a rank is not compared.
  CHECK(mismatches("barrier\nbcast 8b\nbarrier", "bcast 8b\nbarrier\nscan 8b") == 1);
}

TEST_CASE("bytes that are no whole elements") {
  const auto all = [](const std::string& call) {
    return check_text("num_ranks 2\nrank 0 {\n" + call + "\n}\nrank 1 {\n" + call + "\n}");
  };
  check_only(all("allreduce 10b elem 4"), FindingKind::kPartialElement, 2,
             "operation 0 of rank 0 (allreduce 10b elem 4) has bytes that are not whole elements of 4");
  CHECK_FALSE(all("allreduce 10b elem 4").has_errors());
  CHECK(all("allreduce 12b elem 4").clean());
  CHECK(all("allgather [8 4]b elem 4").clean());
  CHECK(all("allgather [8 6]b elem 4").counts[static_cast<std::size_t>(FindingKind::kPartialElement)] == 2);
}

TEST_CASE("collectives alone, as imports and runs check them") {
  const Graph graph = parse_text(R"(num_ranks 3
rank 0 {
send 8b to 1
barrier
allreduce 8b
}
rank 1 {
barrier
allreduce 16b
}
rank 2 {
barrier
}
)",
                                 "test.goal");
  const Report whole = check(graph), part = check_collectives(graph);
  for (const FindingKind kind : {FindingKind::kCollectiveMismatch, FindingKind::kCollectiveMissing}) {
    CHECK(part.counts[static_cast<std::size_t>(kind)] == 1);
    CHECK(whole.counts[static_cast<std::size_t>(kind)] == 1);
  }
  CHECK(part.counts[static_cast<std::size_t>(FindingKind::kUnmatchedSend)] == 0);
  const std::vector<Anomaly> told = collective_anomalies(graph);
  REQUIRE(told.size() == 2);
  CHECK(told[0].name == "collective_mismatch");
  CHECK(told[0].severity == Severity::kWarning);
  CHECK(told[0].sentence.find("operation 1 of rank 1 (allreduce 16b)") != std::string::npos);
  CHECK(told[1].name == "collective_missing");
  CHECK(collective_anomalies(parse_text("num_ranks 1\nrank 0 {\ncalc 1\n}\n", "t")).empty());
}

TEST_CASE("messages without another side are told to who did not ask") {
  const auto told = [](const std::string& text) { return message_anomalies(parse_text(text, "t")); };
  // Two sends of which one is received, and a receive that nobody serves.
  const std::vector<Anomaly> some = told(
      "num_ranks 2\nrank 0 {\nsend 8b to 1\nsend 8b to 1\nsend 4b to 1 tag 5\n}\n"
      "rank 1 {\nrecv 8b from 0\nrecv 2b from 0 tag 5\nrecv 8b from 0 tag 9\n}\n");
  REQUIRE(some.size() == 3);
  CHECK(some[0].name == "unmatched_send");
  CHECK(some[1].name == "unmatched_receive");
  CHECK(some[2].name == "short_receive");
  for (const Anomaly& each : some) {
    CHECK(each.count == 1);
    CHECK(each.severity == Severity::kWarning);
  }
  CHECK(told("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n").empty());
}

TEST_CASE("sizes of the v form") {
  const auto gather = [](const std::string& a, const std::string& b) {
    return check_text("num_ranks 2\nrank 0 {\n" + a + "\n}\nrank 1 {\n" + b + "\n}");
  };
  CHECK(gather("gather [4 8]b root 0 v", "gather 8b root 0 v").clean());
  CHECK(gather("gather 4b root 1 v", "gather [4 8]b root 1 v").clean());
  check_only(
      gather("gather [4 8]b root 0 v", "gather 9b root 0 v"), FindingKind::kCollectiveMismatch, 1,
      "operation 0 of rank 1 (gather 9b root 0 v) and operation 0 of rank 0 (gather [4 8]b root 0 v) are the "
      "same collective (number 0 on communicator 0 'world'), but differ in size, by the list of counts");
  check_only(
      gather("gather [4 8]b root 0 v", "gather 8b root 0"), FindingKind::kCollectiveMismatch, 1,
      "operation 0 of rank 1 (gather 8b root 0) and operation 0 of rank 0 (gather [4 8]b root 0 v) are the "
      "same collective (number 0 on communicator 0 'world'), but differ in form: one has a list of counts, "
      "the "
      "other one size");
}

TEST_CASE("neighbors that disagree") {
  const auto two = [](const std::string& a, const std::string& b) {
    return check_text("num_ranks 2\nrank 0 {\n" + a + "\n}\nrank 1 {\n" + b + "\n}");
  };
  // Each sends the other two messages, told apart by their order.
  CHECK(two("neighbor_alltoall [1 2]b receives [3 4]b to [1 1] from [1 1]",
            "neighbor_alltoall [3 4]b receives [1 2]b to [0 0] from [0 0]")
            .clean());
  CHECK(two("neighbor_allgather 8b to [1] from []", "neighbor_allgather 8b to [] from [0]").clean());
  check_only(
      two("neighbor_alltoall [1 2]b receives [3 4]b to [1 1] from [1 1]",
          "neighbor_alltoall [3 4]b receives [2 1]b to [0 0] from [0 0]"),
      FindingKind::kCollectiveMismatch, 1,
      "operation 0 of rank 0 (neighbor_alltoall [1 2]b receives [3 4]b to [1 1] from [1 1]) (number 0 on "
      "communicator 0 'world') sends 1 bytes to rank 1, which wants 2");
  check_only(two("neighbor_allgather 8b to [1] from []", "neighbor_allgather 8b to [] from []"),
             FindingKind::kCollectiveMismatch, 1,
             "operation 0 of rank 0 (neighbor_allgather 8b to [1] from []) (number 0 on communicator 0 "
             "'world') sends "
             "a message to rank 1, which wants none");
  check_only(two("neighbor_allgather 8b to [] from []", "neighbor_allgather 8b to [] from [0]"),
             FindingKind::kCollectiveMismatch, 1,
             "operation 0 of rank 1 (neighbor_allgather 8b to [] from [0]) (number 0 on communicator 0 "
             "'world') wants "
             "a message from rank 0, which sends it none");
}

TEST_CASE("unequal numbers of collectives") {
  check_only(check_text("num_ranks 2\nrank 0 {\nbarrier\nbarrier\n}\nrank 1 {\nbarrier\n}"),
             FindingKind::kCollectiveMissing, 1,
             "rank 1 has 1 collective operations on communicator 0 'world', but rank 0 has 2");
  check_only(check_text("num_ranks 3\ncomm 1 { 0 2 }\nrank 0 {\nbarrier comm 1\n}\nrank 1 {\n}\nrank 2 {\n}"),
             FindingKind::kCollectiveMissing, 1,
             "rank 2 has 0 collective operations on communicator 1, but rank 0 has 1");
  check_only(check_text("num_ranks 2\ncomm 1 { 0 }\nrank 0 {\n}\nrank 1 {\nbarrier comm 1\n}"),
             FindingKind::kNotMember, 1,
             "operation 0 of rank 1 (barrier comm 1) uses communicator 1, which rank 1 is not in");
}

TEST_CASE("labels that stand twice") {
  const Report report = check_text("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}");
  check_only(report, FindingKind::kDuplicateLabel, 1,
             "the label of operation 1 of rank 0 ('a': calc 2) names an earlier operation too");
  CHECK_FALSE(report.has_errors());
}

TEST_CASE("a packed file, read block by block, gives the report of its graph") {
  const char* given = std::getenv("TEST_TMPDIR");
  const std::string path =
      (given != nullptr ? std::string(given) : std::filesystem::temp_directory_path().string()) +
      "/check.weft";
  std::array<std::uint64_t, kFindingKinds> met{};
  const auto compare = [&](const Graph& graph) {
    write_pack_file(graph, {}, path);
    const Report whole = check(graph), streamed = check_file(path);
    CHECK(streamed.ranks == graph.ranks());
    CHECK(streamed.ops == graph.ops());
    REQUIRE(streamed.counts == whole.counts);
    REQUIRE(streamed.findings.size() == whole.findings.size());
    for (std::size_t i = 0; i < whole.findings.size(); ++i) {
      REQUIRE(streamed.findings[i].sentence == whole.findings[i].sentence);
      ++met[static_cast<std::size_t>(whole.findings[i].kind)];
    }
  };
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    INFO("seed " << seed);
    compare(random_graph(seed));
  }
  // All kinds but what a file can't hold.
  for (std::size_t kind = 0; kind < kFindingKinds; ++kind) {
    INFO(name(static_cast<FindingKind>(kind)));
    CHECK((met[kind] > 0) == (static_cast<FindingKind>(kind) != FindingKind::kOutOfRange));
  }
}

TEST_CASE("as many messages are left as a naive maximum matching leaves") {
  std::uint64_t matched_some = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const Graph graph = random_graph(seed);
    std::vector<std::pair<Rank, Op>> sends, receives;
    for (Rank rank = 0; rank < graph.ranks(); ++rank) {
      for (OpIndex i = 0; i < graph.rank(rank).ops(); ++i) {
        const Op op = graph.rank(rank).op(i);
        if (op.kind == OpKind::kSend) sends.emplace_back(rank, op);
        if (op.kind == OpKind::kRecv) receives.emplace_back(rank, op);
      }
    }
    const auto fits = [](const std::pair<Rank, Op>& send, const std::pair<Rank, Op>& receive) {
      const Op &a = send.second, &b = receive.second;
      return a.peer == receive.first && a.comm == b.comm && (b.peer == kAny || b.peer == send.first) &&
             (a.tag == kAny || b.tag == kAny || a.tag == b.tag);
    };
    const std::size_t matched = matched_naively(sends, receives, fits);
    const Report report = check(graph);
    REQUIRE(report.counts[static_cast<std::size_t>(FindingKind::kUnmatchedSend)] == sends.size() - matched);
    REQUIRE(report.counts[static_cast<std::size_t>(FindingKind::kUnmatchedReceive)] ==
            receives.size() - matched);
    matched_some += matched > 0;
  }
  CHECK(matched_some > 50);
}

TEST_CASE("examples are bounded, counts are not") {
  GraphBuilder builder;
  for (std::uint32_t tag = 0; tag < 100; ++tag) builder.add_send(8, 0, tag);
  builder.end_rank();
  const Report report = check(builder.finish(), {.examples = 3});
  CHECK(report.findings.size() == 3);
  CHECK(report.counts[static_cast<std::size_t>(FindingKind::kUnmatchedSend)] == 100);
}

TEST_CASE("published schedules are sound") {
  const char* oracle = std::getenv("WEFT_ORACLE_DIR");
  if (oracle == nullptr) {
    std::cout << "skipped: WEFT_ORACLE_DIR is not set\n";
    return;
  }
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(oracle) / "loggops/generated")) {
    INFO(entry.path());
    const Report report = check(read_text_file(entry.path().string()));
    CHECK((report.clean() ? "" : report.findings[0].sentence) == "");
    ++files;
  }
  CHECK(files >= 20);
}

}  // namespace weft::goal
