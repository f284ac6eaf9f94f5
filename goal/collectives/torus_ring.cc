#include <fmt/format.h>

#include <array>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/allgather_phases.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {
namespace {

// The ranks as points of a torus, the last dimension fastest.
class Torus {
 public:
  static constexpr std::size_t kMostDimensions = 8;

  // Sizes of 0 are worked out: as equal as they can be, larger ones first (as MPI_Dims_create does). Without
  // a solution size() is not `ranks`.
  Torus(const std::vector<std::uint32_t>& dims, std::uint32_t ranks) : dimensions_(dims.size()) {
    std::uint64_t rest = ranks;
    std::uint32_t open = 0;
    for (std::size_t d = 0; d < dimensions_; ++d) {
      sizes_[d] = dims[d];
      if (dims[d] == 0) ++open;
      if (dims[d] > 0) rest /= dims[d];
    }
    for (std::size_t d = dimensions_; d-- > 0 && open > 0 && rest > 0;) {
      if (dims[d] == 0) rest /= sizes_[d] = smallest_of(rest, open--);
    }
  }

  std::uint32_t dimensions() const { return static_cast<std::uint32_t>(dimensions_); }
  std::uint64_t size() const {
    std::uint64_t size = 1;
    for (std::size_t d = 0; d < dimensions_; ++d) size *= sizes_[d];
    return size;
  }
  std::uint32_t size(std::uint32_t d) const { return sizes_[d]; }
  std::uint32_t stride(std::uint32_t d) const {
    std::uint32_t stride = 1;
    for (std::size_t e = d + 1; e < dimensions_; ++e) stride *= sizes_[e];
    return stride;
  }
  std::uint32_t place(std::uint32_t rank, std::uint32_t d) const { return rank / stride(d) % sizes_[d]; }

 private:
  // The largest divisor of n whose power to `factors` is not above n.
  static std::uint32_t smallest_of(std::uint64_t n, std::uint32_t factors) {
    const auto fits = [&](std::uint64_t divisor) {
      std::uint64_t power = 1;
      for (std::uint32_t i = 0; i < factors && power <= n; ++i) power *= divisor;
      return power <= n;
    };
    std::uint64_t divisor = n;
    if (factors > 1) {
      for (divisor = 1; fits(divisor + 1);) ++divisor;
      while (n % divisor != 0) --divisor;
    }
    return static_cast<std::uint32_t>(divisor);
  }

  std::size_t dimensions_;
  std::array<std::uint32_t, kMostDimensions> sizes_{};
};

}  // namespace

std::string torus_ring_objection(const CollectiveOptions& options, std::uint32_t ranks) {
  if (options.dims.size() > Torus::kMostDimensions) {
    return fmt::format("dims can be {} at most", Torus::kMostDimensions);
  }
  if (Torus(options.dims, ranks).size() != ranks) return fmt::format("dims must multiply to {}", ranks);
  if (options.parallel > 2 * options.dims.size()) {
    return fmt::format("parallel can be {} at most, twice the dims", 2 * options.dims.size());
  }
  return "";
}

std::uint32_t torus_ring_lanes(const CollectiveCall& call) {
  const auto most = static_cast<std::uint32_t>(2 * call.options->dims.size());
  return call.options->parallel == 0 ? most : call.options->parallel;
}

// Each lane has its share of the vector, and is a reduce-scatter around the rings of one dimension after the
// other, on what is left of it, then the allgathers the same way back. Lane l begins with dimension l / 2;
// odd lanes go around the rings the other way.
bool allreduce_torus_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const Torus torus(call.options->dims, call.size);
  const std::uint32_t lanes = torus_ring_lanes(call), dimensions = torus.dimensions();
  const auto dimension = [&](std::uint32_t turn) { return (lane / 2 + turn) % dimensions; };
  std::uint32_t half = 0;  // rounds of the reduce-scatters
  for (std::uint32_t d = 0; d < dimensions; ++d) half += torus.size(d) - 1;
  if (index >= 2 * half) return false;

  // Which turn, and which round of it: the way back is in the mirror order of turns.
  const bool reducing = index < half;
  std::uint32_t turn = 0, before = 0;
  for (const std::uint32_t at = reducing ? index : 2 * half - 1 - index;; ++turn) {
    const std::uint32_t rounds = torus.size(dimension(turn)) - 1;
    if (at < before + rounds) break;
    before += rounds;
  }
  const std::uint32_t d = dimension(turn), ring = torus.size(d);
  const std::uint32_t round = reducing ? index - before : index - (2 * half - before - (ring - 1));

  const auto mirrored = [&](std::uint32_t place, std::uint32_t size) {
    return lane % 2 == 0 ? place : size - 1 - place;
  };
  const auto place = [&](std::uint32_t e) { return mirrored(torus.place(call.me, e), torus.size(e)); };
  const std::uint32_t element = call.collective->element_bytes;
  Part part = EvenBlocks(call, lanes).part(lane);
  for (std::uint32_t earlier = 0; earlier < turn; ++earlier) {
    const std::uint32_t e = dimension(earlier);
    part = EvenBlocks(part, element, torus.size(e)).part(place(e));
  }
  const EvenBlocks blocks(part, element, ring);
  const RingRound at(ring, place(d), reducing ? 1 : 0, round);
  const auto rank = [&](std::uint32_t of_place) {
    const std::uint32_t own = torus.place(call.me, d), stride = torus.stride(d);
    return call.me - own * stride + mirrored(of_place, ring) * stride;
  };
  const std::uint32_t tag = index * lanes + lane;
  out.send(rank(at.next), tag, blocks.part(at.outgoing));
  if (reducing) {
    out.recv_combine(rank(at.before), tag, blocks.part(at.incoming));
  } else {
    out.recv(rank(at.before), tag, blocks.part(at.incoming));
  }
  return true;
}

}  // namespace weft::goal
