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

ModuleChoice policy_of(const FabricRouting& routing, const ModuleInfo& recommended, bool has_packets) {
  if (routing.policy != kRecommended) return parse_module_choice(routing.policy);
  ModuleChoice choice{.name = recommended.name};
  const auto is_per = [](const ParameterSpec& spec) { return spec.name == "per"; };
  if (has_packets && std::ranges::any_of(recommended.parameters, is_per)) choice.given["per"] = "packet";
  return choice;
}

std::string reason_of(const Fabric& fabric, const FabricRouting& routing, std::string_view recommended) {
  std::string text = "of fabric " + fabric.info.name;
  if (!routing.why.empty()) text += ", " + routing.why;
  if (routing.policy == kRecommended) text.append(", ").append(recommended);
  return text;
}

}  // namespace weft::fabrics
