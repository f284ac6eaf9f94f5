// Packed GOAL: whole, rank by rank, and as a replay reads it.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "goal/check/check.h"
#include "goal/pack/pack.h"
#include "goal/pack/packed_file.h"
#include "goal/pack/packed_program.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graphs.h"

using namespace weft;

namespace {

// Loops in a small file may stand, rightly, for more than fits in memory.
constexpr std::uint64_t kMostOps = 1 << 14, kMostRanks = 1 << 10;

// Reads the ranks in turn, a few operations at a time: the graph's own.
void check_readers(goal::PackedFile& file, const goal::Graph& graph) {
  goal::OpBlock block;
  for (goal::Rank rank = 0; rank < file.ranks(); ++rank) {
    const goal::RankView expected = graph.rank(rank);
    goal::RankReader reader = file.rank(rank);
    goal::OpIndex at = 0;
    while (reader.next(block, 3)) {
      for (std::size_t k = 0; k < block.ops.size(); ++k, ++at) {
        goal::Op op = block.ops[k];
        // A file may list a collective twice; the graph has it once.
        if (op.kind == goal::OpKind::kCollective && expected.kind(at) == goal::OpKind::kCollective) {
          fuzz::require(file.collectives()[op.peer] == expected.collective(at),
                        "another collective when read in parts");
          op.peer = expected.peer(at);
        }
        fuzz::require(op == expected.op(at), "another operation when read in parts");
        fuzz::require(std::ranges::equal(block.dependents(k), expected.dependents(at)),
                      "other dependents when read in parts");
      }
    }
    fuzz::require(at == expected.ops(), "a rank ends elsewhere when read in parts");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  std::unique_ptr<goal::PackedFile> file;
  if (goal::PackedFile::is_one(bytes)) {
    const goal::PackedFile::Options options{.cache_bytes = 1 << 12};
    fuzz::attempt([&] { file = std::make_unique<goal::PackedFile>(bytes, "in.weft", options); });
    if (file == nullptr || file->ops() > kMostOps || file->ranks() > kMostRanks) return 0;
  }
  goal::PackInfo info;
  const auto graph = fuzz::attempt([&] { return goal::parse_pack(bytes, "in.weft", &info); });
  const auto program = file == nullptr ? std::nullopt : fuzz::attempt([&] {
    return std::make_unique<goal::PackedProgram>(bytes, "in.weft");
  });
  if (!graph) return 0;
  fuzz::check_graph(*graph, info, fuzz::TextForm::kMayBeRefused);
  if (file == nullptr) return 0;
  check_readers(*file, *graph);
  if (program) fuzz::require((*program)->graph() == *graph, "another graph as it is replayed");
  return 0;
}
