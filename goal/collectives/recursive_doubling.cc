#include <bit>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/exchanger.h"

namespace weft::goal {

void allreduce_recursive_doubling(const CollectiveCall& call, Schedule& schedule) {
  const std::uint64_t bytes = call.collective->bytes;
  const std::uint32_t p = call.size, me = call.me;
  if (bytes == 0 || p < 2) return;
  const std::uint32_t power = std::bit_floor(p), rest = p - power;
  const auto last_round = static_cast<std::uint32_t>(std::bit_width(power));
  Exchanger exchange(schedule);
  // Of the first 2 * rest ranks, the even ones hand their vector to the odd ones and wait for the result.
  if (me < 2 * rest && me % 2 == 0) {
    exchange.send(me + 1, bytes, 0);
    exchange.next();
    exchange.recv(me + 1, bytes, last_round);
    return;
  }
  if (me < 2 * rest) {
    exchange.recv(me - 1, bytes, 0);
    exchange.reduce(bytes);
    exchange.next();
  }
  const std::uint32_t v = me < 2 * rest ? me / 2 : me - rest;
  for (std::uint32_t bit = 0, round = 1; round < last_round; ++bit, ++round) {
    const std::uint32_t w = v ^ (1u << bit);
    const std::uint32_t peer = w < rest ? 2 * w + 1 : w + rest;
    exchange.send(peer, bytes, round);
    exchange.recv(peer, bytes, round);
    exchange.reduce(bytes);
    exchange.next();
  }
  if (me < 2 * rest) exchange.send(me - 1, bytes, last_round);
}

namespace {

// After round k a rank holds the combination of itself and the 2^(k+1) - 1 ranks before it (as many as there
// are). Exscan keeps a second accumulator, without its own contribution.
void prefix(const CollectiveCall& call, bool exclusive, Schedule& schedule) {
  const std::uint64_t bytes = call.collective->bytes;
  const std::uint32_t p = call.size, me = call.me;
  if (bytes == 0) return;
  Exchanger exchange(schedule);
  std::uint32_t round = 0;
  for (std::uint64_t distance = 1; distance < p; distance *= 2, ++round) {
    if (me + distance < p) exchange.send(static_cast<std::uint32_t>(me + distance), bytes, round);
    if (me >= distance) {
      exchange.recv(static_cast<std::uint32_t>(me - distance), bytes, round);
      const bool needed_later = me + 2 * distance < p;  // the sum with our own part, for a later send
      if (!exclusive || needed_later) exchange.reduce(bytes);
      if (exclusive && round > 0) exchange.reduce(bytes);
    }
    exchange.next();
  }
}

}  // namespace

void scan_recursive_doubling(const CollectiveCall& call, Schedule& schedule) {
  prefix(call, false, schedule);
}

void exscan_recursive_doubling(const CollectiveCall& call, Schedule& schedule) {
  prefix(call, true, schedule);
}

}  // namespace weft::goal
