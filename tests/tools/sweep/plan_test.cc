#include "tools/sweep/plan.h"

#include <catch2/catch.hpp>

#include "sim/units/input_error.h"

namespace weft::sweep {
namespace {

using Catch::Contains;
using Values = std::vector<std::vector<std::string>>;

TEST_CASE("Grids combine each value with each, zips the first with the first") {
  const std::vector<std::vector<Axis>> groups = {{parse_axis("a=1,2")}, parse_zip("b=x,y,z;c=[p,q],r,s")};
  check_groups(groups);
  CHECK(fields_of(groups) == std::vector<std::string>{"a", "b", "c"});
  CHECK(combinations_of(groups) == Values{{"1", "x", "p,q"},
                                          {"1", "y", "r"},
                                          {"1", "z", "s"},
                                          {"2", "x", "p,q"},
                                          {"2", "y", "r"},
                                          {"2", "z", "s"}});
  CHECK(combinations_of({}) == Values{{}});
}

TEST_CASE("Values that hold commas stand in brackets") {
  CHECK(parse_axis("topology=[fat_tree:k=4,link=100Gbps],torus:dims=4x4").values ==
        std::vector<std::string>{"fat_tree:k=4,link=100Gbps", "torus:dims=4x4"});
}

TEST_CASE("Seeds are numbers and ranges, each once") {
  CHECK(parse_seeds("1..3,7,2") == std::vector<std::uint64_t>{1, 2, 3, 7});
  for (const char* bad : {"", "1..", "x", "3..1", "1,,2", "-1"})
    CHECK_THROWS_AS(parse_seeds(bad), InputError);
  CHECK(parse_share("2%") == Approx(0.02));
  CHECK(parse_share("0.1") == Approx(0.1));
  for (const char* bad : {"", "0", "100%", "2 %", "nan"}) CHECK_THROWS_AS(parse_share(bad), InputError);
}

TEST_CASE("What can't be combined is refused by name") {
  CHECK_THROWS_WITH(check_groups({parse_zip("b=x,y;c=p")}), Contains("'b' and 'c'") && Contains("2 and 1"));
  CHECK_THROWS_WITH(check_groups({{parse_axis("a=1")}, {parse_axis("a=2")}}),
                    Contains("'a' is varied twice"));
  CHECK_THROWS_WITH(check_groups({{parse_axis("seed=1")}}), Contains("--seeds"));
  CHECK_THROWS_WITH(parse_axis("routing"), Contains("FIELD=V1,V2"));
}

TEST_CASE("A file of a sweep") {
  const char* text = R"(# all of it
sweep {
  scenario: "base.txtpb"  set: "seed=3"
  vary { field: "routing" value: "ecmp" value: "spray" }
  zip { vary { field: "a" value: "1" } vary { field: "b" value: "2,3" } }
  seeds: "1..5"  prices: "modern"  until_ci: "2%"
})";
  CHECK(is_plan(text));
  CHECK_FALSE(is_plan("job { goal: \"sweep {\" }"));
  CHECK_FALSE(is_plan("# sweep {\n"));
  const Plan plan = read_plan(text, "s.txtpb");
  CHECK(plan.scenario == "base.txtpb");
  CHECK(combinations_of(plan.groups) == Values{{"ecmp", "1", "2,3"}, {"spray", "1", "2,3"}});
  CHECK(plan.seeds == "1..5");
  CHECK(plan.until_ci == Approx(0.02));
  CHECK_THROWS_WITH(read_plan("sweep {\n  very {}\n}", "s.txtpb"), Contains("s.txtpb:2:"));
}

}  // namespace
}  // namespace weft::sweep
