// Prints the table of families for topologies/FAMILIES.md; --write puts it there, between its two marks.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "topologies/table/family_table.h"

int main(int argc, char** argv) {
  const std::string table = weft::topologies::family_table();
  if (argc != 3 || std::string_view(argv[1]) != "--write") {
    std::fputs(table.c_str(), stdout);
    return 0;
  }
  std::ifstream input(argv[2], std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(input)), {});
  constexpr std::string_view kBegin = "<!-- families: begin -->\n", kEnd = "<!-- families: end -->";
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "%s: expected the marks of the table of families\n", argv[2]);
    return 2;
  }
  text.replace(begin + kBegin.size(), end - begin - kBegin.size(), table);
  std::ofstream(argv[2], std::ios::binary) << text;
  return 0;
}
