#include "congestion/recoveries/trim_nack.h"

#include <algorithm>

namespace weft::congestion {

std::int64_t TrimNack::find_oldest() {
  oldest_ps_ = INT64_MAX;
  for (std::uint32_t n = first_; n != next_; ++n) {
    const std::uint64_t word = slot(n);
    if (state(word) == kInFlight) oldest_ps_ = std::min(oldest_ps_, sent_ps(word));
  }
  return oldest_ps_;
}

Recovery::Outcome TrimNack::on_timer(Time now) {
  Outcome outcome;
  if (now < deadline()) return outcome;
  const std::int64_t timeout = timer_.timeout().ps();
  if (find_oldest() + timeout > now.ps()) return outcome;
  // What was sent with it is as lost: else each packet of a burst would have a timeout of its own, one just
  // behind the other, and the last ones would give the connection up.
  const std::int64_t sent_until = now.ps() - timeout / 2;
  if (!timer_.expire(now)) {
    outcome.gave_up = true;
    return outcome;
  }
  outcome.timeout = true;
  for (std::uint32_t n = first_; n != next_; ++n) {
    const std::uint64_t word = slot(n);
    if (state(word) == kInFlight && sent_ps(word) <= sent_until) declare_lost(n, outcome);
  }
  find_oldest();
  return outcome;
}

RecoveryKind trim_nack() {
  return {
      .info = {.name = "trim_nack",
               .summary =
                   "A packet is sent again when the receiver, or the switch, says that its payload was "
                   "cut off; else by timeout.",
               .source = "Handley et al., NDP, SIGCOMM 2017, §3; RFC 6298",
               .parameters = {},
               .about =
                   "Goes by NACKs for trimmed packets and by nothing else: order on the way is of no "
                   "account, and nothing is ever sent again needlessly. Needs switches that trim. Good "
                   "with any spraying and with overload; what links themselves lose waits for the timeout, "
                   "so bad on links that lose packets."},
      .needs = {.required = Capability::kTrim},
      .make_factory = RecoveryFactoryFor<TrimNack>::make};
}

}  // namespace weft::congestion
