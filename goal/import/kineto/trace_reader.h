// Reads a profile of one rank: PyTorch's profiler (Kineto), Chrome's trace event format in JSON.
#pragma once

#include <string>

#include "goal/import/kineto/rank_trace.h"

namespace weft::goal {

// Throws InputError with line and byte for what is no such file, and NotEnoughMemory.
RankTrace read_kineto(const std::string& path);
// Do its first bytes look like one?
bool looks_like_kineto(const std::string& path);

}  // namespace weft::goal
