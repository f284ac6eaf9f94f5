#include "goal/collectives/algorithms.h"
#include "goal/collectives/exchanger.h"

namespace weft::goal {

void barrier_dissemination(const CollectiveCall& call, Schedule& schedule) {
  const std::uint32_t p = call.size, me = call.me;
  Exchanger exchange(schedule);
  std::uint32_t round = 0;
  for (std::uint64_t distance = 1; distance < p; distance *= 2, ++round) {
    exchange.send(static_cast<std::uint32_t>((me + distance) % p), 0, round);
    exchange.recv(static_cast<std::uint32_t>((me + p - distance) % p), 0, round);
    exchange.next();
  }
}

}  // namespace weft::goal
