// What users are told of what was taken for them, and of what they gave in vain.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "goal/workload/llm/llm.h"

namespace weft::goal::llm {

std::string told_of_shards(const Parameters& parameters, const Training& training) {
  const Layout& layout = training.layout;
  const bool given = parameters.whole("dp_shard") != 0 || parameters.whole("dp_replicate") != 0;
  if (parameters.text("sharding") == "hsdp" && layout.replicas == 1) {
    return fmt::format("sharding=hsdp with one shard group, of all {} ranks of dp · cp, is fsdp",
                       layout.data * layout.context);
  }
  if (parameters.text("sharding") != "hsdp" || given) return "";
  return fmt::format(
      "weights are divided among the {} ranks of dp · cp in a node of {} ranks (node_ranks), in {} groups "
      "that have all of them; dp_shard says other",
      layout.size(Axis::kData), node_ranks(parameters), layout.replicas);
}

std::string told_of_idle(const Parameters& parameters, const Training& training) {
  const Layout& layout = training.layout;
  const bool data = layout.size(Axis::kData) > 1 || layout.replicas > 1;
  std::vector<std::string> idle;
  const auto tell = [&](bool does, const char* name, const char* usual) {
    if (!does && parameters.text(name) != usual) idle.push_back(name + ("=" + parameters.text(name)));
  };
  tell(layout.context > 1, "cp_exchange", "ring");
  tell(layout.pipeline > 1 && layout.data > 1, "order", "megatron");
  // FSDP also says whose kernels compute.
  tell(data || training.sharding == Sharding::kFsdp, "sharding", "zero1");
  tell(data && (training.sharding != Sharding::kNone || !training.gradients_overlap), "dp_overlap", "all");
  tell(layout.expert_node != 0, "expert_pieces", "4");
  if (idle.empty()) return "";
  return fmt::format("nothing changes by {}: this layout has nothing that {} about", fmt::join(idle, ", "),
                     idle.size() > 1 ? "they say anything" : "it says anything");
}

std::string told_of_straddling(const Parameters& parameters, const Training& training) {
  if (parameters.automatic("node_ranks")) return "";
  const Layout& layout = training.layout;
  const std::uint32_t node = node_ranks(parameters);
  std::vector<std::string> told;
  for (const Axis axis : {Axis::kTensor, Axis::kExpert}) {
    const std::uint32_t size = layout.size(axis);
    if (size < 2 || size > node || node % size == 0) continue;
    std::vector<Rank> first(layout.groups(axis), layout.ranks());
    std::vector<bool> apart(first.size());
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
      const std::uint32_t group = layout.group(axis, layout.place(rank));
      first[group] = std::min(first[group], rank);
      apart[group] = apart[group] || first[group] / node != rank / node;
    }
    if (const auto many = std::ranges::count(apart, true); many > 0) {
      told.push_back(fmt::format("{} of {} groups of {}={}", many, apart.size(), name(axis), size));
    }
  }
  if (told.empty()) return "";
  return fmt::format(
      "{} lie on two nodes of {} ranks, and cross the network: ranks fill nodes one after the other; "
      "accelerators=... of scale_up leaves some of a node's idle",
      fmt::join(told, " and "), node);
}

std::string told_of_stack(const Parameters& parameters, const Training& training) {
  if (parameters.text("stack") != "auto" || training.sharding != Sharding::kFsdp || training.model.triton)
    return "";
  const std::string& device = training.device->name();
  if (training.stack == Stack::kTransformerEngine) {
    return fmt::format(
        "sharding={} on {} is taken to compute with the device's fastest kernels, as NVIDIA's; "
        "stack=pytorch or torch_compile if yours are PyTorch's own",
        parameters.text("sharding"), device);
  }
  return fmt::format(
      "sharding={} on {} is taken to compute with PyTorch's own kernels{}, as torchtitan's published "
      "steps; {}stack=transformer_engine if yours are NVIDIA's (Megatron-LM, NeMo)",
      parameters.text("sharding"), device, training.stack == Stack::kTorchCompile ? " and torch.compile" : "",
      training.stack == Stack::kTorchCompile ? "" : "stack=torch_compile if yours are compiled, ");
}

std::string told_of_attention(const Parameters& parameters, const Training& training) {
  if (parameters.text("attention") != "auto") return "";
  const std::string& model = training.model.name;
  const std::string& device = training.device->name();
  if (training.attention == AttentionKernel::kUnfused) {
    return fmt::format(
        "attention of {} on {} is taken to be unfused, as it was trained before 2022; attention=flash if "
        "yours is fused",
        model, device);
  }
  if (training.attention == AttentionKernel::kTriton) {
    return fmt::format(
        "attention of {} on {} is taken to be Triton's of 2022, as in its published steps, which is slower; "
        "attention=flash if yours is FlashAttention-2 or later",
        model, device);
  }
  if (!training.model.triton || training.device->is_measured()) return "";
  return fmt::format(
      "attention of {} is taken to be flash: how fast Triton's of its published steps is on {} is not known",
      model, device);
}

std::string told_of_sinks(const Training& training) {
  if (!training.model.sinks || training.attention == AttentionKernel::kUnfused) return "";
  return fmt::format(
      "published steps of GPT-OSS took 1.1 to 1.3 times as long as here (Megatron-Bridge 26.06 and 26.08), "
      "and "
      "up to 2.1 times (others): no time is known of what {}'s sinks, windows and biases of experts add; "
      "attention=unfused comes within 7% of those of H100, B200 and GB200 before 26.06",
      training.model.name);
}

}  // namespace weft::goal::llm
