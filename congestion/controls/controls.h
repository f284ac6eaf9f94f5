// The list of congestion controls.
#pragma once

#include <span>

#include "congestion/congestion.h"

namespace weft::congestion {

// Those built in, and behind them those of plug-ins. One more: a file pair, its test, a line in controls.cc.
std::span<const Control> controls();
// See ModuleList::add().
void add_control(Control control);

}  // namespace weft::congestion
