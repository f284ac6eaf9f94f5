#include "goal/read_graph.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "goal/binary/binary.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

std::string folder() {
  const char* given = std::getenv("TEST_TMPDIR");
  return given != nullptr ? given : std::filesystem::temp_directory_path().string();
}

// A file under a name that tells nothing of its kind.
std::string file_of(const std::string& bytes) {
  const std::string path = folder() + "/graph";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string error_of(const std::string& path) {
  try {
    read_graph(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("each format is known by its content") {
  const Graph graph = parse_text("// x\nnum_ranks 1\nrank 0 {\na: calc 5\nb: calc 6\nb requires a\n}", "x");
  PackInfo info{{{"application", "left over"}}, {}};
  CHECK(read_graph(file_of(to_text(graph)), &info) == graph);
  CHECK(info == PackInfo{});
  CHECK(read_graph(file_of(to_binary(graph))) == graph);
  const PackInfo written{{{"application", "lmp"}}, {{"x", Severity::kError, "An x.", 2}}};
  CHECK(read_graph(file_of(to_pack(graph, written)), &info) == graph);
  CHECK(info == written);
}

TEST_CASE("anything else is refused with what is accepted") {
  using Catch::Matchers::Contains;
  CHECK_THAT(error_of(folder() + "/none"), Contains("none: can't read the file: No such file"));
  CHECK_THAT(error_of(folder()), Contains("it is a folder"));
  CHECK_THAT(error_of(file_of("")), Contains("the file is empty; expected GOAL text"));
  CHECK_THAT(error_of(file_of("\x1f\x8b\x08 zipped")), Contains("compressed with gzip"));
  CHECK_THAT(error_of(file_of("\x28\xb5\x2f\xfd zipped")), Contains("compressed with zstd"));
  CHECK_THAT(error_of(file_of(std::string("\x7f"
                                          "ELF\x02\x01\x01\0\0\0",
                                          10))),
             Contains("unknown kind; expected GOAL text"));
  CHECK_THAT(error_of(file_of("hello\n")), Contains("graph:1:1: found 'hello'; expected 'num_ranks N'"));
}

TEST_CASE("a failed write leaves no file behind") {
  const std::string path = folder() + "/refused.bin";
  CHECK_THROWS_AS(write_binary_file(parse_text("num_ranks 1\nrank 0 {\nbarrier\n}", "x"), path), InputError);
  CHECK_FALSE(std::filesystem::exists(path));
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    CHECK(entry.path().filename().string().find("refused.bin") == std::string::npos);
  }
}

}  // namespace weft::goal
