#include "congestion/recoveries/trim_nack.h"

namespace weft::congestion {

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
