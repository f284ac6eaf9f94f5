#include "tracer/nccl/real.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

namespace weft::trace::nccl {
namespace {

constexpr int kMaxLibraries = 64;

// Loaded libraries that may have these functions, on their own or linked into a framework.
struct Libraries {
  const char* names[kMaxLibraries];
  int count = 0;
};

int remember(dl_phdr_info* info, size_t, void* data) {
  auto* libraries = static_cast<Libraries*>(data);
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* base = slash != nullptr ? slash + 1 : info->dlpi_name;
  const bool wanted = strncmp(base, "libnccl", 7) == 0 || strncmp(base, "libcudart", 9) == 0 ||
                      strncmp(base, "libtorch", 8) == 0;
  if (wanted && libraries->count < kMaxLibraries) libraries->names[libraries->count++] = info->dlpi_name;
  return 0;
}

// That library's definition, but not this library's: dlsym also looks into what a library needs, which may
// lead back here.
void* definition_in(const char* library_name, const char* name, const void* own) {
  void* library = dlopen(library_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* symbol = dlsym(library, name);
  dlclose(library);  // it stays loaded: somebody else has it
  Dl_info where;
  const bool good = symbol != nullptr && dladdr(symbol, &where) != 0 && where.dli_fbase != own;
  return good ? symbol : nullptr;
}

// The next one behind the preloaded library, which has loaded this one; behind this library, where there is
// none.
void* find_next(const char* name, const void* own) {
  using Next = void*(const char*);
  auto* next = reinterpret_cast<Next*>(dlsym(RTLD_DEFAULT, "weft_trace_next"));
  void* symbol = next != nullptr ? next(name) : nullptr;
  Dl_info where;
  const bool good = symbol != nullptr && dladdr(symbol, &where) != 0 && where.dli_fbase != own;
  return good ? symbol : dlsym(RTLD_NEXT, name);
}

}  // namespace

void* find_real(const char* name) {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&find_real), &self) == 0) return nullptr;
  if (void* next = find_next(name, self.dli_fbase)) return next;
  Libraries libraries;
  dl_iterate_phdr(remember, &libraries);
  for (int i = 0; i < libraries.count; ++i) {
    if (void* found = definition_in(libraries.names[i], name, self.dli_fbase)) return found;
  }
  return nullptr;
}

}  // namespace weft::trace::nccl
