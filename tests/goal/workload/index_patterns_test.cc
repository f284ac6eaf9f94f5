#include <string>

#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Where each rank sends to; itself where it sends nothing.
std::vector<Rank> destinations(const std::string& text, std::uint32_t ranks) {
  std::vector<Rank> to(ranks);
  for (Rank r = 0; r < ranks; ++r) to[r] = r;
  for (const Sent& sent : sends(traffic(text, ranks))) {
    CHECK(to[sent.from] == sent.from);  // one message each at most
    CHECK(sent.bytes == 2'000'000);
    to[sent.from] = sent.to;
  }
  return to;
}

using Ranks = std::vector<Rank>;

}  // namespace

TEST_CASE("shift: to (r + by) mod n, in both directions and beyond n") {
  CHECK(destinations("shift", 4) == Ranks{1, 2, 3, 0});
  CHECK(destinations("shift:by=3", 5) == Ranks{3, 4, 0, 1, 2});
  CHECK(destinations("shift:by=-1", 4) == Ranks{3, 0, 1, 2});
  CHECK(destinations("shift:by=9", 4) == Ranks{1, 2, 3, 0});
  CHECK(refusal("shift:by=8", 4) == "shift: by is '8', but with 4 ranks, every one would send to itself");
  CHECK(refusal("shift", 1) == "shift: ranks is '0', but this pattern needs 2 at least, and gets 1");
}

TEST_CASE("tornado: ceil(k/2) - 1 on, in every dimension") {
  CHECK(destinations("tornado", 8) == Ranks{3, 4, 5, 6, 7, 0, 1, 2});
  CHECK(destinations("tornado", 5) == Ranks{2, 3, 4, 0, 1});
  // Rows of 2 don't move, columns of 4 move by 1: rank 2·y + x goes to 2·(y+1) + x.
  CHECK(destinations("tornado:dims=[4,2]", 8) == Ranks{2, 3, 4, 5, 6, 7, 0, 1});
  // 3 × 3: each coordinate moves by 1.
  CHECK(destinations("tornado:dims=[3,3]", 9) == Ranks{4, 5, 3, 7, 8, 6, 1, 2, 0});
  CHECK(refusal("tornado", 2).find("a ring of 3 ranks at least") != std::string::npos);
  CHECK(refusal("tornado:dims=[2,2]", 4).find("tornado: dims") == 0);
  CHECK(
      refusal("tornado:dims=[4,3]", 8) ==
      "tornado: dims is '[4,3]', but the dimensions must multiply to the number of ranks, 8: [4,2] would do");
  for (const char* bad : {"4,2", "[]", "[4,]", "[4;2]", "[0,4]", "[-4]", "[4 ,2]"}) {
    CHECK(refusal(std::string("tornado:dims=") + bad, 8) != "");
  }
}

TEST_CASE("bit complement and bit reverse") {
  CHECK(destinations("bit_complement", 8) == Ranks{7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(destinations("bit_reverse", 8) == Ranks{0, 4, 2, 6, 1, 5, 3, 7});
  CHECK(destinations("bit_reverse", 16)[0b0010] == 0b0100);
  CHECK(destinations("bit_reverse", 16)[0b0111] == 0b1110);
  CHECK(refusal("bit_complement", 100) ==
        "bit_complement: ranks is '0', but this pattern needs a power of two ranks and gets 100; the nearest "
        "are 64 and 128");
  CHECK(refusal("bit_reverse", 12).find("the nearest are 8 and 16") != std::string::npos);
  CHECK(refusal("bit_reverse", 2).find("needs 4 at least") != std::string::npos);
}

TEST_CASE("transpose: (i, j) to (j, i)") {
  CHECK(destinations("transpose", 4) == Ranks{0, 2, 1, 3});
  CHECK(destinations("transpose", 9) == Ranks{0, 3, 6, 1, 4, 7, 2, 5, 8});
  CHECK(refusal("transpose", 128)
            .find("needs a square number of ranks and gets 128; the nearest are 121 and 144") !=
        std::string::npos);
}

TEST_CASE("the size of index patterns is the user's") {
  CHECK(sends(traffic("transpose:size=64KiB", 4)) == std::vector<Sent>{{1, 2, 65536}, {2, 1, 65536}});
}
