// Graphs written rank by rank from a packed file are those written from memory, to the byte.
#include "goal/graph/rank_source.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "goal/binary/binary.h"
#include "goal/file.h"
#include "goal/pack/pack.h"
#include "goal/read_graph.h"
#include "goal/text/text.h"
#include "goal/write_graph.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

std::string temporary(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return (folder == nullptr ? std::filesystem::temp_directory_path() : std::filesystem::path(folder)) / name;
}

std::string bytes_of(const std::string& path) { return std::string(FileView(path).bytes()); }

// The bytes of the file that the source is written to.
std::string written(RankSource& source, const PackInfo& info, Format format) {
  const std::string path = temporary("written");
  write_graph(source, info, path, format);
  return bytes_of(path);
}

}  // namespace

TEST_CASE("a packed file is written to every format as its graph is") {
  const PackInfo info{{{"application", "test"}}, {}};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const bool plain = seed % 3 == 0;  // what binary GOAL can hold
    const Graph graph = random_graph(seed, {.collectives = !plain, .wide = !plain});
    const std::string packed = temporary("packed");
    write_pack_file(graph, info, packed);
    PackInfo found;
    const auto source = open_ranks(packed, &found);
    CHECK(found == info);
    CHECK(source->ranks() == graph.ranks());
    CHECK(source->ops() == graph.ops());
    CHECK(source->edges() == graph.edges());
    CHECK(written(*source, info, Format::kText) == to_text(graph));
    CHECK(written(*source, info, Format::kPack) == bytes_of(packed));
    if (plain) CHECK(written(*source, info, Format::kBinary) == to_binary(graph));
    const Rank last = graph.ranks() - 1;
    std::string rank;
    print_rank(*source, last, [&](std::string_view text) { rank += text; });
    CHECK(to_text(graph).ends_with("\n" + rank));
  }
}

TEST_CASE("a packed file may be written over itself") {
  const Graph graph = random_graph(7);
  const std::string path = temporary("same");
  write_pack_file(graph, {}, path);
  write_graph(*open_ranks(path), {}, path, Format::kText);
  CHECK(bytes_of(path) == to_text(graph));
  write_graph(*open_ranks(path), {}, path, Format::kPack);  // from text: held whole
  CHECK(bytes_of(path) == to_pack(parse_text(to_text(graph), "same"), {}));
}

TEST_CASE("what binary GOAL can't hold is named by the rank of the packed file") {
  GraphBuilder builder;
  builder.end_rank();
  builder.add_calc(1);
  builder.add_calc(1, 256);
  builder.end_rank();
  const std::string path = temporary("cpu");
  write_pack_file(builder.finish(), {}, path);
  try {
    write_graph(*open_ranks(path), {}, temporary("out"), Format::kBinary);
    FAIL("it was written");
  } catch (const InputError& error) {
    CHECK(error.what() == std::string("binary GOAL can't hold a cpu above 255: operation 1 of rank 1"));
  }
}

}  // namespace weft::goal
