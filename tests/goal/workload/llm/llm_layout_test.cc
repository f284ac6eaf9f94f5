// Layouts: every rank has one place, and groups are what the frameworks make of them.
#include <fmt/core.h>

#include <set>

#include "goal/workload/llm/layout.h"
#include "goal/workload/llm/training.h"
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

constexpr const char* kTiny = "llm:model=tiny,tp=2,cp=2,pp=2,dp=2,seq=128";

}  // namespace

TEST_CASE("places and ranks: one for each other, in both orders") {
  for (const RankOrder order : {RankOrder::kMegatron, RankOrder::kLlama3}) {
    Layout layout;
    layout.tensor = 2, layout.context = 3, layout.data = 4, layout.pipeline = 5, layout.expert = 6;
    layout.replicas = 2;
    layout.order = order;
    for (Rank rank = 0; rank < layout.ranks(); ++rank) CHECK(layout.rank(layout.place(rank)) == rank);
    // Each axis divides all ranks into groups of its size.
    for (const Axis axis : {Axis::kTensor, Axis::kContext, Axis::kExpert, Axis::kPipeline, Axis::kData,
                            Axis::kExpertData, Axis::kReplicas}) {
      std::vector<std::uint32_t> sizes(layout.groups(axis));
      for (Rank rank = 0; rank < layout.ranks(); ++rank) ++sizes.at(layout.group(axis, layout.place(rank)));
      CHECK(sizes == std::vector<std::uint32_t>(layout.groups(axis), layout.size(axis)));
    }
  }
}

TEST_CASE("groups of 16 ranks: Megatron's tp-cp-dp-pp and Llama 3's tp-cp-pp-dp") {
  const Graph megatron = traffic(kTiny, 16), llama = traffic(std::string(kTiny) + ",order=llama3", 16);
  CHECK(members(megatron, "tp 0") == std::vector<Rank>{0, 1});
  CHECK(members(megatron, "cp 0") == std::vector<Rank>{0, 2});
  CHECK(members(megatron, "dp 0") == std::vector<Rank>{0, 2, 4, 6});  // with context parallelism
  CHECK(members(megatron, "pp 0") == std::vector<Rank>{0, 8});
  CHECK(members(llama, "tp 0") == std::vector<Rank>{0, 1});
  CHECK(members(llama, "cp 0") == std::vector<Rank>{0, 2});
  CHECK(members(llama, "pp 0") == std::vector<Rank>{0, 4});
  CHECK(members(llama, "dp 0") == std::vector<Rank>{0, 2, 8, 10});
}

TEST_CASE("layouts that don't fit are refused, with what would") {
  const auto says = [](const char* text, std::uint32_t ranks, const char* part) {
    INFO(text);
    CHECK_THAT(refusal(text, ranks), Catch::Contains(part));
  };
  says("llm:model=tiny,tp=3", 3, "2 would do");
  says("llm:model=tiny,tp=2,pp=2", 6, "4 or 8 would do");
  says("llm:model=tiny,cp=2,attention=unfused,seq=128", 2, "with cp above 1 it is flash");
  says("llm:model=tiny,attention=flsh", 1, "flash");
  says("llm:model=tiny,pp=8", 8, "4 layers can't be divided among 8");
  says("llm:model=tiny,pp=7", 7, "6 is the most");
  says("llm:model=tiny,dp=3", 4, "it is 4");
  says("llm:model=tiny,ep=2", 4, "has no experts");
  says("llm:model=mixtral_8x7b,ep=3", 3, "2 would do");
  says("llm:model=mixtral_8x7b,ep=8", 4, "4 would do");
  says("llm:model=mixtral_8x7b,tp=2,sp=false", 2, "tokens of its own");
  says("llm:model=tiny,sp=true", 1, "nothing to divide by");
  says("llm:model=tiny,vp=2", 1, "pp is 1");
  says("llm:model=tiny,pp=2,vp=2,micro_batches=3", 2, "4 would do");
  says("llm:model=tiny,global_batch=6,dp=4", 4, "8 would do");
  says("llm:model=tiny,cp=2,seq=130", 2, "132 would do");
  says("llm:model=tiny,pp=2,vp=2,schedule=gpipe", 2, "it is interleaved");
  says("llm:model=tiny,schedule=zb1p", 1, "takes several stages, and pp is 1");
  says("llm:model=tiny,pp=2,vp=2,schedule=zb2p", 2, "leave vp out");
  says("llm:model=tiny,pp=2,vp=2,schedule=zbv", 2, "two parts of the model in each stage by itself");
  says("llm:model=tiny,pp=4,schedule=zbv", 4, "4 layers can't be divided among 8");
  says("llm:model=tiny,pp=2,recompute=full,schedule=zb1p", 2, "none or selective");
  says("llm:model=tiny,pp=3,schedule=dualpipe", 3, "2 or 4 would do");
  says("llm:model=tiny,pp=2,micro_batches=2,schedule=dualpipe", 2, "4 would do");
  says("llm:model=tiny,pp=2,micro_batches=5,schedule=dualpipe", 2, "6 would do");
  says("llm:model=tiny,pp=2,dp=2,sharding=fsdp,schedule=dualpipe", 4, "none or zero1");
  says("llm:model=tiny,pp=2,schedule=zb1", 2, "zb1p");
  says("llm:model=tinny", 1, "did you mean 'tiny'");
}

