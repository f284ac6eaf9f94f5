// Data parallelism in shard groups (HSDP), and ZeRO-2: who divides what with whom, and what a device holds.
#include <fmt/core.h>

#include <map>

#include "goal/workload/llm/llm.h"
#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;
using namespace weft::goal::llm;

namespace {

std::vector<Rank> members(const Graph& graph, const std::string& name) {
  for (const Communicator& communicator : graph.communicators()) {
    if (communicator.name == name) return communicator.ranks;
  }
  return {};
}

// Bytes of a kind of collective on an axis, of all ranks.
std::uint64_t bytes(const Graph& graph, const std::string& axis, CollectiveKind kind) {
  std::uint64_t sum = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) != OpKind::kCollective || rank.collective(i).kind != kind) continue;
      if (graph.communicators()[rank.collective(i).comm].name.starts_with(axis + " ")) {
        sum += rank.collective(i).bytes;
      }
    }
  }
  return sum;
}

Training training(const std::string& text, std::uint32_t ranks) {
  const Workload& workload = find_module(workloads(), parse_module_choice("llm"), "traffic pattern");
  return training_of(Parameters(workload.info, parse_module_choice("llm:" + text)), ranks);
}

std::string told(const std::string& text, std::uint32_t ranks) {
  const Workload& workload = find_module(workloads(), parse_module_choice("llm"), "traffic pattern");
  std::string all;
  for (const std::string& sentence :
       workload.remarks(Parameters(workload.info, parse_module_choice("llm:" + text)), ranks)) {
    all += sentence + "\n";
  }
  return all;
}

constexpr double kLlama8 = 8030261248.0;

}  // namespace

TEST_CASE("shard groups: neighbors divide weights, and those with the same part add up gradients") {
  const Graph graph = traffic("llm:model=tiny,seq=128,tp=2,dp=8,sharding=fsdp,dp_shard=4", 16);
  CHECK(members(graph, "dp 0") == std::vector<Rank>{0, 2, 4, 6});
  CHECK(members(graph, "dp 1") == std::vector<Rank>{1, 3, 5, 7});
  CHECK(members(graph, "dp 2") == std::vector<Rank>{8, 10, 12, 14});
  CHECK(members(graph, "dp_replicate 0") == std::vector<Rank>{0, 8});
  CHECK(members(graph, "dp_replicate 7") == std::vector<Rank>{7, 15});
  CHECK(check(graph).clean());
  // All of cp divide them together, as torchtitan's dp_shard_cp.
  const Graph context = traffic("llm:model=tiny,seq=128,cp=2,dp=4,sharding=zero1,dp_replicate=2", 8);
  CHECK(members(context, "dp 0") == std::vector<Rank>{0, 1, 2, 3});
  CHECK(members(context, "dp_replicate 1") == std::vector<Rank>{1, 5});
}

TEST_CASE("shard groups: one number says the other, and both say dp") {
  const std::string all = "llm:model=tiny,seq=128,sharding=fsdp,";
  const auto ops = [&](const std::string& more) { return traffic(all + more, 8).ops(); };
  CHECK(ops("dp=8,dp_shard=4") == ops("dp=8,dp_replicate=2"));
  CHECK(ops("dp_shard=4") == ops("dp_replicate=2"));
  CHECK(ops("dp_shard=8") == ops("dp=8"));
  CHECK(ops("dp_shard=4") != ops("dp=8"));
  const Workload& workload = find_module(workloads(), parse_module_choice("llm"), "traffic pattern");
  const auto own = [&](const std::string& more) {
    return workload.own_ranks(Parameters(workload.info, parse_module_choice(all + more)));
  };
  CHECK(own("tp=2,dp_shard=4,dp_replicate=3") == 24);
  CHECK(own("tp=2,dp_shard=4") == 0);
}

TEST_CASE("shard groups: sharding=hsdp takes those of a node, and tells it") {
  const std::string small = "model=tiny,seq=128,", hsdp = small + "sharding=hsdp,";
  CHECK(training(hsdp + "dp=32", 32).layout.replicas == 4);
  CHECK(training(hsdp + "dp=32,node_ranks=4", 32).layout.replicas == 8);
  CHECK(training(hsdp + "tp=2,cp=2,dp=8", 32).layout.replicas == 4);  // two of dp in a node
  CHECK(training(hsdp + "dp=32,dp_shard=16", 32).layout.replicas == 2);
  CHECK_THAT(told(hsdp + "dp=32", 32), Catch::Contains("the 8 ranks of dp · cp in a node of 8 ranks") &&
                                           Catch::Contains("in 4 groups"));
  CHECK_THAT(told(hsdp + "dp=8", 8), Catch::Contains("of all 8 ranks of dp · cp, is fsdp"));
  CHECK_THAT(refusal("llm:model=llama3_8b,sharding=hsdp,tp=8,dp=4", 32),
             Catch::Contains("dp_shard says other"));
}

TEST_CASE("groups that lie on two nodes, and have room on one, are told") {
  // Nodes of 6: ranks 4 to 7 are on two.
  CHECK_THAT(told("model=tiny,seq=128,tp=4,dp=3,node_ranks=6", 12),
             Catch::Contains("1 of 3 groups of tp=4 lie on two nodes of 6 ranks"));
  CHECK_THAT(told("model=mixtral_8x7b,dp=12,ep=4,node_ranks=6", 12),
             Catch::Contains("1 of 3 groups of ep=4 lie on two nodes of 6 ranks"));
  for (const std::string fits :
       {"tp=4,dp=3", "tp=4,dp=3,node_ranks=8", "tp=4,dp=3,node_ranks=3", "dp=12,node_ranks=6"}) {
    CHECK(told("model=tiny,seq=128," + fits, 12).find("lie on two nodes") == std::string::npos);
  }
}

