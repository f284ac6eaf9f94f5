// All measures together, as JSON and as text.
#include "topologies/analysis/report.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/units/input_error.h"
#include "topologies/analysis/analyze.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

Analysis analyzed(const std::string& choice, const AnalysisOptions& options = {}) {
  return analyze(build(parse_module_choice(choice)), options);
}

}  // namespace

TEST_CASE("JSON: what scripts rely on, and a value of each measure") {
  const auto json = nlohmann::json::parse(analysis_json(analyzed("fat_tree:k=4")));
  CHECK(json["routers"] == 20);
  CHECK(json["switches"] == 20);
  CHECK(json["endpoints"] == 16);
  CHECK(json["links"] == 32);
  CHECK(json["degree"] == nlohmann::json({{"2", 8}, {"4", 12}}));
  CHECK(json["diameter"] == 4);
  CHECK(json["average_path_length"].get<double>() == Approx(3.7143).margin(5e-5));
  CHECK(json["distances"]["histogram"] == nlohmann::json({{"1", 0}, {"2", 8}, {"3", 0}, {"4", 48}}));
  CHECK(json["multiplicity"]["pairs"] == nlohmann::json({{"2", 8}, {"4", 48}}));
  CHECK(json["disjoint_paths"][0]["longest"] == 4);
  CHECK(json["disjoint_paths"][0]["mean"] == 2);
  CHECK(json["spectrum"]["adjacency_largest"].get<double>() == Approx(std::sqrt(12.0)));
  CHECK(json["bisection"]["links"] == 8);
  CHECK(json["bisection"]["share_of_full"].get<double>() == Approx(1));
  CHECK(json["edge_load"]["uniform"]["max"].get<double>() == Approx(14.0 / 15));
  for (const std::string& name : named_demands())
    CHECK(json["throughput"][name]["theta"].get<double>() == Approx(1));
  CHECK(json["throughput"]["uniform"]["method"] == "linear program");
  CHECK(json["resilience"]["links"]["steps"].size() == 4);
  CHECK_FALSE(json.contains("left_out"));
}

TEST_CASE("bisection: unequal sides are told, and no cut is no number") {
  const std::string odd = "leaf_spine:leaves=3,spines=8,hosts_per_leaf=8", star = "single_switch:hosts=4";
  AnalysisOptions options;
  options.only = {"bisection"};
  CHECK_THAT(analysis_text(analyzed(odd, options)), Catch::Contains("100.0%, 16 against 8 endpoints\n"));
  CHECK_THAT(analysis_text(analyzed("fat_tree:k=4", options)), !Catch::Contains("against"));
  CHECK_THAT(analysis_text(analyzed(star, options)), Catch::Contains("none: all endpoints on one switch\n"));
  CHECK_THAT(analysis_text(analyzed("leaf_spine:leaves=1,spines=4,hosts_per_leaf=4", options)),
             Catch::Contains("on one switch\n"));
  const auto json = nlohmann::json::parse(analysis_json(analyzed(star, options)));
  for (const char* key : {"links", "bps", "share_of_full"}) CHECK(json["bisection"][key].is_null());
  const std::string both =
      comparison_text(std::vector<Analysis>{analyzed(star, options), analyzed(odd, options)});
  CHECK_THAT(both, Catch::Contains("\nbisection, links               one switch             8\n"));
  CHECK_THAT(both, Catch::Contains("\n  endpoints of sides                    -          16:8\n"));
  CHECK_THAT(both, Catch::Contains("\n  of full                               -        100.0%\n"));
}

TEST_CASE("analyses are repeatable and follow the seed") {
  AnalysisOptions options;
  const std::string once = analysis_json(analyzed("mesh:dims=5x5", options));
  CHECK(once == analysis_json(analyzed("mesh:dims=5x5", options)));
  options.seed = 2;
  CHECK(once != analysis_json(analyzed("mesh:dims=5x5", options)));
}

TEST_CASE("only what is asked for is measured") {
  AnalysisOptions options;
  options.only = {"distances", "throughput"};
  options.demands = {"permutation"};
  const auto json = nlohmann::json::parse(analysis_json(analyzed("torus:dims=4x4", options)));
  CHECK(json.contains("diameter"));
  CHECK(json["throughput"].size() == 1);
  CHECK(json["throughput"].contains("permutation"));
  for (const char* key :
       {"multiplicity", "disjoint_paths", "spectrum", "bisection", "edge_load", "resilience"}) {
    CHECK_FALSE(json.contains(key));
  }
  options.only = {"distance"};
  CHECK_THROWS_WITH(analyzed("torus:dims=4x4", options), Catch::Contains("did you mean 'distances'?"));
  options.only = {"throughput"};
  options.demands = {"longest"};
  CHECK_THROWS_AS(analyzed("torus:dims=4x4", options), InputError);
}

TEST_CASE("links are pairs of routers, and parallel ones are so many cables") {
  // 9 groups of 4 leaves and 4 spines, with two links side by side between every two groups.
  AnalysisOptions options;
  options.only = {"distances"};
  const Analysis megafly = analyzed("megafly:p=4,g=2", options);
  CHECK(megafly.links == 9 * 16 + 36);
  CHECK(megafly.cables == 9 * 16 + 72);
  std::uint64_t ends = 0;
  for (const auto& [degree, routers] : megafly.degree) ends += std::uint64_t{degree} * routers;
  CHECK(ends == 2 * megafly.links);
  CHECK_THAT(analysis_text(megafly), Catch::Contains("180 between routers, of 216 cables"));
}

TEST_CASE("text: a line for each measure, and networks side by side") {
  const Analysis torus = analyzed("torus:dims=4x4"), star = analyzed("single_switch:hosts=8");
  const std::string text = analysis_text(torus);
  for (const char* line :
       {"routers                      16\n", "degree                       4\n",
        "diameter                     4\n", "average path length          2.1333\n",
        "bisection                    8 links, 3.2 Tbps a direction",
        "ECMP load, uniform           0.5333 at most",
        "throughput, uniform          1.000, without the hosts' limits 1.875 or more (exact)\n"}) {
    CHECK_THAT(text, Catch::Contains(line));
  }
  const std::string both = comparison_text(std::vector<Analysis>{torus, star});
  CHECK_THAT(both, Catch::Contains("1  torus:dims=4x4,"));
  CHECK_THAT(both, Catch::Contains("  1 torus  2 single_switch\n"));
  CHECK_THAT(both, Catch::Contains("\nendpoints                       16                8\n"));
  CHECK_THAT(both, Catch::Contains("\nthroughput, worst "));
  const std::vector<ComparisonRow> more = {{"price, $", {"1,234", ""}}, {"nothing", {"", ""}}};
  const std::string priced = comparison_text(std::vector<Analysis>{torus, star}, more);
  CHECK_THAT(priced, Catch::Contains("\nprice, $                     1,234                -\n"));
  CHECK_THAT(priced, !Catch::Contains("nothing"));
  CHECK(nlohmann::json::parse(comparison_json(std::vector<Analysis>{torus, star}))[1]["endpoints"] == 8);
}

}  // namespace weft::topologies
