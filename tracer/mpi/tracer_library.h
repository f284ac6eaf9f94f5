// What the preloaded library asks of the tracer built for one MPI library's binary interface.
#pragma once

namespace weft::trace {

struct TracerLibrary {
  // The tracer's function to call in place of MPI function `name` ("MPI_Send"); null where it has none.
  void* (*wrapper)(const char* name);
  // The program begins or ends a region of this name.
  void (*region)(bool begin, const char* name);
};

// Name of the one exported function: TracerLibrary const* open(void* mpi), where mpi is the dlopen handle of
// the MPI library. Null if the library lacks functions the tracer cannot do without.
inline constexpr char kOpenName[] = "weft_trace_open";

// How far the tracer goes with a function.
enum Covered : int { kCoveredDecoded = 0, kCoveredTimed = 1, kCoveredCounted = 2 };
// Name of the other one, for who only asks: char const* coverage(char const* name, int* covered). The
// function's name as the MPI standard writes it and a Covered; null where this library's header declares no
// such function. Upper and lower case in `name` are the same, as in Fortran. Needs no MPI.
inline constexpr char kCoverageName[] = "weft_trace_coverage";

}  // namespace weft::trace
