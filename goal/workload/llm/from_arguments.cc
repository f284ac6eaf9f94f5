#include "goal/workload/llm/from_arguments.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "goal/workload/llm/argument_list.h"
#include "sim/units/input_error.h"

namespace weft::goal::llm {
namespace {

using Given = std::map<std::string, std::string>;

// An argument that changes what is computed, sent or kept, and has no counterpart; but not at its usual
// value.
struct Matter {
  const char* name;
  const char* usual = nullptr;
};
constexpr Matter kMatter[] = {
    {"window-size"},
    {"window-attn-skip-freq"},
    {"mtp-num-layers", "0"},
    {"cpu-offloading"},
    {"moe-layer-freq", "1"},
    {"expert-tensor-parallel-size"},
    {"moe-token-dispatcher-type"},
    {"moe-expert-capacity-factor"},
    {"moe-shared-expert-overlap"},
    {"overlap-moe-expert-parallel-comm"},
    {"delay-wgrad-compute"},
    {"account-for-loss-in-pipeline-split"},
    {"account-for-embedding-in-pipeline-split"},
    {"decoder-first-pipeline-num-layers"},
    {"decoder-last-pipeline-num-layers"},
    {"pipeline-model-parallel-layout"},
    {"microbatch-group-size-per-virtual-pipeline-stage"},
    {"recompute-method"},
    {"recompute-num-layers"},
    {"recompute-modules"},
    {"distribute-saved-activations"},
    {"cp-comm-type"},
    {"hierarchical-context-parallel-sizes"},
    {"spec"},
    {"hybrid-layer-pattern"},
    {"hybrid-override-pattern"},
    {"linear-attention-freq"},
    {"experimental-attention-variant"},
    {"heterogeneous-layers-config-path"},
    {"encoder-num-layers"},
    {"tensor-parallel-num-weight-shards"},
    {"expert-tensor-parallel-num-weight-shards"},
    {"fp4-format"},
    {"fp8-param-gather"},
    {"optimizer", "adam"},
    {"optimizer-cpu-offload"},
    {"main-grads-dtype", "fp32"},
    {"main-params-dtype", "fp32"},
    {"exp-avg-dtype", "fp32"},
    {"exp-avg-sq-dtype", "fp32"},
    {"ddp-bucket-size"},
    {"ddp-num-buckets"},
    {"outer-dp-sharding-strategy", "no_shard"},
    {"torch-fsdp2-no-reshard-after-forward"},
    {"parallelism.fsdp-reshard-after-forward", "default"},
    {"parallelism.disable-loss-parallel", "false"},
    {"parallelism.pipeline-parallel-split-points", "[]"},
    {"experimental.pipeline-parallel-split-points", "[]"},
    {"parallelism.module-fqns-per-model-part", "[]"},
    {"parallelism.pipeline-parallel-layers-per-stage"},
    {"parallelism.pipeline-parallel-schedule-csv", ""},
    {"parallelism.expert-tensor-parallel-degree", "1"},
    {"training.enable-cpu-offload", "false"},
    {"training.dtype", "float32"},
    {"float8.enable-fsdp-float8-all-gather", "false"},
    {"quantize.linear.float8.enable-fsdp-float8-all-gather", "false"},
    {"optimizer.early-step-in-backward", "false"},
    {"activation-checkpoint.selective-ac-option", "op"},
    {"fault-tolerance.enable", "false"},
    {"fault-tolerance.semi-sync-method"},
};

bool matters(const std::string& name, const std::string& value) {
  if (value == "false" || value == "False" || value == "null" || value == "None") return false;
  return std::any_of(std::begin(kMatter), std::end(kMatter), [&](const Matter& matter) {
    return name == matter.name && (matter.usual == nullptr || value != matter.usual);
  });
}

std::uint32_t small(std::uint64_t number) { return static_cast<std::uint32_t>(number); }

void copy(ArgumentList& list, const char* from, Given& given, const char* to) {
  if (const auto number = list.number(from)) given[to] = fmt::format("{}", *number);
}

std::uint64_t need(ArgumentList& list, const char* name) {
  const auto number = list.number(name);
  if (number && *number > 0) return *number;
  if (number) list.fail(name, "a whole number above 0");
  throw InputError(fmt::format("{}: no --{}, without which there is no model", list.path(), name));
}

// Tables are padded, so that every rank of tensor parallelism has a round part.
std::uint32_t vocabulary(ArgumentList& list, std::uint64_t tensor, std::vector<std::string>& remarks) {
  constexpr std::uint64_t kGpt2 = 50257;
  const auto given = list.number("vocab-size");
  if (!given) {
    remarks.push_back(fmt::format("{} has no --vocab-size (the tokenizer has it): GPT-2's {} words are taken",
                                  list.path(), kGpt2));
  }
  const std::uint64_t part =
      std::max<std::uint64_t>(list.number("make-vocab-size-divisible-by", 128), 1) * tensor;
  return small((given.value_or(kGpt2) + part - 1) / part * part);
}

bool dropout(ArgumentList& list) {
  bool any = false;
  for (const char* name : {"hidden-dropout", "attention-dropout"}) {
    const auto value = list.find(name);
    any = any || !value || std::strtod(value->c_str(), nullptr) > 0;  // 0.1 if not given
  }
  return any;
}

void add_experts(ArgumentList& list, ModelShape& model) {
  model.experts = small(list.number("num-experts", 0));
  if (model.experts == 0) return;
  model.top_k = small(list.number("moe-router-topk", 2));
  model.expert_ffn = small(list.number("moe-ffn-hidden-size", model.ffn));
  if (model.expert_ffn == 0) list.fail("moe-ffn-hidden-size", "a whole number above 0");
  model.shared_experts = small(list.number("moe-shared-expert-intermediate-size", 0) / model.expert_ffn);
  const std::uint32_t groups = small(list.number("moe-router-num-groups", 0)),
                      top = small(list.number("moe-router-group-topk", 0));
  if (top == 0 || top >= groups) return;
  if (model.experts % groups != 0) list.fail("moe-router-num-groups", "groups of as many experts each");
  model.expert_groups = groups;
  model.top_groups = top;
}

// How experts are divided, and tokens sent, where that isn't as here.
void tell_of_experts(ArgumentList& list, std::uint64_t tensor, std::vector<std::string>& remarks) {
  const std::uint64_t of_each = list.number("expert-tensor-parallel-size", tensor);
  const std::string sent = list.find("moe-token-dispatcher-type").value_or("allgather");
  if (list.number("num-experts", 0) == 0) return;
  if (of_each > 1) {
    remarks.push_back(
        fmt::format("{}: each expert is divided among {} ranks (expert-tensor-parallel-size{}), which has no "
                    "counterpart: here "
                    "each is whole on one rank, and ep spans the ranks of tp",
                    list.path(), of_each,
                    list.find("expert-tensor-parallel-size") ? "" : " is tp's where it isn't given"));
  }
  if (sent != "alltoall" && list.number("expert-model-parallel-size", 1) > 1) {
    remarks.push_back(
        fmt::format("{}: moe-token-dispatcher-type is {}: here tokens go to their experts by alltoall{}",
                    list.path(), sent, sent == "flex" ? ", or with expert_nodes from node to node" : ""));
  }
}

ModelShape shape_of(ArgumentList& list, std::uint64_t tensor, std::vector<std::string>& remarks) {
  ModelShape model;
  model.name = "the model of " + list.path();
  model.layers = small(need(list, "num-layers"));
  model.hidden = small(need(list, "hidden-size"));
  model.heads = small(need(list, "num-attention-heads"));
  model.kv_heads =
      list.flag("group-query-attention") ? small(list.number("num-query-groups", 1)) : model.heads;
  model.head_dim = small(list.number("kv-channels", model.hidden / model.heads));
  model.gated = list.flag("swiglu");
  // Megatron's own choice: as many weights as 4 · h without a gate.
  const std::uint64_t usual =
      model.gated ? std::uint64_t{model.hidden} * 8 / 3 / 64 * 64 : 4ull * model.hidden;
  model.ffn = small(list.number("ffn-hidden-size", usual));
  model.sequence = small(need(list, "seq-length"));
  const auto positions = list.number("max-position-embeddings");
  const auto embedding = list.find("position-embedding-type");
  const bool rotary = list.flag("use-rotary-position-embeddings");
  if (!rotary && embedding.value_or("learned_absolute") == "learned_absolute") {
    model.positions = small(positions.value_or(model.sequence));
  }
  model.biases = !list.flag("disable-bias-linear");
  model.dropout = dropout(list);
  model.tied = !list.flag("untie-embeddings-and-output-weights");
  model.vocab = vocabulary(list, tensor, remarks);
  add_experts(list, model);
  if (list.find("multi-latent-attention")) {
    list.fail("multi-latent-attention",
              "a model known by name, such as model=deepseek_v3: attention of this kind "
              "is not read from arguments");
  }
  return model;
}

void read_pipeline(ArgumentList& list, const ModelShape& model, Given& given) {
  const std::uint64_t stages = list.number("pipeline-model-parallel-size", 1);
  given["pp"] = fmt::format("{}", stages);
  copy(list, "num-virtual-stages-per-pipeline-rank", given, "vp");
  // With the embedding alone counted Megatron has a layer less in the first part, and here none has.
  const bool loss = list.flag("account-for-loss-in-pipeline-split");
  const bool table = loss && list.flag("account-for-embedding-in-pipeline-split");
  const std::uint64_t places = model.layers + (loss ? 1 : 0) + (table ? 1 : 0);
  const auto each = list.number("num-layers-per-virtual-pipeline-stage");
  if (!each) return;
  if (*each == 0 || stages == 0 || places % (stages * *each) != 0) {
    const char* ends = table ? " with embedding and loss" : loss ? " with the loss" : "";
    list.fail("num-layers-per-virtual-pipeline-stage",
              fmt::format("a divisor of the {} layers{} by {} stages", places, ends, stages));
  }
  given["vp"] = fmt::format("{}", places / stages / *each);
}

void read_formats(ArgumentList& list, Given& given) {
  const bool half = list.flag("bf16"), other = list.flag("fp16");
  const bool narrow = list.find("fp8-format").has_value() || list.flag("fp8-hybrid") || list.flag("fp8-e4m3");
  given["precision"] = narrow ? "fp8" : half || other ? "bf16" : "fp32";
  // Gradients are added up in 4 bytes with bf16 unless said otherwise, and with fp16 only if said.
  const bool wide = list.flag("accumulate-allreduce-grads-in-fp32");
  if (list.flag("grad-reduce-in-bf16") || (other && !half && !wide)) given["gradients"] = "bf16";
  if (list.flag("no-gradient-accumulation-fusion")) given["accumulate"] = "separate";
  const std::string kernel = list.find("attention-backend").value_or("auto");
  if (list.flag("use-flash-attn")) given["attention"] = "flash";
  if (kernel == "unfused" || kernel == "local") given["attention"] = "unfused";
}

void read_recompute(ArgumentList& list, Given& given) {
  if (list.flag("recompute-activations")) given["recompute"] = "selective";
  const auto granularity = list.find("recompute-granularity");
  if (!granularity) return;
  if (*granularity != "full" && *granularity != "selective")
    list.fail("recompute-granularity", "full or selective");
  given["recompute"] = *granularity;
}

// torchrun's arguments, if both are there, say how many ranks there are.
void read_ranks(ArgumentList& list, FromArguments& result, std::uint64_t replica) {
  Given& given = result.parameters;
  for (const char* name : {"nproc-per-node", "nnodes"}) {
    const auto text = list.find(name);
    if (!text) return;
    if (text->empty() || text->find_first_not_of("0123456789") != std::string::npos) {
      result.remarks.push_back(fmt::format("{}: {} is '{}', which leaves open how many ranks there are",
                                           list.path(), name, *text));
      return;
    }
  }
  const std::uint64_t ranks = list.number("nproc-per-node", 1) * list.number("nnodes", 1);
  if (replica == 0 || ranks % replica != 0) list.fail("nproc-per-node", "ranks that tp · pp · cp divides");
  given["dp"] = fmt::format("{}", ranks / replica);
}

// Megatron-FSDP divides nothing unless it is told what.
std::string sharding_of(ArgumentList& list) {
  const std::string usual = list.flag("use-distributed-optimizer") ? "zero1" : "none";
  if (list.flag("use-torch-fsdp2")) return "fsdp";
  if (!list.flag("use-megatron-fsdp") && !list.flag("use-custom-fsdp")) return usual;
  const Given known = {
      {"no_shard", "none"}, {"optim", "zero1"}, {"optim_grads", "zero2"}, {"optim_grads_params", "fsdp"}};
  const auto strategy = list.find("data-parallel-sharding-strategy");
  const auto at = known.find(strategy.value_or("no_shard"));
  if (at == known.end()) {
    list.fail("data-parallel-sharding-strategy", "no_shard, optim, optim_grads or optim_grads_params");
  }
  return at->second;
}

void read_data(ArgumentList& list, Given& given) {
  given["sharding"] = sharding_of(list);
  const bool fsdp = given["sharding"] == "fsdp", none = given["sharding"] == "none";
  const std::uint64_t instances = list.number("num-distributed-optimizer-instances", 1);
  if (instances > 1 && !none) given["dp_replicate"] = fmt::format("{}", instances);
  const bool gradients = list.flag("overlap-grad-reduce"), weights = list.flag("overlap-param-gather");
  if (fsdp) given["stack"] = "megatron";
  if (fsdp) return;
  const bool always = given["sharding"] == "zero2";
  given["dp_overlap"] = gradients && weights ? "all" : gradients || always ? "gradients" : "none";
}

// What is exchanged all to all (by heads), or by both, has no counterpart, and stays unread.
void read_context(ArgumentList& list, Given& given) {
  copy(list, "context-parallel-size", given, "cp");
  if (list.is("cp-comm-type", "p2p") || list.number("context-parallel-size", 1) == 1) {
    list.find("cp-comm-type");
  } else if (list.is("cp-comm-type", "allgather")) {
    list.find("cp-comm-type");
    given["cp_exchange"] = "gather";
  }
}

FromArguments from_megatron(ArgumentList& list) {
  FromArguments result;
  Given& given = result.parameters;
  const std::uint64_t tensor = list.number("tensor-model-parallel-size", 1);
  result.model = shape_of(list, std::max<std::uint64_t>(tensor, 1), result.remarks);
  given["tp"] = fmt::format("{}", tensor);
  given["sp"] = list.flag("sequence-parallel") && tensor > 1 ? "true" : "false";
  if (list.flag("tp-comm-overlap") && given["sp"] == "true") given["tp_overlap"] = "true";
  read_pipeline(list, *result.model, given);
  read_context(list, given);
  copy(list, "expert-model-parallel-size", given, "ep");
  tell_of_experts(list, tensor, result.remarks);
  if (list.flag("use-tp-pp-dp-mapping")) given["order"] = "llama3";
  copy(list, "micro-batch-size", given, "micro_batch");
  copy(list, "global-batch-size", given, "global_batch");
  read_data(list, given);
  read_formats(list, given);
  read_recompute(list, given);
  read_ranks(
      list, result,
      tensor * list.number("pipeline-model-parallel-size", 1) * list.number("context-parallel-size", 1));
  return result;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Degrees stand in [parallelism]; in files of 2024 in [training] or [experimental].
std::string in_section(const ArgumentList& list, const std::string& name) {
  for (const char* section : {"parallelism.", "training.", "experimental."}) {
    if (list.has(section + name)) return section + name;
  }
  return "parallelism." + name;
}
std::uint64_t degree(ArgumentList& list, const char* name) { return list.number(in_section(list, name), 1); }
void copy_degree(ArgumentList& list, const char* name, Given& given, const char* to) {
  copy(list, in_section(list, name).c_str(), given, to);
}

void read_titan_schedule(ArgumentList& list, Given& given) {
  const std::string name = in_section(list, "pipeline-parallel-schedule");
  const auto schedule = list.find(name);
  if (!schedule) return;
  const Given known = {
      {"1f1b", "1f1b"}, {"gpipe", "gpipe"}, {"interleaved1f1b", "interleaved"}, {"zbvzerobubble", "zbv"}};
  const auto at = known.find(lower(*schedule));
  if (at == known.end()) list.fail(name, "1F1B, GPipe, Interleaved1F1B or ZBVZeroBubble");
  given["schedule"] = at->second;
  if (at->second == "interleaved") given["vp"] = "2";  // what torchtitan takes if nothing else is said
}

// A degree of -1 for shards: what is left of the ranks, as dp=0. Without shards replicas only add up
// gradients.
void read_titan_data(ArgumentList& list, Given& given) {
  const bool old = list.has("training.data-parallel-degree");
  const std::string shard =
      old ? "training.data-parallel-degree" : in_section(list, "data-parallel-shard-degree");
  const bool rest = list.find(shard).value_or("-1") == "-1";
  const std::uint64_t shards = rest ? 0 : *list.number(shard);
  const std::uint64_t replicas = degree(list, "data-parallel-replicate-degree");
  const bool alone = shards == 1 && degree(list, "context-parallel-degree") == 1;
  given["sharding"] = replicas > 1 && alone ? "none" : "fsdp";
  if (!rest) given["dp"] = fmt::format("{}", shards * replicas);
  if (replicas > 1 && !alone) given["dp_replicate"] = fmt::format("{}", replicas);
}

// What torchtitan has where a file says nothing is another than here.
void take_usual(FromArguments& result, const ArgumentList& list, const char* to, const char* name,
                const char* value) {
  result.parameters[to] = value;
  result.remarks.push_back(
      fmt::format("{} has no {}: torchtitan's own is taken, {}", list.path(), name, value));
}

void read_titan_recompute(ArgumentList& list, FromArguments& result) {
  const auto mode = list.find("activation-checkpoint.mode");
  if (!mode) {
    take_usual(result, list, "recompute", "activation_checkpoint.mode", "selective");
  } else if (*mode != "none" && *mode != "selective" && *mode != "full") {
    list.fail("activation-checkpoint.mode", "none, selective or full");
  } else {
    result.parameters["recompute"] = *mode;
  }
  if (result.parameters["recompute"] == "selective") {
    result.remarks.push_back(
        list.path() +
        ": of selective recomputation the time is counted, but the memory as if attention's "
        "core alone were computed again");
  }
}

void read_titan_formats(ArgumentList& list, Given& given) {
  const std::string converters = list.find("model.converters").value_or("");
  const bool old = list.flag("float8.enable-float8-linear");
  if (converters.find("float8") != std::string::npos || old) given["precision"] = "fp8";
  if (converters.find("mx") != std::string::npos) given["precision"] = "mxfp8";
  if (list.find("training.mixed-precision-param").value_or("bfloat16") == "float32")
    given["precision"] = "fp32";
  if (list.find("training.mixed-precision-reduce").value_or("float32") == "bfloat16")
    given["gradients"] = "bf16";
}

// Keys and values are gathered, unless they are to go around.
void read_titan_context(ArgumentList& list, Given& given) {
  copy_degree(list, "context-parallel-degree", given, "cp");
  if (degree(list, "context-parallel-degree") == 1) return;
  const std::string name = in_section(list, "context-parallel-rotate-method");
  const std::string method = list.find(name).value_or("allgather");
  if (method != "allgather" && method != "alltoall") list.fail(name, "allgather or alltoall");
  given["cp_exchange"] = method == "allgather" ? "gather" : "ring";
}

// Weights are kept behind forward with a pipeline, and else not, as "default" has it.
void read_titan_reshard(ArgumentList& list) {
  const std::string name = "parallelism.fsdp-reshard-after-forward";
  const bool pipeline = degree(list, "pipeline-parallel-degree") > 1;
  if (list.is(name, pipeline ? "never" : "always")) list.find(name);
}

// Sequences of a rank. A pipeline divides them into micro-batches; else they are one.
void read_titan_batch(ArgumentList& list, FromArguments& result) {
  Given& given = result.parameters;
  if (list.is("training.global-batch-size", "-1")) {
    list.find("training.global-batch-size");
  } else {
    copy(list, "training.global-batch-size", given, "global_batch");
  }
  copy(list, "training.seq-len", given, "seq");
  if (!given.contains("seq")) take_usual(result, list, "seq", "training.seq_len", "2048");
  const auto local = list.number("training.local-batch-size"), older = list.number("training.batch-size");
  const std::uint64_t sequences = local ? *local : older.value_or(8);
  if (!local && !older) take_usual(result, list, "micro_batch", "training.local_batch_size", "8");
  const std::uint64_t each = degree(list, "pipeline-parallel-microbatch-size");
  const bool pipeline = degree(list, "pipeline-parallel-degree") > 1;
  given["micro_batch"] = fmt::format("{}", pipeline ? each : sequences);
  if (pipeline && each > 0 && !given.contains("global_batch"))
    given["micro_batches"] = fmt::format("{}", sequences / each);
}

FromArguments from_titan(ArgumentList& list) {
  FromArguments result;
  Given& given = result.parameters;
  const auto name = list.find("model.name"), flavor = list.find("model.flavor");
  if (!name || !flavor) throw InputError(list.path() + ": no name and flavor in [model]");
  given["model"] = lower(*name + "_" + *flavor);
  const bool in_training = list.flag("training.compile"), compile = list.flag("compile.enable");
  given["stack"] = in_training || compile ? "torch_compile" : "pytorch";
  copy_degree(list, "tensor-parallel-degree", given, "tp");
  const bool overlap = list.flag(in_section(list, "enable-async-tensor-parallel"));
  if (overlap && degree(list, "tensor-parallel-degree") > 1) given["tp_overlap"] = "true";
  read_titan_context(list, given);
  copy_degree(list, "pipeline-parallel-degree", given, "pp");
  copy_degree(list, "expert-parallel-degree", given, "ep");
  read_titan_schedule(list, given);
  read_titan_data(list, given);
  read_titan_reshard(list);
  read_titan_recompute(list, result);
  read_titan_formats(list, given);
  read_titan_batch(list, result);
  return result;
}

}  // namespace

FromArguments read_arguments(const std::string& path) {
  ArgumentList list(path);
  FromArguments result = path.ends_with(".toml") ? from_titan(list) : from_megatron(list);
  std::vector<std::string> matter, others;
  for (const std::string& name : list.unread()) {
    (matters(name, list.peek(name)) ? matter : others).push_back(name);
  }
  if (!matter.empty()) {
    result.remarks.push_back(
        fmt::format("{}: no counterpart, though it changes what is computed, sent or kept: {}", path,
                    fmt::join(matter, ", ")));
  }
  if (!others.empty())
    result.remarks.push_back(fmt::format("{}: not read: {}", path, fmt::join(others, ", ")));
  return result;
}

}  // namespace weft::goal::llm
