#include "goal/workload/llm/llm.h"

#include <fmt/core.h>

#include <algorithm>

#include "goal/workload/compute/device_choice.h"
#include "goal/workload/compute/efficiency.h"
#include "goal/workload/compute/overlap.h"
#include "goal/workload/llm/experts.h"
#include "goal/workload/llm/from_arguments.h"
#include "goal/workload/llm/step.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

using llm::Training;

constexpr double kGigabytes = 1e-9;
constexpr const char* kStacks[] = {"transformer_engine", "pytorch", "torch_compile"};

std::vector<ParameterSpec> parameters_of_llm();

// What was asked for, with what a file of arguments says of it.
struct Asked {
  Parameters parameters;
  llm::FromArguments from;
  Training training(std::uint32_t ranks) const { return llm::training_of(parameters, ranks, from.model); }
};

// Parameters that are not at their defaults stand before the file's.
Asked asked(const Parameters& parameters) {
  const std::string path = parameters.file("from_args");
  if (path.empty()) return {parameters, {}};
  llm::FromArguments from = llm::read_arguments(path);
  const ModuleInfo info{.name = "llm", .parameters = parameters_of_llm()};
  std::string taken;
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const auto& [name, value] = parameters.values()[i];
    if (value != info.parameters[i].default_value) {
      if (name == "model") from.model.reset();
      from.parameters[name] = value;
    } else if (from.parameters.contains(name)) {
      taken += fmt::format("{}{}={}", taken.empty() ? "" : ",", name, from.parameters[name]);
    }
  }
  if (from.model) taken = fmt::format("a model of {} parameters; ", llm::parameters(*from.model)) + taken;
  from.remarks.insert(from.remarks.begin(), fmt::format("from {}: {}", path, taken));
  return {Parameters(info, from.parameters), from};
}

Graph generate(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) {
  require_ranks(parameters, ranks, 1);
  Training training = asked(parameters).training(ranks);
  training.seed = seed;
  return llm::training_graph(training);
}

// With dp given the layout says how many there are.
std::uint32_t own_ranks(const Parameters& given) {
  const Parameters parameters = asked(given).parameters;
  std::uint64_t product = 1;
  const std::uint64_t data = llm::data_ranks(parameters);
  for (const char* axis : {"tp", "pp", "cp", "dp"}) {
    product *= std::string_view(axis) == "dp" ? data : parameters.whole(axis);
    if (product > INT32_MAX) parameters.fail(axis, "there would be more than 2147483647 ranks");
  }
  return static_cast<std::uint32_t>(product);
}

// The stage that needs most: the first, as a rule.
llm::DeviceMemory most_memory(const Training& training) {
  llm::DeviceMemory most;
  for (std::uint32_t stage = 0; stage < training.layout.pipeline; ++stage) {
    const llm::DeviceMemory memory = llm::device_memory(training, stage);
    if (memory.all() > most.all()) most = memory;
  }
  return most;
}

std::string layers_of_chunks(const Training& training) {
  const std::uint32_t chunks = training.schedule.parts();
  const auto layers = [&](std::uint32_t n) { return llm::chunk_of(training.model, chunks, n).layers; };
  std::string text;
  for (std::uint32_t n = 0; n < chunks;) {
    std::uint32_t alike = 1;
    while (n + alike < chunks && layers(n + alike) == layers(n)) ++alike;
    text += n == 0 ? "" : ", ";
    if (alike > 1) text += fmt::format("{} times ", alike);
    const char* end = n == 0 ? " (the embedding alone)" : " (the head alone)";
    text += fmt::format("{}{}", layers(n), layers(n) == 0 ? end : "");
    n += alike;
  }
  return text;
}

