// Errors of a graph that are found while it is replayed, where nobody knows which file it is from.
#pragma once

#include <string>

#include "sim/units/input_error.h"

namespace weft {

// `what()` names rank and operation, where it is of one. Who opened the graph adds the file.
class GraphError : public InputError {
 public:
  explicit GraphError(const std::string& message) : InputError(message) {}
};

}  // namespace weft
