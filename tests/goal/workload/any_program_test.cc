// Any workload with any parameters: the graph is sound, and runs to its end however messages are sent.
#include <fmt/core.h>

#include <map>

#include "sim/units/random.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Values worth trying, the impossible among them; {n} is the number of ranks.
const std::map<std::string, std::vector<std::string>> kValues = {
    {"allreduce", {"0", "1", "2"}},
    {"blocks", {"1", "4"}},
    {"by", {"1", "-3", "{n}"}},
    {"cell", {"0B", "1B", "8B"}},
    {"cells", {"1", "3", "[2,3,4]", "[5,6]"}},
    {"columns", {"0", "1", "2"}},
    {"compute", {"0ns", "1ns", "20us"}},
    {"count", {"1", "3"}},
    {"cp", {"1", "2"}},
    {"degree", {"1", "3", "10"}},
    {"dp_shard", {"0", "1", "2"}},
    {"dims", {"1d", "2d", "3d", "4d", "[{n}]", "[{n},1]", "[1,{n}]", "[2,3]", "[4,2]", "[2,2,3]"}},
    {"element", {"1B", "8B"}},
    {"ep", {"1", "2"}},
    {"expert_nodes", {"auto", "0", "1", "2"}},
    {"exchange", {"messages", "collective"}},
    {"halo", {"1", "2"}},
    {"iterations", {"1", "2", "5"}},
    {"kind",
     {"barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "allgather", "gather", "scatter",
      "alltoall", "scan", "exscan", "neighbor_allgather", "neighbor_alltoall"}},
    {"model", {"tiny", "tiny", "mixtral_8x7b"}},
    {"n", {"1", "5"}},
    {"node_ranks", {"1", "2", "3"}},
    {"neighbors", {"faces", "edges", "corners"}},
    {"pairs", {"0", "1", "2"}},
    {"parallel", {"0", "1", "3"}},
    {"periodic", {"true", "false"}},
    {"pp", {"1", "2"}},
    {"placement", {"balanced", "bytes", "round_robin"}},
    {"points", {"12", "24", "60", "210"}},
    {"prefetch", {"1", "2", "9"}},
    {"recompute", {"none", "full"}},
    {"receivers", {"first", "random"}},
    {"result", {"0B", "1B", "200KB"}},
    {"root", {"0", "2"}},
    {"senders", {"first", "random"}},
    {"sharding", {"none", "zero1", "zero2", "fsdp", "hsdp"}},
    {"size", {"0B", "1B", "200KB"}},
    {"sizes", {"1B", "[0B,200KB]"}},
    {"sweeps", {"1", "3"}},
    {"task", {"0B", "1B", "200KB"}},
    {"tp", {"1", "2"}},
    {"tasks", {"1", "7", "40"}},
};

std::string random_choice(const Workload& workload, std::uint32_t ranks, RandomStream& random) {
  std::string text = workload.info.name;
  char separator = ':';
  for (const ParameterSpec& spec : workload.info.parameters) {
    const auto values = kValues.find(spec.name);
    if (values == kValues.end() || random.below(3) == 0) continue;
    const std::string& value = values->second[random.below(values->second.size())];
    text +=
        fmt::format("{}{}={}", separator, spec.name, fmt::format(fmt::runtime(value), fmt::arg("n", ranks)));
    separator = ',';
  }
  return text;
}

std::uint64_t compute_ns(const Graph& graph, Rank r) {
  std::uint64_t sum = 0;
  const RankView rank = graph.rank(r);
  for (OpIndex i = 0; i < rank.ops(); ++i) sum += rank.kind(i) == OpKind::kCalc ? rank.value(i) : 0;
  return sum;
}

}  // namespace

TEST_CASE("any workload: nothing to find in its graph, and no deadlock") {
  RandomStream random(1, 0);
  std::map<std::string, int> ran;
  for (int i = 0; i < 2500; ++i) {
    const Workload& workload = workloads()[random.below(workloads().size())];
    if (workload.info.name == "poisson" || workload.info.name == "connections") continue;
    const auto ranks = static_cast<std::uint32_t>(1 + random.below(24));
    const std::string text = random_choice(workload, ranks, random);
    INFO(text << " with " << ranks << " ranks");
    if (refusal(text, ranks) != "") continue;
    ++ran[workload.info.name];
    Graph graph = traffic(text, ranks, random.next());
    CHECK(check(graph).clean());
    // Up to S a send has finished when the message is handed over; above, when it is received.
    for (const std::uint64_t eager : {0u, 1000u, 1u << 20}) {
      const sim::LogGopsRun run(graph, {.o = static_cast<std::int64_t>(random.below(2) * 100), .S = eager});
      INFO("S = " << eager);
      REQUIRE(run.replay.complete());
      const sim::Times finish = run.finish();
      for (Rank r = 0; r < ranks; ++r) CHECK(finish[r] >= static_cast<std::int64_t>(compute_ns(graph, r)));
    }
  }
  // All of them were tried, and not too many refused.
  CHECK(ran.size() == workloads().size() - 2);
  for (const auto& [name, number] : ran) {
    INFO(name);
    CHECK(number >= 5);
  }
}
