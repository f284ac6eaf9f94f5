// The patterns with several messages a rank: random, incast, outcast, alltoall.
#include <cmath>
#include <map>
#include <set>

#include "goal/collectives/steps.h"
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
  CHECK(refusal("random:count=0", 4) == "random: count is '0', but it must be at least 1");
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

namespace {

// Where a rank's messages go, and where they come from, lane by lane: with the algorithm that the graph asks
// for.
std::vector<std::vector<Rank>> peers(const Graph& graph, Rank rank, StepKind kind) {
  const Collective& collective = graph.rank(rank).collective(0);
  const ChosenAlgorithm chosen = choose_collective_algorithm(collective.kind, collective.algorithm);
  const CollectiveCall call{&collective, graph.ranks(), rank, &chosen.options};
  std::vector<std::vector<Rank>> lanes(chosen.lanes(call));
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    Group group;
    for (std::uint32_t i = 0; chosen.algorithm->expand(call, lane, i, group); ++i, group.clear()) {
      for (const Step& step : group.steps()) {
        if (step.kind != kind) continue;
        for (std::uint32_t k = 0; k < step.count; ++k) {
          lanes[lane].push_back(step.peer_at(k, call.size));
          CHECK(call.bytes(step, lanes[lane].back()) == collective.bytes);
        }
      }
    }
  }
  return lanes;
}

}  // namespace

TEST_CASE("alltoall: one operation a rank, which sends to all others from the upper neighbour on") {
  for (const std::uint32_t ranks : {2u, 3u, 17u}) {
    const Graph graph = traffic("alltoall:size=7", ranks);
    CHECK(graph.ops() == ranks);
    for (Rank r = 0; r < ranks; ++r) {
      CHECK(graph.rank(r).collective(0).bytes == 7);
      std::vector<Rank> to, from;
      for (Rank i = 1; i < ranks; ++i) {
        to.push_back((r + i) % ranks);
        from.push_back((r + ranks - i) % ranks);
      }
      CHECK(peers(graph, r, StepKind::kSend) == std::vector<std::vector<Rank>>{to});
      CHECK(peers(graph, r, StepKind::kRecv) == std::vector<std::vector<Rank>>{from});
    }
  }
  CHECK(refusal("alltoall:size=0B", 4).find("at least 1B") != std::string::npos);
}

TEST_CASE("alltoall: with parallel=k, k lanes share the peers between them") {
  const Graph graph = traffic("alltoall:parallel=3", 8);
  CHECK(peers(graph, 6, StepKind::kSend) == std::vector<std::vector<Rank>>{{7, 2, 5}, {0, 3}, {1, 4}});
  CHECK(peers(graph, 6, StepKind::kRecv) == std::vector<std::vector<Rank>>{{5, 2, 7}, {4, 1}, {3, 0}});
  CHECK(peers(traffic("alltoall:parallel=100", 8), 0, StepKind::kSend).size() == 7);
}
