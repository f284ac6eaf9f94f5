#include "goal/collectives/nccl/algorithms.h"

namespace weft::goal::nccl {
namespace {

// Schedules are made of places in the order by node; their messages go to the ranks there.
template <auto* kExpand>
bool in_order(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  if (!kExpand(call, lane, index, out)) return false;
  if (const RankOrder* const order = call.options->order.get()) out.on_ranks(order->ranks);
  return true;
}

constexpr const char* kSource = "NCCL 2.30, https://github.com/NVIDIA/nccl, src/device and src/graph";
constexpr const char* kPat =
    "S. Jeaugey, \"PAT: a new algorithm for all-gather and reduce-scatter operations at scale\", 2025";

ParameterSpec protocol() {
  return {"protocol", ParameterType::kText, "simple",
          "How data are written: simple, ll (twice the bytes) or ll128 (16/15 of them).",
          one_of({"simple", "ll", "ll128"})};
}
ParameterSpec channels() {
  return {"channels", ParameterType::kInteger, "16",
          "Channels, each with its own ring or tree and its share of the data.", from_to("1", "64")};
}
ParameterSpec per_node() {
  return {"ranks_per_node", ParameterType::kInteger, "8", "Consecutive ranks that share a node.",
          from_to("1", "2147483647")};
}
ParameterSpec first_node() {
  return {"first_node", ParameterType::kInteger, "0", "Ranks of the first node; 0: as many as of others.",
          at_most("2147483647")};
}
ParameterSpec rings() {
  return {"rings", ParameterType::kInteger, "0",
          "Rings found, which enter nodes at different GPUs; channels beyond repeat them. 0: half of the "
          "channels.",
          at_most("64")};
}
ParameterSpec in_pairs() {
  return {"in_pairs", ParameterType::kBoolean, "false",
          "GPUs of a node have links to each other one instead of switches: channels pass them in different "
          "orders."};
}
ParameterSpec chunk() {
  return {"chunk", ParameterType::kBytes, "0B", "Longest chunk of a channel; 0 for what NCCL takes.",
          at_most("1GiB")};
}
ParameterSpec least_chunk() {
  return {"least_chunk", ParameterType::kBytes, "0B",
          "Of LL and LL128: no chunk but the last is shorter, and channels take chunks in turns, as before "
          "2.20.",
          at_most("1GiB")};
}
ParameterSpec chunk_grain() {
  return {"chunk_grain", ParameterType::kBytes, "0B",
          "Of LL and LL128: chunks of the last turn are multiples of it, as in 2.20 and 2.21.",
          at_most("1GiB")};
}
ParameterSpec only_simple() {
  return {"protocol", ParameterType::kText, "simple", "How data are written.", one_of({"simple"})};
}
ParameterSpec efficiency() {
  return {"efficiency", ParameterType::kInteger, std::to_string(kNvlsPercent),
          "Percent of a GPU's links that it reaches: 85 on Hopper, 74 on Blackwell.", from_to("1", "100")};
}
std::vector<ParameterSpec> nvls_parameters() {
  return {only_simple(), channels(), per_node(), first_node(), chunk(), efficiency()};
}
std::vector<ParameterSpec> ring_parameters() {
  return {protocol(), channels(), rings(), per_node(), first_node(), in_pairs(), chunk()};
}
std::vector<ParameterSpec> pat_parameters() {
  return {protocol(), channels(), per_node(), first_node(), chunk()};
}

std::vector<CollectiveAlgorithm> of_allreduce() {
  return {
      {{"nccl_ring",
        "NCCL's: a reduce-scatter and an allgather in one around the ring of each channel.",
        kSource,
        {protocol(), channels(), rings(), per_node(), first_node(), in_pairs(), chunk(), least_chunk(),
         chunk_grain()}},
       CollectiveKind::kAllreduce,
       in_order<allreduce_ring>,
       ring_lanes},
      {{"nccl_tree",
        "NCCL's: chains in the nodes and a binary tree of nodes, two of them, each for half of the channels.",
        kSource, ring_parameters()},
       CollectiveKind::kAllreduce,
       in_order<allreduce_tree>,
       tree_lanes},
      {{"nccl_nvls",
        "NCCL's on one node: switches add up and multicast; as many bytes on a GPU's links as with them.",
        kSource, nvls_parameters()},
       CollectiveKind::kAllreduce,
       in_order<allreduce_nvls>,
       nvls_lanes,
       nvls_allreduce_objection,
       GpuKernels::kSwitches},
      {{"nccl_nvls_tree",
        "NCCL's: switches add up and multicast in the nodes; between them trees of the GPUs of one place.",
        kSource, nvls_parameters()},
       CollectiveKind::kAllreduce,
       in_order<allreduce_nvls_tree>,
       nvls_lanes,
       nvls_tree_objection,
       GpuKernels::kSwitches},
  };
}

}  // namespace

std::optional<WireFormat> parse_protocol(std::string_view text) {
  if (text == "simple") return WireFormat::kPlain;
  if (text == "ll") return WireFormat::kFlagPerWord;
  if (text == "ll128") return WireFormat::kFlagPerLine;
  return std::nullopt;
}

std::string why_no_entry(std::string_view name) {
  if (name != "nccl_collnet_direct" && name != "nccl_collnet_chain") return "";
  return "NCCL's CollNet reduces in the switches between nodes (SHARP), which networks here don't: it can't "
         "be replayed; weft nccl explain knows what else there is";
}

std::vector<CollectiveAlgorithm> algorithms() {
  std::vector<CollectiveAlgorithm> all = of_allreduce();
  const std::vector<CollectiveAlgorithm> others = {
      {{"nccl_ring", "NCCL's: around the ring of each channel.", kSource, ring_parameters()},
       CollectiveKind::kReduceScatter,
       in_order<reduce_scatter_ring>,
       ring_lanes},
      {{"nccl_pat", "NCCL's: binomial trees to all ranks at once.", kPat, pat_parameters()},
       CollectiveKind::kReduceScatter,
       in_order<reduce_scatter_pat>,
       channel_lanes},
      {{"nccl_nvls", "NCCL's on one node: switches add up, on the way to each GPU.", kSource,
        nvls_parameters()},
       CollectiveKind::kReduceScatter,
       in_order<reduce_scatter_nvls>,
       nvls_block_lanes,
       nvls_objection,
       GpuKernels::kSwitches},
      {{"nccl_ring", "NCCL's: around the ring of each channel.", kSource, ring_parameters()},
       CollectiveKind::kAllgather,
       in_order<allgather_ring>,
       ring_lanes},
      {{"nccl_pat", "NCCL's: binomial trees from all ranks at once.", kPat, pat_parameters()},
       CollectiveKind::kAllgather,
       in_order<allgather_pat>,
       channel_lanes},
      {{"nccl_nvls", "NCCL's on one node: each GPU's block is multicast by the switches.", kSource,
        nvls_parameters()},
       CollectiveKind::kAllgather,
       in_order<allgather_nvls>,
       nvls_block_lanes,
       nvls_objection,
       GpuKernels::kSwitches},
      {{"nccl_ring", "NCCL's: chunks along the ring of each channel.", kSource, ring_parameters()},
       CollectiveKind::kBcast,
       in_order<bcast_ring>,
       channel_lanes},
      {{"nccl_ring", "NCCL's: chunks along the ring of each channel.", kSource, ring_parameters()},
       CollectiveKind::kReduce,
       in_order<reduce_ring>,
       channel_lanes},
      {{"nccl_p2p",
        "NCCL's: grouped sends and receives, in the order of its point-to-point schedule.",
        kSource,
        {protocol(),
         per_node(),
         first_node(),
         {"channels", ParameterType::kInteger, "4", "Channels of an exchange, which divide its bytes.",
          from_to("1", "64")},
         {"chunk", ParameterType::kBytes, "128KiB",
          "What a channel has copied before the first of it leaves; 0 for all.", at_most("1GiB")},
         {"parallel", ParameterType::kInteger, "32", "Exchanges under way; 0 for all.",
          from_to("0", "2147483647")}}},
       CollectiveKind::kAlltoall,
       in_order<alltoall_p2p>,
       p2p_lanes},
  };
  all.insert(all.end(), others.begin(), others.end());
  for (CollectiveAlgorithm& algorithm : all) {
    if (algorithm.kernels == GpuKernels::kNone) algorithm.kernels = GpuKernels::kCopies;
  }
  return all;
}

}  // namespace weft::goal::nccl
