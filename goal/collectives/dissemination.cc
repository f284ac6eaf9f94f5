#include "goal/collectives/algorithms.h"

namespace weft::goal {

bool barrier_dissemination(const CollectiveCall& call, std::uint32_t, std::uint32_t index, Group& out) {
  const std::uint64_t p = call.size, me = call.me;
  if (index >= 32 || std::uint64_t{1} << index >= p) return false;
  const std::uint64_t distance = std::uint64_t{1} << index;
  out.signal(static_cast<std::uint32_t>((me + distance) % p), index);
  out.await(static_cast<std::uint32_t>((me + p - distance) % p), index);
  return true;
}

}  // namespace weft::goal
