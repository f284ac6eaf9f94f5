#include "sim/fabrics/fabric.h"

#include <algorithm>

namespace weft::fabrics {

const FabricRouting* routing_for(const Fabric& fabric, std::string_view family,
                                 std::string_view recommended) {
  for (const FabricRouting& routing : fabric.routing) {
    if (routing.only_own && recommended == kPlainRouting) continue;
    if (routing.families.empty() || std::ranges::find(routing.families, family) != routing.families.end())
      return &routing;
  }
  return nullptr;
}

std::string reason_of(const Fabric& fabric, const FabricRouting& routing, std::string_view recommended) {
  std::string text = "of fabric " + fabric.info.name;
  if (!routing.why.empty()) text += ", " + routing.why;
  if (routing.policy == kRecommended) text.append(", ").append(recommended);
  return text;
}

}  // namespace weft::fabrics
