#include "goal/binary/binary.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

Graph parse(const std::string& text) { return parse_text(text, "test.goal"); }

// Bytes from hexadecimal digits; blanks are for the reader.
std::string bytes(const std::string& hex) {
  std::string result;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ' || c == '\n') continue;
    digits += c;
    if (digits.size() == 2) {
      result += static_cast<char>(std::stoi(digits, nullptr, 16));
      digits.clear();
    }
  }
  return result;
}

std::string error_of(const std::string& file) {
  try {
    parse_binary(file, "x.bin");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string with_byte(std::string file, std::size_t offset, int value) {
  file.at(offset) = static_cast<char>(value);
  return file;
}

// Rank 0: a (calc 100), b (send 10 B to 1, tag 7, cpu 1, nic 2) requires a, and irequires a.
// Rank 1: a recv of 10 B from any, any tag.
const char* const kText =
    "num_ranks 2\nrank 0 {\na: calc 100\nb: send 10b to 1 tag 7 cpu 1 nic 2\nb irequires a\nb requires a\n}\n"
    "rank 1 {\nrecv 10b from -1 tag -1\n}\n";

// This is kText written by hand, after the layout in goal/binary/README.md.
const std::string kBytes = bytes(R"(
  7f10000000000000  02000000  01  02
  2600000000000000 8800000000000000   8800000000000000 bb00000000000000
  02000000 01000000  00000000
  00000000 03 00000000 6400000000000000 00000000 00 00  01000000 00000000 01000000 01000000
  02000000 01 01000000 0a00000000000000 07000000 01 02  00000000 02000000 00000000 02000000
  01000000 01000000
  01000000 01000000  00000000
  00000000 02 ffffffff 0a00000000000000 ffffffff 00 00  00000000 00000000 00000000 00000000)");

}  // namespace

TEST_CASE("bytes of a small graph, worked out by hand") {
  // 14 + 2*16 = 46 = 0x2e, less 8 is 0x26. Rank 0: 8 + 4 + 2*39 + 2*4 = 98 = 0x62; rank 1: 8 + 4 + 39 = 51 =
  // 0x33.
  REQUIRE(kBytes.size() == 46 + 98 + 51);
  CHECK(to_binary(parse(kText)) == kBytes);
  // Reading gives the requires edge first, whatever the order of the lines was.
  const Graph graph = parse_binary(kBytes, "x.bin");
  REQUIRE(graph.rank(0).dependents(0).size() == 2);
  CHECK(graph.rank(0).dependents(0)[0] == Edge(1, false));
  CHECK(graph.rank(0).dependents(0)[1] == Edge(1, true));
  CHECK(graph.rank(1).op(0) == Op{OpKind::kRecv, 0, 0, kAny, kAny, 0, 10});
  CHECK(to_binary(graph) == kBytes);
}

TEST_CASE("the published ping-pong has 363 bytes") {
  const Graph graph = parse(
      "num_ranks 2\nrank 0 {\na: calc 100\nb: send 10b to 1\nb requires a\nc: recv 10b from 1\nc requires b\n"
      "d: calc 50\nd requires c\n}\nrank 1 {\na: recv 10b from 0\nb: calc 7\nb requires a\nc: send 10b to 0\n"
      "c requires b\n}\n");
  CHECK(to_binary(graph).size() == 363);
}

TEST_CASE("read of write is the identity where the format can hold the order of edges") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Graph graph =
        random_graph(seed, {.collectives = false, .labels = false, .wide = false, .interleaved = false});
    INFO("seed " << seed);
    const std::string file = to_binary(graph);
    const Graph again = parse_binary(file, "x.bin");
    REQUIRE(again == graph);
    REQUIRE(to_binary(again) == file);
  }
}

