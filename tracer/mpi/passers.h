// Libraries whose calls of MPI don't come to the tracer: loaded so that they find the MPI library before any
// preloaded one (RTLD_DEEPBIND).
#pragma once

#include <dlfcn.h>

#include <cstddef>

#include "tracer/format/format.h"

namespace weft::trace {

// Is this one of the functions that the preloaded library has before MPI's?
using IsTraced = bool (*)(const char* name);

// Writes the file names of those that are loaded now, and bound to functions of the MPI library in which
// `in_mpi` lies, into `names`, with ", " between them and cut where they are too long. Empty: there are none.
void find_passers(const void* in_mpi, IsTraced is_traced, char* names, std::size_t bytes);

// What the preloaded library gives the others under this name: the same, of the MPI library it has found.
inline constexpr char kPassersName[] = "weft_trace_passers";
using Passers = void(char* names, std::size_t bytes);

// Tells a fact of them, if there are any. To be called at the end, when all that calls MPI is loaded, and not
// under the tracer's lock: what a library does while the dynamic linker loads it may wait for that.
inline void tell_passers(void (*tell)(void* context, const char* name, const char* value), void* context) {
  auto* passers = reinterpret_cast<Passers*>(dlsym(RTLD_DEFAULT, kPassersName));
  char names[kMaxFactBytes + 1] = "";
  if (passers != nullptr) passers(names, sizeof names);
  if (*names != '\0') tell(context, "unseen_callers", names);
}

}  // namespace weft::trace
