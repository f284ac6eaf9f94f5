#include "tools/weft/trace/elf_symbols.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::cli {
namespace {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : path_(path) {
    check_input(path);
    file_.open(path, std::ios::binary | std::ios::ate);
    if (!file_) throw InputError({path, 0, 0, -1}, "cannot open this file");
    size_ = static_cast<std::uint64_t>(file_.tellg());
  }

  // Throws where the file is too short for it.
  std::string bytes(std::uint64_t offset, std::uint64_t count, const char* what) {
    if (offset > size_ || count > size_ - offset) {
      throw InputError({path_, 0, 0, static_cast<std::int64_t>(size_)},
                       std::string("the file ends inside its ") + what);
    }
    std::string content(count, '\0');
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(content.data(), static_cast<std::streamsize>(count));
    if (static_cast<std::uint64_t>(file_.gcount()) != count)
      throw InputError({path_, 0, 0, -1}, "cannot read this file");
    return content;
  }
  std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

template <typename Entry>
std::vector<Entry> entries_of(const std::string& content) {
  std::vector<Entry> entries(content.size() / sizeof(Entry));
  if (!entries.empty()) std::memcpy(entries.data(), content.data(), entries.size() * sizeof(Entry));
  return entries;
}

}  // namespace

ElfSymbols read_elf_symbols(const std::string& path) {
  ElfFile file(path);
  Elf64_Ehdr head{};
  if (file.size() >= sizeof head)
    std::memcpy(&head, file.bytes(0, sizeof head, "header").data(), sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB || (head.e_shnum > 0 && head.e_shentsize != sizeof(Elf64_Shdr))) {
    throw InputError({path, 0, 0, 0},
                     "no program or shared library of this machine (ELF, 64 bits, little-endian)");
  }
  const auto sections = entries_of<Elf64_Shdr>(
      file.bytes(head.e_shoff, std::uint64_t{head.e_shnum} * sizeof(Elf64_Shdr), "table of sections"));
  ElfSymbols found;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    found.is_dynamic = true;
    const Elf64_Shdr& names = sections[section.sh_link];
    const std::string text = file.bytes(names.sh_offset, names.sh_size, "names");
    for (const Elf64_Sym& symbol :
         entries_of<Elf64_Sym>(file.bytes(section.sh_offset, section.sh_size, "symbols"))) {
      if (symbol.st_name == 0 || symbol.st_name >= text.size()) continue;
      std::string name = text.substr(symbol.st_name, text.find('\0', symbol.st_name) - symbol.st_name);
      (symbol.st_shndx == SHN_UNDEF ? found.undefined : found.defined).push_back(std::move(name));
    }
  }
  return found;
}

}  // namespace weft::cli
