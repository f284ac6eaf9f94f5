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
                                                              {"precision", "bf16"},
                                                              {"gradients", "bf16"}});
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

TEST_CASE("torchtitan's shards within replicas, and replicas alone") {
  const auto with = [](const std::string& degrees) {
    return read("hsdp.toml",
                "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 8192\n"
                "local_batch_size = 1\n[activation_checkpoint]\nmode = \"none\"\n[parallelism]\n" +
                    degrees)
        .parameters;
  };
  const auto both = with("data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 8\n");
  CHECK(both.at("sharding") == "fsdp");
  CHECK(both.at("dp") == "32");
  CHECK(both.at("dp_replicate") == "4");
  const auto rest = with("data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = -1\n");
  CHECK(rest.at("dp_replicate") == "4");
  CHECK(!rest.contains("dp"));
  const auto alone = with("data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 1\n");
  CHECK(alone.at("sharding") == "none");
  CHECK(alone.at("dp") == "4");
  CHECK(!alone.contains("dp_replicate"));
  // With cp these ranks divide the weights.
  const auto context = with(
      "data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 1\n"
      "context_parallel_degree = 2\n");
  CHECK(context.at("sharding") == "fsdp");
  CHECK(context.at("dp_replicate") == "4");
  const std::string path =
      written("graph.toml", std::string(kTitan8).replace(std::string(kTitan8).find("replicate_degree = 1"),
                                                         20, "replicate_degree = 2"));
  CHECK(traffic("llm:from_args=" + path, 8).ops() ==
        traffic("llm:model=llama3_8b,sharding=hsdp,node_ranks=4,recompute=selective", 8).ops());
}

TEST_CASE("torchtitan's own defaults where a file says nothing, and names of 2024") {
  const std::string model = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n";
  const FromArguments none = read("bare.toml", model);
  CHECK(none.parameters.at("seq") == "2048");
  CHECK(none.parameters.at("micro_batch") == "8");
  CHECK(none.parameters.at("recompute") == "selective");
  CHECK(told(none, "has no training.seq_len: torchtitan's own is taken, 2048"));
  CHECK(told(none, "has no training.local_batch_size"));
  CHECK(told(none, "has no activation_checkpoint.mode"));
  const FromArguments old =
      read("old.toml", model +
                           "[training]\ntensor_parallel_degree = 2\nglobal_batch_size = -1\n"
                           "data_parallel_replicate_degree = 2\n"
                           "[experimental]\npipeline_parallel_degree = 4\n"
                           "context_parallel_degree = 2\n");
  CHECK(old.parameters.at("tp") == "2");
  CHECK(old.parameters.at("pp") == "4");
  CHECK(old.parameters.at("cp") == "2");
  CHECK(old.parameters.at("cp_exchange") == "gather");
  CHECK(old.parameters.at("dp_replicate") == "2");
  CHECK(!old.parameters.contains("global_batch"));
  CHECK(!told(old, "not read"));
  const FromArguments ring = read("ring.toml", model +
                                                   "[parallelism]\ncontext_parallel_degree = 2\n"
                                                   "context_parallel_rotate_method = \"alltoall\"\n"
                                                   "fsdp_reshard_after_forward = \"never\"\n"
                                                   "pipeline_parallel_schedule_csv = \"\"\n");
  CHECK(ring.parameters.at("cp_exchange") == "ring");
  CHECK(told(ring,
             "no counterpart, though it changes what is computed, sent or kept: "
             "parallelism.fsdp-reshard-after-forward"));
  CHECK(told(ring, "not read: parallelism.pipeline-parallel-schedule-csv"));
}

TEST_CASE("Megatron-LM: shards, formats of gradients, experts and the order of ranks") {
  const std::string model =
      "--num-layers 4 --hidden-size 256 --num-attention-heads 4 --seq-length 128 --vocab-size 1024 ";
  const auto with = [&](const std::string& more) { return read("more.sh", model + more + "\n"); };
  const auto of = [&](const std::string& more, const char* name) {
    const auto parameters = with(more).parameters;
    return parameters.contains(name) ? parameters.at(name) : "";
  };
  CHECK(of("--bf16 --use-distributed-optimizer --num-distributed-optimizer-instances 2", "dp_replicate") ==
        "2");
  CHECK(of("--bf16 --use-megatron-fsdp", "sharding") == "none");
  for (const auto& [theirs, ours] : std::map<std::string, std::string>{{"no_shard", "none"},
                                                                       {"optim", "zero1"},
                                                                       {"optim_grads", "zero2"},
                                                                       {"optim_grads_params", "fsdp"}}) {
    CHECK(of("--bf16 --use-megatron-fsdp --data-parallel-sharding-strategy " + theirs, "sharding") == ours);
  }
  // validate_args makes gradients 4 bytes with bf16 alone.
  CHECK(of("--bf16", "gradients").empty());
  CHECK(of("--fp16", "gradients") == "bf16");
  CHECK(of("--fp16 --accumulate-allreduce-grads-in-fp32", "gradients").empty());
  CHECK(of("--bf16 --use-tp-pp-dp-mapping", "order") == "llama3");
  CHECK(of("--bf16 --attention-backend unfused", "attention") == "unfused");
  CHECK(of("--bf16 --context-parallel-size 2 --cp-comm-type allgather", "cp_exchange") == "gather");
  CHECK(told(with("--context-parallel-size 2 --cp-comm-type a2a"), "sent or kept: cp-comm-type"));
  CHECK(!told(with("--context-parallel-size 2 --cp-comm-type p2p"), "cp-comm-type"));
  CHECK(told(with("--fp8-param-gather --optimizer adam"), "sent or kept: fp8-param-gather"));
  const std::string experts =
      "--tensor-model-parallel-size 2 --num-experts 8 --expert-model-parallel-size 4 --sequence-parallel ";
  CHECK(told(with(experts), "each expert is divided among 2 ranks (expert-tensor-parallel-size is tp's"));
  CHECK(told(with(experts), "moe-token-dispatcher-type is allgather"));
  const FromArguments as_here = with(experts +
                                     "--expert-tensor-parallel-size 1 --moe-token-dispatcher-type alltoall "
                                     "--moe-router-num-groups 4 --moe-router-group-topk 2");
  CHECK(!told(as_here, "expert"));
  CHECK(as_here.model->expert_groups == 4);
  CHECK(as_here.model->top_groups == 2);
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
