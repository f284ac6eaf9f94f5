// Allreduce over the trees of the channels. The way up and the way down are lanes of their own, as NCCL gives
// each a part of its threads; the root does both in one.
#include "goal/collectives/blocks.h"
#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/places.h"
#include "goal/collectives/nccl/work.h"

namespace weft::goal::nccl {

std::uint32_t tree_lanes(const CollectiveCall& call) { return 2 * call.options->channels; }

bool allreduce_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const std::uint32_t channel = lane / 2;
  const bool down = lane % 2 == 1;
  const Part share = ChannelShares({0, call.collective->bytes}, call, 2).part(channel);
  const Segments chunks(share, call.collective->element_bytes, chunk_bytes(Shape::kTree, call));
  const std::uint32_t count = share.count == 0 ? 0 : chunks.count();
  const TreePlace at = tree_place(call, channel);
  const bool is_root = at.up == kNoRank;
  if (index > count || count == 0 || (down && is_root)) return false;
  const auto tag = [&](std::uint32_t chunk, bool on_way_down) {
    return chunk * tree_lanes(call) + 2 * channel + (on_way_down ? 1 : 0);
  };
  // A chunk is sent on in the group after the one it came in.
  if (index > 0) {
    const std::uint32_t chunk = index - 1;
    if (!is_root && !down) out.send(at.up, tag(chunk, false), chunks.part(chunk));
    for (std::uint32_t i = 0; i < at.children && (is_root || down); ++i) {
      out.send(at.down[i], tag(chunk, true), chunks.part(chunk));
    }
  }
  if (index < count) {
    if (down) out.recv(at.up, tag(index, true), chunks.part(index));
    for (std::uint32_t i = 0; i < at.children && !down; ++i) {
      out.recv_combine(at.down[i], tag(index, false), chunks.part(index));
    }
  }
  out.in_format(call.options->format);
  return true;
}

}  // namespace weft::goal::nccl
