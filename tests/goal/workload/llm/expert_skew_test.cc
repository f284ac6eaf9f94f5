// Experts that get unequal numbers of tokens: what is sent in all stays the closed form, and nothing gets
// faster.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "goal/workload/llm/experts.h"
#include "goal/workload/llm/llm.h"
#include "goal/workload/llm/step.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;
using namespace weft::goal::llm;

namespace {

std::vector<Collective> all_to_alls(const Graph& graph, Rank rank) {
  std::vector<Collective> all;
  const RankView view = graph.rank(rank);
  for (OpIndex i = 0; i < view.ops(); ++i) {
    if (view.kind(i) != OpKind::kCollective) continue;
    const Collective collective = view.collective(i);
    if (collective.kind == CollectiveKind::kAlltoall) all.push_back(collective);
  }
  return all;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

std::int64_t end(const Graph& graph, const sim::LogGops& network) {
  const sim::Times all = sim::LogGopsRun(graph, network).finish();
  return *std::max_element(all.begin(), all.end());
}

}  // namespace

TEST_CASE("shares of experts: Zipf's law, and none above all tokens") {
  // One of four for each token, exponent 1: 1, 1/2, 1/3, 1/4 of 25/12.
  const std::vector<double> zipf = expert_shares(4, 1, 1);
  for (std::size_t i = 0; i < 4; ++i) CHECK(zipf[i] == Approx(12.0 / 25 / static_cast<double>(i + 1)));
  for (const double share : expert_shares(8, 2, 0)) CHECK(share == Approx(0.25));
  // Two of four, exponent 2: the first would get 288/205 of each token. It gets 1, and the others, 1/4, 1/9
  // and 1/16 of 61/144, the second place.
  const std::vector<double> steep = expert_shares(4, 2, 2);
  CHECK(steep[0] == 1);
  CHECK(steep[1] == Approx(36.0 / 61));
  CHECK(steep[2] == Approx(16.0 / 61));
  CHECK(steep[3] == Approx(9.0 / 61));
  CHECK(expert_shares(2, 2, 3) == std::vector<double>{1, 1});
  for (const double skew : {0.1, 0.8, 3.0, 10.0}) {
    const std::vector<double> shares = expert_shares(256, 8, skew);
    CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(8));
    CHECK(std::is_sorted(shares.rbegin(), shares.rend()));
    CHECK(shares[0] <= 1);
  }
}

TEST_CASE("unequal experts: each rank sends top-k copies of its tokens, and what is sent is received") {
  // Mixtral: 2 of 8 experts for each of 512 tokens of 4,096 values, in 2 bytes, four times in each of 32
  // layers.
  for (const double skew : {0.3, 1.0, 4.0}) {
    const Graph graph =
        traffic(fmt::format("llm:model=mixtral_8x7b,ep=4,seq=512,micro_batches=2,expert_skew={}", skew), 8);
    CHECK(check(graph).clean());
    for (const Rank first : {Rank{0}, Rank{4}}) {
      std::vector<std::vector<Collective>> group;
      for (Rank r = 0; r < 4; ++r) group.push_back(all_to_alls(graph, first + r));
      REQUIRE(group[0].size() == 2 * 32 * 4);
      for (std::size_t i = 0; i < group[0].size(); ++i) {
        std::uint64_t all = 0;
        for (Rank r = 0; r < 4; ++r) {
          const Collective& mine = group[r][i];
          all += sum(mine.counts);
          // Dispatches send of all tokens, combines get as much back.
          CHECK(sum(i % 2 == 0 ? mine.counts : mine.receive_counts) == 512 * 2 * 2 * 4096);
          for (Rank to = 0; to < 4; ++to) CHECK(mine.counts[to] == group[to][i].receive_counts[r]);
        }
        CHECK(all == 4 * 512 * 2 * 2 * 4096);
      }
    }
  }
}

TEST_CASE("unequal experts: backward goes where forward went, layers have other favourites, seeds too") {
  const char* text = "llm:model=mixtral_8x7b,ep=8,seq=512,expert_skew=1";
  const Graph graph = traffic(text, 8);
  const std::vector<Collective> all = all_to_alls(graph, 3);
  REQUIRE(all.size() == 128);
  std::map<std::size_t, int> favourites;
  for (std::size_t layer = 0; layer < 32; ++layer) {
    const std::vector<std::uint64_t>& counts = all[2 * layer].counts;
    CHECK(counts == all[64 + 2 * (31 - layer)].counts);
    CHECK(counts == all[2 * layer + 1].receive_counts);
    ++favourites[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
  }
  CHECK(favourites.size() > 4);
  CHECK(all_to_alls(traffic(text, 8), 3) == all);
  CHECK(all_to_alls(traffic(text, 8, 2), 3) != all);
}

TEST_CASE("unequal experts take longer, the more unequal the longer") {
  // One expert on each rank, so that the busiest rank's load is the first expert's share, which grows until
  // every token takes that expert (exponent 2 and above). Without data parallelism, which longer steps would
  // hide more of.
  std::int64_t computing = 0, sending = 0;
  for (const double skew : {0.0, 0.2, 0.5, 0.8, 1.2, 2.0, 10.0}) {
    const std::string text = fmt::format("llm:model=mixtral_8x7b,tp=8,ep=8,seq=32768,expert_skew={}", skew);
    const Graph graph = traffic(text, 8);
    INFO(text);
    const std::int64_t free = end(graph, {.L = 0, .o = 0, .g = 0, .G = 0});
    const std::int64_t slow = end(graph, {.L = 0, .o = 0, .g = 0, .G = 1});
    CHECK(free >= computing + (skew > 2 ? 0 : 1));
    CHECK(slow >= sending + (skew > 2 ? 0 : 1));
    computing = free;
    sending = slow;
  }
  // With the first two experts taken by every token the others get nothing, and the two ranks have four times
  // as much.
  Training training;
  training.model = find_model("mixtral_8x7b");
  training.sequence = 4096;
  training.layout.data = training.layout.expert = 8;
  training.device = &find_device("h100");
  training.expert_skew = 200;
  const ExpertLoad load = expert_loads(training)[0];
  CHECK(std::count(load.copies.begin(), load.copies.end(), 4096) == 2);
  CHECK(std::count(load.copies.begin(), load.copies.end(), 0) == 6);
  const double ratio = *std::max_element(load.copies.begin(), load.copies.end()) * 8 / (4096.0 * 2);
  CHECK(ratio == 4);
}

TEST_CASE("unequal experts: what they take, and what they don't") {
  CHECK(refusal("llm:model=mixtral_8x7b,expert_skew=1", 8).find("ep is 1") != std::string::npos);
  CHECK(refusal("llm:model=llama3_8b,expert_skew=1", 8).find("ep is 1") != std::string::npos);
  CHECK(refusal("llm:model=mixtral_8x7b,ep=8,expert_skew=-1", 8).find("from 0 to 10") != std::string::npos);
  CHECK(refusal("llm:model=mixtral_8x7b,ep=8,expert_skew=11", 8).find("from 0 to 10") != std::string::npos);
}
