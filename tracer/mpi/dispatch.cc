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

#include "tracer/mpi/passers.h"
#include "tracer/mpi/real_dlsym.h"
#include "tracer/mpi/say.h"
#include "tracer/mpi/tracer_library.h"

extern "C" {
extern void* weft_trace_slots[];        // where function i's jump goes
extern void* const weft_trace_stubs[];  // where it goes at first
extern const char* const weft_trace_names[];
extern void* const weft_trace_entries[];  // the functions that jump
extern const unsigned long weft_trace_name_count;
// So many are MPI's, sorted; behind them the same by their profiling names, then NCCL's and CUDA's.
extern const unsigned long weft_trace_mpi_count;
__attribute__((visibility("hidden"))) void* weft_trace_resolve(unsigned long number);
// The system's; null before it was looked for.
__attribute__((visibility("hidden"))) weft::trace::Dlsym* weft_trace_dlsym = nullptr;
// What our dlsym() returns instead; null: nothing. Finds weft_trace_dlsym.
__attribute__((visibility("hidden"))) void* weft_trace_by_name(void* handle, const char* name);
// What weft_region.h looks for.
__attribute__((visibility("default"))) void weft_trace_region_begin(const char* name);
__attribute__((visibility("default"))) void weft_trace_region_end(const char* name);
// What the other libraries look for: see say.h, passers.h and find_next in tracer/nccl/real.cc.
__attribute__((visibility("default"))) void weft_trace_say(const char* text);
__attribute__((visibility("default"))) void weft_trace_passers(char* names, std::size_t bytes);
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
  // libmpi.so.40, libmpich.so.12, libmpi_cray.so.12, libmpifort or a tool's libmpiP.so too: what defines
  // PMPI_Init is asked below.
  if (strncmp(base, "libmpi", 6) == 0 && loaded->count < kMaxLibraries) {
    loaded->names[loaded->count++] = info->dlpi_name;
  }
  return 0;
}

