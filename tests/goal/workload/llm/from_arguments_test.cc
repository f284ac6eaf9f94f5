// Arguments of Megatron-LM's example scripts and of torchtitan's config files, read.
#include "goal/workload/llm/from_arguments.h"

#include <cstdlib>
#include <fstream>

#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;
using namespace weft::goal::llm;

namespace {

std::string written(const std::string& name, const std::string& text) {
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  std::ofstream(path) << text;
  return path;
}
FromArguments read(const std::string& name, const std::string& text) {
  return read_arguments(written(name, text));
}
bool told(const FromArguments& from, const std::string& part) {
  return std::any_of(from.remarks.begin(), from.remarks.end(),
                     [&](const std::string& remark) { return remark.find(part) != std::string::npos; });
}

// As examples/gpt3/train_gpt3_175b_distributed.sh has them.
constexpr const char* kGpt3 = R"(#!/bin/bash
GPUS_PER_NODE=8
NUM_NODES=16
VOCAB_FILE=$2 #<Specify path to file>/gpt2-vocab.json
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --rampup-batch-size 16 16 5859375
    --adam-beta1 0.9
    --fp16
    --lr 6.0e-5
)
MODEL_PARALLEL_ARGS=(
        --tensor-model-parallel-size 8
        --pipeline-model-parallel-size 16
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${GPT_MODEL_ARGS[@]} ${TRAINING_ARGS[@]}
)";

// In the manner of examples/llama/train_llama3_8b_h100_fp8.sh.
constexpr const char* kLlama = R"(TP_SIZE=${TP_SIZE:-2}
CP_SIZE=1
--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \
--group-query-attention --num-query-groups 8 --kv-channels 128 --seq-length 8192 \
--position-embedding-type rope --rotary-base 1000000 --attention-dropout 0.0 --hidden-dropout 0.0 --swiglu \
--untie-embeddings-and-output-weights --disable-bias-linear --vocab-size 128256 --bf16 --fp8-format hybrid \
--tensor-model-parallel-size $TP_SIZE --context-parallel-size $CP_SIZE --sequence-parallel \
--use-distributed-optimizer --tp-comm-overlap --micro-batch-size=1 --global-batch-size 128
)";

// torchtitan's train_configs of Llama 3 8B and 70B.
constexpr const char* kTitan8 = R"([model]
name = "llama3"
flavor = "8B"
[optimizer]
lr = 3e-4
[training]
local_batch_size = 1
seq_len = 8192
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
pipeline_parallel_degree = 1
context_parallel_degree = 1
[activation_checkpoint]
mode = "selective"  # ["none", "selective", "full"]
)";
constexpr const char* kTitan70 = R"([model]
name = "llama3"
flavor = "70B"
[training]
local_batch_size = 8
seq_len = 8192
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 8  # 8-way TP
[activation_checkpoint]
mode = "full"
)";

}  // namespace

TEST_CASE("Megatron-LM's GPT-3 175B: the model known by name, and the script's layout") {
  const FromArguments from = read("gpt3.sh", kGpt3);
  REQUIRE(from.model);
  CHECK(parameters(*from.model) == parameters(find_model("gpt3_175b")));
  CHECK(from.model->dropout);
  CHECK(from.parameters == std::map<std::string, std::string>{{"tp", "8"},
                                                              {"sp", "false"},
                                                              {"pp", "16"},
                                                              {"dp", "1"},
                                                              {"micro_batch", "1"},
                                                              {"global_batch", "1536"},
                                                              {"sharding", "none"},
                                                              {"dp_overlap", "none"},
                                                              {"precision", "bf16"}});
  CHECK(told(from, "no --vocab-size"));
  CHECK(told(from, "not read: adam-beta1"));
}

TEST_CASE("the ranks of a launcher that stands on one line with its program") {
  const std::string rest =
      std::string(" pretrain_gpt.py \\\n") + (kLlama + std::string(kLlama).find("--num-layers"));
  const auto with = [&](const std::string& launcher) {
    return read("launched.sh", "TP_SIZE=2\nCP_SIZE=1\n" + launcher + rest);
  };
  // 8 · 4 ranks by tp 2 are 16 replicas.
  CHECK(with("torchrun --nproc_per_node 8 --nnodes 4").parameters.at("dp") == "16");
  CHECK(with("torchrun --nnodes=4 --nproc-per-node=8").parameters.at("dp") == "16");
  const FromArguments open = with("torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES");
  CHECK(!open.parameters.contains("dp"));
  CHECK(told(open, "nnodes is '$SLURM_NNODES', which leaves open how many ranks there are"));
}

