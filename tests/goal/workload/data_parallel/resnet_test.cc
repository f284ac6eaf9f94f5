// Residual networks against their published sizes, and the all-reduces of their training.
#include "goal/workload/data_parallel/resnet.h"

#include <numeric>

#include "goal/workload/compute/device.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Returns the bytes of rank 0's collectives of that kind, in order.
std::vector<std::uint64_t> sizes_of(const Graph& graph, CollectiveKind kind) {
  std::vector<std::uint64_t> sizes;
  const RankView rank = graph.rank(0);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) != OpKind::kCollective || rank.collective(i).kind != kind) continue;
    sizes.push_back(rank.collective(i).bytes);
  }
  return sizes;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

std::uint64_t compute_ns(const Graph& graph, Rank r) {
  std::uint64_t sum = 0;
  const RankView rank = graph.rank(r);
  for (OpIndex i = 0; i < rank.ops(); ++i) sum += rank.kind(i) == OpKind::kCalc ? rank.value(i) : 0;
  return sum;
}

// What is computed before the first all-reduce, and last: the optimizer.
struct Ends {
  double first = 0, last = 0;
};
Ends ends_of(const Graph& graph) {
  Ends ends;
  bool reduces = false;
  const RankView rank = graph.rank(0);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    reduces |= rank.kind(i) == OpKind::kCollective;
    if (rank.kind(i) != OpKind::kCalc) continue;
    ends.last = static_cast<double>(rank.value(i));
    if (!reduces) ends.first += ends.last;
  }
  return ends;
}

struct Published {
  const char* model;
  std::uint64_t parameters;
  double multiply_adds;  // 10^9
};
// torchvision's tables of its models' weights.
constexpr Published kPublished[] = {
    {"resnet18", 11'689'512, 1.814},   {"resnet34", 21'797'672, 3.664},
    {"resnet50", 25'557'032, 4.089},   {"resnet101", 44'549'160, 7.801},
    {"resnet152", 60'192'808, 11.514}, {"wide_resnet50_2", 68'883'240, 11.398},
};

}  // namespace

TEST_CASE("Residual networks have the published parameters and FLOPs") {
  for (const Published& row : kPublished) {
    INFO(row.model);
    const std::vector<CnnLayer> layers = resnet_layers(row.model);
    CHECK(parameters(layers) == row.parameters);
    CHECK(static_cast<double>(multiply_adds(layers)) == Approx(row.multiply_adds * 1e9).margin(0.6e6));
  }
}

TEST_CASE("Gradients are all-reduced once, the first bucket small, the others of 25 MiB") {
  const Graph graph = traffic("resnet:model=resnet50,batch=4", 4);
  CHECK(check(graph).clean());
  const std::vector<std::uint64_t> buckets = sizes_of(graph, CollectiveKind::kAllreduce);
  CHECK(sum_of(buckets) == 4 * 25'557'032u);
  // The classifier alone: 2,048 · 1,000 weights and 1,000 biases.
  CHECK(buckets.front() == 4 * 2'049'000u);
  for (std::size_t i = 1; i + 1 < buckets.size(); ++i) {
    CHECK(buckets[i] >= 25u << 20);
    // No tensor is larger than 512 · 512 · 3 · 3.
    CHECK(buckets[i] < (25u << 20) + 4 * 2'359'296u);
  }
  // 53 normalizations of 26,560 channels in all: means and variances.
  CHECK(sizes_of(graph, CollectiveKind::kBcast) == std::vector<std::uint64_t>{2 * 4 * 26'560});
}

TEST_CASE("Each step sends the same, and one rank or no buffers nothing") {
  const Graph graph = traffic("resnet:model=resnet18,batch=1,iterations=3,buffers=false", 2);
  CHECK(sum_of(sizes_of(graph, CollectiveKind::kAllreduce)) == 3 * 4 * 11'689'512u);
  CHECK(sizes_of(graph, CollectiveKind::kBcast).empty());
  CHECK(sizes_of(traffic("resnet", 1), CollectiveKind::kAllreduce).empty());
}

TEST_CASE(
    "Gradients in bf16 are half the bytes in the same buckets; without buckets each tensor goes alone") {
  const std::string model = "resnet:model=resnet50,batch=1";
  const std::vector<std::uint64_t> full = sizes_of(traffic(model, 2), CollectiveKind::kAllreduce);
  std::vector<std::uint64_t> half =
      sizes_of(traffic(model + ",gradients=bf16", 2), CollectiveKind::kAllreduce);
  for (std::uint64_t& bytes : half) bytes *= 2;
  CHECK(half == full);
  // 53 convolutions with a weight, a scale and a shift each, and the classifier's two.
  const auto alone = sizes_of(traffic(model + ",bucket=0B", 2), CollectiveKind::kAllreduce);
  CHECK(alone.size() == 53 * 3 + 2);
  CHECK(sum_of(alone) == sum_of(full));
}

TEST_CASE("Computing takes longer than FLOPs at the device's peak, and is shared by no one") {
  const auto ns = static_cast<double>(compute_ns(traffic("resnet:batch=256", 2), 1));
  const double at_peak = 3 * 2 * 4.089e9 * 256 / find_device("h100").peak_flops(Precision::kBf16) * 1e9;
  CHECK(ns > 1.5 * at_peak);
  CHECK(ns < 40 * at_peak);
}

// Two ranks, no overhead: an allreduce by recursive doubling of M bytes takes L + (M - 1)G.
TEST_CASE("A step is as long as its computation and what of the all-reduces is not hidden") {
  const Graph graph = traffic("resnet:batch=32,buffers=false", 2);
  const std::vector<std::uint64_t> buckets = sizes_of(graph, CollectiveKind::kAllreduce);
  CHECK(buckets.size() == 5);
  const auto computing = static_cast<double>(compute_ns(graph, 0));
  const auto step = [&](double per_byte) {
    const sim::LogGops network{
        .L = 0, .o = 0, .g = 0, .G = per_byte, .S = 1u << 30, .allreduce = "recursive_doubling"};
    return static_cast<double>(sim::LogGopsRun(graph, network).finish()[0]);
  };
  CHECK(step(0) == computing);
  // Hidden but for the last bucket, which is full with the end of backward.
  const double fast = 0.001;
  CHECK(step(fast) == Approx(computing + fast * static_cast<double>(buckets.back())).margin(2));
  // So slow that one all-reduce follows the other, and hides all that is computed meanwhile.
  const double slow = 1000;
  const double exposed = slow * static_cast<double>(sum_of(buckets) - buckets.size());
  CHECK(step(slow) == Approx(ends_of(graph).first + exposed + ends_of(graph).last).margin(2));
}

TEST_CASE("What is no network, batch or image is refused") {
  CHECK_THAT(refusal("resnet:model=resnet51", 2), Catch::Contains("resnet50"));
  CHECK_THAT(refusal("resnet:batch=0", 2), Catch::Contains("batch"));
  CHECK_THAT(refusal("resnet:image=8", 2), Catch::Contains("image"));
  CHECK_THAT(refusal("resnet:precision=fp8", 2), Catch::Contains("bf16"));
  CHECK_THAT(refusal("resnet:gradients=int8", 2), Catch::Contains("fp32 or bf16"));
  CHECK_THAT(refusal("resnet:efficiency=0", 2), Catch::Contains("efficiency"));
}
