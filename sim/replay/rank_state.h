// What a share of a replay knows of one of its ranks.
#pragma once

#include <cstdint>

#include "goal/graph/graph.h"
#include "sim/units/quantity.h"

namespace weft::sim {

struct alignas(64) RankState {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  goal::OpView view;
  std::uint32_t* words;         // of its operations
  std::uint32_t first_cpu = 0;  // among those of the share
  std::uint32_t ops_done = 0;
  std::uint32_t cpus = 0;
  std::uint32_t first_active = kNone;
  std::uint32_t scheduled = 0;   // events so far
  std::uint32_t early = 0;       // messages of collectives that wait for their group
  bool sparse_cpus = false;      // the numbers of its cpus have gaps
  std::uint16_t connection = 0;  // the one whose turn it is, to whichever rank
  Time finish, compute, overhead;
  std::uint64_t messages_sent = 0, messages_received = 0, bytes_sent = 0, bytes_received = 0;
};
static_assert(sizeof(RankState) == 128);

}  // namespace weft::sim
