// Layouts: every rank has one place, and groups are what the frameworks make of them.
#include <fmt/core.h>

#include <set>

#include "goal/workload/llm/layout.h"
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
    layout.order = order;
    for (Rank rank = 0; rank < layout.ranks(); ++rank) CHECK(layout.rank(layout.place(rank)) == rank);
    // Each axis divides all ranks into groups of its size.
    for (const Axis axis :
         {Axis::kTensor, Axis::kContext, Axis::kExpert, Axis::kPipeline, Axis::kData, Axis::kExpertData}) {
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
