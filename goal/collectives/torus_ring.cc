#include "goal/collectives/algorithms.h"
#include "goal/collectives/allgather_phases.h"
#include "goal/collectives/blocks.h"
#include "goal/collectives/torus.h"

namespace weft::goal {

// Each lane has its share of the vector, and is a reduce-scatter around the rings of one dimension after the
// other, on what is left of it, then the allgathers the same way back. Lane l begins with dimension l / 2;
// odd lanes go around the rings the other way.
bool allreduce_torus_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const Torus torus(call.options->dims, call.size);
  const std::uint32_t lanes = torus_lanes(call), dimensions = torus.dimensions();
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
  const auto rank = [&](std::uint32_t of_place) { return torus.moved(call.me, d, mirrored(of_place, ring)); };
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
