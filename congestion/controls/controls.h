// The explicit list of congestion controls.
#pragma once

#include <span>

#include "congestion/congestion.h"

namespace weft::congestion {

// Every built-in control. Adding one: a file pair, its test, a line in BUILD.bazel and one in controls.cc.
std::span<const Control> controls();

}  // namespace weft::congestion
