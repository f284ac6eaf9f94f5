// The list of fabrics, and which of them a topology has where none is named.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/fabrics/fabric.h"

namespace weft::fabrics {

// Those built in; behind them those of plug-ins.
std::span<const Fabric> fabrics();
// See ModuleList::add(). Throws InputError, for settings that can't be read, too.
void add_fabric(Fabric fabric);

struct DefaultFabric {
  std::string name;
  std::string reason;  // "usual for fat_tree"
};
// Gives the fabric of networks of this family, for which this routing policy is recommended. The rule is in
// the folder's README.
DefaultFabric default_fabric(std::string_view family, std::string_view recommended);

}  // namespace weft::fabrics
