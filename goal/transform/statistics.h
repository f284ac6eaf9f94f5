// What a graph's messages and compute times amount to.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/transform/ideal_schedule.h"

namespace weft::goal {

// Messages of at least `from` bytes and fewer than twice as many (of exactly 0: the first bin).
struct SizeBin {
  std::uint64_t from = 0, messages = 0;
  double bytes = 0;
};

// What one rank sends another.
struct Exchange {
  Rank from = 0, to = 0;
  std::uint64_t messages = 0;
  double bytes = 0;
};

struct Statistics {
  std::array<std::uint64_t, 5> ops{};  // by OpKind
  std::array<std::uint64_t, kCollectiveKinds> collectives{};
  std::uint64_t messages = 0;
  // Sums are floating point: a wrong graph may well hold more than 2^64 ns or bytes.
  double bytes = 0, calc_ns = 0;
  std::vector<double> rank_calc_ns;
  std::vector<SizeBin> sizes;       // ascending; bins without messages are left out
  std::vector<Exchange> exchanges;  // by sender, then receiver; pairs without messages are left out

  bool complete = false;            // can the program run to its end? If not, the rest is 0
  std::uint64_t makespan_ns = 0;    // with communication for nothing
  CriticalPath path;                // of that run
  std::uint64_t longest_chain = 0;  // most messages that follow upon each other, with compute for nothing
};

// Messages are sends; those inside collectives are not known before these are spelled out (expand.h).
// Memory: 16 bytes a send of one rank, and twice the ideal schedule. Throws InputError as ideal_schedule()
// does.
Statistics statistics(const Graph& graph);

}  // namespace weft::goal
