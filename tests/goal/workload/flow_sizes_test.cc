#include "goal/workload/flow_sizes.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"

using namespace weft;
using namespace weft::goal;

namespace {

std::string refusal(const std::string& text) {
  try {
    FlowSizes(text, "mine.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Points as published: bytes and percent.
using Published = std::vector<std::pair<double, double>>;
const Published kWebSearch = {{10e3, 15}, {20e3, 20}, {30e3, 30}, {50e3, 40}, {80e3, 53}, {200e3, 60},
                              {1e6, 70},  {2e6, 80},  {5e6, 90},  {10e6, 97}, {30e6, 100}};
const Published kHadoop = {{100, 1},    {200, 2},    {300, 5},   {350, 15},  {400, 20},
                           {500, 30},   {600, 40},   {700, 50},  {1e3, 60},  {2e3, 67},
                           {7e3, 70},   {30e3, 72},  {50e3, 82}, {80e3, 87}, {120e3, 90},
                           {300e3, 95}, {1e6, 97.5}, {2e6, 99},  {10e6, 100}};
const Published kAliStorage = {{4e3, 22.93},  {8e3, 69.21},   {16e3, 80.61},  {32e3, 90.47},
                               {64e3, 93.53}, {128e3, 96.77}, {256e3, 97.53}, {2e6, 100}};
const Published kGoogleRpc = {{3, 6.48826},      {32, 9.73239},     {64, 15.5271},      {96, 28.6139},
                              {512, 78.4921},    {1024, 86.32},     {4096, 93.4955},    {32768, 99.0402},
                              {131072, 99.7129}, {524288, 99.9498}, {1068642, 99.9763}, {15158197, 100}};

}  // namespace

TEST_CASE("the built-in distributions have the published quantiles") {
  const std::vector<std::pair<const char*, Published>> all = {{"websearch", kWebSearch},
                                                              {"hadoop", kHadoop},
                                                              {"alistorage", kAliStorage},
                                                              {"google_rpc", kGoogleRpc}};
  CHECK(built_in_sizes().size() == all.size());
  for (const auto& [name, points] : all) {
    const FlowSizes sizes = load_flow_sizes(name);
    for (const auto& [bytes, percent] : points) {
      CAPTURE(name, bytes);
      // Just below the percentage (or the largest size itself).
      CHECK(sizes.bytes_at(percent / 100 - 1e-12) == Approx(bytes).epsilon(2e-3));
    }
  }
}

TEST_CASE("between points, sizes are spread evenly") {
  const FlowSizes sizes = load_flow_sizes("websearch");
  CHECK(sizes.bytes_at(0) == 0);
  CHECK(sizes.bytes_at(0.075) == Approx(5000));
  CHECK(sizes.bytes_at(0.175) == Approx(15000));
  CHECK(sizes.bytes_at(0.985) == Approx(20e6));
  // By hand: 0.15·5k + 0.05·15k + 0.1·25k + 0.1·40k + 0.13·65k + 0.07·140k + 0.1·600k + 0.1·1.5M + 0.1·3.5M
  // + 0.07·7.5M + 0.03·20M
  CHECK(sizes.mean_bytes() == Approx(1'711'250));
}

TEST_CASE("a user's own file: points, steps and a single size") {
  const FlowSizes steps("# two sizes\n100 25\n100 50 # half\n\n300 50\n300 100\n", "mine.txt");
  CHECK(steps.bytes_at(0.49) == 100);
  CHECK(steps.bytes_at(0.51) == 300);
  CHECK(steps.mean_bytes() == 200);
  const FlowSizes one("4096 100", "mine.txt");
  RandomStream random(1, 2);
  for (int i = 0; i < 100; ++i) CHECK(one.draw(random) == 4096);
  // Half of a byte on average, but no message is empty.
  const FlowSizes tiny("0 0\n1 100", "mine.txt");
  for (int i = 0; i < 100; ++i) CHECK(tiny.draw(random) == 1);

  const auto path = std::filesystem::temp_directory_path() / "weft_flow_sizes_test.txt";
  std::ofstream(path) << "0 0\n200 100\n";
  CHECK(load_flow_sizes(path.string()).mean_bytes() == 100);
  std::filesystem::remove(path);
}

TEST_CASE("errors of size files name the place") {
  CHECK(
      refusal("0 0\n100 x\n") ==
      "mine.txt:2:5: found 'x'; expected the percentage of messages up to that size, a number from 0 to 100");
  CHECK(refusal("0 0\n  100 50\n 50 100\n").find("mine.txt:3:2: found '50'; expected a size in bytes") == 0);
  CHECK(refusal("0 0\n100 50\n200 40\n").find("mine.txt:3:5: the percentage falls") == 0);
  CHECK(refusal("0 0\n100\n").find("mine.txt:2:4: found the end of the line; expected the percentage") == 0);
  CHECK(refusal("0 0\n100 100 7\n") == "mine.txt:2:9: found '7'; expected nothing after the percentage");
  CHECK(refusal("0 0\n100 101\n") != "");
  CHECK(refusal("-1 0\n100 100\n") != "");
  CHECK(refusal("nan 0\n100 100\n") != "");
  CHECK(refusal("0 0\n100 99\n") ==
        "mine.txt:2: the last line of a size distribution must be the largest size with 100 percent");
  CHECK(refusal("# nothing\n") != "");
  CHECK(refusal("0 100\n") == "mine.txt:1: all messages of this distribution are empty");
  CHECK_THROWS_WITH(load_flow_sizes("websaerch"), Catch::Contains("did you mean 'websearch'?"));
  CHECK_THROWS_WITH(load_flow_sizes("./not/there"), Catch::Contains("./not/there"));
}
