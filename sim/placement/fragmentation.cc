#include "sim/placement/fragmentation.h"

#include <algorithm>

namespace weft::placement {
double fragmentation(const States& states) {
  std::uint32_t row = 0, free = 0, longest = 0;
  for (const HostState state : states) {
    row = state == HostState::kFree ? row + 1 : 0;
    free += row > 0;
    longest = std::max(longest, row);
  }
  return free == 0 ? 0 : 1 - static_cast<double>(longest) / free;
}

void FragmentationOverTime::pass(Time now, const States& states) {
  const double passed = began_ ? (now - last_).seconds() : 0;
  began_ = true;
  last_ = now;
  if (passed == 0 || std::find(states.begin(), states.end(), HostState::kFree) == states.end()) return;
  sum_ += passed * fragmentation(states);
  time_ += passed;
}

}  // namespace weft::placement
