#include "sim/fabrics/fabrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/fabrics/built_in.h"
#include "sim/units/input_error.h"
#include "sim/units/module_list.h"

namespace weft::fabrics {
namespace {

ModuleList<Fabric>& list() {
  static ModuleList<Fabric> list("fabric", built_in_fabrics());
  return list;
}

// Real machines have the fabric that was bought with them.
struct Machine {
  std::string_view family, fabric;
};
constexpr auto kMachines = std::to_array<Machine>({
    {"lumi_c", "slingshot"},
    {"lumi_g", "slingshot"},
    {"alps", "slingshot"},
    {"frontier", "slingshot"},
    {"leonardo", "infiniband"},
    {"leonardo_booster", "infiniband"},
    {"leonardo_dcgp", "infiniband"},
    {"marenostrum5_gpp", "infiniband"},
    {"marenostrum5_acc", "infiniband"},
    {"jupiter", "infiniband"},
    {"tofu", "tofu_d"},
    {"fugaku", "tofu_d"},
});

}  // namespace

std::span<const Fabric> fabrics() { return list().all(); }

void add_fabric(Fabric fabric) {
  for (const FabricRouting& routing : fabric.routing) {
    if (routing.policy.empty()) {
      throw InputError(fmt::format("a routing of fabric '{}' has no policy", fabric.info.name));
    }
  }
  if (fabric.info.name == kNone) {
    throw InputError("'none' can't be the name of a fabric: it stands for no fabric");
  }
  if (!fabric.info.parameters.empty()) {
    throw InputError(fmt::format("fabric '{}' has parameters, but fabrics have none", fabric.info.name));
  }
  list().add(std::move(fabric));
}

DefaultFabric default_fabric(std::string_view family, std::string_view recommended) {
  const auto* const machine = std::ranges::find(kMachines, family, &Machine::family);
  if (machine != kMachines.end()) {
    return {std::string(machine->fabric), fmt::format("what {} has", family)};
  }
  // Data centers' networks, random graphs among them, are Ethernet.
  if (recommended == kPlainRouting || recommended == "k_shortest")
    return {"uet", fmt::format("by default for {}", family)};
  return {"lossless_hpc", fmt::format("by default for {}, which has a routing of its own", family)};
}

}  // namespace weft::fabrics
