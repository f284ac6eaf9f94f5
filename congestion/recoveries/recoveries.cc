#include "congestion/recoveries/recoveries.h"

#include <utility>
#include <vector>

#include "congestion/recoveries/erasure_coding.h"
#include "congestion/recoveries/go_back_n.h"
#include "congestion/recoveries/irn.h"
#include "congestion/recoveries/rack.h"
#include "congestion/recoveries/selective_repeat.h"
#include "congestion/recoveries/sleek.h"
#include "congestion/recoveries/trim_nack.h"
#include "sim/units/module_list.h"

namespace weft::congestion {
namespace {

// The default first, the others by name.
std::vector<RecoveryKind> built_in() {
  return {rack(), erasure_coding(), go_back_n(), irn(), selective_repeat(), sleek(), trim_nack()};
}

ModuleList<RecoveryKind>& list() {
  static ModuleList<RecoveryKind> list("loss recovery", built_in());
  return list;
}

}  // namespace

std::span<const RecoveryKind> recoveries() { return list().all(); }
void add_recovery(RecoveryKind recovery) { list().add(std::move(recovery)); }

}  // namespace weft::congestion
