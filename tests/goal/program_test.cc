#include "goal/program.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

namespace weft::goal {
namespace {

// A file under a name that tells nothing of its kind.
std::string file_of(const std::string& bytes) {
  const char* given = std::getenv("TEST_TMPDIR");
  const std::string folder = given != nullptr ? given : std::filesystem::temp_directory_path().string();
  const std::string path = folder + "/program";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// What a program says of itself is what its graph holds, looked at operation by operation.
void check_program(const Program& program, const Graph& graph) {
  const ProgramFacts& facts = program.facts();
  REQUIRE(program.ranks() == graph.ranks());
  CHECK(facts.ops == graph.ops());
  CHECK(std::equal(facts.communicators.begin(), facts.communicators.end(), graph.communicators().begin(),
                   graph.communicators().end()));
  CHECK(std::equal(facts.collectives.begin(), facts.collectives.end(), graph.collectives().begin(),
                   graph.collectives().end()));
  CHECK(facts.max_nic == graph.max_nic());
  CHECK(facts.has_wildcards == graph.has_wildcards());
  std::vector<double> bytes(graph.ranks());
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView view = graph.rank(r);
    CHECK(program.ops(r) == view.ops());
    std::set<std::uint16_t> cpus;
    for (OpIndex i = 0; i < view.ops(); ++i) {
      cpus.insert(view.cpu(i));
      CHECK(program.label(r, i) == view.label(i));
      if (view.kind(i) != OpKind::kSend) continue;
      bytes[r] += static_cast<double>(view.value(i));
      bytes[view.peer(i)] += static_cast<double>(view.value(i));
    }
    CHECK(program.cpus(r) == std::vector<std::uint16_t>(cpus.begin(), cpus.end()));
  }
  const std::vector<double> said = program.message_bytes();
  REQUIRE(said.size() == bytes.size());
  for (std::size_t r = 0; r < bytes.size(); ++r) CHECK(said[r] == Approx(bytes[r]));
}

}  // namespace

TEST_CASE("a graph in memory and a packed file say the same of a program") {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Graph graph = random_graph(seed);
    check_program(graph, graph);
    const std::string bytes = to_pack(graph, {});
    for (const OpIndex block : {1, 4, 0}) {
      const PackedProgram packed(bytes, "packed", block);
      check_program(packed, graph);
      CHECK(packed.graph() == graph);
    }
  }
}

TEST_CASE("what comes from a packed file stays there, other files are read whole") {
  const Graph graph =
      parse_text("num_ranks 2\nrank 0 {\na: calc 5\nb: calc 6\nb requires a\n}\nrank 1 {\n}", "x");
  const Program text = open_program(file_of(to_text(graph)));
  REQUIRE(text.graph() != nullptr);
  CHECK(*text.graph() == graph);
  CHECK(text.packed() == nullptr);
  const Program packed = open_program(file_of(to_pack(graph, {})));
  CHECK(packed.graph() == nullptr);
  REQUIRE(packed.packed() != nullptr);
  CHECK(packed.packed()->graph() == graph);
  const Program copy = packed;  // shares the file
  CHECK(copy.packed() == packed.packed());
  CHECK_THROWS_AS(open_program(file_of("\x7f"
                                       "ELF")),
                  InputError);
  const std::string whole = to_pack(graph, {});
  CHECK_THROWS_AS(open_program(file_of(whole.substr(0, whole.size() - 1))), InputError);
}

TEST_CASE("ranks that share a program share its outline") {
  GraphBuilder builder;
  constexpr Rank kRanks = 1000;
  for (Rank r = 0; r < kRanks; ++r) {
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const OpIndex op =
          i % 2 == 0 ? builder.add_send(8, (r + 1) % kRanks) : builder.add_recv(8, (r + kRanks - 1) % kRanks);
      if (i > 0) builder.add_edge(op - 1, op);
    }
    builder.end_rank();
  }
  const std::string bytes = to_pack(builder.finish(), {});
  const PackedProgram packed(bytes, "packed");
  CHECK(&packed.outline(0) == &packed.outline(kRanks - 1));
  CHECK(packed.memory_bytes() < 10'000);
}

}  // namespace weft::goal
