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

// Arguments that change what is computed or sent, and have no counterpart.
constexpr const char* kMatter[] = {
    "window-size",
    "mtp-num-layers",
    "cpu-offloading",
    "moe-layer-freq",
    "expert-tensor-parallel-size",
    "moe-token-dispatcher-type",
    "account-for-loss-in-pipeline-split",
    "account-for-embedding-in-pipeline-split",
    "decoder-first-pipeline-num-layers",
    "decoder-last-pipeline-num-layers",
    "recompute-method",
    "recompute-num-layers",
    "recompute-modules",
};

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
  if (list.flag("grad-reduce-in-bf16")) given["gradients"] = "bf16";
  if (list.flag("no-gradient-accumulation-fusion")) given["accumulate"] = "separate";
  if (list.flag("use-flash-attn")) given["attention"] = "flash";
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

FromArguments from_megatron(ArgumentList& list) {
  FromArguments result;
  Given& given = result.parameters;
  const std::uint64_t tensor = list.number("tensor-model-parallel-size", 1);
  result.model = shape_of(list, std::max<std::uint64_t>(tensor, 1), result.remarks);
  given["tp"] = fmt::format("{}", tensor);
  given["sp"] = list.flag("sequence-parallel") && tensor > 1 ? "true" : "false";
  if (list.flag("tp-comm-overlap") && given["sp"] == "true") given["tp_overlap"] = "true";
  read_pipeline(list, *result.model, given);
  copy(list, "context-parallel-size", given, "cp");
  copy(list, "expert-model-parallel-size", given, "ep");
  copy(list, "micro-batch-size", given, "micro_batch");
  copy(list, "global-batch-size", given, "global_batch");
  const bool fsdp =
      list.flag("use-torch-fsdp2") || list.flag("use-megatron-fsdp") || list.flag("use-custom-fsdp");
  given["sharding"] = list.flag("use-distributed-optimizer") && !fsdp ? "zero1" : fsdp ? "fsdp" : "none";
  const bool gradients = list.flag("overlap-grad-reduce"), weights = list.flag("overlap-param-gather");
  if (fsdp) given["stack"] = "megatron";
  if (!fsdp) given["dp_overlap"] = gradients && weights ? "all" : gradients ? "gradients" : "none";
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

void read_titan_schedule(ArgumentList& list, Given& given) {
  const std::string name = "parallelism.pipeline-parallel-schedule";
  const auto schedule = list.find(name);
  if (!schedule) return;
  const Given known = {
      {"1f1b", "1f1b"}, {"gpipe", "gpipe"}, {"interleaved1f1b", "interleaved"}, {"zbvzerobubble", "zbv"}};
  const auto at = known.find(lower(*schedule));
  if (at == known.end()) list.fail(name, "1F1B, GPipe, Interleaved1F1B or ZBVZeroBubble");
  given["schedule"] = at->second;
  if (at->second == "interleaved") given["vp"] = "2";  // what torchtitan takes if nothing else is said
}

// A degree of -1 for shards: what is left of the ranks, as dp=0.
void read_titan_data(ArgumentList& list, Given& given) {
  const std::string shard = "parallelism.data-parallel-shard-degree";
  const bool rest = list.find(shard).value_or("-1") == "-1";
  const std::uint64_t replicas = list.number("parallelism.data-parallel-replicate-degree", 1);
  given["sharding"] = "fsdp";
  if (replicas > 1)
    list.fail("parallelism.data-parallel-replicate-degree", "1: shards within replicas have no counterpart");
  if (!rest) given["dp"] = fmt::format("{}", *list.number(shard));
}

void read_titan_recompute(ArgumentList& list, FromArguments& result) {
  const auto mode = list.find("activation-checkpoint.mode");
  if (!mode) return;
  if (*mode != "none" && *mode != "selective" && *mode != "full") {
    list.fail("activation-checkpoint.mode", "none, selective or full");
  }
  result.parameters["recompute"] = *mode;
  if (*mode == "selective") {
    result.remarks.push_back(
        list.path() +
        ": of selective recomputation the time is counted, but the memory as if attention's "
        "core alone were computed again");
  }
}

FromArguments from_titan(ArgumentList& list) {
  FromArguments result;
  Given& given = result.parameters;
  const auto name = list.find("model.name"), flavor = list.find("model.flavor");
  if (!name || !flavor) throw InputError(list.path() + ": no name and flavor in [model]");
  given["model"] = lower(*name + "_" + *flavor);
  const bool in_training = list.flag("training.compile"), compile = list.flag("compile.enable");
  given["stack"] = in_training || compile ? "torch_compile" : "pytorch";
  copy(list, "parallelism.tensor-parallel-degree", given, "tp");
  const bool overlap = list.flag("parallelism.enable-async-tensor-parallel");
  if (overlap && list.number("parallelism.tensor-parallel-degree", 1) > 1) given["tp_overlap"] = "true";
  copy(list, "parallelism.context-parallel-degree", given, "cp");
  copy(list, "parallelism.pipeline-parallel-degree", given, "pp");
  copy(list, "parallelism.expert-parallel-degree", given, "ep");
  copy(list, "training.seq-len", given, "seq");
  copy(list, "training.global-batch-size", given, "global_batch");
  read_titan_schedule(list, given);
  read_titan_data(list, given);
  read_titan_recompute(list, result);
  if (list.find("model.converters").value_or("").find("float8") != std::string::npos)
    given["precision"] = "fp8";
  // A pipeline divides a rank's sequences into micro-batches; else they are one.
  const auto local = list.number("training.local-batch-size"), older = list.number("training.batch-size");
  const std::uint64_t sequences = local ? *local : older.value_or(1);
  const std::uint64_t each = list.number("parallelism.pipeline-parallel-microbatch-size", 1);
  const bool pipeline = list.number("parallelism.pipeline-parallel-degree", 1) > 1;
  given["micro_batch"] = fmt::format("{}", pipeline ? each : sequences);
  if (pipeline && each > 0 && !given.contains("global_batch"))
    given["micro_batches"] = fmt::format("{}", sequences / each);
  return result;
}

}  // namespace

FromArguments read_arguments(const std::string& path) {
  ArgumentList list(path);
  FromArguments result = path.ends_with(".toml") ? from_titan(list) : from_megatron(list);
  std::vector<std::string> matter, others;
  for (const std::string& name : list.unread()) {
    const bool does = std::find(std::begin(kMatter), std::end(kMatter), name) != std::end(kMatter);
    (does ? matter : others).push_back(name);
  }
  if (!matter.empty()) {
    result.remarks.push_back(fmt::format("{}: no counterpart, though it changes what is computed or sent: {}",
                                         path, fmt::join(matter, ", ")));
  }
  if (!others.empty())
    result.remarks.push_back(fmt::format("{}: not read: {}", path, fmt::join(others, ", ")));
  return result;
}

}  // namespace weft::goal::llm
