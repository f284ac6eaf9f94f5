#include "goal/collectives/nccl/work.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace weft::goal::nccl {
namespace {

std::uint64_t step_bytes(WireFormat format) {
  if (format == WireFormat::kFlagPerWord) return kLlStep;
  if (format == WireFormat::kFlagPerLine) return kLl128Step;
  return kSimpleStep;
}

// Alignment of chunks, in bytes of data.
std::uint64_t grain(WireFormat format) {
  if (format == WireFormat::kFlagPerWord) return 16;
  if (format == WireFormat::kFlagPerLine) return 1920;
  return 512;
}

void halve_while_few(std::uint64_t& chunk, std::uint64_t total, double chunks, std::uint64_t least) {
  while (static_cast<double>(total) / static_cast<double>(chunk) < chunks && chunk > least) chunk /= 2;
}

// `total` bytes of a channel make fewer than so many turns of all heads: then chunks of `then`.
void shorten_below(std::uint64_t& chunk, std::uint64_t total, std::uint64_t turns, std::uint64_t heads,
                   std::uint64_t then) {
  if (total / heads < turns * chunk && chunk > then) chunk = then;
}

std::uint64_t nvls_chunk(Shape shape, std::uint64_t total, std::uint32_t nodes, std::uint32_t heads) {
  std::uint64_t chunk = kNvlsChunk;
  if (shape == Shape::kNvls) {
    shorten_below(chunk, total, 64, heads, 64 * 1024);
    shorten_below(chunk, total, 8, heads, 32 * 1024);
    shorten_below(chunk, total, 2, heads, kLeastHeadChunk);
  } else {
    if (nodes >= 4) chunk = 64 * 1024;
    shorten_below(chunk, total, 4, heads, 64 * 1024);
    shorten_below(chunk, total, 1, heads, 32 * 1024);
  }
  return chunk;
}

// Returns the bytes of the channel with the most, which a chunk's length follows from.
std::uint64_t bytes_of_channel(const CollectiveCall& call) {
  const Collective& collective = *call.collective;
  if (!has_counts(collective.kind)) return ChannelShares({0, collective.bytes}, call, 2).most_bytes();
  const std::uint64_t block =
      collective.counts.empty()
          ? collective.bytes
          : std::accumulate(collective.counts.begin(), collective.counts.end(), std::uint64_t{0}) / call.size;
  return ChannelShares({0, block}, call, call.size).most_bytes() * call.size;
}

}  // namespace

std::uint64_t chunk_bytes(Shape shape, CollectiveKind kind, WireFormat format, std::uint64_t total,
                          std::uint32_t ranks, const NodeRanks& on) {
  if (shape == Shape::kNvls || shape == Shape::kNvlsTree) {
    return nvls_chunk(shape, total, on.nodes_of(ranks), std::min(ranks, on.each));
  }
  std::uint64_t chunk = step_bytes(format);
  if (shape == Shape::kRing && format == WireFormat::kPlain) chunk *= kRingChunkSteps;
  if (shape == Shape::kTree && format == WireFormat::kFlagPerLine) {
    const double depth = 1 + std::bit_width(on.nodes_of(ranks)) - 1 + 0.1 * on.each;
    halve_while_few(chunk, total, depth * 64 / on.each, 131'072);
    halve_while_few(chunk, total, depth * 16 / on.each, 32'768);
  }
  if (shape == Shape::kPat) {
    halve_while_few(chunk, total, kind == CollectiveKind::kAllgather ? 32 : 16, 65'536);
  }
  return chunk / grain(format) * grain(format);
}

std::uint64_t chunk_bytes(Shape shape, const CollectiveCall& call) {
  const CollectiveOptions& options = *call.options;
  const std::uint64_t bundle = options.bundle;
  const std::uint64_t element = std::max<std::uint32_t>(call.collective->element_bytes, 1);
  const std::uint64_t chunk =
      options.chunk_bytes > 0 ? options.chunk_bytes
                              : chunk_bytes(shape, call.collective->kind, options.format,
                                            bytes_of_channel(call) / bundle, call.size, options.on_nodes());
  return std::max(chunk / element, std::uint64_t{1}) * element * bundle;
}

std::uint64_t aligned(std::uint64_t bytes, std::uint64_t element) {
  const std::uint64_t unit = std::lcm(std::uint64_t{16}, std::max<std::uint64_t>(element, 1));
  return (bytes + unit - 1) / unit * unit;
}

ChannelShares::ChannelShares(Part vector, const CollectiveCall& call, std::uint64_t traffic)
    : vector_(vector) {
  if (call.options->format == WireFormat::kFlagPerWord) traffic *= 4;
  cell_ = aligned((kLeastTraffic + traffic - 1) / traffic, call.collective->element_bytes);
  if (call.options->chunk_bytes > 0) {
    cell_ = aligned(std::min(cell_, call.options->chunk_bytes), call.collective->element_bytes);
  }
  cells_ = (vector.count + cell_ - 1) / cell_;
  channels_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cells_, 1, call.options->channels));
}

Part ChannelShares::part(std::uint32_t channel) const {
  if (channel >= channels_) return {vector_.begin, 0};
  const auto begin = [&](std::uint64_t c) {
    return std::min(cells_ / channels_ * c + std::min(c, cells_ % channels_), cells_) * cell_;
  };
  const std::uint64_t from = std::min(begin(channel), vector_.count);
  const std::uint64_t to = std::min(begin(channel + std::uint64_t{1}), vector_.count);
  return {vector_.begin + from, to - from};
}

std::uint64_t ChannelShares::most_bytes() const { return part(0).count; }

Part slice_of(Part chunk, std::uint32_t slice, const CollectiveCall& call) {
  if (ring_slices(call) == 1) return chunk;
  const std::uint64_t half =
      aligned(std::max((chunk.count + kRingSlices - 1) / kRingSlices, kLeastSlice * call.options->bundle),
              call.collective->element_bytes);
  const std::uint64_t before = std::min(half * slice, chunk.count);
  return {chunk.begin + before, std::min(half, chunk.count - before)};
}

bool is_ring(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  return algorithm.info.name == "nccl_ring" && call.options->least_chunk_bytes == 0 &&
         call.options->chunk_grain_bytes == 0 && call.collective->counts.empty();
}

double ring_messages(const CollectiveCall& call) {
  const bool both = call.collective->kind == CollectiveKind::kAllreduce;
  const auto share = static_cast<double>(
      ChannelShares({0, call.collective->bytes}, call, both ? 2 : call.size).most_bytes());
  const auto chunk = static_cast<double>(chunk_bytes(Shape::kRing, call)) * (both ? call.size : 1);
  const double of_a_lane = std::max(1.0, share / chunk) * (call.size - 1) * (both ? 2 : 1);
  return of_a_lane * call.options->channels * ring_slices(call) * call.size;
}

}  // namespace weft::goal::nccl
