#include "sim/scenario/fault_times.h"

#include <fmt/format.h>

namespace weft::sim {

void check_fault_times(const Parameters& fault) {
  const Time at = fault.time("at"), period = fault.time("period");
  const bool ends = !fault.automatic("until");
  const std::int64_t times = fault.integer("times");
  const char* const late = "it must not be after 53 days, where simulated time ends";
  if (at > kEndOfTime) fault.fail("at", late);
  if (ends && fault.time("until") > kEndOfTime) fault.fail("until", late);
  if (ends && fault.time("until") <= at) {
    fault.fail("until", fmt::format("it must be later than at ({})", to_string(at)));
  }
  if (times < 1) fault.fail("times", "it must be 1 or more");
  if (times > 1 && period == Time()) fault.fail("times", "period must be given too");
  if (period == Time()) return;
  if (times == 1) fault.fail("period", "times must be given too, and be 2 or more");
  if (!ends) fault.fail("period", "until must be given too");
  const Time length = fault.time("until") - at;
  if (period < length) {
    fault.fail("period", fmt::format("it must be at least until - at ({})", to_string(length)));
  }
  if (fault.time("until").ps() + static_cast<__int128>(period.ps()) * (times - 1) > kEndOfTime.ps()) {
    fault.fail("times", "the last of them must not end after 53 days, where simulated time ends");
  }
}

}  // namespace weft::sim
