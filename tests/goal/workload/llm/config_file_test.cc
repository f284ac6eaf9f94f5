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

double billions(const ModelShape& model) { return static_cast<double>(parameters(model)) * 1e-9; }
double active(const ModelShape& model) { return static_cast<double>(active_parameters(model)) * 1e-9; }
std::string told(const ModelShape& model) {
  std::string all;
  for (const std::string& remark : model.remarks) {
    all += remark.substr(remark.find("config.json: ") + 13) + "\n";
  }
  return all;
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

TEST_CASE("config.json: families that call things otherwise have the parameters that are published") {
  const ModelShape dbrx = read(R"({"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40,
      "max_seq_len": 32768, "vocab_size": 100352, "tie_word_embeddings": false, "emb_pdrop": 0.0,
      "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": "", "rope_theta": 500000},
      "ffn_config": {"ffn_hidden_size": 10752, "model_type": "", "moe_jitter_eps": 0, "moe_loss_weight": 0.05,
      "moe_num_experts": 16, "moe_top_k": 4}})");
  CHECK(billions(dbrx) == Approx(131.6).margin(0.1));
  CHECK(active(dbrx) == Approx(36).margin(0.6));
  CHECK(told(dbrx) == "");

  const std::string falcon = R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60,
      "num_attention_heads": 128, "num_kv_heads": 8, "new_decoder_architecture": true, "multi_query": true,
      "max_position_embeddings": 2048, "parallel_attn": true, "alibi": false, "vocab_size": 65024)";
  CHECK(billions(read(falcon + "}")) == Approx(41.3).margin(0.05));
  CHECK(billions(read(falcon + R"(, "tie_word_embeddings": false})")) == Approx(41.8).margin(0.05));
  const ModelShape small = read(R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
      "num_attention_heads": 71, "new_decoder_architecture": false, "multi_query": true, "vocab_size": 65024})");
  CHECK(billions(small) == Approx(6.92).margin(0.01));
  CHECK(told(small) == "no max_position_embeddings: sequences have 4096 tokens\n");

  const ModelShape starcoder =
      read(R"({"model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48,
      "n_inner": 24576, "n_positions": 8192, "multi_query": true, "vocab_size": 49152,
      "attention_softmax_in_fp32": true, "scale_attn_weights": true, "summary_use_proj": true})");
  CHECK(billions(starcoder) == Approx(15.5).margin(0.05));
  CHECK(told(starcoder) == "");
}

TEST_CASE("config.json: shared experts as wide as several") {
  const std::string qwen = R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
      "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,
      "moe_intermediate_size": 1408, "num_experts": 60, "num_experts_per_tok": 4,
      "max_position_embeddings": 8192, "vocab_size": 151936, "tie_word_embeddings": false,
      "sliding_window": 32768, "max_window_layers": 21, "use_sliding_window": false, )";
  const ModelShape model = read(
      qwen + R"("shared_expert_intermediate_size": 5632, "decoder_sparse_step": 1, "mlp_only_layers": []})");
  CHECK(model.shared_experts == 4);
  CHECK(billions(model) == Approx(14.3).margin(0.05));
  CHECK(active(model) == Approx(2.7).margin(0.05));
  CHECK(told(model) == "");
  CHECK_THROWS_WITH(read(qwen + R"("shared_expert_intermediate_size": 5633})"),
                    Catch::Contains("moe_intermediate_size is 1408; it must divide"));
  CHECK_THROWS_WITH(read(qwen + R"("decoder_sparse_step": 2})"), Catch::Contains("decoder_sparse_step is 2"));
  CHECK_THROWS_WITH(read(qwen + R"("mlp_only_layers": [0, 1]})"), Catch::Contains("mlp_only_layers"));
}

