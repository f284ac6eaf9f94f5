#include "congestion/recoveries/recoveries.h"

#include <utility>
#include <vector>

#include "congestion/recoveries/rack.h"
#include "sim/units/module_list.h"

namespace weft::congestion {
namespace {

std::vector<RecoveryKind> built_in() {
  return {
      rack(),
  };
}

ModuleList<RecoveryKind>& list() {
  static ModuleList<RecoveryKind> list("loss recovery", built_in());
  return list;
}

}  // namespace

std::span<const RecoveryKind> recoveries() { return list().all(); }
void add_recovery(RecoveryKind recovery) { list().add(std::move(recovery)); }

}  // namespace weft::congestion
