// Shapes of models against published sizes and closed forms.
#include "goal/workload/llm/model.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "goal/workload/compute/device.h"
#include "goal/workload/llm/training.h"
#include "sim/units/input_error.h"

using namespace weft;
using namespace weft::goal::llm;
using weft::goal::Precision;

namespace {

double billions(const char* model) { return static_cast<double>(parameters(find_model(model))) * 1e-9; }

Training gpt(const char* model, std::uint32_t tensor, std::uint32_t pipeline, std::uint32_t chunks) {
  Training training;
  training.model = find_model(model);
  training.sequence = 2048;
  training.layout.tensor = tensor;
  training.layout.pipeline = training.schedule.stages = pipeline;
  training.schedule.chunks = chunks;
  training.schedule.micro_batches = 8 * pipeline;
  training.sharding = Sharding::kNone;
  return training;
}

}  // namespace

TEST_CASE("parameters: as the makers say") {
  // The Llama 3 Herd of Models, and the files on Hugging Face.
  CHECK(parameters(find_model("llama3_8b")) == 8'030'261'248);
  CHECK(parameters(find_model("llama3_70b")) == 70'553'706'496);
  CHECK(parameters(find_model("llama3_405b")) == 405'853'388'800);
  CHECK(parameters(find_model("mixtral_8x7b")) == 46'702'792'704);
  CHECK(parameters(find_model("mixtral_8x22b")) == 140'620'634'112);
  CHECK(parameters(find_model("meta-llama/Llama-2-7b-hf")) == 6'738'415'616);
  CHECK(parameters(find_model("llama2_13b")) == 13'015'864'320);
  CHECK(parameters(find_model("meta-llama/Llama-2-70b-chat-hf")) == 68'976'648'192);
  // It has a norm behind the embedding.
  CHECK(parameters(find_model("bigscience/bloom")) + 2 * 14336 == 176'247'271'424);
  CHECK(billions("opt_175b") == Approx(174.6).margin(0.1));
  // DeepSeek-V3, 2024: 671 B, of which 37 B are active.
  CHECK(billions("deepseek_v3") == Approx(671).margin(0.5));
  CHECK(static_cast<double>(active_parameters(find_model("deepseek_v3"))) * 1e-9 == Approx(37).margin(1));
  CHECK(billions("qwen3_30b_a3b") == Approx(30.5).margin(0.1));
  CHECK(static_cast<double>(active_parameters(find_model("qwen3_30b_a3b"))) * 1e-9 ==
        Approx(3.3).margin(0.1));
  CHECK(billions("qwen3_235b_a22b") == Approx(235).margin(0.5));
  CHECK(billions("gpt_oss_120b") == Approx(116.8).margin(0.5));
  CHECK(billions("kimi_k2") == Approx(1026).margin(5));
  CHECK(billions("nemotron4_15b") == Approx(15.6).margin(0.1));
  CHECK(billions("nemotron4_340b") == Approx(341).margin(1));
  CHECK(billions("mpt_7b") == Approx(6.66).margin(0.01));
}

TEST_CASE("parameters: table 1 of Narayanan et al. 2021, and its closed form") {
  const std::map<const char*, double> published = {
      {"gpt_1_7b", 1.7},     {"gpt_3_6b", 3.6},      {"gpt_7_5b", 7.5},     {"gpt_18_4b", 18.4},
      {"gpt_39_1b", 39.1},   {"gpt_76_1b", 76.1},    {"gpt_145_6b", 145.6}, {"gpt_310_1b", 310.1},
      {"gpt_529_6b", 529.6}, {"gpt_1008_0b", 1008.0}};
  for (const auto& [name, size] : published) {
    INFO(name);
    CHECK(billions(name) == Approx(size).margin(0.051));
    const ModelShape model = find_model(name);
    const double l = model.layers, h = model.hidden, s = 2048, v = model.vocab;
    const double closed = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h));
    CHECK(static_cast<double>(parameters(model)) == Approx(closed + 2 * h).epsilon(1e-12));  // the last norm
    // Two more sequences of FLOPs backward than forward; all pairs of attention.
    const double flops = 72 * 3 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    CHECK(3 * forward_flops(model, 3, 2048, false) == Approx(flops).epsilon(1e-6));
  }
}

TEST_CASE("FLOPs: about 6 for each parameter and token") {
  for (const char* name : {"llama3_8b", "llama3_70b", "llama3_405b", "nemotron4_340b", "deepseek_v3"}) {
    INFO(name);
    const ModelShape model = find_model(name);
    const double active = static_cast<double>(active_parameters(model));
    const double table = static_cast<double>(embedding_parameters(model).all());  // looked up, not multiplied
    const double flops = 3 * forward_flops(model, 1, 16);
    CHECK(flops == Approx(6 * 16 * (active - table)).epsilon(0.002));
  }
  // Attention of Llama 3 8B with 8,192 tokens: 3 · 2 · s²/2 · 2h · layers.
  const ModelShape model = find_model("llama3_8b");
  const double scores = 3 * forward_flops(model, 1, 8192) - 3 * 512 * forward_flops(model, 1, 16);
  CHECK(scores == Approx(6.0 * 8192 * 4096 * 32 * (8192 - 16)).epsilon(1e-9));
}

TEST_CASE("memory: figure 1 of Korthikanti et al. 2022") {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  struct Row {
    const char* model;
    std::uint32_t pipeline, chunks;
    double none, both;  // activations in GiB: all kept; sequence parallel, with scores computed again
  };
  // Pipelines of their table 3: GPT-3 with 3 parts a stage, the 530 B model too.
  for (const Row& row : {Row{"gpt3_175b", 8, 3, 66.84, 12.35}, Row{"turing_530b", 35, 3, 114.0, 23.08},
                         Row{"megatron_1t", 64, 1, 131.25, 26.56}}) {
    INFO(row.model);
    Training training = gpt(row.model, 8, row.pipeline, row.chunks);
    // Micro-batches that the first stage keeps: all layers, and (p-1)/(p·v) of them once more if interleaved.
    const double more = row.chunks > 1 ? (row.pipeline - 1.0) / (row.pipeline * row.chunks) : 0;
    const double layers = training.model.layers * (1 + more);
    CHECK(layers * layer_activations(training, 0, true) / kGib == Approx(row.none).epsilon(0.03));
    training.sequence_parallel = true;
    CHECK(layers * layer_activations(training, 0) / kGib == Approx(row.both).epsilon(0.03));
    // sbh(34) / t bytes.
    CHECK(layer_activations(training, 0) == Approx(34.0 * 2048 * training.model.hidden / 8));
  }
}

TEST_CASE("memory: weights and optimizer of GPT-3 on 64 devices, 45.6 GiB") {
  const DeviceMemory memory = device_memory(gpt("gpt3_175b", 8, 8, 1), 3);
  CHECK((memory.weights + memory.gradients + memory.optimizer) / (1 << 30) == Approx(45.6).epsilon(0.02));
}

TEST_CASE("memory: logits and what else the ends of the model keep, section 4.3 of Korthikanti et al. 2022") {
  // 22 B on 8 devices, four sequences: sbh(34L + 1 + 4(1 + v/h)) / t bytes.
  Training training = gpt("megatron_22b", 8, 1, 1);
  training.sequence_parallel = true;
  training.micro_batch = 4;
  const double h = training.model.hidden, v = training.model.vocab, sbh = 2048 * 4 * h;
  CHECK(device_memory(training, 0).activations == Approx(sbh * (34 * 48 + 1 + 4 * (1 + v / h)) / 8));
  CHECK(device_memory(training, 0).activations / (1 << 30) == Approx(9.56).epsilon(0.1));  // their figure 1
  // Logits are gone before a layer is computed anew.
  training.recompute = Recompute::kFull;
  const double layers = sbh * (2 * 48 + 1) / 8;
  CHECK(device_memory(training, 0).activations ==
        Approx(layers + std::max(layer_activations(training, 0), sbh * 4 * (1 + v / h) / 8)));
  training.recompute = Recompute::kNone;
  // On two stages the last one has them, of one micro-batch; the first one keeps two.
  training = gpt("megatron_22b", 8, 2, 1);
  training.sequence_parallel = true;
  CHECK(device_memory(training, 1).activations == Approx(sbh / 4 * (34 * 24 + 4 * (1 + v / h)) / 8));
  CHECK(device_memory(training, 0).activations == Approx(2 * sbh / 4 * (34 * 24 + 1) / 8));
}

TEST_CASE("memory: 4 bytes of all with fp32, and no second copy of the weights") {
  Training training = gpt("mpt_7b", 2, 1, 1);  // without dropout
  training.model.vocab = 0;
  const DeviceMemory narrow = device_memory(training, 0);
  training.precision = Precision::kFp32;
  const DeviceMemory wide = device_memory(training, 0);
  CHECK(wide.weights == 2 * narrow.weights);
  CHECK(wide.gradients == narrow.gradients);
  CHECK(wide.optimizer == Approx(narrow.optimizer * 8 / 12));
  CHECK(wide.activations == Approx(2 * narrow.activations));
}

TEST_CASE("memory: stages keep all weights and gradients with FSDP, and a part of the optimizer") {
  Training zero = gpt("gpt3_175b", 8, 8, 1);
  zero.layout.data = 4;
  zero.sharding = Sharding::kZero1;
  Training fsdp = zero;
  fsdp.sharding = Sharding::kFsdp;
  CHECK(device_memory(fsdp, 3).weights == device_memory(zero, 3).weights);
  CHECK(device_memory(fsdp, 3).gradients == device_memory(zero, 3).gradients);
  CHECK(device_memory(fsdp, 3).optimizer == device_memory(zero, 3).optimizer);
  // Alone, a stage has a quarter, and two layers beside it.
  fsdp.layout.pipeline = fsdp.schedule.stages = 1;
  const double all = 2 * 8 * static_cast<double>(stage_weights(zero, 3).dense);
  CHECK(device_memory(fsdp, 0).weights < 0.4 * all);
}

TEST_CASE("models by other names, and those that are unknown") {
  CHECK(find_model("Llama-3.1-8B").name == "llama3_8b");
  CHECK(find_model("LLAMA3.1_405B").name == "llama3_405b");
  CHECK(find_model("Qwen3_30B_a3B").name == "qwen3_30b_a3b");
  CHECK(find_model("GPT OSS 120B").name == "gpt_oss_120b");
  CHECK(find_model("DeepSeekV3").name == "deepseek_v3");
  for (const char* name :
       {"Meta-Llama-3-8B", "meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct"}) {
    CHECK(find_model(name).name == "llama3_8b");
  }
  CHECK(find_model("llama3.3_70b").name == "llama3_70b");
  for (const char* name :
       {"DeepSeek-R1", "deepseek-ai/DeepSeek-R1-0528", "DeepSeek-V3.1", "DeepSeek-V3-Base"}) {
    CHECK(find_model(name).name == "deepseek_v3");
  }
  CHECK(find_model("moonshotai/Kimi-K2-Instruct-0905").name == "kimi_k2");
  CHECK(find_model("mistralai/Mixtral-8x7B-Instruct-v0.1").name == "mixtral_8x7b");
  CHECK(find_model("Qwen/Qwen3-30B-A3B-Instruct-2507").name == "qwen3_30b_a3b");
  CHECK(find_model("meta-llama/Meta-Llama-3-70B-hf").name == "llama3_70b");
  CHECK_THROWS_WITH(find_model("deepseek-ai/DeepSeek-R1-Distill-Llama-8B"), Catch::Contains("no such file"));
  CHECK_THROWS_WITH(find_model("Llama-3.2-1B"), Catch::Contains("is not a model"));
  CHECK_THROWS_WITH(find_model("llama3_80b"), Catch::Contains("llama3_8b"));
  std::set<std::string> names;
  for (const ModelShape& model : models()) {
    INFO(model.name);
    CHECK(names.insert(model.name).second);
    CHECK(model.heads % model.kv_heads == 0);
    CHECK(find_model(model.name).name == model.name);
  }
}
