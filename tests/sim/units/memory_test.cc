#include "sim/units/memory.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace weft {
namespace {

// Soft limit on this process's data, until the end of the scope.
class DataLimit {
 public:
  explicit DataLimit(rlim_t bytes) {
    getrlimit(RLIMIT_DATA, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    REQUIRE(setrlimit(RLIMIT_DATA, &limit) == 0);
  }
  ~DataLimit() { setrlimit(RLIMIT_DATA, &before_); }

 private:
  rlimit before_{};
};

TEST_CASE("What no machine has is refused, with what it was for") {
  try {
    expect_memory(1e18, "a graph of many operations");
    FAIL("it was not refused");
  } catch (const NotEnoughMemory& error) {
    CHECK(std::string(error.what())
              .starts_with("not enough memory for a graph of many operations: about 1000000000.0 GB, with "));
  }
}

// Sanitizers take terabytes of addresses for their own: no limit leaves any.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("A limit on the process's data is what there is at most") {
  const std::uint64_t before = available_memory();
  {
    const DataLimit limit(400'000'000);
    CHECK(available_memory() <= 400'000'000);
    CHECK(available_memory() <= before);
    CHECK_THROWS_AS(expect_memory(500e6, "anything"), NotEnoughMemory);
    CHECK_NOTHROW(expect_memory(50e6, "anything"));
    // What was told is what is given.
    const std::size_t available = available_memory();
    CHECK_NOTHROW(std::vector<char>().reserve(available / 2));
    CHECK_THROWS_AS(std::vector<char>().reserve(available + 1'000'000), std::bad_alloc);
  }
  CHECK(available_memory() > 400'000'000);
}
#endif

TEST_CASE("Who listens is told of gigabytes before they are taken, and of nothing less") {
  std::vector<std::string> told;
  listen_for_memory([&](const std::string& text) { told.push_back(text); });
  expect_memory(900e6, "a small graph");
  CHECK(told.empty());
  expect_memory(1.25e9, "a graph");
  CHECK(told == std::vector<std::string>{"a graph takes about 1.2 GB of memory"});
  listen_for_memory(nullptr);
  expect_memory(1.25e9, "a graph");
  CHECK(told.size() == 1);
}

}  // namespace
}  // namespace weft
