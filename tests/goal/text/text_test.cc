#include "goal/text/text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

Graph parse(const std::string& text) { return parse_text(text, "test.goal"); }

// A second, naive reader of what the peers' txt2bin accepts: words split at blanks, maps of strings.
Graph parse_naively(const std::string& text) {
  std::istringstream lines(text);
  GraphBuilder builder;
  std::map<std::string, OpIndex> labels;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string word; split >> word;) words.push_back(word);
    if (words.empty() || words[0].starts_with("//") || words[0] == "num_ranks") continue;
    if (words[0] == "rank") {
      labels.clear();
    } else if (words[0] == "}") {
      builder.end_rank();
    } else if (words.size() == 3 && words[1].ends_with("requires")) {
      builder.add_edge(labels.at(words[2]), labels.at(words[0]), words[1] == "irequires");
    } else {
      std::string label;
      if (words[0].back() == ':') {
        label = words[0].substr(0, words[0].size() - 1);
        words.erase(words.begin());
      }
      Op op;
      op.kind = words[0] == "send" ? OpKind::kSend : words[0] == "recv" ? OpKind::kRecv : OpKind::kCalc;
      op.value = std::stoull(words[1]);  // stops before the 'b'
      for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
        const auto value = static_cast<std::uint32_t>(std::stoll(words[i + 1]));
        if (words[i] == "to" || words[i] == "from") op.peer = value;
        if (words[i] == "tag") op.tag = value;
        if (words[i] == "cpu") op.cpu = static_cast<std::uint16_t>(value);
        if (words[i] == "nic") op.nic = static_cast<std::uint8_t>(value);
      }
      labels.emplace(label, builder.add(op, label));
    }
  }
  return builder.finish();
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The message of the InputError that `text` must cause.
std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  FAIL("accepted: " << text);
  return "";
}

void check_files(const std::filesystem::path& folder, std::size_t at_least) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".goal") paths.push_back(entry.path());
  }
  REQUIRE(paths.size() >= at_least);
  for (const auto& path : paths) {
    INFO(path);
    const std::string text = read(path);
    const Graph graph = parse_text(text, path.string());
    REQUIRE(graph == parse_naively(text));
    REQUIRE(parse(to_text(graph)) == graph);
    // The printed text is one that the peers accept too: it parses by the naive reader of their grammar.
    REQUIRE(parse_naively(to_text(graph)) == graph);
  }
}

}  // namespace

TEST_CASE("every statement of the grammar") {
  const Graph graph = parse(R"(// a program of three ranks
num_ranks 3
comm 1 "row \"0\"" { 0-1 2 }
comm 2 all
comm 3 { 2 0 }

rank 0 {
start: calc 100 cpu 2
	a: send 5b to 1 tag 7 cpu 3 nic 4 sync
  b: recv 6 b from -1 tag -1 comm 3
a requires start   // behind a statement
b irequires start, a
calc 3 /* no label */
c: allreduce 1024b elem 8 comm 1
}
rank 1 {}
rank 2 { }
)");
  REQUIRE(graph.ranks() == 3);
  REQUIRE(graph.ops() == 5);
  REQUIRE(graph.communicators().size() == 4);
  CHECK(graph.communicators()[1] == Communicator{"row \"0\"", {0, 1, 2}});
  CHECK(graph.communicators()[2] == Communicator{"", {}});
  CHECK(graph.communicators()[3] == Communicator{"", {2, 0}});
  const RankView rank = graph.rank(0);
  CHECK(rank.op(0) == Op{OpKind::kCalc, 0, 2, 0, 0, 0, 100});
  CHECK(rank.op(1) == Op{KindOfOp(OpKind::kSend, true), 4, 3, 1, 7, 0, 5});
  CHECK(rank.op(2) == Op{OpKind::kRecv, 0, 0, kAny, kAny, 3, 6});
  CHECK(rank.op(3) == Op{OpKind::kCalc, 0, 0, 0, 0, 0, 3});
  CHECK(rank.kind(4) == OpKind::kCollective);
  CHECK(rank.collective(4) == Collective{CollectiveKind::kAllreduce, 1, 0, 1024, 8, {}, {}});
  CHECK(rank.label(0) == "start");
  CHECK(rank.label(3) == "");
  REQUIRE(rank.dependents(0).size() == 2);
  CHECK(rank.dependents(0)[0] == Edge(1, false));
  CHECK(rank.dependents(0)[1] == Edge(2, true));
  REQUIRE(rank.dependents(1).size() == 1);
  CHECK(rank.dependents(1)[0] == Edge(2, true));
}

