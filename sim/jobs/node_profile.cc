#include "sim/jobs/node_profile.h"

#include <iterator>

namespace weft::jobs {

std::map<Time, std::uint32_t>::iterator NodeProfile::split(Time at) {
  const auto next = steps_.upper_bound(at);
  return steps_.emplace_hint(next, at, std::prev(next)->second);
}

void NodeProfile::take(Time from, Time until, std::uint32_t nodes) {
  auto step = split(from);
  const auto end = split(until);
  for (; step != end; ++step) step->second -= nodes;
}

Time NodeProfile::earliest(Time from, Time duration, std::uint32_t nodes) const {
  auto step = std::prev(steps_.upper_bound(from));
  Time begin = from;
  while (step != steps_.end()) {
    if (step->second < nodes) {
      begin = Time::max();
    } else {
      if (begin == Time::max()) begin = step->first;
      const auto next = std::next(step);
      if (next == steps_.end() || next->first - begin >= duration) return begin;
    }
    ++step;
  }
  return begin;
}

}  // namespace weft::jobs
