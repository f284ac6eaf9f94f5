// The unit in which people read a time.
#pragma once

namespace weft::cli {

struct TimeUnit {
  double ns = 1;
  const char* name = "ns";
  bool is_least() const { return ns == 1; }
};

// The largest that the time has one of, else the least.
inline TimeUnit unit_of(double time_ns) {
  for (const TimeUnit& unit : {TimeUnit{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}) {
    if (time_ns >= unit.ns) return unit;
  }
  return {};
}

}  // namespace weft::cli
