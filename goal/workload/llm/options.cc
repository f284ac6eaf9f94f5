#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "goal/workload/compute/device_choice.h"
#include "goal/workload/compute/efficiency.h"
#include "goal/workload/compute/overlap.h"
#include "goal/workload/llm/experts.h"
#include "goal/workload/llm/llm.h"
#include "goal/workload/message_graph.h"

namespace weft::goal::llm {
namespace {

constexpr std::uint32_t kMostOfAxis = 1u << 20;
constexpr std::uint32_t kUsualNode = 8;  // where neither the user nor the topology says

template <typename Value>
using Word = std::pair<const char*, Value>;

template <typename Value, std::size_t n>
Value word_of(const Parameters& parameters, const char* parameter, const Word<Value> (&words)[n]) {
  const auto* const found = std::ranges::find(words, parameters.text(parameter), &Word<Value>::first);
  if (found == std::end(words)) throw std::logic_error("a word of the specification has no meaning here");
  return found->second;
}

void require_divides(const Parameters& parameters, const char* name, std::uint64_t divisor,
                     std::uint64_t number, const std::string& what) {
  if (number % divisor == 0) return;
  std::uint64_t nearest = divisor;
  while (number % nearest != 0) --nearest;
  parameters.fail(name, fmt::format("it must divide {}, {}: {} would do", what, number, nearest));
}

std::uint32_t ranks_of_replica(const Parameters& parameters) {
  std::uint64_t product = 1;
  for (const char* axis : {"tp", "pp", "cp"}) {
    product *= parameters.whole(axis);
    if (product > kMostOfAxis)
      parameters.fail(axis, fmt::format("tp · pp · cp may be {} at most", kMostOfAxis));
  }
  return static_cast<std::uint32_t>(product);
}

Layout layout_of(const Parameters& parameters, std::uint32_t ranks) {
  Layout layout;
  layout.tensor = parameters.whole("tp");
  layout.pipeline = parameters.whole("pp");
  layout.context = parameters.whole("cp");
  layout.expert = parameters.whole("ep");
  layout.order = word_of<RankOrder>(parameters, "order",
                                    {{"megatron", RankOrder::kMegatron}, {"llama3", RankOrder::kLlama3}});
  const std::uint32_t replica = ranks_of_replica(parameters);
  const std::uint64_t data = data_ranks(parameters);
  if (ranks % replica != 0 || ranks < replica) {
    parameters.fail("ranks",
                    fmt::format("it would be {}, and tp · pp · cp is {}: {}{} would do", ranks, replica,
                                ranks > replica ? fmt::format("{} or ", ranks / replica * replica) : "",
                                (ranks / replica + 1) * replica));
  }
  layout.data = ranks / replica;
  if (data != 0 && data != layout.data) {
    parameters.fail(
        "dp", fmt::format("with {} ranks and tp · pp · cp of {} it is {}", ranks, replica, layout.data));
  }
  return layout;
}

// Within a node, as PyTorch's HYBRID_SHARD, where nothing else is said.
std::uint32_t shards_in_node(const Parameters& parameters, const Layout& layout) {
  const std::uint32_t node = node_ranks(parameters), inner = layout.tensor * layout.context;
  const std::uint32_t most = std::max(node / inner, 1u);
  const std::uint32_t shards = layout.data <= most ? layout.data : std::gcd(most, layout.data);
  if (shards * layout.context == 1) {
    parameters.fail("sharding",
                    fmt::format("with hsdp weights are divided within a node of {} ranks (node_ranks), "
                                "and tp · cp of {} leaves nothing to divide by: dp_shard says other",
                                node, inner));
  }
  return shards;
}

// Shard groups of data parallelism, from either of the two numbers whose product is dp.
void read_replicas(const Parameters& parameters, Training& training) {
  Layout& layout = training.layout;
  std::uint32_t shards = parameters.whole("dp_shard"), replicas = parameters.whole("dp_replicate");
  const bool hybrid = parameters.text("sharding") == "hsdp";
  if (shards == 0 && replicas == 0) {
    if (!hybrid) return;
    shards = shards_in_node(parameters, layout);
  }
  const char* name = shards != 0 ? "dp_shard" : "dp_replicate";
  if (training.sharding == Sharding::kNone) {
    parameters.fail(name,
                    "with sharding=none every rank has all weights: it takes zero1, zero2, fsdp or hsdp");
  }
  require_divides(parameters, name, shards != 0 ? shards : replicas, layout.data, "dp");
  if (shards == 0) shards = layout.data / replicas;
  if (replicas == 0) replicas = layout.data / shards;
  if (std::uint64_t{shards} * replicas != layout.data) {
    parameters.fail("dp_replicate", fmt::format("dp_shard · dp_replicate is dp, {} here: {} would do",
                                                layout.data, layout.data / shards));
  }
  if (replicas > 1 && shards * layout.context == 1) {
    parameters.fail(name,
                    "one rank in each shard group divides nothing: sharding=none reduces gradients alone");
  }
  layout.replicas = replicas;
}

void check_layout(const Parameters& parameters, const Training& training) {
  const ModelShape& model = training.model;
  const Layout& layout = training.layout;
  require_divides(parameters, "tp", layout.tensor, model.heads, "the model's number of heads");
  if (layout.tensor % model.kv_heads != 0) {
    require_divides(parameters, "tp", layout.tensor, model.kv_heads,
                    "or be a multiple of, the model's key and value heads");
  }
  if (training.sequence_parallel && layout.tensor == 1)
    parameters.fail("sp", "there is nothing to divide by with tp=1");
  if (training.tensor_overlap && !training.sequence_parallel) {
    parameters.fail("tp_overlap",
                    "it takes tp above 1 with sp: what is gathered and reduced goes beside products");
  }
  const std::uint64_t parts = std::uint64_t{layout.context} *
                              (training.sequence_parallel ? layout.tensor : 1) * (layout.context > 1 ? 2 : 1);
  if (training.sequence % parts != 0) {
    parameters.fail("seq", fmt::format("it would be {}, and the layout divides it by {}: {} would do",
                                       training.sequence, parts, (training.sequence / parts + 1) * parts));
  }
}

// Gradients that are reduced behind each micro-batch would be a pipeline's all the time.
void check_zero2(const Parameters& parameters, const Training& training) {
  if (training.sharding != Sharding::kZero2) return;
  if (training.layout.pipeline > 1) {
    parameters.fail("sharding",
                    "zero2 doesn't go with pp above 1, in DeepSpeed neither: zero1 or fsdp would do");
  }
  if (!training.gradients_overlap) {
    parameters.fail("dp_overlap",
                    "with sharding=zero2, which reduces behind each micro-batch, it is all or "
                    "gradients");
  }
}

void check_experts(const Parameters& parameters, const Training& training) {
  const ModelShape& model = training.model;
  const Layout& layout = training.layout;
  if (model.experts == 0) {
    if (layout.expert > 1) parameters.fail("ep", fmt::format("{} has no experts", model.name));
    return;
  }
  require_divides(parameters, "ep", layout.expert, model.experts, "the model's number of experts");
  require_divides(parameters, "ep", layout.expert, layout.stage_ranks(),
                  "tp · cp · dp, the ranks of a stage");
  require_divides(parameters, "ep", layout.expert, layout.shard_ranks(),
                  "tp · cp · dp_shard, the ranks that have all experts together");
  if (layout.tensor > 1 && !training.sequence_parallel) {
    parameters.fail("sp", fmt::format("{} has experts: with tp above 1 each rank must have tokens of its own",
                                      model.name));
  }
}

// How unequal the experts' numbers of tokens are.
void read_skew(const Parameters& parameters, Training& training) {
  training.expert_skew = parameters.real("expert_skew");
  if (training.expert_skew > 0 && training.layout.expert == 1) {
    parameters.fail("expert_skew", "it takes experts on different ranks, and ep is 1");
  }
}

// Experts in groups of which a token takes few: the model's, or nodes.
struct ExpertGroups {
  std::uint32_t groups = 0, most = 0;
};

// By which parameter tokens can't go from node to node, and why.
struct Reason {
  const char* parameter = nullptr;
  std::string why;
};

std::optional<Reason> unfit(const Training& training, std::uint32_t node, ExpertGroups limit) {
  const ModelShape& model = training.model;
  const Layout& layout = training.layout;
  const bool inside = layout.expert < node;
  if ((inside ? node % layout.expert : layout.expert % node) != 0) {
    return Reason{"node_ranks",
                  fmt::format("it must divide ep, {}, or be a multiple of it: {} would do", layout.expert,
                              inside ? node / layout.expert * layout.expert : std::gcd(node, layout.expert))};
  }
  if (layout.expert <= node) return std::nullopt;
  const std::uint32_t inner = layout.tensor * layout.context;
  if (layout.order == RankOrder::kLlama3 && layout.pipeline > 1 && inner % node != 0) {
    return Reason{
        "node_ranks",
        fmt::format("with order=llama3 and pp above 1 it must divide tp · cp, {}: ranks of the next "
                    "stage come behind those",
                    inner)};
  }
  if (training.expert_skew > 0) return Reason{"expert_skew", "with expert_nodes all experts get as many"};
  const std::uint32_t nodes = layout.expert / node, groups = limit.groups == 0 ? nodes : limit.groups;
  if (std::max(nodes, groups) % std::min(nodes, groups) != 0) {
    return Reason{"ep", fmt::format("{} groups of experts can't be divided among {} nodes", groups, nodes)};
  }
  const std::uint32_t each = model.experts / groups, most = std::min(limit.most, groups);
  if (most * each < model.top_k) {
    return Reason{"expert_nodes",
                  fmt::format("{} nodes have {} experts, and a token takes {}: {} would do", most,
                              most * each, model.top_k, (model.top_k + each - 1) / each)};
  }
  return std::nullopt;
}

// No groups: those of nodes. None at all: each copy of a token goes on its own.
ExpertGroups expert_groups(const Parameters& parameters, const ModelShape& model) {
  if (parameters.automatic("expert_nodes")) return {model.expert_groups, model.top_groups};
  return {0, parameters.whole("expert_nodes")};
}

void read_expert_nodes(const Parameters& parameters, Training& training) {
  const ExpertGroups limit = expert_groups(parameters, training.model);
  const std::uint32_t node = node_ranks(parameters);
  training.expert_pieces = parameters.whole("expert_pieces");
  if (limit.most == 0) return;
  const bool automatic = parameters.automatic("expert_nodes");
  if (training.model.experts == 0) {
    parameters.fail("expert_nodes", fmt::format("{} has no experts", training.model.name));
  }
  if (const std::optional<Reason> reason = unfit(training, node, limit)) {
    if (automatic) return;
    parameters.fail(reason->parameter, reason->why);
  }
  if (training.layout.expert <= node) return;
  training.layout.expert_node = node;
  const std::uint32_t nodes = training.layout.expert_nodes(), groups = automatic ? limit.groups : nodes;
  training.token_nodes = nodes_of_token(training.model.experts, training.model.top_k, nodes, groups,
                                        std::min(limit.most, groups));
}

void check_stages(const Parameters& parameters, const Training& training) {
  const std::uint32_t stages = training.schedule.stages, chunks = training.schedule.parts();
  if (training.schedule.chunks > 1 && stages == 1) parameters.fail("vp", "it takes several stages: pp is 1");
  const bool by_vp = training.schedule.chunks > 1 && !training.schedule.divides_backward();
  const char* name = by_vp ? "vp" : "pp";
  // Embedding and head, where there are some, may be parts of their own.
  const std::uint32_t most = training.model.layers + (training.model.vocab != 0 ? 2 : 0);
  if (chunks <= most) return;
  parameters.fail(name,
                  fmt::format("{} layers can't be divided among {} parts of the pipeline: with those of "
                              "embedding and head {} is the most",
                              training.model.layers, chunks, most));
}

// Micro-batches of each rank and step.
std::uint32_t micro_batches(const Parameters& parameters, const Training& training) {
  const std::uint32_t stages = training.layout.pipeline;
  const std::uint32_t given = parameters.whole("micro_batches");
  const std::uint32_t global = parameters.whole("global_batch");
  if (global == 0) return given != 0 ? given : stages == 1 ? 1 : 4 * stages;
  const std::uint64_t at_once = std::uint64_t{training.micro_batch} * training.layout.data;
  if (global % at_once != 0) {
    parameters.fail(
        "global_batch",
        fmt::format("it must be a multiple of dp · micro_batch, {} · {}: {} would do", training.layout.data,
                    training.micro_batch, (global / at_once + 1) * at_once));
  }
  const auto count = static_cast<std::uint32_t>(global / at_once);
  if (given != 0 && given != count) {
    parameters.fail("micro_batches", fmt::format("with that global_batch it is {}", count));
  }
  return count;
}

void check_interleaved(const Parameters& parameters, const Schedule& schedule) {
  const std::string& name = parameters.text("schedule");
  const bool interleaved = schedule.chunks > 1;
  if (name == "interleaved" && !interleaved) parameters.fail("schedule", "it takes vp of 2 or more");
  if (name != "interleaved" && name != "auto" && interleaved)
    parameters.fail("schedule", "with vp above 1 it is interleaved");
  if (interleaved && schedule.micro_batches % schedule.stages != 0) {
    parameters.fail(
        "vp", fmt::format("interleaving takes a multiple of pp micro-batches, and there are {}: {} would do",
                          schedule.micro_batches,
                          (schedule.micro_batches / schedule.stages + 1) * schedule.stages));
  }
}

// From both ends at once: as many stages and micro-batches for either, and enough to fill the pipeline.
void check_dual_pipe(const Parameters& parameters, const Training& training, const Schedule& schedule) {
  if (schedule.stages % 2 != 0) {
    parameters.fail("pp", fmt::format("with schedule=dualpipe it is even: {} or {} would do",
                                      schedule.stages - 1, schedule.stages + 1));
  }
  const std::uint32_t least = 2 * schedule.stages;
  if (schedule.micro_batches < least || schedule.micro_batches % 2 != 0) {
    parameters.fail(
        "micro_batches",
        fmt::format("schedule=dualpipe takes an even number, 2 · pp at least, and there are {}: {} "
                    "would do",
                    schedule.micro_batches, std::max(least, schedule.micro_batches + 1)));
  }
  if (training.sharding == Sharding::kFsdp) {
    parameters.fail("sharding", "with schedule=dualpipe, which has all weights twice, it is none or zero1");
  }
}

void check_divided_backward(const Parameters& parameters, const Training& training,
                            const Schedule& schedule) {
  const std::string& name = parameters.text("schedule");
  if (schedule.stages == 1) {
    parameters.fail("schedule", fmt::format("{} takes several stages, and pp is 1", name));
  }
  if (schedule.chunks > 1) {
    const char* why = schedule.kind == ScheduleKind::kZb1p || schedule.kind == ScheduleKind::kZb2p
                          ? "has one part of the model in each stage; zbv has two"
                          : "has two parts of the model in each stage by itself";
    parameters.fail("vp", fmt::format("schedule={} {}: leave vp out", name, why));
  }
  if (training.recompute == Recompute::kFull) {
    parameters.fail("recompute",
                    fmt::format("with schedule={}, which divides backward, it is none or selective", name));
  }
  if (schedule.mirrored()) check_dual_pipe(parameters, training, schedule);
}

Schedule schedule_of(const Parameters& parameters, const Training& training) {
  constexpr auto kAlternating = ScheduleKind::kOneForwardOneBackward;
  Schedule schedule;
  schedule.stages = training.layout.pipeline;
  schedule.chunks = parameters.whole("vp");
  schedule.micro_batches = micro_batches(parameters, training);
  schedule.kind = word_of<ScheduleKind>(parameters, "schedule",
                                        {{"auto", kAlternating},
                                         {"1f1b", kAlternating},
                                         {"interleaved", kAlternating},
                                         {"gpipe", ScheduleKind::kGpipe},
                                         {"zb1p", ScheduleKind::kZb1p},
                                         {"zb2p", ScheduleKind::kZb2p},
                                         {"zbv", ScheduleKind::kZbV},
                                         {"dualpipe", ScheduleKind::kDualPipe}});
  if (!schedule.divides_backward()) {
    check_interleaved(parameters, schedule);
    return schedule;
  }
  check_divided_backward(parameters, training, schedule);
  if (schedule.kind == ScheduleKind::kZbV || schedule.mirrored()) schedule.chunks = 2;
  return schedule;
}

bool has_triton(const Training& training) { return training.device->spec().triton.forward > 0; }
bool has_flash2(const Training& training) { return training.device->spec().flash2.forward > 0; }

// Megatron's GPTs, those with dropout, were trained on A100s before FlashAttention; MosaicML's with the one
// in Triton. A file of measurements has the kernel of whoever measured.
AttentionKernel usual_attention(const Training& training) {
  const bool one_rank = training.layout.context == 1;
  if (training.model.dropout && one_rank && training.device->spec().fitted_to == "a100") {
    return AttentionKernel::kUnfused;
  }
  if (training.device->is_measured()) return AttentionKernel::kFlash;
  if (training.model.triton && has_triton(training)) return AttentionKernel::kTriton;
  return training.pytorch() && has_flash2(training) ? AttentionKernel::kFlash2 : AttentionKernel::kFlash;
}

// FSDP is PyTorch's, but for MosaicML's models, whose published steps are as NVIDIA's but for attention, and
// for devices on which little is published but NVIDIA's own. Eight bits, and products beside tp's exchange,
// take torch.compile.
Stack stack_of(const Parameters& parameters, const Training& training) {
  const bool compiled = training.precision == Precision::kFp8 || training.tensor_overlap;
  const Stack torch = compiled ? Stack::kTorchCompile : Stack::kPyTorch;
  const bool usual = training.sharding == Sharding::kFsdp && !training.model.triton && has_flash2(training) &&
                     !training.device->is_measured();
  return word_of<Stack>(parameters, "stack",
                        {{"auto", usual ? torch : Stack::kTransformerEngine},
                         {"transformer_engine", Stack::kTransformerEngine},
                         {"megatron", Stack::kTransformerEngine},
                         {"nemo", Stack::kTransformerEngine},
                         {"llm_foundry", Stack::kTransformerEngine},
                         {"pytorch", torch},
                         {"torchtitan", torch},
                         {"torch_compile", Stack::kTorchCompile}});
}

AttentionKernel attention_of(const Parameters& parameters, const Training& training) {
  const AttentionKernel kernel = word_of<AttentionKernel>(parameters, "attention",
                                                          {{"auto", usual_attention(training)},
                                                           {"flash", AttentionKernel::kFlash},
                                                           {"flash2", AttentionKernel::kFlash2},
                                                           {"triton", AttentionKernel::kTriton},
                                                           {"unfused", AttentionKernel::kUnfused}});
  if (kernel == AttentionKernel::kUnfused && training.layout.context > 1) {
    parameters.fail(
        "attention",
        "with cp above 1 it is flash, flash2 or triton: a ring of ranks has no scores of a whole row");
  }
  const bool triton = kernel == AttentionKernel::kTriton && !has_triton(training);
  if (triton || (kernel == AttentionKernel::kFlash2 && !has_flash2(training))) {
    std::string known;
    for (const DeviceSpec& spec : device_specs()) {
      const AttentionShares& shares = triton ? spec.triton : spec.flash2;
      if (shares.forward > 0) known += (known.empty() ? "" : ", ") + spec.name;
    }
    parameters.fail("attention",
                    fmt::format("how fast {} is on {} is not known (it is on {}): flash would do",
                                triton ? "triton" : "flash2", training.device->name(), known));
  }
  return kernel;
}

void read_words(const Parameters& parameters, Training& training) {
  training.sharding = word_of<Sharding>(parameters, "sharding",
                                        {{"zero1", Sharding::kZero1},
                                         {"none", Sharding::kNone},
                                         {"zero2", Sharding::kZero2},
                                         {"fsdp", Sharding::kFsdp},
                                         {"hsdp", Sharding::kFsdp},
                                         {"zero3", Sharding::kFsdp}});
  const std::uint32_t overlap =
      word_of<std::uint32_t>(parameters, "dp_overlap", {{"all", 2u}, {"gradients", 1u}, {"none", 0u}});
  training.gradients_overlap = overlap >= 1;
  training.weights_overlap = overlap == 2;
  if (overlap < 2 && training.sharding == Sharding::kFsdp) {
    parameters.fail("dp_overlap", "with sharding=fsdp, which fetches each layer ahead, it is all");
  }
  training.recompute = word_of<Recompute>(
      parameters, "recompute",
      {{"none", Recompute::kNone}, {"selective", Recompute::kSelective}, {"full", Recompute::kFull}});
  training.precision = word_of<Precision>(parameters, "precision",
                                          {{"bf16", Precision::kBf16},
                                           {"fp16", Precision::kBf16},
                                           {"fp8", Precision::kFp8},
                                           {"mxfp8", Precision::kFp8},
                                           {"fp32", Precision::kFp32}});
  training.context_exchange = word_of<ContextExchange>(
      parameters, "cp_exchange", {{"ring", ContextExchange::kRing}, {"gather", ContextExchange::kGather}});
  training.accumulate_apart = word_of<bool>(parameters, "accumulate", {{"fused", false}, {"separate", true}});
  training.gradient_bytes = word_of<std::uint32_t>(parameters, "gradients", {{"fp32", 4u}, {"bf16", 2u}});
  training.sequence_parallel = word_of<int>(parameters, "sp", {{"auto", -1}, {"true", 1}, {"false", 0}}) == -1
                                   ? training.layout.tensor > 1
                                   : parameters.text("sp") == "true";
  training.tensor_overlap = parameters.boolean("tp_overlap");
}

// Replicas that are synchronized now and then have all weights and gradients of their own.
void read_outer_steps(const Parameters& parameters, Training& training) {
  OuterSteps& outer = training.outer;
  outer.inner_steps = parameters.whole("inner_steps");
  outer.fragments = parameters.whole("fragments");
  outer.overlap = parameters.whole("overlap");
  if (outer.inner_steps == 0) {
    if (outer.fragments > 1) parameters.fail("fragments", "it takes inner_steps, of which each is a part");
    if (outer.overlap > 0) parameters.fail("overlap", "it takes inner_steps, beside which it goes on");
    return;
  }
  if (parameters.text("dp_overlap") != "all") {
    parameters.fail("dp_overlap",
                    "with inner_steps replicas exchange nothing within a step: overlap says how "
                    "many steps go on beside an outer one");
  }
  if (training.layout.context > 1) parameters.fail("inner_steps", "it takes replicas without cp");
  if (training.schedule.mirrored()) {
    parameters.fail("inner_steps", "it takes replicas that have each weight once, and dualpipe has it twice");
  }
  if (training.layout.expert > 1) parameters.fail("inner_steps", "it takes replicas without ep");
  if (training.sharding == Sharding::kFsdp || training.sharding == Sharding::kZero2) {
    parameters.fail("inner_steps", "replicas have all weights then: sharding must be none or zero1");
  }
  if (training.layout.replicas > 1) parameters.fail("inner_steps", "it takes replicas without dp_shard");
  const auto limit = [&](const char* name, std::uint32_t most, std::uint32_t value) {
    if (value > most)
      parameters.fail(name, fmt::format("with inner_steps={} it may be {} at most", outer.inner_steps, most));
  };
  limit("fragments", outer.inner_steps, outer.fragments);
  limit("overlap", outer.inner_steps - 1, outer.overlap);
  training.sharding = Sharding::kNone;
}

}  // namespace

std::uint32_t node_ranks(const Parameters& parameters) {
  return parameters.automatic("node_ranks") ? kUsualNode : parameters.whole("node_ranks");
}

std::uint64_t data_ranks(const Parameters& parameters) {
  const std::uint64_t data = parameters.whole("dp");
  return data != 0 ? data : std::uint64_t{parameters.whole("dp_shard")} * parameters.whole("dp_replicate");
}

Training training_of(const Parameters& parameters, std::uint32_t ranks,
                     const std::optional<ModelShape>& model) {
  Training training;
  training.model = model ? *model : find_model(parameters.file("model"));
  training.layout = layout_of(parameters, ranks);
  read_words(parameters, training);
  read_replicas(parameters, training);
  read_outer_steps(parameters, training);
  const std::uint32_t sequence = parameters.whole("seq");
  training.sequence = sequence != 0 ? sequence : training.model.sequence;
  training.micro_batch = parameters.whole("micro_batch");
  training.iterations = parameters.whole("iterations");
  training.schedule = schedule_of(parameters, training);
  training.layout.mirrored = training.schedule.mirrored();
  training.device = &device_of(parameters);
  training.stack = stack_of(parameters, training);
  training.attention = attention_of(parameters, training);
  training.efficiency = efficiency(parameters, *training.device);
  if (training.pytorch() && parameters.automatic("efficiency")) {
    training.efficiency = training.device->spec().torch_efficiency;
  }
  training.overlap_slowdown = overlap_slowdown(parameters);
  check_layout(parameters, training);
  check_zero2(parameters, training);
  check_experts(parameters, training);
  read_skew(parameters, training);
  read_expert_nodes(parameters, training);
  check_stages(parameters, training);
  return training;
}

std::string told_of_expert_nodes(const Parameters& parameters, const Training& training) {
  const ExpertGroups limit = expert_groups(parameters, training.model);
  const std::uint32_t expert = training.layout.expert, node = node_ranks(parameters);
  if (limit.most == 0) return "";
  const bool automatic = parameters.automatic("expert_nodes");
  if (training.layout.expert_node != 0) {
    const std::string once =
        fmt::format("goes once to each of {:.2f} of {} nodes of {} ranks (node_ranks), on average",
                    training.token_nodes, training.layout.expert_nodes(), node);
    if (!automatic) return "a token " + once;
    return fmt::format(
        "a token takes experts of {} of {} groups, as {} was trained, and {}; expert_nodes=0: each copy on "
        "its own",
        limit.most, limit.groups, training.model.name, once);
  }
  if (!automatic) {
    return fmt::format("ep={} stays within a node of {} ranks: expert_nodes changes nothing", expert, node);
  }
  const std::optional<Reason> reason = unfit(training, node, limit);
  if (!reason) return "";
  return fmt::format(
      "each copy of a token goes to its expert on its own, though {} was trained with experts of {} of {} "
      "groups "
      "for a token: {}: {}",
      training.model.name, limit.most, limit.groups, reason->parameter, reason->why);
}

}  // namespace weft::goal::llm
