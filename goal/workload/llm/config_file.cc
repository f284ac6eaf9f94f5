#include "goal/workload/llm/config_file.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "goal/import/json/json_reader.h"
#include "goal/workload/llm/config_family.h"

namespace weft::goal::llm {
namespace {

constexpr std::int64_t kMostOfKey = 100'000'000;

// Objects in the file that describe the language model, and those that describe a part of it.
constexpr std::array<std::string_view, 4> kModels = {"text_config", "llm_config", "language_config",
                                                     "language_model_config"};
constexpr std::array<std::string_view, 2> kParts = {"ffn_config", "attn_config"};

bool is_listed(std::string_view word, const auto& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What the file says, by key. Models differ in what they call a thing.
class Config {
 public:
  explicit Config(std::string path) : path_(std::move(path)) {
    read_json(path_, {}, {.element = {}, .member = [this](JsonValue member, const SourceLocation&) {
                            take(member, whole_);
                            return true;
                          }});
    // What describes the model itself stands before what is around it, and that before its parts.
    model_.merge(whole_);
    model_.merge(parts_);
  }

  std::optional<std::uint32_t> find(std::initializer_list<const char*> keys) {
    std::optional<std::uint32_t> found;
    for (const char* key : keys) {
      const auto at = model_.numbers.find(key);
      if (at == model_.numbers.end()) continue;
      read_.insert(key);
      if (at->second < 0 || at->second > kMostOfKey) {
        throw InputError(
            fmt::format("{}: {} is {}; it must be from 0 to {}", path_, key, at->second, kMostOfKey));
      }
      if (!found) found = static_cast<std::uint32_t>(at->second);
    }
    return found;
  }
  std::uint32_t need(std::initializer_list<const char*> keys) {
    const std::optional<std::uint32_t> number = find(keys);
    if (number && *number > 0) return *number;
    throw InputError(fmt::format("{}: no {}, which a model's config.json has as a whole number above 0",
                                 path_, *keys.begin()));
  }
  std::optional<bool> flag(const char* key) {
    const auto at = model_.flags.find(key);
    if (at == model_.flags.end()) return std::nullopt;
    read_.insert(key);
    return at->second;
  }
  std::string text(const char* key) const {
    const auto at = model_.texts.find(key);
    return at == model_.texts.end() ? "" : at->second;
  }
  bool has_list(const char* key) const { return model_.others.contains(key); }
  void default_to(const char* key, std::int64_t number) {
    if (model_.numbers.emplace(key, number).second) {
      remark(fmt::format("no {}: {} is taken, as transformers does", key, number));
    }
  }
  void require_divides(const char* name, std::uint32_t divisor, const char* of, std::uint32_t number) const {
    if (divisor != 0 && number % divisor == 0) return;
    throw InputError(fmt::format("{}: {} is {}; it must divide {}, {}", path_, name, divisor, of, number));
  }
  // Throws if there is anything whose name holds the word.
  void refuse(std::string_view word, const char* what) const {
    for (const auto& [key, number] : model_.numbers) {
      if (key.find(word) != std::string::npos) no_shape(fmt::format("{} tells of {}", key, what));
    }
  }
  [[noreturn]] void no_shape(const std::string& what) const {
    throw InputError(fmt::format("{}: {}, which the llm workload has no shape for", path_, what));
  }

  void remark(const std::string& what) { remarks_.push_back(path_ + ": " + what); }
  // All remarks, with the keys that nothing asked for and that may matter.
  std::vector<std::string> remarks() {
    std::set<std::string> unread;
    const auto add = [&](const std::string& key) {
      if (!read_.contains(key) && may_change_shape(key)) unread.insert(key);
    };
    for (const auto& [key, number] : model_.numbers) {
      if (number != 0) add(key);
    }
    for (const auto& [key, is_set] : model_.flags) {
      if (is_set) add(key);
    }
    for (const std::string& key : model_.others) add(key);
    if (!unread.empty()) remark(fmt::format("not read: {}", fmt::join(unread, ", ")));
    return std::move(remarks_);
  }
  // Forgets keys that something else in the file turns off.
  void ignore(std::initializer_list<const char*> keys) { read_.insert(keys.begin(), keys.end()); }

 private:
  struct Values {
    std::map<std::string, std::int64_t> numbers;
    std::map<std::string, bool> flags;
    std::map<std::string, std::string> texts;
    std::set<std::string> others;  // lists and objects that are not empty
    void merge(Values& other) {
      numbers.merge(other.numbers);
      flags.merge(other.flags);
      texts.merge(other.texts);
      others.merge(other.others);
    }
  };

  void take(JsonValue member, Values& values) {
    const std::string key(member.key());
    if (member.kind() == JsonKind::kNumber) {
      if (const auto number = member.integer()) values.numbers[key] = *number;
    } else if (member.kind() == JsonKind::kTrue || member.kind() == JsonKind::kFalse) {
      values.flags[key] = member.kind() == JsonKind::kTrue;
    } else if (member.is_string()) {
      if (!member.text().empty()) values.texts[key] = std::string(member.text());
    } else if (member.is_object() && is_listed(key, kModels)) {
      for (const JsonValue each : member.items()) take(each, model_);
    } else if (member.is_object() && is_listed(key, kParts)) {
      for (const JsonValue each : member.items()) take(each, parts_);
    } else if (differs_within(member)) {
      values.others.insert(key);
    }
  }
  // Lists of layers that are all alike say nothing.
  static bool differs_within(JsonValue value) {
    std::set<std::string_view> texts;
    bool other = false;
    for (const JsonValue each : value.items()) {
      each.is_string() && value.is_array() ? (void)texts.insert(each.text()) : (void)(other = true);
    }
    return other || texts.size() > 1;
  }

  std::string path_;
  Values whole_, model_, parts_;
  std::set<std::string> read_;
  std::vector<std::string> remarks_;
};

// Layers with experts are all from a number on; every n-th can't be told.
void refuse_layers_between(Config& config) {
  for (const char* key : {"decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq",
                          "moe_layer_interval", "expert_layer_period"}) {
    if (const auto step = config.find({key}); step && *step > 1) {
      config.no_shape(fmt::format("{} is {}: only every {}th layer has experts", key, *step, *step));
    }
  }
  if (config.has_list("mlp_only_layers")) config.no_shape("mlp_only_layers names layers without experts");
  config.ignore({"intermediate_size_mlp"});  // of layers without
}

void read_experts(Config& config, const ConfigFamily& family, ModelShape& model) {
  model.experts =
      config.find({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}).value_or(0);
  if (model.experts == 0) return;
  refuse_layers_between(config);
  model.top_k = config.need({"num_experts_per_tok", "experts_per_token", "moe_top_k", "moe_topk", "moe_k"});
  model.expert_ffn = config.find({"moe_intermediate_size"}).value_or(model.ffn);
  model.shared_experts = config.find({"n_shared_experts", "num_shared_experts", "moe_num_shared_experts"})
                             .value_or(family.shared_experts);
  if (const auto width = config.find({"shared_expert_intermediate_size", "shared_intermediate_size"})) {
    config.require_divides("moe_intermediate_size", model.expert_ffn, "shared_expert_intermediate_size",
                           *width);
    model.shared_experts = *width / model.expert_ffn;
  }
  model.dense_layers = config.find({"first_k_dense_replace", "moe_layer_start_index"}).value_or(0);
  const std::uint32_t groups = config.find({"n_group"}).value_or(0);
  const std::uint32_t top = config.find({"topk_group"}).value_or(0);
  if (groups > 1 && top > 0 && top < groups) {
    config.require_divides("n_group", groups, "n_routed_experts", model.experts);
    model.expert_groups = groups;
    model.top_groups = top;
  }
}

void read_latent_attention(Config& config, ModelShape& model) {
  model.kv_lora = config.find({"kv_lora_rank"}).value_or(0);
  if (!model.latent()) return;
  model.q_lora = config.find({"q_lora_rank"}).value_or(0);
  model.rope_dim = config.need({"qk_rope_head_dim"});
  model.head_dim = config.need({"qk_nope_head_dim"}) + model.rope_dim;
  model.value_dim = config.need({"v_head_dim"});
}

// Falcon has two ways of saying it: only its newer architecture reads the number.
std::uint32_t kv_heads(Config& config, const ConfigFamily& family, std::uint32_t heads) {
  const std::optional<std::uint32_t> number = config.find(
      {"num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads", "multi_query_group_num"});
  const bool newer = config.flag("new_decoder_architecture").value_or(false);
  const std::optional<bool> one = config.flag("multi_query");
  config.flag("multi_query_attention");
  if (!newer && one.value_or(family.one_key_head)) return 1;
  return number.value_or(heads);
}

std::uint32_t mlp_width(Config& config, const ConfigFamily& family, std::uint32_t hidden) {
  if (const auto width = config.find({"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"})) {
    return *width;
  }
  const std::optional<std::uint32_t> ratio = config.find({"expansion_ratio"});
  if (!ratio && !family.four_times) {
    config.remark(
        fmt::format("no intermediate_size: MLPs are taken to be {} wide, 4 times hidden_size", 4 * hidden));
  }
  return ratio.value_or(4) * hidden;
}

// What it was trained with is in no such file; what it can read often is far longer.
std::uint32_t trained_sequence(Config& config) {
  constexpr std::uint32_t kUsual = 4096, kMost = 8192;
  const auto given = config.find({"max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
                                  "max_sequence_length", "n_ctx"});
  if (!given) config.remark(fmt::format("no max_position_embeddings: sequences have {} tokens", kUsual));
  return std::min(given.value_or(kUsual), kMost);
}

// The type is the language model's own where a file describes more than that.
ConfigFamily family_of(Config& config) {
  std::string type = config.text("model_type");
  if (type.ends_with("_text")) type.resize(type.size() - 5);
  if (const std::string_view why = why_no_decoder(type); !why.empty()) {
    config.no_shape(fmt::format("model_type {} {}", type, why));
  }
  if (config.flag("is_encoder_decoder").value_or(false)) config.no_shape("it has an encoder and a decoder");
  config.refuse("ssm", "state space layers");
  config.refuse("mamba", "state space layers");
  config.refuse("linear_num", "linear attention");
  if (const ConfigFamily* known = find_config_family(type)) return *known;
  config.remark(type.empty() ? "no model_type: taken for one like Llama"
                             : fmt::format("model_type {} is not a family that is known: taken for one "
                                           "like Llama",
                                           type));
  return {};
}

}  // namespace

ModelShape read_config_file(const std::string& path) {
  Config config(path);
  const ConfigFamily family = family_of(config);
  ModelShape model;
  model.name = config.text("model_type").empty() ? path : config.text("model_type");
  model.layers = config.need({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  model.hidden = config.need({"hidden_size", "n_embd", "n_embed", "d_model"});
  if (family.type == "gemma3") {
    config.default_to("num_attention_heads", 8);
    config.default_to("num_key_value_heads", 4);
    config.default_to("head_dim", 256);
    config.default_to("vocab_size", 262208);
  }
  model.ffn = mlp_width(config, family, model.hidden);
  model.heads = config.need({"num_attention_heads", "n_head", "n_heads", "num_heads"});
  model.kv_heads = kv_heads(config, family, model.heads);
  model.head_dim = config.find({"head_dim", "kv_channels"}).value_or(model.hidden / model.heads);
  model.vocab = config.need({"vocab_size", "padded_vocab_size"});
  model.sequence = trained_sequence(config);
  model.gated = family.gated;
  model.biases = family.biases;
  model.sinks = family.sinks;
  model.positions = family.learned ? config.find({"n_positions", "max_position_embeddings"}).value_or(0) : 0;
  model.tied = config.flag("tie_word_embeddings").value_or(family.tied);
  if (config.find({"word_embed_proj_dim"}).value_or(model.hidden) != model.hidden) {
    config.no_shape("word_embed_proj_dim is not hidden_size");
  }
  read_experts(config, family, model);
  read_latent_attention(config, model);
  if (!config.flag("use_sliding_window").value_or(true)) {
    config.ignore({"sliding_window", "max_window_layers"});
  }
  model.remarks = config.remarks();
  return model;
}

}  // namespace weft::goal::llm
