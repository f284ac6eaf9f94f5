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
  CHECK_THROWS_WITH(parse_module_choice("a:k=[1,l=2"),
                    Catch::StartsWith("'a:k=[1,l=2' has a [ without its ] in 'k=[1,l=2'"));
}

TEST_CASE("parameters: given values and defaults") {
  const Parameters parameters(kInfo, {{"k", "8"}});
  CHECK(parameters.integer("k") == 8);
  CHECK(parameters.bandwidth("link") == Bandwidth::gbps(400));
  CHECK(parameters.text("name").empty());
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

TEST_CASE("parameters: auto is a value only where it is the default") {
  const ModuleInfo info{
      "queue",
      "s",
      "s",
      {{"mark", ParameterType::kBytes, "auto", "h"}, {"size", ParameterType::kBytes, "1KB", "h"}}};
  CHECK(Parameters(info, {}).automatic("mark"));
  CHECK(Parameters(info, {{"mark", "auto"}}).automatic("mark"));
  CHECK_FALSE(Parameters(info, {{"mark", "0"}}).automatic("mark"));
  CHECK(Parameters(info, {{"mark", "0"}}).bytes("mark") == 0);
  CHECK_THROWS_WITH((Parameters(info, {{"size", "auto"}})),
                    "queue: size: 'auto' is not a size in bytes; write it like 2MiB");
  CHECK_THROWS_WITH((Parameters(info, {{"mark", "automatic"}})),
                    "queue: mark: 'automatic' is not a size in bytes; write it like 2MiB");
}

TEST_CASE("parameters: values beyond their limits are refused, those at them are not") {
  const ModuleInfo info{"m",
                        "s",
                        "s",
                        {{"count", ParameterType::kInteger, "1", "How many.", from_to("-2", "64")},
                         {"share", ParameterType::kReal, "auto", "Of it.", above("0").up_to("1")},
                         {"gap", ParameterType::kTime, "1us", "Between them.", at_least("1ns").under("1s")},
                         {"rate", ParameterType::kBandwidth, "1Gbps", "So fast.", at_least("1Mbps")},
                         {"size", ParameterType::kBytes, "1KB", "So large.", at_most("1GiB")},
                         {"kind", ParameterType::kText, "ring", "Which.", one_of({"ring", "star", "full"})},
                         {"tint", ParameterType::kText, "", "Empty: none.", one_of({"red", "blue"})}}};
  const auto refusal = [&](const std::string& name, const std::string& value) -> std::string {
    try {
      Parameters(info, {{name, value}});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"count", "-2"},
                                                                                    {"count", "64"},
                                                                                    {"share", "auto"},
                                                                                    {"share", "1e-300"},
                                                                                    {"share", "1.0"},
                                                                                    {"gap", "1000ps"},
                                                                                    {"gap", "999ms"},
                                                                                    {"rate", "1000000"},
                                                                                    {"size", "1024MiB"},
                                                                                    {"kind", "full"},
                                                                                    {"tint", ""},
                                                                                    {"tint", "red"}}) {
    CHECK(refusal(name, value).empty());
  }
  CHECK(refusal("count", "-3") == "m: count is '-3', but it must be from -2 to 64");
  CHECK(refusal("count", "65") == "m: count is '65', but it must be from -2 to 64");
  CHECK(refusal("share", "0.0") == "m: share is '0.0', but it must be above 0 and at most 1, or auto");
  CHECK(refusal("gap", "999ps") == "m: gap is '999ps', but it must be at least 1ns and below 1s");
  CHECK(refusal("gap", "1000ms") == "m: gap is '1000ms', but it must be at least 1ns and below 1s");
  CHECK(refusal("rate", "400") == "m: rate is '400', but it must be at least 1Mbps");
  CHECK(refusal("size", "2GiB") == "m: size is '2GiB', but it must be at most 1GiB");
  CHECK(refusal("kind", "rign") ==
        "m: kind is 'rign', but it must be ring, star or full; did you mean 'ring'?");
  CHECK(refusal("kind", "") == "m: kind is '', but it must be ring, star or full");
  CHECK(refusal("kind", "auto") == "m: kind is 'auto', but it must be ring, star or full");
  CHECK(refusal("tint", "torus") == "m: tint is 'torus', but it must be red or blue");
  CHECK(describe(info.parameters[1]) == "Of it. It must be above 0 and at most 1.");
  CHECK(describe(info.parameters[5]) == "Which. It must be ring, star or full.");
  CHECK(describe(ParameterSpec{.name = "x", .help = "Free."}) == "Free.");
}

TEST_CASE("parameters: an error stands where its own value was given") {
  ModuleChoice choice{"fat_tree", {{"k", "8"}, {"link", "fast"}}, {"run.txtpb", 3, 7}, {}};
  choice.locations["link"] = {"run.txtpb", 4, 2};
  CHECK_THROWS_WITH((Parameters(kInfo, choice)),
                    "run.txtpb:4:2: fat_tree: link: 'fast' is not a bandwidth; write it like 400Gbps");
  choice.given["link"] = "1Gbps";
  CHECK_THROWS_WITH(Parameters(kInfo, choice).fail("link", "it must be more"),
                    "run.txtpb:4:2: fat_tree: link is '1Gbps', but it must be more");
  CHECK_THROWS_WITH(Parameters(kInfo, choice).fail("k", "it must be more"),
                    "run.txtpb:3:7: fat_tree: k is '8', but it must be more");
}

TEST_CASE("a nearest name is offered for a slip, not for another word") {
  const std::vector<std::string> known{"fat_tree", "leaf_spine", "torus"};
  CHECK(nearest_name("fattree", known) == "fat_tree");
  CHECK(nearest_name("tours", known) == "torus");
  CHECK(nearest_name("dragonfly", known).empty());
  const std::vector<std::string> similar{"fat_tree2", "fat_tree3", "fat_tree"};
  CHECK(nearest_name("fat_treee", similar) == "fat_tree");
  CHECK(nearest_name("fat_tree4", similar) == "fat_tree");
  CHECK(nearest_name("fat_tre3", similar) == "fat_tree3");
}
