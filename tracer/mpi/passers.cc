#include "tracer/mpi/passers.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <cstdint>

namespace weft::trace {

namespace {

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool holds(std::uintptr_t address) const { return begin <= address && address < end; }
};

// The memory from the first to the last segment of a loaded file.
Range range_of(const dl_phdr_info& info) {
  Range range{~std::uintptr_t{0}, 0};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (begin < range.begin) range.begin = begin;
    if (begin + part.p_memsz > range.end) range.end = begin + part.p_memsz;
  }
  return range;
}

struct Search {
  std::uintptr_t in_mpi;
  IsTraced is_traced;
  char* names;
  std::size_t bytes;
  Range mpi;
};

int find_mpi_range(dl_phdr_info* info, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const Range range = range_of(*info);
  if (!range.holds(search->in_mpi)) return 0;
  search->mpi = range;
  return 1;
}

// What the dynamic section of a loaded file tells of its relocations.
class Relocations {
 public:
  explicit Relocations(const dl_phdr_info& info) : base_(info.dlpi_addr), file_(range_of(info)) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      if (info.dlpi_phdr[i].p_type == PT_DYNAMIC) read(info.dlpi_phdr[i]);
    }
  }

  // Is a function's address that the dynamic linker has filled in, or will have, one of these in MPI?
  bool lead_into(const Search& search) const {
    return symbols_ != nullptr && strings_ != nullptr &&
           (any(calls_, call_bytes_, search) || any(others_, other_bytes_, search));
  }

 private:
  void read(const ElfW(Phdr) & part) {
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base_ + part.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols_ = at<ElfW(Sym)>(entry->d_un.d_ptr);
          break;
        case DT_STRTAB:
          strings_ = at<char>(entry->d_un.d_ptr);
          break;
        case DT_JMPREL:
          calls_ = at<ElfW(Rela)>(entry->d_un.d_ptr);
          break;
        case DT_PLTRELSZ:
          call_bytes_ = entry->d_un.d_val;
          break;
        case DT_RELA:
          others_ = at<ElfW(Rela)>(entry->d_un.d_ptr);
          break;
        case DT_RELASZ:
          other_bytes_ = entry->d_un.d_val;
          break;
        default:
          break;
      }
    }
  }

  // The linker has made addresses of most offsets there; those of the kernel's own file stay.
  template <class T>
  const T* at(std::uintptr_t place) const {
    if (!file_.holds(place)) place += base_;
    return file_.holds(place) ? reinterpret_cast<const T*>(place) : nullptr;
  }

  bool any(const ElfW(Rela) * first, std::size_t bytes, const Search& search) const {
    for (const auto* one = first; first != nullptr && one < first + bytes / sizeof(ElfW(Rela)); ++one) {
      const auto type = ELF64_R_TYPE(one->r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
      const auto* target = at<std::uintptr_t>(base_ + one->r_offset);
      if (target == nullptr || !search.mpi.holds(*target)) continue;
      if (search.is_traced(strings_ + symbols_[ELF64_R_SYM(one->r_info)].st_name)) return true;
    }
    return false;
  }

  std::uintptr_t base_;
  Range file_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  const ElfW(Rela) * calls_ = nullptr, *others_ = nullptr;
  std::size_t call_bytes_ = 0, other_bytes_ = 0;
};

int look_at(dl_phdr_info* info, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (range_of(*info).holds(search->mpi.begin) || !Relocations(*info).lead_into(*search)) return 0;
  const char* slash = strrchr(info->dlpi_name, '/');
  const std::size_t used = strlen(search->names);
  snprintf(search->names + used, search->bytes - used, "%s%s", used > 0 ? ", " : "",
           slash != nullptr ? slash + 1 : info->dlpi_name);
  return 0;
}

}  // namespace

void find_passers(const void* in_mpi, IsTraced is_traced, char* names, std::size_t bytes) {
  *names = '\0';
  Search search{reinterpret_cast<std::uintptr_t>(in_mpi), is_traced, names, bytes, {}};
  if (dl_iterate_phdr(find_mpi_range, &search) != 0) dl_iterate_phdr(look_at, &search);
}

}  // namespace weft::trace
