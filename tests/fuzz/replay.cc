// Replays a target's corpus without a fuzzer: each input as it is, cut short, and with bytes changed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/units/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr int kCuts = 8, kChanges = 24;

// Bazel names the test //tests/fuzz:goal_text; its inputs are in corpus/goal_text.
std::vector<fs::path> inputs() {
  const char* target = std::getenv("TEST_TARGET");
  REQUIRE(target != nullptr);
  const std::string label = target;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry :
       fs::directory_iterator("tests/fuzz/corpus/" + label.substr(label.rfind(':') + 1))) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What is wrong, with the input in the form that printf takes; "" if nothing is.
std::string complaint(const std::string& bytes) {
  // A copy of exactly that size, so that a read behind its end is one behind the end of an allocation.
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  try {
    LLVMFuzzerTestOneInput(input.data(), input.size());
    return "";
  } catch (const std::exception& error) {
    std::string text = std::string(error.what()) + "; the input:";
    for (const std::uint8_t byte : input) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15];
    }
    return text;
  }
}

std::string changed(std::string bytes, weft::RandomStream& random) {
  for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
    char& byte = bytes[random.below(bytes.size())];
    byte = random.below(2) == 0 ? static_cast<char>(random.below(256))
                                : static_cast<char>(byte ^ (1 << random.below(8)));
  }
  return bytes;
}

}  // namespace

TEST_CASE("the corpus, whole and damaged") {
  const std::vector<fs::path> files = inputs();
  REQUIRE(!files.empty());
  weft::RandomStream random(1, 0, 0);
  for (const fs::path& path : files) {
    std::ifstream stream(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    INFO(path.string());
    CHECK(complaint(bytes) == "");
    if (bytes.empty()) continue;
    for (int i = 0; i < kCuts; ++i) CHECK(complaint(bytes.substr(0, random.below(bytes.size()))) == "");
    for (int i = 0; i < kChanges; ++i) CHECK(complaint(changed(bytes, random)) == "");
  }
}
