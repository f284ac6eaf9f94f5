// Who calls MPI from inside of an MPI call: the library itself, or the program, in a function that the
// library calls back (attributes' copy and delete functions, error handlers, reduction operators, generalized
// requests).
#pragma once

namespace weft::trace {

enum class Caller {
  kLibrary,    // MPI, or what it has brought along
  kByPointer,  // the same, but it has called a function by its pointer, as it does with those of the program
  kProgram,
};

// Whoever a call returns to. Slow at first for each library of the process. For the Fortran bindings the
// program is taken, as they are called by it alone.
//
// A function of the program's that ends in a call of MPI jumps there, when compiled with optimization: that
// call then returns to the library that has called the function back. What the library itself calls of MPI,
// it calls by name.
Caller caller_at(const void* return_address);
// With a call around this one: does the program make it?
bool is_programs(const void* return_address);

}  // namespace weft::trace
