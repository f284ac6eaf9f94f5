// Replicas that train on their own and are synchronized now and then: how much is sent, and what hides it.
#include <fmt/core.h>

#include <map>
#include <numeric>

#include "goal/workload/llm/model.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Bytes of allreduces in communicators of that axis, one for each operation of the rank.
std::vector<std::uint64_t> allreduces(const Graph& graph, Rank r, const std::string& axis) {
  std::vector<std::uint64_t> bytes;
  const RankView rank = graph.rank(r);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) != OpKind::kCollective) continue;
    const Collective& collective = rank.collective(i);
    const std::string& name = graph.communicators()[collective.comm].name;
    if (name.substr(0, name.find(' ')) != axis) continue;
    CHECK(collective.kind == CollectiveKind::kAllreduce);
    bytes.push_back(collective.bytes);
  }
  return bytes;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

double compute_ns(const Graph& graph) {
  double sum = 0;
  const RankView rank = graph.rank(0);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCalc) sum += static_cast<double>(rank.value(i));
  }
  return sum;
}

double end(const Graph& graph, double per_byte) {
  const sim::LogGops network{
      .L = 0, .o = 0, .g = 0, .G = per_byte, .S = 1u << 30, .allreduce = "recursive_doubling"};
  return static_cast<double>(sim::LogGopsRun(graph, network).finish()[0]);
}

}  // namespace

TEST_CASE("H inner steps: parameters · bytes / H a step and replica, in one piece or in fragments") {
  const std::uint64_t parameters = llm::parameters(llm::find_model("tiny"));
  for (const std::uint32_t inner : {1u, 3u, 12u}) {
    for (const std::uint32_t fragments : {1u, 2u, 3u}) {
      if (fragments > inner) continue;
      INFO(inner << " inner steps, " << fragments << " fragments");
      const Graph graph = traffic(
          fmt::format("llm:model=tiny,dp=4,iterations=24,inner_steps={},fragments={}", inner, fragments), 4);
      CHECK(check(graph).clean());
      const std::vector<std::uint64_t> sent = allreduces(graph, 1, "dp");
      CHECK(sum_of(sent) == 24 / inner * parameters * 4);
      CHECK(sent.size() == 24 / inner * fragments);
      CHECK(allreduces(graph, 1, "world").empty());
    }
  }
}

TEST_CASE("Each rank of a replica synchronizes what it would reduce in a step") {
  const std::string layout = "llm:model=tiny,tp=2,pp=2,dp=2,sharding=none";
  const Graph each = traffic(layout, 8), outer = traffic(layout + ",inner_steps=2,iterations=4", 8);
  CHECK(check(outer).clean());
  for (Rank r = 0; r < 8; ++r) {
    CHECK(sum_of(allreduces(outer, r, "dp")) == 2 * sum_of(allreduces(each, r, "dp")));
  }
  CHECK(sim::LogGopsRun(outer, {}).replay.complete());
}

TEST_CASE("Fragments are synchronized at steps of their own") {
  const auto synchronizations = [](std::uint32_t iterations) {
    return allreduces(
               traffic(fmt::format("llm:model=tiny,dp=2,inner_steps=4,fragments=2,iterations={}", iterations),
                       2),
               0, "dp")
        .size();
  };
  CHECK(synchronizations(1) == 0);
  CHECK(synchronizations(2) == 1);
  CHECK(synchronizations(3) == 1);
  CHECK(synchronizations(4) == 2);
  CHECK(synchronizations(8) == 4);
}

TEST_CASE("A synchronization takes its time, or goes on beside the next step") {
  const std::uint64_t parameters = llm::parameters(llm::find_model("tiny"));
  const std::string text = "llm:model=tiny,dp=2,seq=4096,inner_steps=2,iterations=4";
  const Graph waits = traffic(text, 2), overlaps = traffic(text + ",overlap=1", 2);
  // Short beside a step.
  const double per_byte = compute_ns(waits) / 40 / (4 * static_cast<double>(parameters));
  const double rounded = std::round(per_byte * 1000) / 1000;  // whole picoseconds
  const double all_reduce = rounded * (4 * static_cast<double>(parameters) - 1);
  CHECK(end(waits, 0) == compute_ns(waits));
  CHECK(end(waits, rounded) == Approx(compute_ns(waits) + 2 * all_reduce).margin(2));
  // The first is hidden; the second ends the run.
  CHECK(end(overlaps, rounded) == Approx(compute_ns(overlaps) + all_reduce).margin(2));
  // So long that the first hides the third step only, and the fourth waits for it.
  const double beside = end(overlaps, 100 * rounded) - 2 * 100 * all_reduce;
  CHECK(beside / compute_ns(overlaps) == Approx(3. / 4).margin(0.02));
}

TEST_CASE("What has no replicas to synchronize is refused, and runs too short for it are told") {
  CHECK_THAT(refusal("llm:model=tiny,cp=2,dp=2,inner_steps=2", 4), Catch::Contains("without cp"));
  CHECK_THAT(refusal("llm:model=mixtral_8x7b,ep=2,dp=2,inner_steps=2", 2), Catch::Contains("without ep"));
  CHECK_THAT(refusal("llm:model=tiny,dp=2,inner_steps=2,dp_overlap=none", 2),
             Catch::Contains("exchange nothing"));
  CHECK_THAT(refusal("llm:model=tiny,sharding=fsdp,inner_steps=2", 2), Catch::Contains("none or zero1"));
  CHECK_THAT(refusal("llm:model=tiny,fragments=2", 2), Catch::Contains("it takes inner_steps"));
  CHECK_THAT(refusal("llm:model=tiny,overlap=1", 2), Catch::Contains("it takes inner_steps"));
  CHECK_THAT(refusal("llm:model=tiny,inner_steps=4,fragments=5", 2), Catch::Contains("4 at most"));
  CHECK_THAT(refusal("llm:model=tiny,inner_steps=4,overlap=4", 2), Catch::Contains("3 at most"));
}
