// config.json of Hugging Face, as the makers publish it in essence.
#include "goal/workload/llm/config_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "sim/units/input_error.h"

using namespace weft;
using namespace weft::goal::llm;

namespace {

ModelShape read(const std::string& text) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/config.json";
  std::ofstream(path) << text;
  return read_config_file(path);
}

}  // namespace

TEST_CASE("config.json: Llama, Mixtral and DeepSeek have the parameters of those known by name") {
  const ModelShape llama = read(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
      "max_position_embeddings": 131072, "tie_word_embeddings": false, "rope_scaling": {"factor": 8.0}})");
  CHECK(parameters(llama) == parameters(find_model("llama3_8b")));
  CHECK(llama.sequence == 8192);
  const ModelShape mixtral = read(R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
      "num_local_experts": 8, "num_experts_per_tok": 2})");
  CHECK(parameters(mixtral) == parameters(find_model("mixtral_8x7b")));
  const ModelShape deepseek = read(R"({"model_type": "deepseek_v3", "hidden_size": 7168,
      "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
      "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
      "n_shared_experts": 1, "num_experts_per_tok": 8, "n_group": 8, "topk_group": 4, "first_k_dense_replace": 3, "q_lora_rank": 1536,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "vocab_size": 129280})");
  CHECK(parameters(deepseek) == parameters(find_model("deepseek_v3")));
  CHECK(deepseek.expert_groups == find_model("deepseek_v3").expert_groups);
  CHECK(deepseek.top_groups == find_model("deepseek_v3").top_groups);
}

TEST_CASE("config.json: what is missing, and what no shape holds") {
  CHECK_THROWS_WITH(read(R"({"hidden_size": 64})"), Catch::Contains("num_hidden_layers"));
  CHECK_THROWS_WITH(read(R"({"hidden_size": 64, "mamba_num_heads": 4})"), Catch::Contains("state space"));
  CHECK_THROWS_WITH(read(R"({"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1,
      "vocab_size": 8, "n_routed_experts": 6, "num_experts_per_tok": 2, "n_group": 4, "topk_group": 2})"),
                    Catch::Contains("n_group is 4; it must divide n_routed_experts, 6"));
  CHECK_THROWS_AS(read("[]"), InputError);
  CHECK_THROWS_AS(read("nothing"), InputError);
}