TEST_CASE(
    "parts of a pipeline: together all layers in order, and the ends may have embedding or head alone") {
  const auto layers = [](const char* name, std::uint32_t chunks) {
    const ModelShape model = find_model(name);
    std::vector<std::uint32_t> all;
    std::uint32_t next = 0;
    for (std::uint32_t n = 0; n < chunks; ++n) {
      const Chunk chunk = chunk_of(model, chunks, n);
      CHECK(chunk.embedding == (n == 0));
      CHECK(chunk.head == (n + 1 == chunks));
      if (chunk.layers > 0) CHECK(chunk.first == next);
      next += chunk.layers;
      all.push_back(chunk.layers);
    }
    CHECK(next == model.layers);
    return all;
  };
  // As Megatron-Bridge's recipes have them: pp=16,vp=8 and pp=8,vp=4.
  std::vector<std::uint32_t> llama(128, 1), deepseek(32, 2);
  llama.front() = llama.back() = deepseek.back() = 0;
  deepseek.front() = 1;
  CHECK(layers("llama3_405b", 128) == llama);
  CHECK(layers("deepseek_v3", 32) == deepseek);
  CHECK(layers("tiny", 5) == std::vector<std::uint32_t>{1, 1, 1, 1, 0});
  CHECK(layers("tiny", 4) == std::vector<std::uint32_t>{1, 1, 1, 1});
  ModelShape bare = find_model("tiny");
  bare.vocab = 0;
  CHECK(chunk_of(bare, 3, 0).layers == 2);
  CHECK(chunk_of(bare, 3, 2).layers == 1);
  CHECK(layers("tiny", 3) == std::vector<std::uint32_t>{1, 2, 1});
}

TEST_CASE("parts of a pipeline: embedding or head alone goes with schedules, sharding and recomputation") {
  for (const char* more :
       {"pp=6", "pp=5", "pp=3,vp=2", "pp=6,schedule=gpipe", "pp=6,schedule=zb1p", "pp=6,schedule=zb2p",
        "pp=3,schedule=zbv", "pp=6,schedule=dualpipe", "pp=6,sharding=fsdp,recompute=full",
        "pp=3,vp=2,sharding=fsdp", "pp=6,dp_overlap=none", "pp=6,inner_steps=2,iterations=2"}) {
    const std::string text = std::string("llm:model=tiny,tp=2,dp=2,micro_batches=12,") + more;
    INFO(text);
    const Workload& workload = find_module(workloads(), parse_module_choice("llm"), "traffic pattern");
    const Parameters parameters(workload.info, parse_module_choice(text));
    const std::uint32_t ranks = workload.own_ranks(parameters);
    CHECK(check(traffic(text, ranks)).clean());
    std::string told;
    for (const std::string& remark : workload.remarks(parameters, ranks)) told += remark + "\n";
    CHECK_THAT(told, Catch::Contains("(the head alone)"));
  }
}