std::vector<std::string> remarks(const Parameters& given, std::uint32_t ranks) {
  const Asked all = asked(given);
  const Parameters& parameters = all.parameters;
  const Training training = all.training(ranks);
  std::vector<std::string> sentences = all.from.remarks;
  remark_usual_device(parameters, sentences);
  sentences.insert(sentences.end(), training.model.remarks.begin(), training.model.remarks.end());
  const llm::DeviceMemory memory = most_memory(training);
  if (memory.all() > training.device->memory_bytes()) {
    sentences.push_back(
        fmt::format("a device would need {:.1f} GB (weights {:.1f}, gradients {:.1f}, optimizer {:.1f}, "
                    "activations {:.1f}), and {} "
                    "has {:.0f}",
                    memory.all() * kGigabytes, memory.weights * kGigabytes, memory.gradients * kGigabytes,
                    memory.optimizer * kGigabytes, memory.activations * kGigabytes, training.device->name(),
                    training.device->memory_bytes() * kGigabytes));
  }
  if (training.expert_skew > 0) {
    const double mean = static_cast<double>(training.model.top_k) / training.model.experts;
    sentences.push_back(fmt::format(
        "experts get unequal numbers of tokens, the first {:.2f} times the mean; the memory of those that "
        "get more is not counted",
        llm::expert_shares(training.model.experts, training.model.top_k, training.expert_skew)[0] / mean));
  }
  if (const std::string told = llm::told_of_expert_nodes(parameters, training); !told.empty()) {
    sentences.push_back(told);
  }
  const DeviceSpec& device = training.device->spec();
  if (parameters.automatic("efficiency") && device.fitted_to != device.name) {
    sentences.push_back(fmt::format(
        "whole steps are taken to reach {:g} of the times of their operators, as those published of {} do; "
        "efficiency=1: all of it",
        training.efficiency, device.fitted_to));
  }
  const std::uint32_t chunks = training.schedule.parts();
  if (training.model.layers % chunks != 0) {
    sentences.push_back(
        fmt::format("{} layers don't divide evenly: with embedding and head as a layer each "
                    "the parts of the pipeline have {}",
                    training.model.layers, layers_of_chunks(training)));
  }
  if (training.schedule.staggered() && training.iterations == 1) {
    sentences.push_back(fmt::format(
        "with schedule={} stages begin and end a step one behind the other, and so does the next one: a "
        "step among others takes less than one alone; several iterations show it",
        parameters.text("schedule")));
  }
  if (training.outer.inner_steps > training.iterations) {
    sentences.push_back(
        fmt::format("replicas are synchronized every {} steps, first behind step {}, and there are {} steps: "
                    "iterations={} has all of the model once",
                    training.outer.inner_steps, training.outer.inner_steps / training.outer.fragments,
                    training.iterations, training.outer.inner_steps));
  }
  for (const std::string& told :
       {llm::told_of_shards(parameters, training), llm::told_of_idle(parameters, training),
        llm::told_of_straddling(parameters, training), llm::told_of_stack(parameters, training),
        llm::told_of_attention(parameters, training), llm::told_of_sinks(training)}) {
    if (!told.empty()) sentences.push_back(told);
  }
  return sentences;
}

WorkloadFacts facts(const Parameters& parameters, std::uint32_t ranks) {
  const Training training = asked(parameters).training(ranks);
  const llm::DeviceMemory memory = most_memory(training);
  const llm::Layout& layout = training.layout;
  const double tokens = static_cast<double>(training.global_batch()) * training.sequence;
  WorkloadFacts all = {
      {"layout",
       fmt::format("tp={},cp={},dp={},pp={},ep={},vp={},sp={}", layout.tensor, layout.context, layout.data,
                   layout.pipeline, layout.expert, training.schedule.chunks, training.sequence_parallel)},
      {"parameters", fmt::format("{}", llm::parameters(training.model))},
      {"active_parameters", fmt::format("{}", llm::active_parameters(training.model))},
      {"global_batch", fmt::format("{}", training.global_batch())},
      {"micro_batches", fmt::format("{}", training.schedule.micro_batches)},
      {"tokens", fmt::format("{:.0f}", tokens * training.iterations)},
      overlap_slowdown_fact(training.overlap_slowdown),
      {"stack", kStacks[static_cast<std::size_t>(training.stack)]},
      {"efficiency", fmt::format("{:g}", training.efficiency)},
      {"model_flops", fmt::format("{:.6e}", llm::step_flops(training) * training.iterations)},
      {"device_memory_bytes", fmt::format("{:.0f}", memory.all())},
      {"device_memory",
       fmt::format("weights {:.2f} GB, gradients {:.2f}, optimizer {:.2f}, activations {:.2f}",
                   memory.weights * kGigabytes, memory.gradients * kGigabytes, memory.optimizer * kGigabytes,
                   memory.activations * kGigabytes)},
  };
  for (auto& fact : device_facts(*training.device, training.precision)) all.push_back(std::move(fact));
  if (training.token_nodes > 0)
    all.emplace_back("nodes_of_a_token", fmt::format("{:.4f}", training.token_nodes));
  return all;
}

constexpr auto kInteger = ParameterType::kInteger;
constexpr auto kText = ParameterType::kText;