TEST_CASE("every collective, with and without counts") {
  const std::string text = R"(num_ranks 2
comm 1 "pair" { 1 0 }

rank 0 {
barrier
barrier cpu 1 nic 2 comm 1
bcast 8b root 1
reduce 8b root 0 elem 8
allreduce 16b
reduce_scatter 8b
reduce_scatter [8 0]b elem 4
allgather 8b
allgather [1 2]b
gather 8b root 1 comm 1
gather [1 2]b root 0
scatter 8b root 0
scatter [1 2]b root 0
alltoall 8b
alltoall [1 2]b receives [3 4]b comm 1
scan 8b
exscan 8b
gather 8b root 1 v
allgather [1 2]b elem 4 v
neighbor_allgather 8b to [1 1 0] from [0]
neighbor_allgather 8b receives [3 4]b to [] from [1 0]
neighbor_alltoall 8b to [1] from [] comm 1
neighbor_alltoall [5 6]b receives [7]b to [0 1] from [1] v
neighbor_alltoall []b receives [7]b to [] from [1]
allreduce 64b elem 8 by torus_ring:dims=2x1,parallel=2
barrier by tree
}

rank 1 {
}
)";
  const Graph graph = parse(text);
  CHECK(to_text(graph).substr(0, 38) == text.substr(0, 38));
  // The printer puts a blank line before each rank, which this text has too: it is canonical.
  CHECK(to_text(graph) == text);
  CHECK(graph.rank(0).collective(14) == Collective{CollectiveKind::kAlltoall, 1, 0, 0, 1, {1, 2}, {3, 4}});
  CHECK(graph.rank(0).collective(17).v_form);
  CHECK(!graph.rank(0).collective(9).v_form);
  Collective around{CollectiveKind::kNeighborAllgather, 0, 0, 8, 1, {}, {3, 4}};
  around.sources = {1, 0};
  CHECK(graph.rank(0).collective(20) == around);
  around = {CollectiveKind::kNeighborAlltoall, 0, 0, 0, 1, {5, 6}, {7}};
  around.destinations = {0, 1};
  around.sources = {1};
  around.v_form = true;
  CHECK(graph.rank(0).collective(22) == around);
  CHECK(graph.rank(0).collective(9) == Collective{CollectiveKind::kGather, 1, 1, 8, 1, {}, {}});
}

TEST_CASE("what the peers' converter accepts is accepted") {
  // CRLF, blanks before and behind, no newline at the end, a block comment over lines, labels like keywords.
  CHECK(parse("num_ranks 1\r\nrank 0 {\r\na: calc 5 \r\n}\r\n").ops() == 1);
  CHECK(parse("\n\n// x\nnum_ranks 1 \n rank 0 { \n\n /* two\nlines */\ncalc 5\n}").ops() == 1);
  const Graph graph = parse(
      "num_ranks 1\nrank 0 {\nsend1: calc 1\nbcast: calc 2\nbcast requires send1\n"
      "requires: calc 3\nrequires requires bcast\n}");
  CHECK(graph.ops() == 3);
  CHECK(graph.edges() == 2);
  // A dependency that is stated twice counts twice.
  CHECK(parse("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nb requires a\nb requires a\n}").edges() == 2);
  // A label that stands twice is harmless while nothing refers to it.
  const Graph twice = parse("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}");
  CHECK(twice.rank(0).label(1) == "a");
  CHECK(to_text(twice) == "num_ranks 1\n\nrank 0 {\na: calc 1\nl2: calc 2\n}\n");
  CHECK(parse("num_ranks 0").ranks() == 0);
}

