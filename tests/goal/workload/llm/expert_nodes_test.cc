// Tokens that go to some nodes only, and to each once: how many nodes, what crosses, what stays within.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "goal/graph/axis.h"
#include "goal/workload/llm/experts.h"
#include "goal/workload/llm/model.h"
#include "sim/units/random.h"
#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;
using namespace weft::goal::llm;

namespace {

// Every expert gets a score; groups are ranked by their best one, and the best experts of the best groups are
// taken.
double mean_by_draws(std::uint32_t experts, std::uint32_t top_k, std::uint32_t nodes, std::uint32_t groups,
                     std::uint32_t most, int draws) {
  RandomStream random(3, experts);
  std::size_t sum = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<std::uint64_t> scores(experts);
    for (std::uint64_t& score : scores) score = random.next();
    std::vector<std::pair<std::uint64_t, std::uint32_t>> best(groups);
    for (std::uint32_t e = 0; e < experts; ++e) {
      const std::uint32_t group = e / (experts / groups);
      best[group] = std::max(best[group], {scores[e], group});
    }
    std::sort(best.rbegin(), best.rend());
    std::vector<std::pair<std::uint64_t, std::uint32_t>> open;
    for (std::uint32_t i = 0; i < most; ++i) {
      const std::uint32_t each = experts / groups, first = best[i].second * each;
      for (std::uint32_t e = first; e < first + each; ++e) open.emplace_back(scores[e], e);
    }
    std::sort(open.rbegin(), open.rend());
    std::set<std::uint32_t> reached;
    for (std::uint32_t i = 0; i < top_k; ++i) reached.insert(open[i].second / (experts / nodes));
    sum += reached.size();
  }
  return static_cast<double>(sum) / draws;
}

