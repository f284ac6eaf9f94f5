#include "sim/units/capabilities.h"

namespace weft {
namespace {

const char* name(Capability capability) {
  switch (capability) {
    case Capability::kMark:
      return "mark";
    case Capability::kTrim:
      return "trim";
    case Capability::kTelemetry:
      return "telemetry";
    case Capability::kCredit:
      return "credit";
    case Capability::kBackToSender:
      return "back to sender";
    case Capability::kLossless:
      return "lossless";
    case Capability::kCutThrough:
      return "cut-through";
  }
  return "";
}

}  // namespace

std::string to_string(Capabilities capabilities) {
  std::string text;
  capabilities.for_each([&](Capability each) {
    text += text.empty() ? "" : ", ";
    text += name(each);
  });
  return text.empty() ? "nothing" : text;
}

}  // namespace weft