// The library that defines PMPI_Init itself, and isn't only linked to one that does: its functions are looked
// up by this handle, and a layer of the program's own has others of these names.
void* defines_init(const char* name) {
  void* library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  const void* init = library != nullptr ? weft_trace_dlsym(library, "PMPI_Init") : nullptr;
  Dl_info of_init;
  if (init == nullptr || dladdr(init, &of_init) == 0) return nullptr;
  return dlopen(of_init.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

// Null if none is loaded.
void* find_mpi() {
  static Loaded loaded;  // too large for a thread's stack; used once, under pthread_once
  dl_iterate_phdr(remember, &loaded);
  for (int i = 0; i < loaded.count; ++i) {
    if (void* library = defines_init(loaded.names[i])) return library;
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
  const char* name = weft_trace_dlsym(mpi, "ompi_mpi_comm_world") != nullptr ? "libweft_trace_openmpi.so"
                                                                             : "libweft_trace_mpich.so";
  static char path[4096];
  if (!beside(name, path)) return nullptr;
  void* tracer = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (tracer == nullptr) tracer = not_loaded();
  if (tracer == nullptr) return nullptr;
  using Open = const weft::trace::TracerLibrary*(void*);
  return reinterpret_cast<Open*>(weft_trace_dlsym(tracer, weft::trace::kOpenName))(mpi);
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

void find_system_dlsym() {
  if (weft_trace_dlsym == nullptr) weft_trace_dlsym = weft::trace::find_dlsym();
}

// Number of an MPI function by either of its names; weft_trace_mpi_count if there is no such.
unsigned long number_of(const char* name) {
  if (*name == 'P') ++name;
  unsigned long low = 0, high = weft_trace_mpi_count;
  while (strncmp(name, "MPI", 3) == 0 && low < high) {
    const unsigned long middle = (low + high) / 2;
    const int order = strcmp(name, weft_trace_names[middle]);
    if (order == 0) return middle;
    if (order < 0) high = middle;
    if (order > 0) low = middle + 1;
  }
  return weft_trace_mpi_count;
}

// Does the MPI library lie behind this handle, and the function in it?
bool is_of_mpi(void* handle, const void* function) {
  const void* init = weft_trace_dlsym(handle, "PMPI_Init");
  Dl_info of_init, of_function;
  return init != nullptr && dladdr(init, &of_init) != 0 && dladdr(function, &of_function) != 0 &&
         of_init.dli_fbase == of_function.dli_fbase;
}

pthread_once_t once = PTHREAD_ONCE_INIT, nccl_once = PTHREAD_ONCE_INIT;
const weft::trace::TracerLibrary* loaded_tracer = nullptr;  // after the first MPI call
void* mpi_init = nullptr;                                   // MPI's own, then

void mark_region(bool begin, const char* name) {
  const auto* tracer = __atomic_load_n(&loaded_tracer, __ATOMIC_ACQUIRE);
  if (tracer != nullptr) tracer->region(begin, name);
}

// Other threads may be jumping through their slots.
void set_slot(unsigned long number, void* target) {
  if (target != nullptr) __atomic_store_n(&weft_trace_slots[number], target, __ATOMIC_RELEASE);
}

// Where a function of MPI goes that the program calls, and where the profiling name of it.
//
// A tool or library of the program's own may stand between it and MPI: it defines MPI_Send, say, and calls
// PMPI_Send. Then the program's call is that library's, and what that calls is traced.
void set_slots(unsigned long i, void* mpi, void* wrapper) {
  void* real = mpi != nullptr ? weft_trace_dlsym(mpi, weft_trace_names[i]) : nullptr;
  void* target = wrapper != nullptr ? wrapper : real;
  void* next = weft_trace_dlsym(RTLD_NEXT, weft_trace_names[i]);
  Dl_info of_next, of_mpi;
  const bool between = next != nullptr && real != nullptr && next != real && dladdr(next, &of_next) != 0 &&
                       dladdr(real, &of_mpi) != 0 && of_next.dli_fbase != of_mpi.dli_fbase;
  set_slot(i, between ? next : target);
  set_slot(weft_trace_mpi_count + i, target);
}

void resolve_all() {
  void* mpi = find_mpi();
  if (mpi != nullptr) mpi_init = weft_trace_dlsym(mpi, "PMPI_Init");
  const char* directory = getenv("WEFT_TRACE_DIR");
  const bool wanted = mpi != nullptr && directory != nullptr && *directory != '\0';
  const weft::trace::TracerLibrary* tracer = wanted ? load_tracer(mpi) : nullptr;
  __atomic_store_n(&loaded_tracer, tracer, __ATOMIC_RELEASE);
  for (unsigned long i = 0; i < weft_trace_mpi_count; ++i) {
    set_slots(i, mpi, tracer != nullptr ? tracer->wrapper(weft_trace_names[i]) : nullptr);
  }
}

void resolve_nccl() {
  // Without a folder for traces too: it finds libraries that are not loaded for all to see.
  void* tracer = load_nccl_tracer();
  for (unsigned long i = 2 * weft_trace_mpi_count; tracer != nullptr && i < weft_trace_name_count; ++i) {
    set_slot(i, weft_trace_dlsym(tracer, weft_trace_names[i]));
  }
}

}  // namespace

void* weft_trace_resolve(unsigned long number) {
  const int before = errno;
  find_system_dlsym();
  const bool is_mpi = number < 2 * weft_trace_mpi_count;
  pthread_once(is_mpi ? &once : &nccl_once, is_mpi ? resolve_all : resolve_nccl);
  errno = before;
  void* target = __atomic_load_n(&weft_trace_slots[number], __ATOMIC_ACQUIRE);
  if (target == weft_trace_stubs[number]) target = weft_trace_dlsym(RTLD_NEXT, weft_trace_names[number]);
  if (target == nullptr) {
    // As the dynamic linker would have said without us.
    weft::trace::say("weft: symbol lookup error: undefined symbol: %s\n", weft_trace_names[number]);
    _exit(127);
  }
  return target;
}

// Programs that look a function up by the library's handle, as language bindings do, would pass by this
// library, and so would those that ask for the next one.
void* weft_trace_by_name(void* handle, const char* name) {
  const int before = errno;
  find_system_dlsym();
  errno = before;
  if (handle == RTLD_DEFAULT || name == nullptr) return nullptr;
  const unsigned long number = number_of(name);
  if (number == weft_trace_mpi_count) return nullptr;
  void* found = weft_trace_dlsym(handle, name);
  if (found == nullptr || (handle != RTLD_NEXT && !is_of_mpi(handle, found))) return nullptr;
  return weft_trace_entries[weft_trace_mpi_count + number];
}

void weft_trace_say(const char* text) { weft::trace::say_itself(text); }
void weft_trace_passers(char* names, std::size_t bytes) {
  weft::trace::find_passers(
      mpi_init, [](const char* name) { return number_of(name) < weft_trace_mpi_count; }, names, bytes);
}
void* weft_trace_next(const char* name) { return weft_trace_dlsym(RTLD_NEXT, name); }
void weft_trace_region_begin(const char* name) { mark_region(true, name); }
void weft_trace_region_end(const char* name) { mark_region(false, name); }