TEST_CASE("graphs that the format can't hold are refused with the operation") {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      to_binary(parse(text));
    } catch (const InputError& error) {
      return error.what();
    }
    return "written";
  };
  CHECK(refusal("num_ranks 1\nrank 0 {\ncalc 1\nx: calc 1 cpu 256\n}") ==
        "binary GOAL can't hold a cpu above 255: operation 1 ('x') of rank 0");
  CHECK(refusal("num_ranks 1\nrank 0 {\nbarrier\n}") ==
        "binary GOAL can't hold collective operations: operation 0 of rank 0");
  CHECK(refusal("num_ranks 1\nrank 0 {\nsend 1b to 0 sync\n}") ==
        "binary GOAL can't hold synchronous sends: operation 0 of rank 0");
  CHECK(refusal("num_ranks 1\ncomm 1 \"dup\" all\nrank 0 {\nsend 1b to 0 comm 1\n}") ==
        "binary GOAL can't hold communicators: operation 0 of rank 0");
  CHECK(refusal("num_ranks 1\ncomm 1 \"dup\" all\nrank 0 {\nsend 1b to 0 cpu 255 nic 255\n}") == "written");
}

TEST_CASE("every truncated file is refused") {
  for (std::size_t length = 0; length < kBytes.size(); ++length) {
    CHECK_THROWS_AS(parse_binary(kBytes.substr(0, length), "x.bin"), InputError);
  }
  CHECK(error_of(kBytes.substr(0, 100)) ==
        "x.bin: byte 100: the file ends within the data of rank 0: they end at byte 136 + 8");
}

TEST_CASE("errors name the byte") {
  using Catch::Matchers::Contains;
  CHECK_THAT(error_of(with_byte(with_byte(kBytes, 0, 0x26), 1, 0x09)),
             Contains("byte 0: ") && Contains("--save-mem"));
  CHECK_THAT(error_of(with_byte(kBytes, 3, 1)), Contains("byte 0: ") && Contains("4223"));
  CHECK_THAT(error_of(with_byte(kBytes, 8, 200)), Contains("table of 200 ranks"));
  CHECK_THAT(error_of(with_byte(kBytes, 14, 0x25)), Contains("byte 14: ") && Contains("expected them at 38"));
  CHECK_THAT(error_of(with_byte(kBytes, 46, 3)), Contains("byte 46: ") && Contains("do not fit"));
  // Root list: rank 0 has one root, operation 0, at byte 54.
  CHECK_THAT(error_of(with_byte(kBytes, 54, 1)),
             Contains("byte 54: ") && Contains("list of roots of rank 0"));
  // Operation 0 of rank 0 begins at byte 58, operation 1 at byte 97, the successors at byte 136.
  CHECK_THAT(error_of(with_byte(kBytes, 58, 1)), Contains("byte 58: ") && Contains("claims 1 dependencies"));
  CHECK_THAT(error_of(with_byte(kBytes, 62, 4)), Contains("byte 62: ") && Contains("type 4"));
  CHECK_THAT(error_of(with_byte(kBytes, 102, 2)), Contains("byte 102: ") && Contains("peer 2"));
  CHECK_THAT(error_of(with_byte(kBytes, 81, 9)), Contains("byte 81: ") && Contains("more successors"));
  CHECK_THAT(error_of(with_byte(kBytes, 85, 9)), Contains("byte 81: ") && Contains("outside"));
  CHECK_THAT(error_of(with_byte(kBytes, 81, 0)), Contains("byte 136: ") && Contains("1 successors"));
  CHECK_THAT(error_of(with_byte(kBytes, 136, 2)), Contains("byte 136: ") && Contains("successor 2"));
}

TEST_CASE("no changed byte crashes the reader, and what is read can be written again") {
  for (std::size_t offset = 0; offset < kBytes.size(); ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string file = kBytes;
      file[offset] = static_cast<char>(file[offset] ^ (1 << bit));
      try {
        const Graph graph = parse_binary(file, "x.bin");
        CHECK(to_binary(graph).size() == kBytes.size());
      } catch (const InputError&) {
      }
    }
  }
}

// The file was packed by hand, not by this library.
TEST_CASE("a stored file stays readable, and is written as it was") {
  const std::string path = "tests/goal/binary/data/two_ranks.bin";
  std::stringstream stored;
  stored << std::ifstream(path, std::ios::binary).rdbuf();
  const Graph graph = parse_binary(stored.str(), path);
  CHECK(graph == parse("num_ranks 2\nrank 0 {\na: calc 100\nb: send 8b to 1 tag 7 cpu 1 nic 2\n"
                       "b requires a\nb irequires a\n}\n"
                       "rank 1 {\na: recv 8b from -1 tag -1\nb: calc 5\nb requires a\n}\n"));
  CHECK(to_binary(graph) == stored.str());
}

}  // namespace weft::goal