// Bytes of all-to-alls over all ranks, to others, by the first word of their communicators.
std::map<std::string, std::uint64_t> crossing(const Graph& graph) {
  std::map<std::string, std::uint64_t> sums;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) != OpKind::kCollective) continue;
      const Collective collective = rank.collective(i);
      if (collective.kind != CollectiveKind::kAlltoall) continue;
      const Communicator& comm = graph.communicators()[collective.comm];
      std::string axis;
      std::istringstream(comm.name) >> axis;
      sums[axis] += collective.bytes * (comm.ranks.size() - 1);
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("nodes of a token: as many as by drawing scores") {
  struct Case {
    std::uint32_t experts, top_k, nodes, groups, most;
  };
  for (const Case& c : {Case{256, 8, 8, 8, 4}, Case{256, 8, 4, 8, 4}, Case{256, 8, 2, 8, 4},
                        Case{256, 8, 16, 8, 4}, Case{256, 8, 8, 8, 8}, Case{16, 8, 8, 8, 4},
                        Case{24, 3, 6, 2, 1}, Case{8, 2, 8, 8, 1 + 1}, Case{160, 6, 4, 8, 3}}) {
    INFO(fmt::format("{} experts, {} taken, {} nodes, {} of {} groups", c.experts, c.top_k, c.nodes, c.most,
                     c.groups));
    const double drawn = mean_by_draws(c.experts, c.top_k, c.nodes, c.groups, c.most, 20'000);
    CHECK(nodes_of_token(c.experts, c.top_k, c.nodes, c.groups, c.most) == Approx(drawn).epsilon(0.005));
  }
}

TEST_CASE("nodes of a token: closed forms without a limit, and at its ends") {
  // A node is missed if all of 8 come from the other 224 of 256.
  double missed = 1;
  for (int i = 0; i < 8; ++i) missed *= (224.0 - i) / (256 - i);
  CHECK(nodes_of_token(256, 8, 8, 8, 8) == Approx(8 * (1 - missed)));
  CHECK(nodes_of_token(256, 8, 8, 8, 1) == Approx(1));
  CHECK(nodes_of_token(256, 8, 1, 1, 1) == Approx(1));
  // An expert on each node: as many nodes as copies.
  CHECK(nodes_of_token(8, 2, 8, 8, 8) == Approx(2));
  double before = 0;
  for (std::uint32_t most = 1; most <= 8; ++most) {
    const double mean = nodes_of_token(256, 8, 8, 8, most);
    CHECK(mean > before);
    CHECK(mean <= most * (1 + 1e-12));
    before = mean;
  }
}

TEST_CASE("bytes by nodes: a copy for each node crosses, top-k copies go on within it") {
  // Mixtral: 2 of 8 experts in each of 32 layers, h = 4,096; forward and backward a dispatch and a combine.
  RandomStream random(5, 0);
  for (int i = 0; i < 20; ++i) {
    const std::uint32_t node = 1u << random.below(3), ep = 8, dp = 8u << random.below(2);
    const std::uint32_t nodes = ep / node, most = 1 + static_cast<std::uint32_t>(random.below(nodes));
    const std::uint64_t pieces = 1 + random.below(5), micro_batches = 1 + random.below(2), seq = 64;
    if (most * node < 2) continue;
    const std::string text = fmt::format(
        "llm:model=mixtral_8x7b,dp={},ep={},seq={},micro_batches={},expert_nodes={},node_ranks={},"
        "expert_pieces={}",
        dp, ep, seq, micro_batches, most, node, pieces);
    INFO(text);
    const Graph graph = traffic(text, dp);
    const std::uint64_t token = 2 * 4096, calls = micro_batches * 32 * 4;
    const double each = nodes_of_token(8, 2, nodes, nodes, most);
    const auto block = static_cast<std::uint64_t>(std::ceil(seq * each * token / nodes));
    std::map<std::string, std::uint64_t> expected;
    if (nodes > 1) expected["ep_internode"] = dp * calls * block * (nodes - 1);
    if (node > 1) expected["ep_intranode"] = dp * calls * (seq * 2 * token / node) * (node - 1);
    CHECK(crossing(graph) == expected);
    CHECK(check(graph).clean());
    if (i % 5 == 0) {
      for (const std::uint64_t eager : {std::uint64_t{0}, std::uint64_t{1} << 40}) {
        CHECK(sim::LogGopsRun(graph, {.S = eager}).replay.complete());
      }
    }
  }
}

TEST_CASE("by nodes: who sends to whom") {
  // Two groups of eight ranks in nodes of four.
  const Graph graph =
      traffic("llm:model=mixtral_8x7b,dp=16,ep=8,seq=64,expert_nodes=2,node_ranks=4,expert_pieces=1", 16);
  std::map<std::string, std::vector<Rank>> groups;
  for (const Communicator& comm : graph.communicators()) groups[comm.name] = comm.ranks;
  CHECK(groups.at("ep_intranode 0") == std::vector<Rank>{0, 1, 2, 3});
  CHECK(groups.at("ep_intranode 3") == std::vector<Rank>{12, 13, 14, 15});
  CHECK(groups.at("ep_internode 0") == std::vector<Rank>{0, 4});
  CHECK(groups.at("ep_internode 7") == std::vector<Rank>{11, 15});
  CHECK(!groups.contains("ep 0"));
  // Both are axes, whose bytes and waiting are told apart.
  CHECK(axis_of("ep_internode 7") == "ep_internode");
}

TEST_CASE("by nodes: one that has all of ep sends as without") {
  const std::string text = "llm:model=mixtral_8x7b,ep=8,seq=64";
  CHECK(crossing(traffic(text + ",expert_nodes=2,node_ranks=8", 8)) == crossing(traffic(text, 8)));
  CHECK(crossing(traffic(text + ",expert_nodes=2,node_ranks=16", 8)) == crossing(traffic(text, 8)));
}

TEST_CASE("by nodes: DeepSeek-V3's limit is its default, where ep spans several nodes") {
  const std::string text = "llm:model=deepseek_v3,pp=16,dp=64,ep=64,micro_batches=1,seq=512";
  const auto limited = crossing(traffic(text, 1024));
  CHECK(limited == crossing(traffic(text + ",expert_nodes=4", 1024)));
  // 58 layers, 7,168 values of 2 bytes, 4 times; 3.9831 of 8 nodes.
  const double sum = 64.0 * 58 * 4 * 512 * 7168 * 2 * nodes_of_token(256, 8, 8, 8, 4) * 7 / 8;
  CHECK(static_cast<double>(limited.at("ep_internode")) == Approx(sum).epsilon(1e-6));
  const auto alone = crossing(traffic(text + ",expert_nodes=0", 1024));
  CHECK(alone.at("ep") == 64ull * 58 * 4 * (512 * 8 * 7168 * 2 / 64) * 63);
  CHECK(alone.size() == 1);
  // Kimi K2 has no groups.
  CHECK(crossing(traffic("llm:model=kimi_k2,dp=16,ep=16,micro_batches=1,seq=128", 16)).contains("ep"));
}

TEST_CASE("by nodes: a piece is forwarded while the next one crosses") {
  // Where only latency takes time, P pieces of P + 1 all-to-alls in turn: P - 1 more than one piece. 32
  // layers, four times.
  const auto end = [](int pieces) {
    const std::string text = fmt::format(
        "llm:model=mixtral_8x7b,tp=8,ep=8,seq=64,expert_nodes=2,node_ranks=4,expert_pieces={}", pieces);
    const Graph graph = traffic(text, 8);
    const sim::Times all =
        sim::LogGopsRun(graph, {.L = 1'000'000'000, .o = 0, .g = 0, .G = 0, .S = 1u << 30}).finish();
    return *std::max_element(all.begin(), all.end());
  };
  const std::int64_t one = end(1), two = end(2);
  CHECK(two > one);
  CHECK(end(4) - one == 3 * (two - one));
  CHECK(static_cast<double>(two - one) == Approx(128 * 1e9).epsilon(0.01));
}

TEST_CASE("by nodes: what is taken by default is told, and why it is not") {
  const auto told = [](const std::string& text, std::uint32_t ranks, const char* what) {
    const ModuleChoice choice = parse_module_choice("llm:" + text);
    const Workload& workload = find_module(workloads(), choice, "traffic pattern");
    const std::vector<std::string> all = workload.remarks(Parameters(workload.info, choice), ranks);
    return std::ranges::any_of(all,
                               [&](const std::string& one) { return one.find(what) != std::string::npos; });
  };
  CHECK(told("model=deepseek_v3,ep=64", 64,
             "4 of 8 groups, as deepseek_v3 was trained, and goes once to each of "
             "3.98 of 8 nodes of 8 ranks"));
  CHECK(told("model=deepseek_v3,ep=64,node_ranks=72", 64, "on its own, though"));
  CHECK(told("model=deepseek_v3,ep=64,node_ranks=72", 64, "64 would do"));
  CHECK(told("model=deepseek_v3,ep=64,expert_skew=1", 64, "on its own, though"));
  CHECK(told("model=mixtral_8x7b,ep=8,expert_nodes=2,node_ranks=4", 8, "once to each of 1.57 of 2 nodes"));
  CHECK(told("model=mixtral_8x7b,ep=8,expert_nodes=2", 8, "changes nothing"));
  for (const char* text :
       {"model=deepseek_v3,ep=8", "model=kimi_k2,ep=64", "model=deepseek_v3,ep=64,expert_nodes=0"}) {
    CHECK(!told(text, 64, "node"));
    CHECK(!told(text, 64, "on its own"));
  }
}

TEST_CASE("by nodes: what doesn't fit") {
  const std::string text = "llm:model=mixtral_8x7b,ep=8,";
  const auto says = [&](const std::string& more, const char* what) {
    INFO(more);
    CHECK(refusal(text + more, 8).find(what) != std::string::npos);
  };
  says("expert_nodes=2,node_ranks=3", "it must divide ep, 8");
  says("expert_nodes=2,node_ranks=12", "8 would do");
  says("expert_nodes=1,node_ranks=1", "1 nodes have 1 experts, and a token takes 2: 2 would do");
  says("expert_nodes=2,node_ranks=4,expert_skew=1", "all experts get as many");
  says("expert_nodes=2,expert_pieces=0", "expert_pieces");
  CHECK(refusal("llm:model=llama3_8b,expert_nodes=2", 8).find("no experts") != std::string::npos);
  CHECK(refusal("llm:model=mixtral_8x7b,pp=2,ep=8,expert_nodes=2,node_ranks=4,order=llama3", 16)
            .find("must divide tp · cp") != std::string::npos);
}
