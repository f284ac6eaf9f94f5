// How NCCL divides the work of a collective: over channels, in chunks and slices, and how it writes data.
// Figures: NCCL 2.30 (https://github.com/NVIDIA/nccl, src/enqueue.cc, src/include/device.h), SCHEDULES.md.
#pragma once

#include <cstdint>

#include "goal/collectives/steps.h"

namespace weft::goal::nccl {

// Buffers of a channel for one peer, in the 8 steps that may be under way.
inline constexpr std::uint64_t kSimpleStep = 512 * 1024;
inline constexpr std::uint64_t kLlStep = 32 * 1024;   // data; twice as many bytes
inline constexpr std::uint64_t kLl128Step = 576'000;  // data; 15/16 of the bytes
// With LL and LL128 a line is handed on as soon as its flag is there, not with its chunk. Along a chain,
// where one chunk after the other goes through all ranks, it goes in pieces of one pass of a channel's
// threads: 512 with 8 bytes each, 20 warps with 1,920 each (src/device/prims_ll.h, prims_ll128.h).
inline constexpr std::uint64_t kLlPiece = 4096;
inline constexpr std::uint64_t kLl128Piece = 38'400;
static_assert(kLlStep % kLlPiece == 0 && kLl128Step % kLl128Piece == 0);
// A chunk of a ring with the Simple protocol is four steps long and goes in two slices.
inline constexpr std::uint32_t kRingChunkSteps = 4;
inline constexpr std::uint32_t kRingSlices = 2;
inline constexpr std::uint64_t kLeastSlice = 32 * 1024;
// Longest chunk of a head of NVLS; least, but for what is left over.
inline constexpr std::uint64_t kNvlsChunk = 128 * 1024;
inline constexpr std::uint64_t kLeastHeadChunk = 16 * 1024;
// A channel is not worth its while for less.
inline constexpr std::uint64_t kLeastTraffic = 32 * 1024;

enum class Shape : std::uint8_t { kRing, kChain, kTree, kPat, kNvls, kNvlsTree };

// Longest chunk of a channel in bytes of data (NVLS: of one head). `total`: bytes of the channel's share
// (times the ranks for allgather and reduce_scatter); `on`: its `each` is at least 1.
std::uint64_t chunk_bytes(Shape shape, CollectiveKind kind, WireFormat format, std::uint64_t total,
                          std::uint32_t ranks, const NodeRanks& on);
// Returns the chunk of this call: what the option `chunk` says, else the longest; for all channels of a
// bundle together.
std::uint64_t chunk_bytes(Shape shape, const CollectiveCall& call);

// The share of a vector that a channel has. Channels get whole cells, as even as can be; with fewer cells
// than channels the last channels have none.
class ChannelShares {
 public:
  // `traffic`: how many bytes a byte of the vector makes on its way, of which the size of a cell follows.
  ChannelShares(Part vector, const CollectiveCall& call, std::uint64_t traffic);
  Part part(std::uint32_t channel) const;
  // No channel has more.
  std::uint64_t most_bytes() const;

 private:
  Part vector_;
  std::uint64_t cell_, cells_;
  std::uint32_t channels_;
};

// A number of bytes made up to a multiple of 16 and of the datatype's element.
std::uint64_t aligned(std::uint64_t bytes, std::uint64_t element);

// A slice of a chunk: all of it with other protocols than Simple, else one of two, none shorter than 32 KiB
// but the last.
Part slice_of(Part chunk, std::uint32_t slice, const CollectiveCall& call);
// How many lanes a ring has for each channel.
inline std::uint32_t ring_slices(const CollectiveCall& call) {
  return call.options->format == WireFormat::kPlain ? kRingSlices : 1;
}

// A ring whose chunks are as long in every version, of blocks as long as each other.
bool is_ring(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);
// Messages of a ring, with one for each slice of each chunk.
double ring_messages(const CollectiveCall& call);

}  // namespace weft::goal::nccl
