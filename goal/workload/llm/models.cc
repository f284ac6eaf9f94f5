#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

#include "goal/workload/llm/config_file.h"
#include "goal/workload/llm/model.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"

namespace weft::goal::llm {
namespace {

ModelShape shape(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t ffn,
                 std::uint32_t heads, std::uint32_t kv_heads, std::uint32_t head_dim, std::uint32_t vocab,
                 std::uint32_t sequence) {
  ModelShape model;
  model.name = name;
  model.layers = layers;
  model.hidden = hidden;
  model.ffn = ffn;
  model.heads = heads;
  model.kv_heads = kv_heads;
  model.head_dim = head_dim;
  model.vocab = vocab;
  model.sequence = sequence;
  return model;
}

ModelShape llama2(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t ffn,
                  std::uint32_t heads, std::uint32_t kv_heads) {
  return shape(name, layers, hidden, ffn, heads, kv_heads, 128, 32000, 4096);
}

ModelShape llama3(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t ffn,
                  std::uint32_t heads) {
  return shape(name, layers, hidden, ffn, heads, 8, 128, 128256, 8192);
}

// MLPs of two projections, four times as wide as the model, and learned positions.
ModelShape gpt_shape(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads,
                     std::uint32_t vocab) {
  ModelShape model = shape(name, layers, hidden, 4 * hidden, heads, heads, hidden / heads, vocab, 2048);
  model.positions = 2048;
  model.gated = false;
  model.tied = true;
  return model;
}

// As Megatron-LM trains them, with the vocabulary padded to 51,200.
ModelShape gpt(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads) {
  ModelShape model = gpt_shape(name, layers, hidden, heads, 51200);
  model.biases = model.dropout = true;
  return model;
}

// As BigScience trained it, 2022: without dropout, and with ALiBi in place of learned positions.
ModelShape bloom(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads) {
  ModelShape model = gpt_shape(name, layers, hidden, heads, 250880);
  model.positions = 0;
  model.biases = true;
  return model;
}

// S. Zhang et al., OPT, 2022.
ModelShape opt(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads) {
  ModelShape model = gpt_shape(name, layers, hidden, heads, 50272);
  model.biases = model.dropout = true;
  return model;
}

// As MosaicML's llm-foundry trained them: no biases, attn_impl: triton.
ModelShape mpt(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads) {
  ModelShape model = gpt_shape(name, layers, hidden, heads, 50368);
  model.triton = true;
  return model;
}

ModelShape nemotron4(const char* name, std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads,
                     std::uint32_t head_dim) {
  ModelShape model = shape(name, layers, hidden, 4 * hidden, heads, 8, head_dim, 256000, 4096);
  model.gated = false;
  return model;
}

ModelShape with_experts(ModelShape model, std::uint32_t experts, std::uint32_t top_k,
                        std::uint32_t expert_ffn) {
  model.experts = experts;
  model.top_k = top_k;
  model.expert_ffn = expert_ffn;
  return model;
}

ModelShape gpt_oss() {
  ModelShape model =
      with_experts(shape("gpt_oss_120b", 36, 2880, 2880, 64, 8, 64, 201088, 4096), 128, 4, 2880);
  model.sinks = true;
  return model;
}

ModelShape deepseek(const char* name, std::uint32_t heads, std::uint32_t vocab, std::uint32_t experts,
                    std::uint32_t dense_layers, std::uint32_t groups = 0, std::uint32_t top_groups = 0) {
  ModelShape model =
      with_experts(shape(name, 61, 7168, 18432, heads, heads, 192, vocab, 4096), experts, 8, 2048);
  model.shared_experts = 1;
  model.dense_layers = dense_layers;
  model.expert_groups = groups;
  model.top_groups = top_groups;
  model.q_lora = 1536;
  model.kv_lora = 512;
  model.rope_dim = 64;
  model.value_dim = 128;
  return model;
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What makers add to a model's name without changing its shape: _instruct, _v0_1, a date of four digits.
std::string_view without_suffixes(std::string_view name) {
  for (std::size_t before = 0; before != name.size();) {
    before = name.size();
    for (const std::string_view suffix : {"_instruct", "_chat", "_base", "_hf", "_fp8", "_bf16"}) {
      if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    }
    const std::size_t last = name.rfind('_');
    if (last == std::string_view::npos || !std::ranges::all_of(name.substr(last + 1), is_digit)) continue;
    if (name.size() - last == 5) name = name.substr(0, last);
    if (name.substr(0, last).ends_with("_v0")) name = name.substr(0, last - 3);
  }
  return name;
}

std::string plain(std::string_view name) {
  std::string lower;
  for (const char c : name) {
    const bool mark = c == '.' || c == '-' || c == ' ';
    lower += mark ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  std::string text(without_suffixes(lower));
  using Pair = std::pair<std::string_view, std::string_view>;
  // Beginnings that makers and others write otherwise, and point releases of the same shapes.
  static constexpr auto kBeginnings = std::to_array<Pair>({{"meta_llama", "llama"},
                                                           {"llama_2", "llama2"},
                                                           {"llama_3", "llama3"},
                                                           {"llama3_1_", "llama3_"},
                                                           {"llama3_3_", "llama3_"},
                                                           {"deepseekv3", "deepseek_v3"},
                                                           {"nemotron_4_", "nemotron4_"},
                                                           {"gpt_175b", "gpt3_175b"},
                                                           {"megatron_530b", "turing_530b"}});
  for (const auto& [other, own] : kBeginnings) {
    if (text.starts_with(other)) text.replace(0, other.size(), own);
  }
  static constexpr auto kSame = std::to_array<Pair>({{"bloom", "bloom_176b"},
                                                     {"deepseek_r1", "deepseek_v3"},
                                                     {"deepseek_r1_zero", "deepseek_v3"},
                                                     {"deepseek_v3_1", "deepseek_v3"},
                                                     {"deepseek_v3_1_terminus", "deepseek_v3"},
                                                     {"kimi_k2_thinking", "kimi_k2"}});
  for (const auto& [other, own] : kSame) {
    if (text == other) return std::string(own);
  }
  return text;
}

}  // namespace

std::span<const ModelShape> models() {
  static const ModelShape kAll[] = {
      shape("tiny", 4, 256, 1024, 4, 4, 64, 1024, 128),
      llama2("llama2_7b", 32, 4096, 11008, 32, 32),
      llama2("llama2_13b", 40, 5120, 13824, 40, 40),
      llama2("llama2_70b", 80, 8192, 28672, 64, 8),
      llama3("llama3_8b", 32, 4096, 14336, 32),
      llama3("llama3_70b", 80, 8192, 28672, 64),
      llama3("llama3_405b", 126, 16384, 53248, 128),
      gpt("gpt3_175b", 96, 12288, 96),
      gpt("gpt_1_7b", 24, 2304, 24),
      gpt("gpt_3_6b", 30, 3072, 32),
      gpt("gpt_7_5b", 36, 4096, 32),
      gpt("gpt_18_4b", 40, 6144, 48),
      gpt("gpt_39_1b", 48, 8192, 64),
      gpt("gpt_76_1b", 60, 10240, 80),
      gpt("gpt_145_6b", 80, 12288, 96),
      gpt("gpt_310_1b", 96, 16384, 128),
      gpt("gpt_529_6b", 105, 20480, 128),
      gpt("gpt_1008_0b", 128, 25600, 160),
      gpt("megatron_22b", 48, 6144, 64),
      gpt("turing_530b", 105, 20480, 128),
      gpt("megatron_1t", 128, 25600, 160),
      mpt("mpt_125m", 12, 768, 12),
      mpt("mpt_350m", 24, 1024, 16),
      mpt("mpt_760m", 24, 1536, 12),
      mpt("mpt_1b", 24, 2048, 16),
      mpt("mpt_3b", 32, 2560, 20),
      mpt("mpt_7b", 32, 4096, 32),
      mpt("mpt_13b", 40, 5120, 40),
      mpt("mpt_30b", 48, 7168, 56),
      mpt("mpt_70b", 80, 8192, 64),
      bloom("bloom_176b", 70, 14336, 112),
      opt("opt_175b", 96, 12288, 96),
      nemotron4("nemotron4_15b", 32, 6144, 48, 128),
      nemotron4("nemotron4_340b", 96, 18432, 96, 192),
      with_experts(shape("mixtral_8x7b", 32, 4096, 14336, 32, 8, 128, 32000, 4096), 8, 2, 14336),
      with_experts(shape("mixtral_8x22b", 56, 6144, 16384, 48, 8, 128, 32000, 4096), 8, 2, 16384),
      with_experts(shape("qwen3_30b_a3b", 48, 2048, 6144, 32, 4, 128, 151936, 4096), 128, 8, 768),
      with_experts(shape("qwen3_235b_a22b", 94, 4096, 12288, 64, 4, 128, 151936, 4096), 128, 8, 1536),
      gpt_oss(),
      deepseek("deepseek_v3", 128, 129280, 256, 3, 8, 4),
      deepseek("kimi_k2", 64, 163840, 384, 1),
  };
  return kAll;
}

ModelShape find_model(const std::string& name) {
  // On Hugging Face a model is called by its maker and its name.
  const bool is_path = name.find('/') != std::string::npos;
  if (name.ends_with(".json") || (is_path && std::filesystem::is_regular_file(name))) {
    return read_config_file(name);
  }
  const std::string wanted = plain(std::string_view(name).substr(name.rfind('/') + 1));
  std::vector<std::string> known;
  for (const ModelShape& model : models()) {
    if (model.name == wanted) return model;
    known.push_back(model.name);
  }
  if (is_path) {
    throw InputError(fmt::format(
        "{}: there is no such file (a config.json of Hugging Face), and no model is known by that name",
        name));
  }
  fail_unknown_name("model", name, known);
}

}  // namespace weft::goal::llm
