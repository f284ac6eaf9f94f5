// The table in topologies/FAMILIES.md is what the families say of themselves today.
#include "topologies/table/family_table.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

namespace weft {

TEST_CASE("the table of families in FAMILIES.md is up to date") {
  std::ifstream file("topologies/FAMILIES.md", std::ios::binary);
  REQUIRE(file);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string begin = "<!-- families: begin -->\n", end = "<!-- families: end -->";
  const std::size_t from = text.find(begin), to = text.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  INFO("bazel-bin/topologies/table/family_table --write topologies/FAMILIES.md mends it");
  CHECK(text.substr(from + begin.size(), to - from - begin.size()) == topologies::family_table());
}

}  // namespace weft