TEST_CASE("errors name the place, what was found and what was expected") {
  using Catch::Matchers::Contains;
  using Catch::Matchers::StartsWith;
  const std::string head = "num_ranks 2\nrank 0 {\n", tail = "\n}\nrank 1 {\n}\n";
  struct Case {
    std::string text, place, message;
  };
  const std::vector<Case> cases = {
      {"", "test.goal:1:1: ", "expected 'num_ranks N'"},
      {"rank 0 {", "test.goal:1:1: ", "expected 'num_ranks N'"},
      {"num_ranks x", "test.goal:1:11: ", "found 'x'; expected a number of ranks"},
      {"num_ranks 4294967296", "test.goal:1:11: ", "is too large"},
      {"num_ranks 2\nrank 0 {\n}\n", "test.goal:4:1: ", "without a block for rank 1"},
      {"num_ranks 2\nrank 1 {\n}\n", "test.goal:2:6: ", "expected rank 0"},
      {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}", "test.goal:4:6: ", "rank 0 has a block already"},
      {"num_ranks 1\nrank 0 {\n}\nrank 1 {\n}", "test.goal:4:6: ", "rank 1 does not exist: with num_ranks 1"},
      {"num_ranks 1\nrank 0 {\n}\nrank 0 {\n}", "test.goal:4:6: ", "rank 0 has a block already"},
      {"num_ranks 1\nrank 0 {\ncalc 1\n", "test.goal:4:1: ", "begun on line 2, has no '}'"},
      {"num_ranks 1\nrank 0\n{", "test.goal:2:7: ", "found the end of the line; expected '{'"},
      {head + "send 8b to 2" + tail, "test.goal:3:12: ", "rank 2 does not exist"},
      {head + "send 8b to -1" + tail, "test.goal:3:12: ", "expected the rank to send to"},
      {head + "recv 8b from 9" + tail, "test.goal:3:14: ", "rank 9 does not exist"},
      {head + "recv 8b from -2" + tail, "test.goal:3:14: ", "found '-'"},
      {head + "a: calc 1\na: calc 2\nb: calc 3\nb requires a" + tail,
       "test.goal:6:12: ", "several operations"},
      {head + "a: calc 1\na requires b" + tail, "test.goal:4:12: ", "has the label 'b'"},
      {head + "b requires a\na: calc 1" + tail, "test.goal:3:1: ", "has the label 'b'"},
      {head + "calc 1 cpu 65536" + tail, "test.goal:3:12: ", "of at most 65535"},
      {head + "send 1b to 1 nic 256" + tail, "test.goal:3:18: ", "of at most 255"},
      {head + "calc 1 nic 1" + tail, "test.goal:3:8: ", "'calc' takes no 'nic'"},
      {head + "calc 5ns" + tail, "test.goal:3:7: ", "without a unit"},
      {head + "calc 5.5" + tail, "test.goal:3:7: ", "without a unit"},
      {head + "calc -5" + tail, "test.goal:3:6: ", "found '-'"},
      {head + "calc 18446744073709551616" + tail, "test.goal:3:6: ", "of at most 18446744073709551615"},
      {head + "send 99999999999999999999b to 1" + tail, "test.goal:3:6: ", "is too large"},
      {head + "send 8 to 1" + tail, "test.goal:3:8: ", "expected 'b' behind a number of bytes"},
      {head + "send 8kb to 1" + tail, "test.goal:3:7: ", "expected 'b' behind a number of bytes"},
      {head + "send 8b from 1" + tail, "test.goal:3:9: ", "expected 'to RANK'"},
      {head + "send 8b to 1 tag 4294967295" + tail, "test.goal:3:18: ", "or -1 for any"},
      {head + "send 8b to 1 tag 1 tag 2" + tail, "test.goal:3:20: ", "given twice"},
      {head + "send 8b to 1 speed 2" + tail, "test.goal:3:14: ", "found 'speed' at the end of a statement"},
      {head + "calc 1 calc 2" + tail, "test.goal:3:8: ", "found 'calc' at the end of a statement"},
      {head + "a b" + tail, "test.goal:3:1: ", "expected calc, send, recv, barrier"},
      {head + "a: sned 8b to 1" + tail, "test.goal:3:4: ", "found 'sned'"},
      {head + "# x" + tail, "test.goal:3:1: ", "found '#'"},
      {head + "\x01" + tail, "test.goal:3:1: ", "a byte of value 1"},
      {head + "/* x" + tail, "test.goal:3:1: ", "has no '*/'"},
      {head + "bcast 8b root 2" + tail, "test.goal:3:1: ", "root 2 is outside"},
      {head + "allreduce 8b root 0" + tail, "test.goal:3:14: ", "'allreduce' takes no 'root'"},
      {head + "bcast [1 2]b root 0" + tail, "test.goal:3:7: ", "expected a number of bytes"},
      {head + "barrier 8b" + tail, "test.goal:3:9: ", "found '8b' at the end"},
      {head + "allgather [1 2 3]b" + tail,
       "test.goal:3:1: ", "a list of 3 byte counts for a communicator of 2"},
      {head + "allgather []b" + tail, "test.goal:3:1: ", "a list of 0 byte counts"},
      {head + "alltoall [1 2]b" + tail, "test.goal:3:16: ", "expected 'receives"},
      {head + "alltoall [1 2]b receives [1]b" + tail, "test.goal:3:1: ", "a list of 1 byte counts"},
      {head + "bcast 8b root 0 v" + tail, "test.goal:3:17: ", "'bcast' takes no 'v'"},
      {head + "neighbor_alltoall 8b from [0]" + tail, "test.goal:3:22: ", "expected 'to [RANK …]'"},
      {head + "neighbor_alltoall 8b to [2] from [0]" + tail, "test.goal:3:1: ", "neighbor 2 is outside"},
      {head + "neighbor_alltoall 8b to [] from [2]" + tail, "test.goal:3:1: ", "neighbor 2 is outside"},
      {head + "neighbor_alltoall [1]b receives [1]b to [] from [1]" + tail,
       "test.goal:3:1: ", "a list of 1 byte counts for 0 destinations"},
      {head + "neighbor_allgather 1b receives [1]b to [] from []" + tail,
       "test.goal:3:1: ", "a list of 1 byte counts for 0 sources"},
      {head + "barrier by" + tail, "test.goal:3:11: ", "expected an algorithm"},
      {head + "allreduce 8b elem 0" + tail, "test.goal:3:19: ", "at least 1 byte"},
      {head + "barrier comm 1" + tail, "test.goal:3:14: ", "communicator 1 is not defined"},
      {"num_ranks 2\ncomm 2 all", "test.goal:2:6: ", "expected 1"},
      {"num_ranks 2\ncomm 1 { 0 0 }", "test.goal:2:12: ", "in this communicator already"},
      {"num_ranks 2\ncomm 1 { 0-2 }", "test.goal:2:12: ", "rank 2 does not exist"},
      {"num_ranks 2\ncomm 1 { 1-0 }", "test.goal:2:10: ", "runs backwards"},
      {"num_ranks 2\ncomm 1 { }", "test.goal:2:11: ", "at least one rank"},
      {"num_ranks 2\ncomm 1 \"x", "test.goal:2:8: ", "no closing"},
      {"num_ranks 2\ncomm 1 \"\\q\" all", "test.goal:2:9: ", "a lone '\\'"},
  };
  for (const Case& c : cases) {
    const std::string message = error_of(c.text);
    INFO(c.text);
    CHECK_THAT(message, StartsWith(c.place));
    CHECK_THAT(message, Contains(c.message));
  }
}

