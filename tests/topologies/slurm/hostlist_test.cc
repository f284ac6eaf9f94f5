// Hostlist expressions against their names, written out or counted.
#include "topologies/slurm/hostlist.h"

#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::topologies {
namespace {

using Names = std::vector<std::string>;

Names expand(const std::string& text) { return expand_hostlist(text, 1 << 20); }

}  // namespace

TEST_CASE("hostlist: names, ranges, padding and several brackets") {
  CHECK(expand("tux[0-3,12,18-20]") ==
        Names{"tux0", "tux1", "tux2", "tux3", "tux12", "tux18", "tux19", "tux20"});
  CHECK(expand("login1,viz[01-02],nid001000") == Names{"login1", "viz01", "viz02", "nid001000"});
  CHECK(expand("n[08-11]") == Names{"n08", "n09", "n10", "n11"});
  CHECK(expand("n[99-101]") == Names{"n99", "n100", "n101"});
  CHECK(expand("n[098-0101]") == Names{"n098", "n099", "n100", "n101"});
  CHECK(expand("r[0-1]n[00-02]") == Names{"r0n00", "r0n01", "r0n02", "r1n00", "r1n01", "r1n02"});
  CHECK(expand("jpbo-[001,125]-[47-48]") ==
        Names{"jpbo-001-47", "jpbo-001-48", "jpbo-125-47", "jpbo-125-48"});
  CHECK(expand("isw1[0100,0102]") == Names{"isw10100", "isw10102"});
  CHECK(expand("rack[1-2]-ib") == Names{"rack1-ib", "rack2-ib"});
  CHECK(expand("10.140.71.103,10.140.71.104") == Names{"10.140.71.103", "10.140.71.104"});
  CHECK(expand(" a , b\tc ") == Names{"a", "b", "c"});
  CHECK(expand("").empty());
  CHECK(expand("(null)").empty());
  CHECK(expand("None").empty());
}

TEST_CASE("hostlist: large ones have each name once, in order") {
  const Names names = expand("as[01-07]r[1-5]b[01-32]");
  CHECK(names.size() == 7 * 5 * 32);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  std::size_t at = 0;
  for (int a = 1; a <= 7; ++a) {
    for (int r = 1; r <= 5; ++r) {
      for (int b = 1; b <= 32; ++b) CHECK(names[at++] == fmt::format("as{:02}r{}b{:02}", a, r, b));
    }
  }
}

TEST_CASE("hostlist: what is none is told") {
  const auto check = [](const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_WITH(expand(text), Catch::Contains(message));
  };
  check("n[1-3", "the brackets of 'n[1-3' don't close each other");
  check("n1-3]", "the brackets of 'n1-3]' don't close each other");
  check("n[3-1]", "the range '3-1' in 'n[3-1]' goes down");
  check("n[]", "'' in 'n[]' is not a number");
  check("n[1,]", "'' in 'n[1,]' is not a number");
  check("n[1-]", "'' in 'n[1-]' is not a number");
  check("n[a-c]", "'a' in 'n[a-c]' is not a number");
  check("bgl[000x733]", "'000x733' in 'bgl[000x733]' is not a number");
  check("n[1-3:2]", "'3:2' in 'n[1-3:2]' is not a number");
  check("n[1[2]]", "'1[2' in 'n[1[2]]' is not a number");
  check("n[1234567890123456789]", "is not a number of at most 18 digits");
  CHECK_THROWS_WITH(expand_hostlist("n[0-999999999999]", 1000), Catch::Contains("more than 1000 names"));
  CHECK(expand_hostlist("n[1-1000]", 1000).size() == 1000);
  std::string many = "n";
  for (int i = 0; i < 100000; ++i) many += "[1]";
  check(many, "has more than 16 brackets");
}

}  // namespace weft::topologies
