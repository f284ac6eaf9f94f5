#include "tracer/mpi/callers.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

namespace weft::trace {

namespace {

// How the names of files begin: of the MPI libraries, their parts and plug-ins, and what they are built on.
constexpr const char* kLibrarys[] = {
    "libmpi",   "libmpich", "libopen-", "libompi",  "mca_",       "libpmi",    "libprrte",
    "libucp",   "libucs",   "libuct",   "libucm",   "libucc",     "libfabric", "libhcoll",
    "libsharp", "libpsm",   "libevent", "libhwloc", "libibverbs", "librdmacm", "libmpl",
    "libopa",   "libromio", "libadio",  "libc.so",  "libpthread", "ld-linux",  "libweft_trace",
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

}  // namespace

bool is_programs(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (unsigned i = 0; i < __atomic_load_n(&count, __ATOMIC_RELAXED) && i < kMostRanges; ++i) {
    const std::uintptr_t end = __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE);
    if (at < end && at >= ranges[i].begin) return ranges[i].programs;
  }
  Search search{at, {}};
  if (dl_iterate_phdr(find_segment, &search) == 0) return false;  // made at run time: nobody's
  remember(search.found);
  return search.found.programs;
}

}  // namespace weft::trace