TEST_CASE("no cut of a text crashes the parser or is taken for the whole") {
  std::string text;
  for (std::uint64_t seed = 0; text.size() < 400; ++seed) text = to_text(random_graph(seed));
  text.resize(text.find_last_of('}') + 1);
  CHECK_NOTHROW(parse(text));
  for (std::size_t length = 0; length < text.size(); ++length) {
    CHECK_THROWS_AS(parse(text.substr(0, length)), InputError);
  }
}

TEST_CASE("parse of print is the identity, and print of that the same text") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Graph graph = random_graph(seed);
    const std::string text = to_text(graph);
    INFO("seed " << seed << "\n" << text);
    const Graph again = parse(text);
    REQUIRE(again == graph);
    REQUIRE(to_text(again) == text);
  }
}

TEST_CASE("plain graphs print as the peers' converter accepts them") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Graph graph = random_graph(seed, {.collectives = false});
    const std::string text = to_text(graph);
    INFO("seed " << seed << "\n" << text);
    REQUIRE(parse_naively(text) == graph);
    // Flush left: their scanner stumbles over a blank at the begin of a line.
    CHECK(text.find("\n ") == std::string::npos);
  }
}

TEST_CASE("labels are kept, and made where they are needed") {
  const std::string text =
      "num_ranks 1\n\nrank 0 {\nfirst: calc 1\ncalc 2\nlast: calc 3\nlast requires first\n}\n";
  CHECK(to_text(parse(text)) == text);
  GraphBuilder builder;
  builder.add({.value = 1}, "l2");
  builder.add({.value = 2}, "not a label");
  builder.add({.value = 3});
  builder.add_edge(0, 1);
  builder.end_rank();
  CHECK(to_text(builder.finish()) ==
        "num_ranks 1\n\nrank 0 {\nl2: calc 1\nl2_: calc 2\nl2_ requires l2\ncalc 3\n}\n");
}

