#include <string>

#include "goal/file.h"
#include "goal/pack/frame.h"
#include "goal/pack/pack.h"
#include "goal/pack/packed_file.h"
#include "goal/pack/read_v1.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::uint32_t kOpsAtOnce = 4096;
// Room for more is made when it is needed: what a file claims may be wrong, and a loop claims much in few
// bytes.
constexpr std::uint64_t kMaxReserve = std::uint64_t{1} << 28;

Graph read_version_2(std::string_view bytes, const std::string& file_name, PackInfo* info) {
  PackedFile file(bytes, file_name, {});
  GraphBuilder builder;
  for (std::size_t i = 1; i < file.communicators().size(); ++i) {
    if (builder.add_communicator(file.communicators()[i]) != i) {
      throw InputError(SourceLocation{.file = file_name}, "two communicators are equal");
    }
  }
  if (file.ops() <= kMaxReserve && file.edges() <= kMaxReserve) {
    builder.reserve(file.ops(), file.edges());
  } else {
    GraphBuilder::expect_graph(file.ops(), file.edges());
  }
  OpBlock block;
  for (Rank rank = 0; rank < file.ranks(); ++rank) {
    RankReader reader = file.rank(rank);
    while (reader.next(block, kOpsAtOnce)) {
      for (std::size_t k = 0; k < block.ops.size(); ++k) {
        const Op& op = block.ops[k];
        const std::string_view label = block.labels.empty() ? std::string_view() : block.labels[k];
        const OpIndex index = op.kind == OpKind::kCollective
                                  ? builder.add_collective(file.collectives()[op.peer], op.cpu, op.nic, label)
                                  : builder.add(op, label);
        for (const Edge& edge : block.dependents(k))
          builder.add_edge(index, edge.dependent(), edge.on_start());
      }
    }
    builder.end_rank();
  }
  if (info != nullptr) *info = file.info();
  return builder.finish();
}

}  // namespace

Graph parse_pack(std::string_view bytes, const std::string& file_name, PackInfo* info) {
  pack::FrameReader frames(bytes, file_name);
  if (frames.check_header() == 1) return pack::read_version_1(frames, info);
  return read_version_2(bytes, file_name, info);
}

Graph read_pack_file(const std::string& path, PackInfo* info) {
  const FileView file(path);
  return parse_pack(file.bytes(), path, info);
}

}  // namespace weft::goal
