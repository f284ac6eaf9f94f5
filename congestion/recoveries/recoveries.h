// The explicit list of loss recoveries.
#pragma once

#include <span>

#include "congestion/recovery.h"

namespace weft::congestion {

// Every built-in recovery. Adding one: a file pair, its test, a line in BUILD.bazel and one in recoveries.cc.
std::span<const RecoveryKind> recoveries();

}  // namespace weft::congestion