TEST_CASE("an operation as one line") {
  const Graph graph = parse("num_ranks 1\nrank 0 {\nx: recv 8b from -1 tag 3\nallreduce 8b\n}\n");
  CHECK(op_to_text(graph, 0, 0) == "recv 8b from -1 tag 3");
  CHECK(op_to_text(graph, 0, 1) == "allreduce 8b");
}

TEST_CASE("published schedules parse as a naive reader reads them") {
  check_files("tests/goal/text/data", 4);
}

TEST_CASE("the schedules of other simulators parse as a naive reader reads them") {
  const char* oracle = std::getenv("WEFT_ORACLE_DIR");
  if (oracle == nullptr) {
    std::cout << "skipped: WEFT_ORACLE_DIR is not set\n";
    return;
  }
  check_files(std::filesystem::path(oracle) / "loggops", 60);
}

TEST_CASE("a stored file stays readable, and is printed as it was") {
  GraphBuilder builder;
  const std::uint32_t row = builder.add_communicator({"row", {2, 0}});
  const Collective gather{CollectiveKind::kGather, row, 1, 0, 8, {1, 2}};
  const Collective allreduce{.kind = CollectiveKind::kAllreduce, .bytes = 4096, .element_bytes = 4};
  builder.add({.kind = OpKind::kCalc, .cpu = 300, .value = 100}, "a");
  builder.add({OpKind::kSend, 2, 1, 2, 7, row, 8}, "b");
  builder.add_edge(0, 1, true);
  builder.add_edge(0, 1);
  builder.add_collective(gather);
  builder.add_collective(allreduce);
  builder.add_collective({CollectiveKind::kAlltoall, kWorld, 0, 0, 1, {1, 2, 3}, {4, 5, 6}});
  builder.end_rank();
  builder.add_collective(allreduce);
  builder.add_collective({.kind = CollectiveKind::kBarrier});
  builder.end_rank();
  builder.add_recv(8, kAny, kAny, 0, 0, row);
  builder.add_collective(gather);
  builder.end_rank();
  const std::string path = "tests/goal/text/stored/all_forms.goal";
  const Graph graph = read_text_file(path);
  CHECK(graph == builder.finish());
  std::stringstream stored;
  stored << std::ifstream(path).rdbuf();
  CHECK(to_text(graph) == stored.str());
}

}  // namespace weft::goal
