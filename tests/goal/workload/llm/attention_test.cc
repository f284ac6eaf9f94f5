// Which kernel attention has, and that published steps grow with the sequence as here.
#include <fmt/core.h>

#include <fstream>

#include "goal/workload/compute/device.h"
#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

// Nanoseconds that a rank computes for each token of a micro-batch.
double of_token(const std::string& text, std::uint32_t sequence, std::uint32_t micro_batch) {
  const Graph graph = traffic(
      fmt::format("{},seq={},micro_batch={},micro_batches=1,sharding=fsdp", text, sequence, micro_batch), 1);
  double sum = 0;
  const RankView rank = graph.rank(0);
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) == OpKind::kCalc) sum += static_cast<double>(rank.value(i));
  }
  return sum / (double{1} * sequence * micro_batch);
}

std::string told(const std::string& text) {
  const Workload& workload = find_module(workloads(), parse_module_choice("llm"), "traffic pattern");
  std::string all;
  for (const std::string& sentence :
       workload.remarks(Parameters(workload.info, parse_module_choice(text)), 1))
    all += sentence + "\n";
  return all;
}

// Two rows of llm-foundry's table for eight GPUs: sequences, micro-batches, and tokens a second and GPU.
struct Growth {
  std::string model, device, recompute;
  std::uint32_t sequence, micro_batch, longer, fewer;
  double tokens, tokens_of_longer;
  double published_ns() const { return 1e9 / tokens_of_longer - 1e9 / tokens; }
  double here_ns(const std::string& more) const {
    const std::string text =
        fmt::format("llm:model={},device={},recompute={}{}", model, device, recompute, more);
    return of_token(text, longer, fewer) - of_token(text, sequence, micro_batch);
  }
};

}  // namespace

TEST_CASE("attention: MPTs' time for a token grows with the sequence as published") {
  const Growth all[] = {
      // The shares are fitted to the first four; heads of the last three have 128, 64 and 64 elements.
      {"mpt_1b", "h100", "none", 512, 56, 32768, 1, 52275, 12025},
      {"mpt_13b", "h100", "full", 1024, 40, 32768, 1, 5502, 1976},
      {"mpt_3b", "a100", "none", 1024, 20, 16384, 1, 11580, 5529},
      {"mpt_7b", "a100", "full", 4096, 16, 32768, 2, 3684, 1672},
      {"mpt_760m", "h100", "none", 4096, 12, 8192, 6, 55459, 41825},
      {"mpt_350m", "a100", "none", 16384, 4, 65536, 1, 23559, 7524},
      {"mpt_125m", "a100", "none", 4096, 16, 32768, 2, 118396, 36407},
  };
  for (const Growth& growth : all) {
    INFO(growth.model << " on " << growth.device << ", " << growth.sequence << " to " << growth.longer);
    CHECK(growth.here_ns("") == Approx(growth.published_ns()).epsilon(0.1));
    CHECK(growth.here_ns(",attention=flash") < 0.85 * growth.published_ns());
  }
}

TEST_CASE("attention: which kernel is taken, and what is told of it") {
  const auto same = [](const std::string& text, const std::string& kernel) {
    CAPTURE(text);
    CHECK(of_token(text, 4096, 1) == of_token(text + ",attention=" + kernel, 4096, 1));
    CHECK(told(text + ",attention=" + kernel).find("attention") == std::string::npos);
  };
  for (const std::string device : {"a100", "a100_40gb", "h100", "h800", "h200", "gh200"}) {
    same("llm:model=mpt_1b,device=" + device, "triton");
    CHECK(told("llm:model=mpt_1b,device=" + device).find("Triton's of 2022") != std::string::npos);
  }
  for (const std::string device : {"b200", "mi300x"}) {
    same("llm:model=mpt_1b,device=" + device, "flash");
    CHECK(told("llm:model=mpt_1b,device=" + device).find("is taken to be flash") != std::string::npos);
    CHECK_THAT(refusal("llm:model=mpt_1b,attention=triton,device=" + device, 1),
               Catch::Contains("not known"));
  }
  same("llm:model=gpt_1_7b,device=a100", "unfused");
  same("llm:model=gpt_1_7b,device=h100,stack=nemo", "flash");
  same("llm:model=llama3_8b,device=h100,stack=pytorch", "flash2");
  same("llm:model=llama3_8b,device=b200,stack=pytorch", "flash");
  CHECK_THAT(refusal("llm:model=llama3_8b,attention=flash2,device=b200", 1), Catch::Contains("not known"));
  CHECK(of_token("llm:model=llama3_8b,attention=triton", 8192, 1) > of_token("llm:model=llama3_8b", 8192, 1));
  CHECK(told("llm:model=llama3_8b").find("attention") == std::string::npos);
}

TEST_CASE("attention: models with sinks tell that published steps take longer") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/config.json";
  std::ofstream(path) << R"({"model_type": "gpt_oss", "num_hidden_layers": 24, "hidden_size": 2880,
    "intermediate_size": 2880, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
    "vocab_size": 201088, "num_local_experts": 32, "num_experts_per_tok": 4})";
  for (const std::string& model : {std::string("gpt_oss_120b"), path}) {
    CAPTURE(model);
    CHECK(told("llm:device=gb200,model=" + model).find("1.1 to 1.3 times as long") != std::string::npos);
    CHECK(told("llm:device=gb200,attention=unfused,model=" + model).find("times as long") ==
          std::string::npos);
  }
  for (const std::string model : {"qwen3_30b_a3b", "mixtral_8x7b", "deepseek_v3"}) {
    CHECK(told("llm:device=gb200,model=" + model).find("times as long") == std::string::npos);
  }
}

// On paper: forward the scores pass through memory 4 times, backward 7 times; products beside that take less
// than fused attention does, by a quarter of those passes at most.
TEST_CASE("attention: unfused, GPT-OSS's scores pass through memory 11 times") {
  const double scores = 64.0 * 4096 * 4096 * 2;  // bytes of a layer
  for (const std::string device : {"h100", "gb200"}) {
    const std::string text = "llm:model=gpt_oss_120b,efficiency=1,device=" + device;
    const double more = of_token(text + ",attention=unfused", 4096, 1) - of_token(text, 4096, 1);
    const double passes = 11 * find_device(device).memory_ns(scores);
    CHECK(more * 4096 / 36 < passes);
    CHECK(more * 4096 / 36 > 0.75 * passes);
  }
}

TEST_CASE("attention: a file of measurements has the kernel that was measured") {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/slow.csv";
  std::ofstream(path) << "# like h100\nop,m,n,k,precision,us\nattention_forward,32,8192,128,bf16,3000\n"
                         "attention_backward,32,8192,128,bf16,9000\n";
  const std::string text = "llm:model=mpt_7b,device=" + path;
  CHECK(told(text).find("attention") == std::string::npos);
  CHECK(find_device(path).attention_ns({1, 32, 32, 8192, 8192, 128, 8192.0 * 8193 / 2}) == Approx(3e6));
}
