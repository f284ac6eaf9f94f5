// Bruck's algorithms: few rounds for many short blocks, each message holding blocks for several ranks.
#include <algorithm>
#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {

bool allgather_bruck(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const std::uint64_t p = call.size, me = call.me, distance = std::uint64_t{1} << index;
  // The blocks that wrapped around lie in front: those behind go to a buffer, these forward, those back.
  if (distance >= p && distance / 2 < p) {
    if (me > 0) out.copy((2 * p - me) * call.collective->bytes);
    return true;
  }
  if (distance >= p) return false;
  // A rank has the blocks of itself and of the distance - 1 ranks after it.
  const auto count = static_cast<std::uint32_t>(std::min(distance, p - distance));
  const auto to = static_cast<std::uint32_t>((me + p - distance) % p);
  const auto from = static_cast<std::uint32_t>((me + distance) % p);
  out.send(to, index, rank_blocks(call, call.me, count, out));
  out.recv(from, index, rank_blocks(call, from, count, out));
  return true;
}

namespace {

// How many of p blocks have another digit than 0 at this unit.
std::uint64_t blocks_that_move(std::uint64_t p, std::uint64_t unit, std::uint64_t radix) {
  const std::uint64_t cycle = unit * radix;
  return p - p / cycle * unit - std::min(p % cycle, unit);
}

}  // namespace

bool alltoall_bruck(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const Collective& collective = *call.collective;
  // Who passes a block on must know its size, so lists of counts go the direct way, as in MPI libraries.
  if (!collective.counts.empty()) return alltoall_pairwise(call, lane, index, out);
  // Slot j has j places to go: in round `index` those that the digit of this place of j says.
  const std::uint64_t p = call.size, me = call.me, radix = call.options->radix;
  std::uint64_t unit = 1;
  std::uint32_t round = 0;
  for (; round < index && unit < p; ++round) unit *= radix;
  if (round < index) return false;
  // Blocks are turned around in the buffer, first and last, and what a message holds is packed and unpacked.
  const bool is_over = unit >= p;
  const std::uint64_t before = index == 0 ? p : blocks_that_move(p, unit / radix, radix);
  out.copy((before + (is_over ? p : blocks_that_move(p, unit, radix))) * collective.bytes);
  if (is_over) return true;
  const std::uint64_t cycle = unit * radix;
  for (std::uint64_t digit = 1; digit < radix && digit * unit < p; ++digit) {
    const std::uint64_t places = digit * unit;
    const std::uint64_t in_last = p % cycle > places ? std::min(p % cycle - places, unit) : 0;
    const std::uint64_t bytes = (p / cycle * unit + in_last) * collective.bytes;
    const auto from = static_cast<std::uint32_t>((me + p - places) % p);
    const auto to = static_cast<std::uint32_t>((me + places) % p);
    const auto tag = static_cast<std::uint32_t>(places);
    const Part first{places, std::min(unit, p - places)};
    const auto other_slots = [&] {
      if (!out.keeps_parts()) return;
      for (std::uint64_t slot = places + cycle; slot < p; slot += cycle) {
        out.also_slots({slot, std::min(unit, p - slot)});
      }
    };
    out.recv_slots(from, tag, bytes, first);
    other_slots();
    out.send_slots(to, tag, bytes, first);
    other_slots();
  }
  return true;
}

}  // namespace weft::goal
