// Broadcast and reduce: a chain along the ring of each channel, from the root or to it.
#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/places.h"
#include "goal/collectives/nccl/work.h"
#include "goal/collectives/trees.h"

namespace weft::goal::nccl {
namespace {

// In how many pieces a chunk goes along the ring.
std::uint32_t pieces(const CollectiveOptions& options) {
  if (options.chunk_bytes > 0) return 1;
  if (options.format == WireFormat::kFlagPerWord) return static_cast<std::uint32_t>(kLlStep / kLlPiece);
  if (options.format == WireFormat::kFlagPerLine) return static_cast<std::uint32_t>(kLl128Step / kLl128Piece);
  return 1;
}

template <typename Pass>
bool along_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, bool to_root, Pass pass,
                Group& out) {
  const NodeOrder order(call, lane);
  const std::uint32_t n = call.size, root = order.position(call.place_of(call.collective->root));
  // Places count from the root, against the ring where data come to it.
  const auto place = [&](std::uint32_t position) {
    return to_root ? (root + n - position) % n : (position + n - root) % n;
  };
  const auto rank = [&](std::uint32_t v) {
    return order.rank_at(to_root ? (root + n - v) % n : (root + v) % n);
  };
  const ChannelShares shares({0, call.collective->bytes}, call, 1);
  const std::uint32_t parts = pieces(*call.options);
  const std::uint64_t chunk = chunk_bytes(Shape::kChain, call) / parts;
  const Segments segments(shares.part(lane), call.collective->element_bytes, chunk);
  const auto tags = static_cast<std::uint32_t>(shares.most_bytes() / chunk + 1);
  const std::uint32_t v = place(order.position(call.place()));
  const bool more = pass(Chain{n}, v, rank, segments, lane * tags);
  // A rank between others takes in piece `index` while it hands on the one before.
  const bool after = to_root || v != 0;
  if (index % parts != 0) out.goes_on(StepKind::kRecv);
  if ((index + parts - (after ? 1 : 0)) % parts != 0) out.goes_on(StepKind::kSend);
  out.in_format(call.options->format);
  return more;
}

}  // namespace

std::uint32_t channel_lanes(const CollectiveCall& call) { return call.options->channels; }

bool bcast_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  return along_ring(
      call, lane, index, false,
      [&](const auto& chain, std::uint32_t v, const auto& rank, const Segments& segments, std::uint32_t tag) {
        return pass_down(chain, v, rank, segments, index, tag, out);
      },
      out);
}

bool reduce_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  return along_ring(
      call, lane, index, true,
      [&](const auto& chain, std::uint32_t v, const auto& rank, const Segments& segments, std::uint32_t tag) {
        return combine_up(chain, v, rank, segments, index, tag, out);
      },
      out);
}

}  // namespace weft::goal::nccl
