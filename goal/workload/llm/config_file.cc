#include "goal/workload/llm/config_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>

#include "goal/import/json/json_reader.h"

namespace weft::goal::llm {
namespace {

constexpr std::int64_t kMostOfKey = 100'000'000;

// What the file says, by key. Models differ in what they call a thing.
class Config {
 public:
  explicit Config(std::string path) : path_(std::move(path)) {
    read_json(path_, {}, {.element = {}, .member = [this](JsonValue member, const SourceLocation&) {
                            take(member);
                            return true;
                          }});
  }

  std::optional<std::uint32_t> find(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const auto at = numbers_.find(key);
      if (at == numbers_.end()) continue;
      if (at->second < 0 || at->second > kMostOfKey) {
        throw InputError(
            fmt::format("{}: {} is {}; it must be from 0 to {}", path_, key, at->second, kMostOfKey));
      }
      return static_cast<std::uint32_t>(at->second);
    }
    return std::nullopt;
  }
  std::uint32_t need(std::initializer_list<const char*> keys) const {
    const std::optional<std::uint32_t> number = find(keys);
    if (number && *number > 0) return *number;
    throw InputError(fmt::format("{}: no {}, which a model's config.json has as a whole number above 0",
                                 path_, *keys.begin()));
  }
  bool flag(const char* key) const {
    const auto at = flags_.find(key);
    return at != flags_.end() && at->second;
  }
  std::string text(const char* key) const {
    const auto at = texts_.find(key);
    return at == texts_.end() ? "" : at->second;
  }
  void require_divides(const char* name, std::uint32_t divisor, const char* of, std::uint32_t number) const {
    if (number % divisor == 0) return;
    throw InputError(fmt::format("{}: {} is {}; it must divide {}, {}", path_, name, divisor, of, number));
  }
  // Throws if there is anything whose name holds the word.
  void refuse(std::string_view word, const char* what) const {
    for (const auto& [key, number] : numbers_) {
      if (key.find(word) == std::string::npos) continue;
      throw InputError(
          fmt::format("{}: {} tells of {}, which the llm workload has no shape for", path_, key, what));
    }
  }

 private:
  void take(JsonValue member) {
    const std::string key(member.key());
    if (member.kind() == JsonKind::kNumber) {
      if (const auto number = member.integer()) numbers_[key] = *number;
    } else if (member.kind() == JsonKind::kTrue || member.kind() == JsonKind::kFalse) {
      flags_[key] = member.kind() == JsonKind::kTrue;
    } else if (member.is_string()) {
      texts_[key] = std::string(member.text());
    }
  }

  std::string path_;
  std::map<std::string, std::int64_t> numbers_;
  std::map<std::string, bool> flags_;
  std::map<std::string, std::string> texts_;
};

// Families whose MLPs have two projections instead of three.
bool is_gated(const std::string& type) {
  static constexpr std::array<std::string_view, 10> kWithout = {
      "gpt2", "gpt_neox", "gptj", "opt", "bloom", "mpt", "falcon", "phi", "nemotron", "starcoder2"};
  return std::find(kWithout.begin(), kWithout.end(), type) == kWithout.end();
}

bool has_biases(const std::string& type) {
  return type == "gpt2" || type == "gpt_neox" || type == "gptj" || type == "opt" || type == "bloom" ||
         type == "phi" || type == "starcoder2";
}

void read_experts(const Config& config, ModelShape& model) {
  model.experts = config.find({"num_local_experts", "num_experts", "n_routed_experts"}).value_or(0);
  if (model.experts == 0) return;
  model.top_k = config.need({"num_experts_per_tok", "experts_per_token"});
  model.expert_ffn = config.find({"moe_intermediate_size"}).value_or(model.ffn);
  model.shared_experts = config.find({"n_shared_experts"}).value_or(0);
  model.dense_layers = config.find({"first_k_dense_replace"}).value_or(0);
  const std::uint32_t groups = config.find({"n_group"}).value_or(0);
  const std::uint32_t top = config.find({"topk_group"}).value_or(0);
  if (groups > 1 && top > 0 && top < groups) {
    config.require_divides("n_group", groups, "n_routed_experts", model.experts);
    model.expert_groups = groups;
    model.top_groups = top;
  }
}

void read_latent_attention(const Config& config, ModelShape& model) {
  model.kv_lora = config.find({"kv_lora_rank"}).value_or(0);
  if (!model.latent()) return;
  model.q_lora = config.find({"q_lora_rank"}).value_or(0);
  model.rope_dim = config.need({"qk_rope_head_dim"});
  model.head_dim = config.need({"qk_nope_head_dim"}) + model.rope_dim;
  model.value_dim = config.need({"v_head_dim"});
}

}  // namespace

ModelShape read_config_file(const std::string& path) {
  const Config config(path);
  config.refuse("ssm", "state space layers");
  config.refuse("mamba", "state space layers");
  ModelShape model;
  const std::string type = config.text("model_type");
  model.name = type.empty() ? path : type;
  model.layers = config.need({"num_hidden_layers", "n_layer", "n_layers"});
  model.hidden = config.need({"hidden_size", "n_embd", "d_model"});
  model.ffn = config.find({"intermediate_size", "n_inner", "ffn_dim"}).value_or(4 * model.hidden);
  model.heads = config.need({"num_attention_heads", "n_head", "n_heads"});
  model.kv_heads = config.find({"num_key_value_heads"}).value_or(model.heads);
  model.head_dim = config.find({"head_dim"}).value_or(model.hidden / model.heads);
  model.vocab = config.need({"vocab_size"});
  // What it was trained with is in no such file; what it can read often is far longer.
  model.sequence =
      std::min<std::uint32_t>(config.find({"max_position_embeddings", "n_positions"}).value_or(4096), 8192);
  model.gated = is_gated(type);
  model.biases = has_biases(type);
  model.positions = type == "gpt2" || type == "opt"
                        ? config.find({"n_positions", "max_position_embeddings"}).value_or(0)
                        : 0;
  model.tied = config.flag("tie_word_embeddings") || type == "gpt2";
  read_experts(config, model);
  read_latent_attention(config, model);
  return model;
}

}  // namespace weft::goal::llm