// The model, and which ranks have what of it.
std::vector<ParameterSpec> layout_parameters() {
  return {
      {"model", ParameterType::kNameOrFile, "llama3_8b",
       "A model by name (the README of goal/workload/llm lists them), also as on Hugging Face, or a "
       "config.json "
       "from there."},
      {"from_args", ParameterType::kFile, "",
       "A file of arguments to take from what isn't given here (or is given as the default): a script or "
       "list of "
       "Megatron-LM's, --name value, also as .yaml; or torchtitan's .toml."},
      {"tp", kInteger, "1", "Tensor parallelism: ranks that divide each layer.", from_to("1", "1048576")},
      {"sp", kText, "auto", "Sequence parallelism between the blocks of tp; auto: where tp is above 1.",
       one_of({"auto", "true", "false"})},
      {"tp_overlap", ParameterType::kBoolean, "false",
       "Gathering and reducing of tp go piece by piece beside the products of their block, as with "
       "Transformer Engine's user buffers (--tp-comm-overlap)."},
      {"pp", kInteger, "1", "Pipeline stages.", from_to("1", "1048576")},
      {"vp", kInteger, "1", "Parts of the model that each stage has (virtual stages); above 1: interleaved.",
       from_to("1", "1048576")},
      {"cp", kInteger, "1", "Context parallelism: ranks that divide each sequence.", from_to("1", "1048576")},
      {"cp_exchange", kText, "ring",
       "How they share keys and values: ring, or gather (all-gather, as Llama 3).",
       one_of({"ring", "gather"})},
      {"dp", kInteger, "0", "Data parallelism: replicas of the model; 0: as many as the ranks make.",
       from_to("0", "1048576")},
      {"dp_shard", kInteger, "0",
       "Ranks of dp, with all of their cp, that divide weights (zero1: the optimizer's states) among them; "
       "0: dp / dp_replicate. Gradients are all-reduced between such groups (HSDP).",
       from_to("0", "1048576")},
      {"dp_replicate", kInteger, "0",
       "Such groups, as torchtitan's data_parallel_replicate_degree and Megatron-LM's "
       "num-distributed-optimizer-instances; 0: dp / dp_shard, or 1.",
       from_to("0", "1048576")},
      {"ep", kInteger, "1", "Expert parallelism: ranks of a stage that divide the experts among them.",
       from_to("1", "1048576")},
      {"expert_nodes", kInteger, "auto",
       "Most nodes whose experts a token takes; it crosses to each of them once, and is forwarded there. 0: "
       "each copy of it goes to its expert on its own; auto: as the model was trained (deepseek_v3: 4).",
       from_to("0", "1048576")},
      {"node_ranks", kInteger, "auto",
       "Ranks of a node, for expert_nodes (neighbors in ep, of equal number) and sharding=hsdp; auto: the "
       "topology's nodes' (scale_up's node), else 8.",
       from_to("1", "1048576")},
      {"expert_pieces", kInteger, "4",
       "Parts of what a rank sends to a node, with expert_nodes: one is forwarded while the next one "
       "crosses.",
       from_to("1", "1024")},
      {"expert_skew", ParameterType::kReal, "0",
       "How unequal the experts' numbers of tokens are: Zipf's exponent of their popularity, in an order "
       "drawn for each layer; 0: all get as many.",
       from_to("0", "10")},
      {"order", kText, "megatron",
       "Which ranks are neighbors: megatron (tp, cp, dp, pp from the inside out) or llama3 (tp, cp, pp, "
       "dp).",
       one_of({"megatron", "llama3"})}};
}

// Whose kernels compute, and which of them attention has.
std::vector<ParameterSpec> kernel_parameters() {
  return {
      {"attention", kText, "auto",
       "Attention's core: flash (fused, the device's fastest), flash2 (FlashAttention-2: slower on h100), "
       "triton (fused in Triton, 2022: slower), unfused (products, softmax and dropout apart); auto: "
       "flash, but unfused for models with dropout on a100, triton for mpt_*, flash2 for others with "
       "PyTorch's stack.",
       one_of({"auto", "flash", "flash2", "triton", "unfused"})},
      {"stack", kText, "auto",
       "Whose kernels compute: transformer_engine (also megatron, nemo, and llm_foundry, whose steps are "
       "alike): NVIDIA's, fused; pytorch (also torchtitan): PyTorch's own, with FlashAttention-2, each "
       "operator apart; torch_compile: those fused by torch.compile, as pytorch is, too, with fp8 or "
       "tp_overlap; auto: pytorch with sharding=fsdp on a100, h100 and their kin but for mpt_*, else "
       "transformer_engine.",
       one_of({"auto", "transformer_engine", "megatron", "nemo", "llm_foundry", "pytorch", "torchtitan",
               "torch_compile"})}};
}

