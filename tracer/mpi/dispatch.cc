// libweft_trace_mpi.so, the library to preload. It defines every MPI function of every supported library, and
// what the tracer of NCCL has of NCCL and CUDA's runtime, but only as jumps (functions.py writes them). The
// first MPI call of a process finds the MPI library that is loaded, loads the tracer built for its binary
// interface, and points all jumps there; the first call of NCCL or CUDA's runtime does the same with the
// tracer of NCCL. A process that makes no such call (mpirun itself, a shell) is left alone.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "tracer/mpi/say.h"
#include "tracer/mpi/tracer_library.h"

extern "C" {
extern void* weft_trace_slots[];        // where function i's jump goes
extern void* const weft_trace_stubs[];  // where it goes at first
extern const char* const weft_trace_names[];
extern const unsigned long weft_trace_name_count;
extern const unsigned long weft_trace_mpi_count;  // those before are MPI's, the others NCCL's and CUDA's
__attribute__((visibility("hidden"))) void* weft_trace_resolve(unsigned long number);
// What weft_region.h looks for.
__attribute__((visibility("default"))) void weft_trace_region_begin(const char* name);
__attribute__((visibility("default"))) void weft_trace_region_end(const char* name);
// What the other libraries look for: see say.h and find_next in tracer/nccl/real.cc.
__attribute__((visibility("default"))) void weft_trace_say(const char* text);
__attribute__((visibility("default"))) void* weft_trace_next(const char* name);
}

namespace {

constexpr int kMaxLibraries = 4096;

struct Loaded {
  const char* names[kMaxLibraries];
  int count = 0;
};

int remember(dl_phdr_info* info, size_t, void* data) {
  auto* loaded = static_cast<Loaded*>(data);
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* base = slash != nullptr ? slash + 1 : info->dlpi_name;
  // libmpi.so.40, libmpich.so.12, libmpi_cray.so.12, libmpifort… too: what defines PMPI_Init is asked below.
  if (strncmp(base, "libmpi", 6) == 0 && loaded->count < kMaxLibraries) {
    loaded->names[loaded->count++] = info->dlpi_name;
  }
  return 0;
}

// The library that defines PMPI_Init; null if none is loaded.
void* find_mpi() {
  static Loaded loaded;  // too large for a thread's stack; used once, under pthread_once
  dl_iterate_phdr(remember, &loaded);
  for (int i = 0; i < loaded.count; ++i) {
    void* library = dlopen(loaded.names[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr && dlsym(library, "PMPI_Init") != nullptr) return library;
  }
  return nullptr;
}

// Puts the name of a library that lies beside this one, or in another folder from there, into `path`.
template <std::size_t kBytes>
bool beside(const char* name, char (&path)[kBytes]) {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&weft_trace_resolve), &self) == 0) return false;
  const char* slash = strrchr(self.dli_fname, '/');
  const int folder = slash != nullptr ? static_cast<int>(slash - self.dli_fname + 1) : 0;
  const int bytes = snprintf(path, kBytes, "%.*s%s", folder, self.dli_fname, name);
  return bytes > 0 && static_cast<std::size_t>(bytes) < kBytes;
}

// Null with a word on standard error.
void* not_loaded() {
  weft::trace::say("weft: no trace of process %d: %s\n", static_cast<int>(getpid()), dlerror());
  return nullptr;
}

// The tracer's library for this binary interface, from the folder this library came from; null with a word on
// standard error if it cannot be loaded.
const weft::trace::TracerLibrary* load_tracer(void* mpi) {
  const char* name =
      dlsym(mpi, "ompi_mpi_comm_world") != nullptr ? "libweft_trace_openmpi.so" : "libweft_trace_mpich.so";
  static char path[4096];
  if (!beside(name, path)) return nullptr;
  void* tracer = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (tracer == nullptr) tracer = not_loaded();
  if (tracer == nullptr) return nullptr;
  using Open = const weft::trace::TracerLibrary*(void*);
  return reinterpret_cast<Open*>(dlsym(tracer, weft::trace::kOpenName))(mpi);
}

// That of NCCL, from here or from where a build has it.
void* load_nccl_tracer() {
  static char path[4096];
  for (const char* name : {"libweft_trace_nccl.so", "../nccl/libweft_trace_nccl.so"}) {
    if (!beside(name, path) || access(path, R_OK) != 0) continue;
    void* tracer = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return tracer != nullptr ? tracer : not_loaded();
  }
  return nullptr;
}

pthread_once_t once = PTHREAD_ONCE_INIT, nccl_once = PTHREAD_ONCE_INIT;
const weft::trace::TracerLibrary* loaded_tracer = nullptr;  // after the first MPI call

void mark_region(bool begin, const char* name) {
  const auto* tracer = __atomic_load_n(&loaded_tracer, __ATOMIC_ACQUIRE);
  if (tracer != nullptr) tracer->region(begin, name);
}

// Other threads may be jumping through their slots.
void set_slot(unsigned long number, void* target) {
  if (target != nullptr) __atomic_store_n(&weft_trace_slots[number], target, __ATOMIC_RELEASE);
}

void resolve_all() {
  void* mpi = find_mpi();
  const char* directory = getenv("WEFT_TRACE_DIR");
  const bool wanted = mpi != nullptr && directory != nullptr && *directory != '\0';
  const weft::trace::TracerLibrary* tracer = wanted ? load_tracer(mpi) : nullptr;
  __atomic_store_n(&loaded_tracer, tracer, __ATOMIC_RELEASE);
  for (unsigned long i = 0; i < weft_trace_mpi_count; ++i) {
    void* target = tracer != nullptr ? tracer->wrapper(weft_trace_names[i]) : nullptr;
    if (target == nullptr && mpi != nullptr) target = dlsym(mpi, weft_trace_names[i]);
    set_slot(i, target);
  }
}

void resolve_nccl() {
  // Without a folder for traces too: it finds libraries that are not loaded for all to see.
  void* tracer = load_nccl_tracer();
  for (unsigned long i = weft_trace_mpi_count; tracer != nullptr && i < weft_trace_name_count; ++i) {
    set_slot(i, dlsym(tracer, weft_trace_names[i]));
  }
}

}  // namespace

void* weft_trace_resolve(unsigned long number) {
  const int before = errno;
  pthread_once(number < weft_trace_mpi_count ? &once : &nccl_once,
               number < weft_trace_mpi_count ? resolve_all : resolve_nccl);
  errno = before;
  void* target = __atomic_load_n(&weft_trace_slots[number], __ATOMIC_ACQUIRE);
  if (target == weft_trace_stubs[number]) target = dlsym(RTLD_NEXT, weft_trace_names[number]);
  if (target == nullptr) {
    // As the dynamic linker would have said without us.
    weft::trace::say("weft: symbol lookup error: undefined symbol: %s\n", weft_trace_names[number]);
    _exit(127);
  }
  return target;
}

void weft_trace_say(const char* text) { weft::trace::say_itself(text); }
void* weft_trace_next(const char* name) { return dlsym(RTLD_NEXT, name); }
void weft_trace_region_begin(const char* name) { mark_region(true, name); }
void weft_trace_region_end(const char* name) { mark_region(false, name); }
