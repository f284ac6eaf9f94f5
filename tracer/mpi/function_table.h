// Every function the MPI header declares, in one order for all tables.
#pragma once

#include "tracer/format/format.h"

namespace weft::trace {

struct TableEntry {
  const char* name;  // "MPI_Send"
  CallClass call_class;
};
inline constexpr TableEntry function_table[] = {
#define X(name, call_class) {#name, CallClass::call_class},
#include "tracer/mpi/function_table.inc"
#undef X
};
inline constexpr int kFunctions = sizeof function_table / sizeof function_table[0];

}  // namespace weft::trace