std::vector<ParameterSpec> parameters_of_llm() {
  std::vector<ParameterSpec> all = layout_parameters();
  const std::vector<ParameterSpec> steps = {
      {"schedule", kText, "auto",
       "Order of micro-batches; auto: 1f1b, interleaved "
       "if vp is above 1.",
       one_of({"auto", "1f1b", "interleaved", "gpipe", "zb1p", "zb2p", "zbv", "dualpipe"})},
      {"sharding", kText, "zero1",
       "Data parallelism: none (gradients are all-reduced), zero1 (Megatron's distributed optimizer), zero2 "
       "(gradients are divided, too), fsdp (zero3), or hsdp: fsdp within a node (dp_shard; else node_ranks "
       "says), and gradients all-reduced between nodes.",
       one_of({"none", "zero1", "zero2", "fsdp", "zero3", "hsdp"})},
      {"dp_overlap", kText, "all",
       "What of dp goes beside computation: all, gradients (weights are all there before the step begins), "
       "or "
       "none, as Megatron-LM without --overlap-grad-reduce and --overlap-param-gather.",
       one_of({"all", "gradients", "none"})},
      {"inner_steps", kInteger, "0",
       "Steps of each replica on its own between synchronizations of all (DiLoCo); 0: gradients are reduced "
       "in each step.",
       from_to("0", "1000000")},
      {"fragments", kInteger, "1",
       "Parts of the model that are synchronized at different steps (streaming DiLoCo).",
       from_to("1", "1000000")},
      {"overlap", kInteger, "0", "Steps that replicas go on while a synchronization is under way.",
       from_to("0", "1000000")},
      {"gradients", kText, "fp32", "Format in which gradients are reduced.", one_of({"fp32", "bf16"})},
      {"seq", kInteger, "0", "Tokens of a sequence; 0: the model's.", from_to("0", "1073741824")},
      {"micro_batch", kInteger, "1", "Sequences of a micro-batch.", from_to("1", "1048576")},
      {"micro_batches", kInteger, "0",
       "Micro-batches of each replica and step; 0: as global_batch says, else 1 without a pipeline and 4 · "
       "pp with.",
       from_to("0", "1048576")},
      {"global_batch", kInteger, "0", "Sequences of a step over all replicas; 0: as micro_batches says.",
       from_to("0", "1073741824")},
      {"precision", kText, "bf16",
       "Of matrix products; fp16 takes the times of bf16, mxfp8 (scales of 32 elements) those of fp8.",
       one_of({"bf16", "fp16", "fp8", "mxfp8", "fp32"})},
      {"recompute", kText, "none",
       "Activations that are computed again: none, selective (attention's core) or full (layers).",
       one_of({"none", "selective", "full"})},
      {"accumulate", kText, "fused",
       "Where gradients of micro-batches are added up: fused with their product, or by a separate kernel.",
       one_of({"fused", "separate"})},
      device_parameter(),
      efficiency_parameter(
          "auto",
          "auto: what published steps of training reach of the times of their operators (`weft describe "
          "device`); 1: all of it."),
      overlap_slowdown_parameter(),
      iterations_parameter("1000000"),
      ranks_parameter()};
  const std::vector<ParameterSpec> kernels = kernel_parameters();
  all.insert(all.end(), kernels.begin(), kernels.end());
  all.insert(all.end(), steps.begin(), steps.end());
  return all;
}

}  // namespace

Workload llm_workload() {
  Workload workload;
  workload.info = {
      "llm",
      "Steps of training a language model, in a layout of tensor, context, pipeline, data and expert "
      "parallelism.",
      "M. Shoeybi et al., Megatron-LM, 2019; D. Narayanan et al., SC 2021; V. Korthikanti et al., 2022; S. "
      "Rajbhandari et al., ZeRO, SC 2020; P. Qi et al., Zero Bubble, ICLR 2024; DeepSeek-V3, 2024; "
      "Megatron-LM's sources",
      parameters_of_llm()};
  workload.generate = generate;
  workload.remarks = remarks;
  workload.own_ranks = own_ranks;
  workload.facts = facts;
  workload.device = kDeviceParameter;
  workload.node_ranks = "node_ranks";
  workload.calls_nccl = true;
  return workload;
}

}  // namespace weft::goal
