// PyTorch's execution traces (ExecutionTraceObserver, schemas 1.0.x to 1.1.x): what a rank's communication
// calls were given in full, where its profile tells less.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "goal/import/kineto/comm_call.h"

namespace weft::goal {

struct ExecutionTrace {
  std::string schema;
  std::map<std::uint64_t, CommCall> calls;  // by rf_id
  std::vector<GroupName> groups;            // process groups; no ranks: all
};

// Throws InputError with line and byte for what is no such file, and for a schema other than 1.0 and 1.1.
ExecutionTrace read_execution_trace(const std::string& path);

}  // namespace weft::goal