TEST_CASE("Megatron-LM's Llama 3 8B in fp8, as one line, one a line, and as YAML") {
  const FromArguments from = read("llama.txt", kLlama);
  CHECK(parameters(*from.model) == parameters(find_model("llama3_8b")));
  CHECK(!from.model->dropout);
  CHECK(from.parameters.at("tp") == "2");
  CHECK(from.parameters.at("sp") == "true");
  CHECK(from.parameters.at("precision") == "fp8");
  CHECK(from.parameters.at("sharding") == "zero1");
  CHECK(from.parameters.at("tp_overlap") == "true");
  const FromArguments yaml = read("llama.yaml", R"(language_model:
  num_layers: 32
  hidden_size: 4096
  num_attention_heads: 32
  seq_length: 8192
tensor_model_parallel_size: 4
)");
  CHECK(yaml.model->layers == 32);
  CHECK(yaml.parameters.at("tp") == "4");
}

TEST_CASE("torchtitan's Llama 3 8B and 70B") {
  const FromArguments small = read("llama3_8b.toml", kTitan8), large = read("llama3_70b.toml", kTitan70);
  CHECK(small.parameters.at("model") == "llama3_8b");
  CHECK(small.parameters.at("sharding") == "fsdp");
  CHECK(small.parameters.at("recompute") == "selective");
  CHECK(small.parameters.at("stack") == "pytorch");
  CHECK(!small.parameters.contains("dp"));
  CHECK(told(small, "of selective recomputation the time"));
  CHECK(large.parameters.at("model") == "llama3_70b");
  CHECK(large.parameters.at("tp") == "8");
  CHECK(large.parameters.at("micro_batch") == "8");
  CHECK(large.parameters.at("recompute") == "full");
}

TEST_CASE("a graph from arguments is the one that the same parameters give") {
  const std::string path = written("titan.toml", kTitan8);
  const auto ops = [](const std::string& text) { return traffic(text, 4).ops(); };
  CHECK(ops("llm:from_args=" + path) ==
        ops("llm:model=llama3_8b,sharding=fsdp,recompute=selective,seq=8192"));
  // What is given beside the file stands before it.
  CHECK(ops("llm:tp=2,from_args=" + path) ==
        ops("llm:model=llama3_8b,tp=2,sharding=fsdp,recompute=selective,seq=8192"));
}

TEST_CASE("arguments that can't be read, or have no counterpart") {
  const auto refused = [](const char* name, const std::string& text, const char* part) {
    CHECK_THROWS_WITH(read(name, text), Catch::Contains(part));
  };
  refused("a.sh", "echo nothing", "no arguments");
  refused("a.sh", "--num-layers 4", "no --hidden-size");
  refused("a.sh", "--num-layers four", ":1: num-layers is 'four'; expected a whole number");
  refused("a.sh", "--num-layers 4\n--num-layers 5", ":2: num-layers is '5', and '4' on line 1");
  refused("a.toml", "[training]\nseq_len = 5", "no name and flavor");
  refused("a.toml", std::string(kTitan8) + "[parallelism]\npipeline_parallel_schedule = \"Mine\"",
          "ZBVZeroBubble");
}

TEST_CASE("Megatron-LM: embedding and loss count as layers where the arguments say so") {
  const std::string model =
      "--num-layers 126 --hidden-size 16384 --num-attention-heads 128 --seq-length 8192 "
      "--max-position-embeddings 8192 --vocab-size 128256 --pipeline-model-parallel-size 16 "
      "--num-layers-per-virtual-pipeline-stage 1 ";
  const FromArguments both = read("both.sh", model +
                                                 "--account-for-loss-in-pipeline-split "
                                                 "--account-for-embedding-in-pipeline-split\n");
  CHECK(both.parameters.at("vp") == "8");
  CHECK(!told(both, "account-for"));
  CHECK_THROWS_WITH(read("loss.sh", model + "--account-for-loss-in-pipeline-split\n"),
                    Catch::Contains("a divisor of the 127 layers with the loss by 16 stages"));
  CHECK_THROWS_WITH(read("table.sh", model + "--account-for-embedding-in-pipeline-split\n"),
                    Catch::Contains("a divisor of the 126 layers by 16 stages"));
}
