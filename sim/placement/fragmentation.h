// How scattered the free hosts of a machine are.
#pragma once

#include "sim/placement/placement.h"
#include "sim/units/quantity.h"

namespace weft::placement {

// 1 - (the longest row of free hosts whose numbers follow each other) / (free hosts): 0 where they are one
// row, or none is free. Families number their hosts by switch, board and group, so that this is of hosts next
// to each other. The share of free memory that is not in the largest block, as allocators of memory have it,
// with hosts in the place of memory.
double fragmentation(const States& states);

// Its mean over time.
class FragmentationOverTime {
 public:
  // `states` were those from the last call up to now. Counts no time before the first call.
  void pass(Time now, const States& states);
  // Over the time in which hosts were free; 0 if none ever were.
  double mean() const { return time_ > 0 ? sum_ / time_ : 0; }

 private:
  bool began_ = false;
  Time last_;
  double sum_ = 0, time_ = 0;  // in seconds
};

}  // namespace weft::placement
