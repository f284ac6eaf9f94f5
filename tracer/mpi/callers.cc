#include "tracer/mpi/callers.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

#include "tracer/mpi/tracer.h"

namespace weft::trace {

namespace {

// How the names of files begin: of the MPI libraries, their parts and plug-ins, and what they are built on.
constexpr const char* kLibrarys[] = {
    "libmpi.", "libmpi_",  "libmpich",   "libopen-",   "libompi.",      "mca_",      "libpmi",   "libprrte",
    "libucp",  "libucs",   "libuct",     "libucm",     "libucc",        "libfabric", "libhcoll", "libsharp",
    "libpsm",  "libevent", "libhwloc",   "libibverbs", "librdmacm",     "libmpl.",   "libopa.",  "libromio",
    "libadio", "libc.so",  "libpthread", "ld-linux",   "libweft_trace",
};
// Bindings that pass the program's calls on.
constexpr const char* kBindings[] = {
    "libmpi_mpifh", "libmpi_usempi", "libmpi_cxx", "libmpichf", "libmpifort", "libmpicxx", "libmpichcxx",
};

template <std::size_t kCount>
bool begins_with_one(const char* name, const char* const (&list)[kCount]) {
  for (const char* part : list) {
    if (strncmp(name, part, strlen(part)) == 0) return true;
  }
  return false;
}

struct Range {
  std::uintptr_t begin, end;
  bool programs;
};
// What was found out. The end of a range is written last, and nothing of it changes then: threads may read
// it.
constexpr unsigned kMostRanges = 64;
Range ranges[kMostRanges];
unsigned count = 0;

struct Search {
  std::uintptr_t address;
  Range found;
};

int find_segment(dl_phdr_info* info, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr, end = begin + header.p_memsz;
    if (header.p_type != PT_LOAD || search->address < begin || search->address >= end) continue;
    const char* slash = strrchr(info->dlpi_name, '/');
    const char* base = slash != nullptr ? slash + 1 : info->dlpi_name;
    search->found = {begin, end, begins_with_one(base, kBindings) || !begins_with_one(base, kLibrarys)};
    return 1;
  }
  return 0;
}

void remember(const Range& range) {
  if (__atomic_load_n(&count, __ATOMIC_RELAXED) >= kMostRanges) return;
  const unsigned place = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  if (place >= kMostRanges) return;
  ranges[place].begin = range.begin;
  ranges[place].programs = range.programs;
  __atomic_store_n(&ranges[place].end, range.end, __ATOMIC_RELEASE);
}

// Is the instruction that returns to `at` a call of a function by its name, directly or by way of the table
// of such (x86-64: E8 with a distance, FF 15 with the place in the table)?
bool is_call_by_name(std::uintptr_t at, const Range& range) {
  constexpr std::uintptr_t kLongest = 6;
  if (at - range.begin < kLongest) return true;
  const auto* code = reinterpret_cast<const unsigned char*>(at);
  if (code[-6] == 0xFF && code[-5] == 0x15) return true;
  std::int32_t distance;
  memcpy(&distance, code - sizeof distance, sizeof distance);
  const std::uintptr_t target = at + static_cast<std::uintptr_t>(static_cast<std::intptr_t>(distance));
  return code[-5] == 0xE8 && target >= range.begin && target < range.end;
}

Caller caller_from(std::uintptr_t at, const Range& range) {
  if (range.programs) return Caller::kProgram;
  return is_call_by_name(at, range) ? Caller::kLibrary : Caller::kByPointer;
}

}  // namespace

Caller caller_at(const void* return_address) {
  const auto at = reinterpret_cast<std::uintptr_t>(return_address);
  for (unsigned i = 0; i < __atomic_load_n(&count, __ATOMIC_RELAXED) && i < kMostRanges; ++i) {
    const std::uintptr_t end = __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE);
    if (at < end && at >= ranges[i].begin) return caller_from(at, ranges[i]);
  }
  Search search{at, {}};
  // Made at run time, as Julia's functions are: no MPI library does such.
  if (dl_iterate_phdr(find_segment, &search) == 0) return Caller::kProgram;
  remember(search.found);
  return caller_from(at, search.found);
}

bool is_programs(const void* return_address) {
  const Caller caller = caller_at(return_address);
  if (caller != Caller::kByPointer) return caller == Caller::kProgram;
  // What serves files (ROMIO) calls its own functions by pointers, and some of these end in a call of MPI.
  if (now_in == nullptr || now_in->enter_ns == 0) return true;
  const auto around = static_cast<Function>(now_in->function);
  const Shape shape = function_info(around).shape;
  return around != Function::kUndecoded && shape != Shape::kFile && shape != Shape::kFileRequest;
}

}  // namespace weft::trace
