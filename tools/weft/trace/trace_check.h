// `weft trace --check APP`: which MPI functions a program calls, and how far the tracer goes with each.
#pragma once

#include <string>

namespace weft::cli {

// Looks at the program's file (a path, or a name to be found in $PATH) and those of the libraries it is
// linked to. `library`: the preload library, beside which those for each MPI lie. As text or JSON. Throws
// InputError for what is no program, is linked statically, or uses no MPI.
std::string trace_check(const std::string& program, const std::string& library, bool json);

}  // namespace weft::cli