TEST_CASE("config.json: heads that are the embedding, where the family has it so") {
  CHECK(billions(read(R"({"model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28,
      "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 256, "intermediate_size": 24576,
      "vocab_size": 256000})")) == Approx(8.54).margin(0.005));
  const ModelShape gemma = read(R"({"model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42,
      "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 256, "intermediate_size": 14336,
      "max_position_embeddings": 8192, "query_pre_attn_scalar": 256, "sliding_window": 4096, "vocab_size": 256000})");
  CHECK(billions(gemma) == Approx(9.24).margin(0.005));
  CHECK(told(gemma) == "not read: sliding_window\n");
  CHECK(billions(read(R"({"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112,
      "n_inner": null, "seq_length": 2048, "offset_alibi": 100, "vocab_size": 250880})")) ==
        Approx(176.2).margin(0.1));
  CHECK(billions(read(R"({"model_type": "cohere", "hidden_size": 8192, "num_hidden_layers": 40,
      "num_attention_heads": 64, "num_key_value_heads": 64, "intermediate_size": 22528,
      "vocab_size": 256000})")) == Approx(35.0).margin(0.05));
  // Not these: 7.24 B with a head of its own.
  CHECK(billions(read(R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
      "vocab_size": 32000})")) == Approx(7.24).margin(0.005));
  CHECK(billions(read(R"({"model_type": "phi", "hidden_size": 2560, "num_hidden_layers": 32,
      "num_attention_heads": 32, "intermediate_size": 10240, "vocab_size": 51200})")) ==
        Approx(2.78).margin(0.005));
}

TEST_CASE("config.json: many families, by their published sizes in billions, with nothing to tell") {
  struct Row {
    double billions;
    const char* text;
  };
  for (
      const Row& row : {
          Row{0.12444,
              R"("gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "n_ctx": 1024,
             "vocab_size": 50257, "resid_pdrop": 0.1, "summary_use_proj": true)"},
          Row{2.651,
              R"("gpt_neo", "hidden_size": 2560, "num_layers": 32, "num_heads": 20, "intermediate_size": null,
             "max_position_embeddings": 2048, "vocab_size": 50257)"},
          Row{6.05,
              R"("gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "n_inner": null, "n_positions": 2048,
             "rotary": true, "rotary_dim": 64, "tie_word_embeddings": false, "vocab_size": 50400)"},
          Row{20.55, R"("gpt_neox", "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64,
             "intermediate_size": 24576, "max_position_embeddings": 2048, "vocab_size": 50432,
             "use_parallel_residual": true)"},
          Row{6.658, R"("opt", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
             "ffn_dim": 16384, "max_position_embeddings": 2048, "word_embed_proj_dim": 4096, "vocab_size": 50272,
             "do_layer_norm_before": true)"},
          Row{6.65, R"("mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "expansion_ratio": 4,
             "max_seq_len": 2048, "vocab_size": 50432, "no_bias": true, "learned_pos_emb": true,
             "attn_config": {"alibi": true, "alibi_bias_max": 8, "attn_impl": "torch"}, "init_config": {"a": 1})"},
          Row{12.25, R"("mistral", "hidden_size": 5120, "num_hidden_layers": 40, "num_attention_heads": 32,
             "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336,
             "max_position_embeddings": 131072, "vocab_size": 131072)"},
          Row{3.82, R"("phi3", "hidden_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32,
             "num_key_value_heads": 32, "intermediate_size": 8192, "max_position_embeddings": 4096,
             "original_max_position_embeddings": 4096, "vocab_size": 32064)"},
          Row{41.87, R"("phimoe", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
             "num_key_value_heads": 8, "intermediate_size": 6400, "num_local_experts": 16,
             "num_experts_per_tok": 2, "max_position_embeddings": 131072, "vocab_size": 32064)"},
          Row{3.03, R"("starcoder2", "hidden_size": 3072, "num_hidden_layers": 30, "num_attention_heads": 24,
             "num_key_value_heads": 2, "intermediate_size": 12288, "max_position_embeddings": 16384,
             "vocab_size": 49152, "use_bias": true)"},
          Row{7.30, R"("olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
             "num_key_value_heads": 32, "intermediate_size": 11008, "max_position_embeddings": 4096,
             "vocab_size": 100352)"},
          Row{7.615, R"("qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
             "num_key_value_heads": 4, "intermediate_size": 18944, "max_position_embeddings": 32768,
             "max_window_layers": 28, "sliding_window": 131072, "use_sliding_window": false,
             "vocab_size": 152064)"},
          Row{15.7, R"("deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16,
             "num_key_value_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408,
             "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6, "n_group": 1,
             "topk_group": 1, "first_k_dense_replace": 1, "moe_layer_freq": 1, "q_lora_rank": null,
             "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
             "max_position_embeddings": 163840, "seq_aux": true, "vocab_size": 102400)"},
          Row{353, R"("glm4_moe", "hidden_size": 5120, "num_hidden_layers": 92, "num_attention_heads": 96,
             "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 12288,
             "moe_intermediate_size": 1536, "n_routed_experts": 160, "n_shared_experts": 1,
             "num_experts_per_tok": 8, "n_group": 1, "topk_group": 1, "first_k_dense_replace": 3,
             "max_position_embeddings": 131072, "use_qk_norm": true, "vocab_size": 151552)"},
      }) {
    INFO(row.text);
    const ModelShape model = read(std::string(R"({"model_type": )") + row.text + "}");
    CHECK(billions(model) == Approx(row.billions).epsilon(0.002));
    CHECK(told(model) == "");
  }
}

TEST_CASE("config.json: the language model of one that sees pictures") {
  const std::string llama =
      R"({"model_type": "llama4", "vision_config": {"hidden_size": 1408}, "text_config": {
      "model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40,
      "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
      "num_local_experts": 16, "num_experts_per_tok": 1, "max_position_embeddings": 10485760,
      "vocab_size": 202048, "interleave_moe_layer_step": )";
  const ModelShape scout = read(llama + "1}}");
  CHECK(billions(scout) == Approx(107.8).margin(0.1));  // 109 B with what sees
  CHECK(active(scout) == Approx(17).margin(0.3));
  CHECK(told(scout) == "not read: vision_config\n");
  CHECK_THROWS_WITH(read(llama + "2}}"), Catch::Contains("interleave_moe_layer_step is 2"));
  const ModelShape gemma = read(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
      "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "max_position_embeddings": 131072}})");
  CHECK(billions(gemma) == Approx(3.88).margin(0.01));
  CHECK_THAT(told(gemma), Catch::Contains("no head_dim: 256 is taken, as transformers does"));
}

TEST_CASE("config.json: what is guessed is told, and what doesn't only decode is refused") {
  const std::string some = R"("hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2,
      "vocab_size": 100, "max_position_embeddings": 512)";
  const ModelShape unknown = read(
      "{" + some + R"(, "model_type": "new", "intermediate_size": 96, "num_engrams": 3, "eos_token_id": 2})");
  CHECK(told(unknown) ==
        "model_type new is not a family that is known: taken for one like Llama\nnot read: num_engrams\n");
  CHECK(told(read("{" + some + R"(, "model_type": "llama"})")) ==
        "no intermediate_size: MLPs are taken to be 256 wide, 4 times hidden_size\n");
  CHECK(told(read("{" + some + R"(, "model_type": "gpt2"})")) == "");
  for (const char* type :
       {"bert", "roberta", "distilbert", "deberta-v2", "electra", "albert", "t5", "bart"}) {
    CHECK_THROWS_WITH(read("{" + some + R"(, "model_type": ")" + type + "\"}"), Catch::Contains("encoder"));
  }
  CHECK_THROWS_WITH(read("{" + some + R"(, "is_encoder_decoder": true})"), Catch::Contains("encoder"));
}