TEST_CASE("shard groups: a device holds its part of a group's weights") {
  // Llama 3 8B has 8.03e9 parameters: 2 bytes each and 4 of a gradient, 12 of the optimizer. Two layers are
  // whole.
  const double layer = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336 + 2.0 * 4096;
  const auto memory = [](const std::string& more) {
    return device_memory(training("model=llama3_8b,dp=64," + more, 64), 0);
  };
  const DeviceMemory groups = memory("sharding=fsdp,dp_shard=8"), all = memory("sharding=fsdp");
  CHECK(groups.optimizer == Approx(12 * kLlama8 / 8));
  CHECK(groups.gradients == Approx(4 * kLlama8 / 8));
  CHECK(groups.weights == Approx(2 * kLlama8 / 8 + 2 * 2 * layer));
  CHECK(all.optimizer == Approx(12 * kLlama8 / 64));
  const DeviceMemory first = memory("sharding=zero1,dp_replicate=4"), second = memory("sharding=zero2");
  CHECK(first.weights == Approx(2 * kLlama8));
  CHECK(first.gradients == Approx(4 * kLlama8));
  CHECK(first.optimizer == Approx(12 * kLlama8 / 16));
  CHECK(second.weights == Approx(2 * kLlama8));
  CHECK(second.gradients == Approx(4 * kLlama8 / 64));
}

TEST_CASE("shard groups: experts are all in each, and their gradients are added up too") {
  // Mixtral's 32 layers have 8 experts of 3 · 4,096 · 14,336; each is on two ranks of a group of eight.
  const Graph graph = traffic("llm:model=mixtral_8x7b,ep=4,dp=16,sharding=fsdp,dp_shard=8,seq=512", 16);
  const std::uint64_t experts = 32ull * 8 * 3 * 4096 * 14336, parameters = 46'702'792'704;
  CHECK(bytes(graph, "edp", CollectiveKind::kReduceScatter) == 2 * 4 * experts);
  CHECK(bytes(graph, "edp", CollectiveKind::kAllgather) == 2 * 2 * 2 * experts);
  CHECK(bytes(graph, "dp", CollectiveKind::kReduceScatter) == 2 * 4 * (parameters - experts));
  CHECK(bytes(graph, "dp_replicate", CollectiveKind::kAllreduce) == 2 * 4 * parameters);
  CHECK(members(graph, "edp 0") == std::vector<Rank>{0, 4});
  CHECK(check(graph).clean());
  // With as many ranks as divide the experts in a group each part is whole there, and is added up as it is.
  const Graph alone = traffic("llm:model=mixtral_8x7b,ep=8,dp=16,sharding=fsdp,dp_shard=8,seq=512", 16);
  CHECK(bytes(alone, "edp", CollectiveKind::kReduceScatter) == 0);
  CHECK(bytes(alone, "dp_replicate", CollectiveKind::kAllreduce) == 2 * 4 * parameters);
}

TEST_CASE("shard groups that don't fit are refused, with what would") {
  const auto says = [](const std::string& text, std::uint32_t ranks, const char* part) {
    INFO(text);
    CHECK_THAT(refusal("llm:model=tiny,seq=128," + text, ranks), Catch::Contains(part));
  };
  says("sharding=none,dp_shard=2", 4, "zero1, zero2, fsdp or hsdp");
  says("dp_shard=3", 8, "must divide dp, 8: 2 would do");
  says("dp_replicate=3", 8, "must divide dp, 8: 2 would do");
  says("dp=8,dp_shard=4,dp_replicate=4", 8, "2 would do");
  says("dp_shard=1", 8, "sharding=none");
  says("dp_shard=2,inner_steps=2,iterations=2", 4, "without dp_shard");
  says("sharding=zero2,pp=2", 4, "zero1 or fsdp would do");
  says("sharding=zero2,dp_overlap=none", 4, "all or gradients");
  CHECK_THAT(refusal("llm:model=mixtral_8x7b,seq=128,ep=8,dp=16,dp_shard=4", 16),
             Catch::Contains("4 would do"));
}

TEST_CASE("parameters that say nothing about a layout are told") {
  const auto tells = [](const std::string& text, std::uint32_t ranks, const char* part) {
    INFO(text);
    CHECK_THAT(told("model=tiny,seq=128," + text, ranks), Catch::Contains(part));
  };
  tells("cp_exchange=gather", 2, "nothing changes by cp_exchange=gather:");
  tells("order=llama3,pp=2", 2, "nothing changes by order=llama3:");
  tells("order=llama3,expert_pieces=2", 2, "nothing changes by order=llama3, expert_pieces=2:");
  tells("sharding=none,dp_overlap=none", 1, "nothing changes by sharding=none, dp_overlap=none:");
  tells("sharding=none,dp_overlap=gradients", 2, "nothing changes by dp_overlap=gradients:");
  for (const char* text :
       {"cp=2,cp_exchange=gather", "pp=2,dp=2,order=llama3", "sharding=none,dp_overlap=none",
        "dp=4,sharding=hsdp,node_ranks=2", "sharding=zero2"}) {
    INFO(text);
    CHECK_THAT(told(std::string("model=tiny,seq=128,") + text, 4), !Catch::Contains("nothing changes by"));
  }
}
