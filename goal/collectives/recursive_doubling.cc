#include <bit>

#include "goal/collectives/algorithms.h"

namespace weft::goal {

bool allreduce_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index,
                                  Group& out) {
  const Part all = {0, call.collective->bytes};
  const std::uint32_t p = call.size, me = call.me;
  const std::uint32_t power = std::bit_floor(p), rest = p - power;
  const auto last = static_cast<std::uint32_t>(std::bit_width(power));
  // Of the first 2 * rest ranks, the even ones hand their vector to the odd ones and wait for the result.
  if (me < 2 * rest && me % 2 == 0) {
    if (index == 0) out.send(me + 1, 0, all);
    if (index == 1) out.recv(me + 1, last, all);
    return index < 2;
  }
  if (me >= 2 * rest) ++index;
  if (index == 0) {
    out.recv_combine(me - 1, 0, all);
  } else if (index < last) {
    const std::uint32_t v = me < 2 * rest ? me / 2 : me - rest;
    const std::uint32_t w = v ^ (1u << (index - 1));
    const std::uint32_t peer = w < rest ? 2 * w + 1 : w + rest;
    out.send(peer, index, all);
    out.recv_combine(peer, index, all);
  } else if (index == last && me < 2 * rest) {
    out.send(me - 1, last, all);
  } else {
    return false;
  }
  return true;
}

namespace {

// After round k a rank holds the combination of itself and the 2^(k+1) - 1 ranks before it (as many as there
// are). Exscan keeps a second accumulator, without its own contribution.
bool prefix(const CollectiveCall& call, bool exclusive, std::uint32_t index, Group& out) {
  const Part all = {0, call.collective->bytes};
  const std::uint64_t p = call.size, me = call.me;
  if (index >= 32 || std::uint64_t{1} << index >= p) return false;
  const std::uint64_t distance = std::uint64_t{1} << index;
  if (me + distance < p) out.send(static_cast<std::uint32_t>(me + distance), index, all);
  if (me >= distance) {
    const bool sent_on = me + 2 * distance < p;  // the sum with our own part, by the next round
    const int times = exclusive ? (sent_on ? 1 : 0) + (index > 0 ? 1 : 0) : 1;
    out.recv_combine(static_cast<std::uint32_t>(me - distance), index, all, static_cast<std::uint8_t>(times));
  }
  return true;
}

}  // namespace

bool scan_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return prefix(call, false, index, out);
}

bool exscan_recursive_doubling(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  return prefix(call, true, index, out);
}

}  // namespace weft::goal
