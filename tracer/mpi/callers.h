// Who calls MPI from inside of an MPI call: the library itself, or the program, in a function that the
// library calls back (attributes' copy and delete functions, error handlers, reduction operators, generalized
// requests).
#pragma once

namespace weft::trace {

// Does this address lie in the program, and not in the MPI library or what that has brought along? Slow at
// first for each library of the process. For the Fortran bindings the program is taken, as they are called by
// it alone.
bool is_programs(const void* address);

}  // namespace weft::trace
