// The system's dlsym(): the preloaded library has one before it, for programs that look MPI's functions up.
#pragma once

#include <dlfcn.h>

namespace weft::trace {

using Dlsym = void*(void* handle, const char* name);

// Null only where the C library is none that the tracer knows.
inline Dlsym* find_dlsym() {
  void* found = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.34");
  return reinterpret_cast<Dlsym*>(found != nullptr ? found : dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5"));
}

}  // namespace weft::trace
