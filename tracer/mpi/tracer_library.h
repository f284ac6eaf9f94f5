// What the preloaded library asks of the tracer built for one MPI library's binary interface.
#pragma once

namespace weft::trace {

struct TracerLibrary {
  // The tracer's function to call in place of MPI function `name` ("MPI_Send"); null where it has none.
  void* (*wrapper)(const char* name);
};

// Name of the one exported function: TracerLibrary const* open(void* mpi), where mpi is the dlopen handle of
// the MPI library. Null if the library lacks functions the tracer cannot do without.
inline constexpr char kOpenName[] = "weft_trace_open";

}  // namespace weft::trace
