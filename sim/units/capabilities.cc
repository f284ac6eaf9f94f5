#include "sim/units/capabilities.h"

#include <utility>

namespace weft {

std::string to_string(Capabilities capabilities) {
  constexpr std::pair<Capability, const char*> kNames[] = {{Capability::kMark, "mark"},
                                                           {Capability::kTrim, "trim"},
                                                           {Capability::kTelemetry, "telemetry"},
                                                           {Capability::kCredit, "credit"},
                                                           {Capability::kBackToSender, "back to sender"},
                                                           {Capability::kLossless, "lossless"}};
  std::string text;
  for (const auto& [capability, name] : kNames) {
    if (!capabilities.has(capability)) continue;
    text += text.empty() ? "" : ", ";
    text += name;
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace weft
