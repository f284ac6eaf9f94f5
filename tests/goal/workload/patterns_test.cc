// The patterns with several messages a rank: random, incast, outcast, alltoall.
#include <cmath>
#include <map>
#include <set>

#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

TEST_CASE("random: as many messages as asked for, to others, equally likely") {
  const std::uint32_t ranks = 10, count = 9000;
  std::vector<std::uint32_t> gets(ranks), gives(ranks);
  std::map<std::pair<Rank, Rank>, int> pairs;
  for (const Sent& sent : sends(traffic("random:size=100,count=9000", ranks))) {
    CHECK(sent.bytes == 100);
    ++gives[sent.from];
    ++pairs[{sent.from, sent.to}];
  }
  CHECK(gives == std::vector<std::uint32_t>(ranks, count));
  // 1,000 for each of 90 pairs; a binomial's standard deviation is 30, and 5 of those are allowed.
  REQUIRE(pairs.size() == 90);
  for (const auto& [pair, number] : pairs) CHECK(std::abs(number - 1000) < 150);
  CHECK(refusal("random:count=0", 4).find("it must be from 1 to") != std::string::npos);
  CHECK(refusal("random", 1) != "");
}

TEST_CASE("random: the seed decides, and a rank's draws don't depend on the others") {
  CHECK(traffic("random:count=5", 16, 3) == traffic("random:count=5", 16, 3));
  CHECK(sends(traffic("random:count=5", 16, 3)) != sends(traffic("random:count=5", 16, 4)));
  const std::vector<Sent> one = sends(traffic("random:count=1", 16, 3));
  const std::vector<Sent> five = sends(traffic("random:count=5", 16, 3));
  for (Rank r = 0; r < 16; ++r) CHECK(one[r].to == five[5 * r].to);
}

TEST_CASE("incast: n different senders to one receiver") {
  CHECK(sends(traffic("incast:n=3,size=1MB,to=1,senders=first", 8)) ==
        std::vector<Sent>{{0, 1, 1'000'000}, {2, 1, 1'000'000}, {3, 1, 1'000'000}});
  std::vector<int> chosen(16);
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    std::set<Rank> senders;
    for (const Sent& sent : sends(traffic("incast:n=4,to=5", 16, seed))) {
      CHECK(sent.to == 5);
      senders.insert(sent.from);
    }
    REQUIRE(senders.size() == 4);
    for (const Rank r : senders) ++chosen[r];
  }
  // Each of 15 is among the 4 with probability 4/15: 400 ± 17 times; 5 standard deviations are allowed.
  for (Rank r = 0; r < 16; ++r) CHECK(std::abs(chosen[r] - (r == 5 ? 0 : 400)) < 86);
  CHECK(sends(traffic("incast:n=15", 16)).size() == 15);
  CHECK(refusal("incast:n=16", 16) == "incast: n is '16', but it must be from 1 to 15");
  CHECK(refusal("incast:to=16", 16) == "incast: to is '16', but it must be from 0 to 15");
  CHECK(refusal("incast:senders=some", 16) == "incast: senders is 'some', but it must be random or first");
}

TEST_CASE("outcast: one sender to n different receivers") {
  CHECK(sends(traffic("outcast:n=3,size=5B,receivers=first", 8)) ==
        std::vector<Sent>{{0, 1, 5}, {0, 2, 5}, {0, 3, 5}});
  std::set<Rank> receivers;
  for (const Sent& sent : sends(traffic("outcast:n=15,from=9", 16))) {
    CHECK(sent.from == 9);
    receivers.insert(sent.to);
  }
  CHECK(receivers.size() == 15);
  CHECK(refusal("outcast:n=0", 16) != "");
  CHECK(refusal("outcast:from=-1", 16) != "");
}

TEST_CASE("alltoall: every pair once, from the upper neighbour on") {
  for (const std::uint32_t ranks : {2u, 3u, 17u}) {
    const std::vector<Sent> all = sends(traffic("alltoall:size=7", ranks));
    REQUIRE(all.size() == ranks * (ranks - 1));
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      const Rank r = i / (ranks - 1);
      CHECK(all[i] == Sent{r, (r + 1 + i % (ranks - 1)) % ranks, 7});
    }
  }
  CHECK(traffic("alltoall", 8).edges() == 0);
}

TEST_CASE("alltoall: with parallel=k, a send waits for the k-th before it") {
  const Graph graph = traffic("alltoall:parallel=3", 8);
  sends(graph);
  for (Rank r = 0; r < 8; ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      // Operations 0 to 6 are receives, 7 to 13 sends.
      std::vector<Edge> expected;
      if (i >= 7 && i + 3 < 14) expected.emplace_back(i + 3, false);
      CHECK(std::vector<Edge>(rank.dependents(i).begin(), rank.dependents(i).end()) == expected);
    }
  }
  CHECK(traffic("alltoall:parallel=100", 8) == traffic("alltoall", 8));
}
