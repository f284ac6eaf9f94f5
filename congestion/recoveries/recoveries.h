// The list of loss recoveries.
#pragma once

#include <span>

#include "congestion/recovery.h"

namespace weft::congestion {

// Those built in, and behind them those of plug-ins. One more: a file pair, its test, a line in
// recoveries.cc.
std::span<const RecoveryKind> recoveries();
// See ModuleList::add().
void add_recovery(RecoveryKind recovery);

}  // namespace weft::congestion
