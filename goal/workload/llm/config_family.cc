#include "goal/workload/llm/config_family.h"

#include <algorithm>
#include <array>

namespace weft::goal::llm {
namespace {

// Sources: the configuration classes of transformers, by their defaults, and the models they are of.
constexpr auto kFamilies = std::to_array<ConfigFamily>({
    // Two projections and biases, in most of them.
    {.type = "gpt2", .gated = false, .biases = true, .tied = true, .learned = true, .four_times = true},
    {.type = "gpt_neo", .gated = false, .biases = true, .tied = true, .learned = true, .four_times = true},
    {.type = "gpt_bigcode",
     .gated = false,
     .biases = true,
     .tied = true,
     .learned = true,
     .four_times = true,
     .one_key_head = true},
    {.type = "opt", .gated = false, .biases = true, .tied = true, .learned = true},
    {.type = "bloom", .gated = false, .biases = true, .tied = true, .four_times = true},
    {.type = "starcoder2", .gated = false, .biases = true, .tied = true},
    {.type = "gpt_neox", .gated = false, .biases = true},
    {.type = "gptj", .gated = false, .biases = true, .four_times = true},
    {.type = "codegen", .gated = false, .biases = true, .four_times = true},
    {.type = "phi", .gated = false, .biases = true},
    {.type = "persimmon", .gated = false, .biases = true},
    {.type = "mpt", .gated = false, .tied = true, .four_times = true},
    {.type = "falcon", .gated = false, .tied = true, .four_times = true, .one_key_head = true},
    {.type = "RefinedWeb", .gated = false, .tied = true, .four_times = true},
    {.type = "RefinedWebModel", .gated = false, .tied = true, .four_times = true, .one_key_head = true},
    {.type = "nemotron", .gated = false},
    {.type = "arcee", .gated = false},
    {.type = "apertus", .gated = false},
    // As Llama, but for the head.
    {.type = "gemma", .tied = true},
    {.type = "gemma2", .tied = true},
    {.type = "gemma3", .tied = true},
    {.type = "cohere", .tied = true},
    {.type = "cohere2", .tied = true},
    {.type = "smollm3", .tied = true},
    {.type = "ernie4_5", .tied = true},
    {.type = "ernie4_5_moe", .tied = true},
    // As Llama.
    {.type = "llama"},
    {.type = "llama4", .shared_experts = 1},
    {.type = "mistral"},
    {.type = "mixtral"},
    {.type = "ministral"},
    {.type = "qwen2"},
    {.type = "qwen2_moe"},
    {.type = "qwen2_vl"},
    {.type = "qwen2_5_vl"},
    {.type = "qwen3"},
    {.type = "qwen3_moe"},
    {.type = "qwen3_vl"},
    {.type = "qwen3_vl_moe"},
    {.type = "phi3"},
    {.type = "phimoe"},
    {.type = "dbrx"},
    {.type = "deepseek_v2"},
    {.type = "deepseek_v3"},
    {.type = "kimi_k2"},
    {.type = "gpt_oss", .sinks = true},
    {.type = "olmo"},
    {.type = "olmo2"},
    {.type = "olmo3"},
    {.type = "olmoe"},
    {.type = "glm"},
    {.type = "glm4"},
    {.type = "glm4_moe"},
    {.type = "chatglm"},
    {.type = "granite"},
    {.type = "granitemoe"},
    {.type = "stablelm"},
    {.type = "internlm2"},
    {.type = "seed_oss"},
});

using Words = std::string_view;

// Words in the names of keys that change no shape.
constexpr auto kNoShape = std::to_array<Words>(
    {"token",         "drop",     "eps",         "range",    "theta",         "rope",    "rotary",
     "dtype",         "version",  "cache",       "act",      "coef",          "loss",    "noise",
     "jitter",        "scal",     "softcap",     "softmax",  "norm",          "bias",    "alibi",
     "clip",          "init",     "pretraining", "parallel", "residual",      "quant",   "auto_map",
     "architectures", "label",    "summary",     "runner",   "verbose",       "fusion",  "exact",
     "alpha",         "aux",      "temperature", "length",   "n_ctx",         "tie_",    "return",
     "output",        "penalty",  "beam",        "sampl",    "pad_",          "batch",   "ep_size",
     "pos_emb",       "position", "limit",       "prefix",   "task_specific", "image",   "uniform",
     "attn_uses",     "for_llm",  "layernorm",   "std",      "video",         "weights", "use_flash",
     "is_decoder"});

constexpr auto kEncoders = std::to_array<Words>({"bert", "electra", "longformer", "big_bird", "xlnet",
                                                 "funnel", "ernie", "ernie_m", "mpnet", "vit", "clip"});
constexpr auto kBoth =
    std::to_array<Words>({"t5", "mt5", "umt5", "longt5", "switch_transformers", "pegasus", "pegasus_x", "led",
                          "marian", "prophetnet", "m2m_100", "nllb-moe", "fsmt", "t5gemma", "whisper"});
constexpr auto kStates = std::to_array<Words>({"mamba", "rwkv", "recurrent_gemma", "xlstm"});

bool is_one_of(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}
bool has_one_of(std::string_view word, const auto& words) {
  return std::ranges::any_of(words, [&](Words each) { return word.find(each) != std::string_view::npos; });
}

}  // namespace

const ConfigFamily* find_config_family(std::string_view type) {
  const auto at = std::ranges::find(kFamilies, type, &ConfigFamily::type);
  return at == kFamilies.end() ? nullptr : &*at;
}

std::string_view why_no_decoder(std::string_view type) {
  if (is_one_of(type, kEncoders) || type.find("bert") != Words::npos) return "is an encoder";
  if (is_one_of(type, kBoth) || type.find("bart") != Words::npos) return "has an encoder and a decoder";
  return has_one_of(type, kStates) ? "has state space or recurrent layers" : "";
}

bool may_change_shape(std::string_view key) { return !key.starts_with('_') && !has_one_of(key, kNoShape); }

}  // namespace weft::goal::llm
