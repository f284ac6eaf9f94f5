// What an ELF file wants of others (System V ABI, chapter 4 and 5; ELF-64, little-endian).
#pragma once

#include <string>
#include <vector>

namespace weft::cli {

struct ElfSymbols {
  bool is_dynamic = false;             // has dynamic symbols; a statically linked program has none
  std::vector<std::string> undefined;  // names it calls or reads in other objects
  std::vector<std::string> defined;    // names it offers
};

// Throws InputError if the file can't be read or is no ELF file of this kind.
ElfSymbols read_elf_symbols(const std::string& path);

}  // namespace weft::cli
