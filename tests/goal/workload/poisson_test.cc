#include "goal/workload/poisson.h"

#include <cmath>
#include <map>

#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

// The start times of a rank's sends, in ns: the sum of the calcs before each.
std::vector<std::uint64_t> starts(const Graph& graph, Rank r) {
  std::vector<std::uint64_t> all;
  std::uint64_t now = 0;
  const RankView rank = graph.rank(r);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCalc) now += rank.value(i);
    if (rank.kind(i) == OpKind::kSend) all.push_back(now);
  }
  return all;
}

}  // namespace

TEST_CASE("exponential draws have the mean, the variance and the tail they should have") {
  RandomStream random(11, 22);
  const int draws = 1'000'000;
  double sum = 0, squares = 0;
  int above_1 = 0, above_3 = 0;
  for (int i = 0; i < draws; ++i) {
    const double x = draw_exponential(random);
    sum += x;
    squares += x * x;
    above_1 += x > 1;
    above_3 += x > 3;
  }
  // Three standard errors; that of the mean square (2, with a fourth moment of 24) is sqrt(20 / draws).
  const auto share_error = [&](double p) { return 3 * std::sqrt(p * (1 - p) / draws); };
  CHECK(sum / draws == Approx(1).margin(3 / std::sqrt(draws)));
  CHECK(squares / draws == Approx(2).margin(3 * std::sqrt(20.0 / draws)));
  CHECK(above_1 / double(draws) == Approx(std::exp(-1)).margin(share_error(std::exp(-1))));
  CHECK(above_3 / double(draws) == Approx(std::exp(-3)).margin(share_error(std::exp(-3))));
}

TEST_CASE("poisson: arrivals and sizes have the means of the formula, within three standard errors") {
  // Web search has a mean of 1,711,250 bytes: at half of 400 Gb/s, a message every 68.45 us from each rank.
  const std::uint32_t ranks = 16;
  const Graph graph = traffic("poisson:load=0.5,sizes=websearch,duration=200ms,rate=400Gbps", ranks, 5);
  const std::vector<Sent> all = sends(graph);
  const double gap_ns = 68'450;
  const double expected = 200e6 / gap_ns * ranks;
  CHECK(all.size() == Approx(expected).margin(3 * std::sqrt(expected)));

  double gaps = 0, gap_squares = 0;
  for (Rank r = 0; r < ranks; ++r) {
    std::uint64_t last = 0;
    for (const std::uint64_t start : starts(graph, r)) {
      REQUIRE(start >= last);
      REQUIRE(start <= 200'000'000);
      gaps += double(start - last);
      gap_squares += double(start - last) * double(start - last);
      last = start;
    }
  }
  const double n = double(all.size());
  CHECK(gaps / n == Approx(gap_ns).margin(3 * gap_ns / std::sqrt(n)));
  CHECK(gap_squares / n == Approx(2 * gap_ns * gap_ns).margin(3 * std::sqrt(20 / n) * gap_ns * gap_ns));

  double bytes = 0;
  std::map<double, int> up_to;
  const std::map<double, double> published = {{10e3, .15}, {50e3, .4}, {80e3, .53}, {1e6, .7}, {5e6, .9}};
  for (const Sent& sent : all) {
    bytes += double(sent.bytes);
    for (const auto& [size, share] : published) up_to[size] += double(sent.bytes) <= size;
  }
  // The second moment of a piece from a to b is (a² + ab + b²) / 3: 17.3e12 in all, from the published
  // points.
  const double points[][2] = {{0, 0},      {10e3, .15}, {20e3, .2}, {30e3, .3}, {50e3, .4},  {80e3, .53},
                              {200e3, .6}, {1e6, .7},   {2e6, .8},  {5e6, .9},  {10e6, .97}, {30e6, 1}};
  double second = 0;
  for (int i = 1; i < 12; ++i) {
    const double a = points[i - 1][0], b = points[i][0];
    second += (points[i][1] - points[i - 1][1]) * (a * a + a * b + b * b) / 3;
  }
  const double deviation = std::sqrt(second - 1'711'250.0 * 1'711'250.0);
  CHECK(bytes / n == Approx(1'711'250).margin(3 * deviation / std::sqrt(n)));
  for (const auto& [size, share] : published) {
    CHECK(up_to[size] / n == Approx(share).margin(3 * std::sqrt(share * (1 - share) / n)));
  }
}

TEST_CASE("poisson: receivers are drawn evenly from all others") {
  std::map<std::pair<Rank, Rank>, int> pairs;
  const std::vector<Sent> all = sends(traffic("poisson:sizes=alistorage,duration=5ms", 4, 3));
  for (const Sent& sent : all) ++pairs[{sent.from, sent.to}];
  const double mean = double(all.size()) / 12;
  REQUIRE(mean > 500);
  REQUIRE(pairs.size() == 12);
  for (const auto& [pair, count] : pairs) CHECK(std::abs(count - mean) < 4 * std::sqrt(mean));
}

TEST_CASE("poisson: load scales the gaps and leaves the sizes") {
  const Graph half = traffic("poisson:load=0.25,duration=2ms", 4, 9);
  const Graph full = traffic("poisson:load=0.5,duration=1ms", 4, 9);
  CHECK(sends(half) == sends(full));
  const std::vector<std::uint64_t> slow = starts(half, 2), fast = starts(full, 2);
  REQUIRE(slow.size() > 5);
  for (std::size_t i = 0; i < slow.size(); ++i) CHECK(std::abs(double(slow[i]) - 2.0 * double(fast[i])) <= 2);
  CHECK(traffic("poisson:load=0.5,duration=1ms", 4, 10) != full);
}

TEST_CASE("poisson: values that make no sense are refused") {
  CHECK(refusal("poisson:load=0", 4) == "poisson: load is '0', but it must be above 0");
  CHECK(refusal("poisson:load=-1", 4) != "");
  CHECK(refusal("poisson:duration=0s", 4) == "poisson: duration is '0s', but it must be above 0");
  CHECK(refusal("poisson:rate=0", 4) != "");
  CHECK(refusal("poisson:sizes=web", 4).find("'web' is not a size distribution") == 0);
  CHECK(refusal("poisson", 1) != "");
  CHECK(refusal("poisson:sizes=google_rpc,duration=100s", 1000).find("messages are expected") !=
        std::string::npos);
}
