// Bruck's algorithms: few rounds for many short blocks, each message holding blocks for several ranks.
#include <algorithm>
#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/blocks.h"

namespace weft::goal {

bool allgather_bruck(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const std::uint64_t p = call.size, me = call.me, distance = std::uint64_t{1} << index;
  if (distance >= p) return false;
  // A rank has the blocks of itself and of the distance - 1 ranks after it.
  const auto count = static_cast<std::uint32_t>(std::min(distance, p - distance));
  const auto to = static_cast<std::uint32_t>((me + p - distance) % p);
  const auto from = static_cast<std::uint32_t>((me + distance) % p);
  out.send(to, index, rank_blocks(call, call.me, count, out));
  out.recv(from, index, rank_blocks(call, from, count, out));
  return true;
}

bool alltoall_bruck(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const Collective& collective = *call.collective;
  // Who passes a block on must know its size, so lists of counts go the direct way, as in MPI libraries.
  if (!collective.counts.empty()) return alltoall_pairwise(call, lane, index, out);
  // Slot j has j places to go: in round `index` those that the digit of this place of j says.
  const std::uint64_t p = call.size, me = call.me, radix = call.options->radix;
  std::uint64_t unit = 1;
  for (std::uint32_t i = 0; i < index && unit < p; ++i) unit *= radix;
  if (unit >= p) return false;
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
