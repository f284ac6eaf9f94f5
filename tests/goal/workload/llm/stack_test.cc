// Whose kernels compute: which are taken, and how long published steps take with them.
#include <fmt/core.h>

#include <fstream>

#include "goal/workload/llm/passes.h"
#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Seconds that the first of eight ranks computes in a step.
double seconds(const std::string& text) {
  const Graph graph = traffic("llm:dp=8," + text, 8);
  double sum = 0;
  const RankView rank = graph.rank(0);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCalc) sum += static_cast<double>(rank.value(i));
  }
  return sum * 1e-9;
}

std::string told(const std::string& text) {
  const Workload& workload = find_module(workloads(), parse_module_choice("llm"), "traffic pattern");
  std::string all;
  for (const std::string& sentence :
       workload.remarks(Parameters(workload.info, parse_module_choice("llm:dp=8," + text)), 8))
    all += sentence + "\n";
  return all;
}

// Rows of torchtitan's and of Trainy's tables for Llama 3 8B: tokens a second and GPU.
struct Row {
  std::string text;
  double sequence, micro_batch, tokens;
};

}  // namespace

TEST_CASE("stack: torchtitan's steps of Llama 3 8B, eager and compiled, in 16 and 8 bits") {
  const std::string h100 = "model=llama3_8b,device=h100,sharding=fsdp,recompute=selective,micro_batch=2";
  const Row rows[] = {
      // The efficiency of an h100 is fitted to the first three, that of an h200 to the row of 32 GPUs.
      {h100, 8192, 2, 5762},
      {h100 + ",stack=torch_compile", 8192, 2, 6667},
      {h100 + ",precision=fp8", 8192, 2, 8532},
      {"model=llama3_8b,device=h100,sharding=fsdp,recompute=full,seq=32768,precision=fp8", 32768, 1, 3890},
      {"model=llama3_8b,device=h200,sharding=fsdp,recompute=selective,micro_batch=2,precision=fp8", 8192, 2,
       10938},
      // Nothing is fitted on an a100 (64 GPUs).
      {"model=llama3_8b,device=a100,sharding=fsdp,recompute=selective", 8192, 1, 2973},
      {"model=llama2_13b,device=a100,sharding=fsdp,micro_batch=2", 4096, 2, 2162},
      {"model=llama2_13b,device=a100,sharding=fsdp,micro_batch=2,recompute=selective", 4096, 2, 1904},
      {"model=llama2_70b,device=a100,sharding=fsdp,micro_batch=2,recompute=full", 4096, 2, 353},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const double published = row.sequence * row.micro_batch / row.tokens;
    CHECK(seconds(row.text) == Approx(published).epsilon(0.07));
    if (row.text.find("stack=") != std::string::npos) continue;
    CHECK(seconds(row.text + ",stack=transformer_engine") < 0.95 * published);
  }
}

TEST_CASE("stack: what is taken with sharding=fsdp, and told of it") {
  const auto same = [](const std::string& text, const std::string& stack) {
    CAPTURE(text);
    CHECK(seconds(text) == seconds(text + ",stack=" + stack));
    CHECK(told(text + ",stack=" + stack).find("sharding=fsdp on") == std::string::npos);
  };
  for (const std::string device : {"a100", "h100", "h800", "h200", "gh200"}) {
    const std::string text = "model=tiny,sharding=fsdp,device=" + device;
    same(text, "pytorch");
    same(text, "torchtitan");
    CHECK_THAT(told(text), Catch::Contains("stack=torch_compile"));
  }
  same("model=tiny,sharding=fsdp,device=h100,precision=fp8", "torch_compile");
  same("model=tiny,sharding=fsdp,device=h100,precision=fp8", "pytorch");
  CHECK_THAT(told("model=tiny,sharding=fsdp,device=h100,precision=fp8"),
             Catch::Contains("and torch.compile"));
  // NVIDIA's rows: no fsdp, or on Blackwell.
  same("model=tiny,device=h100", "nemo");
  same("model=tiny,sharding=fsdp,device=gb200", "megatron");
  CHECK_THAT(told("model=tiny,sharding=fsdp,device=gb200"), Catch::Contains("stack=pytorch"));
  same("model=mpt_125m,sharding=fsdp,device=h100", "llm_foundry");
  CHECK(told("model=mpt_125m,sharding=fsdp,device=h100").find("sharding=fsdp on") == std::string::npos);
}

TEST_CASE("stack: bytes of operators that PyTorch has apart") {
  llm::Training training;
  training.model.gated = true;
  training.model.heads = 32;
  training.model.kv_heads = 8;
  training.stack = llm::Stack::kPyTorch;
  const llm::Passes apart = llm::passes_of(training);
  // Read and written of a value in 2 bytes: to fp32 2+4, square 4+4, mean 4, product 4+4, back 4+2, weights
  // 2+2.
  CHECK(apart.norm == 36);
  // Weights 2+2, their own 4+2 and sum 2; to fp32 2+4; of the product 4+4, 8+4 and sum 4; of the mean 4; of
  // the square 4+4, 4+4, 8+4; both ways added 8+4; back 4+2.
  CHECK(apart.norm_backward == 92);
  CHECK(apart.rotary == (2 + 4) + (4 + 4) + (4 + 2));
  CHECK(apart.activation == (2 + 2) + (2 + 2 + 2));
  CHECK(apart.activation_backward == 2 * (2 + 2 + 2) + (2 + 2 + 2));
  training.stack = llm::Stack::kTorchCompile;
  const llm::Passes fused = llm::passes_of(training);
  CHECK(fused.norm == 4);
  CHECK(fused.rotary == apart.rotary);
  CHECK(fused.sum == 0);
  training.stack = llm::Stack::kTransformerEngine;
  CHECK(llm::passes_of(training).rotary == 0);
  CHECK(llm::passes_of(training).loss == 8);
}

TEST_CASE("stack: of others' arguments") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/titan.toml";
  const std::string text = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\n";
  const std::string other = ",device=h100,seq=8192,model=llama3_8b";
  std::ofstream(path) << text;
  CHECK(seconds("from_args=" + path + other) ==
        seconds("sharding=fsdp,micro_batch=2,recompute=selective,stack=pytorch" + other));
  std::ofstream(path) << text << "compile = true\n";
  CHECK(seconds("from_args=" + path + other) ==
        seconds("sharding=fsdp,micro_batch=2,recompute=selective,stack=torch_compile" + other));
  std::ofstream(path) << text << "[compile]\nenable = true\n";
  CHECK(seconds("from_args=" + path + other) ==
        seconds("sharding=fsdp,micro_batch=2,recompute=selective,stack=torch_compile" + other));
}
