#include "goal/not_replayed.h"

#include <catch2/catch.hpp>

namespace weft::goal {

TEST_CASE("calls of one function are one entry, ascending by name, and sum up") {
  NotReplayed part;
  CHECK_FALSE(part.counted());
  CHECK_FALSE(part.any());
  part.add("MPI_Put", 3, 24, 700);
  part.add("MPI_Get", 1, 8, 50);
  part.add("MPI_Put", 2, 0, 1);
  part.all_calls = 10;
  REQUIRE(part.functions.size() == 2);
  CHECK(part.functions[0] == NotReplayed::Function{"MPI_Get", 1, 8, 50});
  CHECK(part.functions[1] == NotReplayed::Function{"MPI_Put", 5, 24, 701});
  CHECK(part.total() == NotReplayed::Function{"", 6, 32, 751});
  NotReplayed other;
  other.add("MPI_Get", 1, 1, 1);
  other.all_calls = 4;
  other.all_bytes = 2;
  other.all_time_ns = 9;
  part.add(other);
  CHECK(part.functions[0] == NotReplayed::Function{"MPI_Get", 2, 9, 51});
  CHECK(part.all_calls == 14);
  CHECK(part.all_bytes == 2);
  CHECK(part.all_time_ns == 9);
}

TEST_CASE("a share is 0 of nothing and at most 1") {
  CHECK(share(0, 0) == 0);
  CHECK(share(1, 0) == 1);
  CHECK(share(1, 4) == 0.25);
  CHECK(share(5, 4) == 1);
}

TEST_CASE("the sentence has the shares and names what was called most") {
  NotReplayed part;
  part.add("MPI_Get", 20, 0, 250);
  part.add("MPI_Put", 30, 0, 250);
  part.all_calls = 400;
  part.all_time_ns = 1'000'000;
  CHECK(sentence(part) ==
        "not replayed: 50 of 400 calls of the traced program (12.5%), under 0.1% of its time: 30 MPI_Put, "
        "20 MPI_Get");
  for (const char* name : {"a", "b", "c", "d", "e"}) part.add(name, 1, 10, 0);
  part.all_bytes = 200;
  CHECK(sentence(part).find(", 50 bytes (25.0%): 30 MPI_Put, 20 MPI_Get, 1 a, 1 b, 1 c, 1 d and 1 others") !=
        std::string::npos);
}

}  // namespace weft::goal
