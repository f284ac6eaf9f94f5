// Random traffic: every rank sends to ranks drawn at random.
#pragma once

#include "goal/workload/workload.h"

namespace weft::goal {

Workload random_workload();

// A rank other than r, each equally likely. REQUIRES: ranks >= 2.
template <typename Random>
Rank random_other(Rank r, std::uint32_t ranks, Random& random) {
  const auto drawn = static_cast<Rank>(random.below(ranks - 1));
  return drawn + (drawn >= r);
}

}  // namespace weft::goal
