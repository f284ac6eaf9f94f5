#include "sim/units/module.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {

const ModuleInfo kInfo{"fat_tree",
                       "a tree",
                       "a paper",
                       {{"k", ParameterType::kInteger, "", "ports of a switch, even"},
                        {"link", ParameterType::kBandwidth, "400Gbps", "rate of a cable"},
                        {"name", ParameterType::kText, "", "a word"}}};

}  // namespace

TEST_CASE("the short form gives a name and its values") {
  const ModuleChoice choice = parse_module_choice("fat_tree:k=8,link=100Gbps,name=[a,b]");
  CHECK(choice.name == "fat_tree");
  CHECK(choice.given ==
        std::map<std::string, std::string>{{"k", "8"}, {"link", "100Gbps"}, {"name", "[a,b]"}});
  CHECK(parse_module_choice("ecmp").given.empty());
}

TEST_CASE("a short form that can't be read says how to write one") {
  CHECK_THROWS_WITH(parse_module_choice("fat_tree:8"),
                    Catch::StartsWith("'fat_tree:8' has '8' where key=value was expected"));
  CHECK_THROWS_WITH(parse_module_choice(":k=1"), Catch::StartsWith("':k=1' has no name"));
  CHECK_THROWS_WITH(parse_module_choice("a:k=1,k=2"), Catch::StartsWith("'a:k=1,k=2' gives 'k' twice"));
}

TEST_CASE("parameters: given values, defaults, and what was given") {
  const Parameters parameters(kInfo, {{"k", "8"}});
  CHECK(parameters.integer("k") == 8);
  CHECK(parameters.bandwidth("link") == Bandwidth::gbps(400));
  CHECK(parameters.text("name").empty());
  CHECK(parameters.given("k"));
  CHECK_FALSE(parameters.given("link"));
  CHECK(to_short_form("fat_tree", parameters) == "fat_tree:k=8,link=400Gbps,name=");
  CHECK_THROWS_AS(parameters.integer("q"), std::logic_error);
}

TEST_CASE("parameters: unknown, ill-typed and missing ones are errors at their place") {
  const SourceLocation here{"run.txtpb", 3, 7};
  CHECK_THROWS_WITH(
      (Parameters(kInfo, {{"k", "8"}, {"lnk", "1"}}, here)),
      "run.txtpb:3:7: 'lnk' is not a parameter of fat_tree; did you mean 'link'? (known: k, link, name)");
  CHECK_THROWS_WITH((Parameters(kInfo, {{"k", "eight"}}, here)),
                    "run.txtpb:3:7: fat_tree: k: 'eight' is not a whole number");
  CHECK_THROWS_WITH((Parameters(kInfo, {}, here)),
                    "run.txtpb:3:7: fat_tree needs a value for 'k': ports of a switch, even");
}

TEST_CASE("a nearest name is offered for a slip, not for another word") {
  const std::vector<std::string> known{"fat_tree", "leaf_spine", "torus"};
  CHECK(nearest_name("fattree", known) == "fat_tree");
  CHECK(nearest_name("tours", known) == "torus");
  CHECK(nearest_name("dragonfly", known).empty());
}
