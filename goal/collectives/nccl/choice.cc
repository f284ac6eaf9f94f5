#include "goal/collectives/nccl/choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/send_recv.h"
#include "sim/units/brackets.h"

namespace weft::goal::nccl {
namespace {

std::optional<std::uint32_t> count(const Parameters& parameters, std::string_view name) {
  if (parameters.automatic(name)) return std::nullopt;
  return parameters.whole(name);
}

// As the list of collective algorithms has it.
std::string schedule(Algorithm algorithm) {
  if (algorithm == Algorithm::kNvlsTree) return "nccl_nvls_tree";
  return fmt::format("nccl_{}", name(algorithm));
}

std::string nodes(const Node& node) {
  std::string text = fmt::format("ranks_per_node={}", node.gpus);
  if (node.first_gpus > 0) text += fmt::format(",first_node={}", node.first_gpus);
  return text;
}

std::string exchanges(const Tuner& tuner, const Collective& collective, std::uint32_t ranks) {
  std::uint64_t bytes = collective.bytes;
  if (!collective.counts.empty()) bytes = *std::ranges::max_element(collective.counts);
  const Exchange chosen = exchange(tuner.node(), tuner.rings(ranks).used_channels, bytes, ranks);
  return fmt::format("nccl_p2p:protocol={},channels={},chunk={}B,{}", name(chosen.protocol), chosen.channels,
                     chosen.chunk_bytes, nodes(tuner.node()));
}

}  // namespace

Tuner tuner_of(const Parameters& parameters) {
  Node node = node_preset(parameters.text("node"));
  if (const auto gpus = count(parameters, "gpus_per_node")) node = with_gpus(node, *gpus);
  if (!parameters.automatic("in_pairs")) node = with_links(node, parameters.boolean("in_pairs"));
  node.nics = count(parameters, "nics_per_node").value_or(node.nics);
  if (parameters.text("gpu") != "auto") node.gpu = gpu_preset(parameters.text("gpu"));
  node.gpu = with_parameters(node.gpu, parameters);
  if (!parameters.automatic("nic_rate")) {
    node.nic_gbs = static_cast<double>(parameters.bandwidth("nic_rate").bps()) / 8e9;
  }
  const auto list = [&](std::string_view name) { return without_brackets(parameters.text(name)); };
  const std::string& version = parameters.text("version");
  return Tuner(node, {.version = version == "auto" ? node.version : parse_version(version),
                      .replayed = true,
                      .algorithms = Allowed::algorithms(list("algo")),
                      .protocols = Allowed::protocols(list("proto")),
                      .min_channels = count(parameters, "min_channels"),
                      .max_channels = count(parameters, "max_channels"),
                      .threads = count(parameters, "threads")});
}

GroupNodes nodes_of_group(const std::vector<Rank>& members, std::uint32_t gpus,
                          std::span<const std::uint32_t> nodes) {
  std::map<std::uint32_t, std::uint32_t> numbers;  // of nodes, as they are met
  std::vector<std::uint32_t> counts, number_of;    // of ranks: by node; of the node: by rank
  bool comes_back = false;
  const std::size_t size = members.empty() ? nodes.size() : members.size();
  number_of.reserve(size);
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t rank = members.empty() ? i : members[i];
    const auto node = nodes.empty() ? static_cast<std::uint32_t>(rank / gpus) : nodes[rank];
    if (i == 0 || node != before) {
      const auto [met, is_new] = numbers.try_emplace(node, static_cast<std::uint32_t>(counts.size()));
      comes_back |= !is_new;
      if (is_new) counts.push_back(0);
      number_of.push_back(met->second);
    } else {
      number_of.push_back(number_of.back());
    }
    before = node;
    ++counts[number_of.back()];
  }
  if (counts.size() < 2) return {.on = {gpus}, .uneven = 0, .order = nullptr};
  const auto [fewest, most] = std::ranges::minmax(counts);
  const bool is_even =
      std::all_of(counts.begin() + 1, counts.end() - 1, [&](std::uint32_t count) { return count == most; });
  const std::uint32_t first = is_even ? counts.front() : fewest;
  GroupNodes result{.on = {most, first == most ? 0 : first},
                    .uneven = is_even ? 0 : static_cast<std::uint32_t>(counts.size()),
                    .order = nullptr};
  if (is_even && !comes_back) return result;
  std::vector<std::uint32_t> ranks(size), next(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), next.begin(), 0u);
  for (std::uint32_t i = 0; i < size; ++i) ranks[next[number_of[i]]++] = i;
  result.order =
      std::make_shared<RankOrder>(std::move(ranks), is_even ? std::vector<std::uint32_t>() : counts);
  return result;
}

std::optional<std::string> algorithm_for(const Tuner& tuner, const Collective& collective,
                                         std::uint32_t ranks) {
  const std::uint32_t per_node = tuner.node().gpus;
  if (collective.kind == CollectiveKind::kAlltoall) return exchanges(tuner, collective, ranks);
  if (!Tuner::tunes(collective.kind)) return std::nullopt;
  std::uint64_t bytes = collective.bytes;
  if (!collective.counts.empty()) {
    bytes = std::accumulate(collective.counts.begin(), collective.counts.end(), std::uint64_t{0}) / ranks;
  }
  const Choice choice = tuner.choose(collective.kind, bytes, ranks);
  std::string text = fmt::format("{}:protocol={},channels={},{}", schedule(choice.best.algorithm),
                                 name(choice.best.protocol), choice.channels, nodes(tuner.node()));
  const bool has_rings =
      choice.best.algorithm == Algorithm::kRing || choice.best.algorithm == Algorithm::kTree;
  // A limit takes the last channels, which repeat rings; and so does a call with few bytes.
  if (const std::uint32_t found = tuner.rings(ranks).channels;
      has_rings && ranks > per_node && choice.channels != 2 * found) {
    text += fmt::format(",rings={}", found);
  }
  if (has_rings && tuner.node().in_pairs) text += ",in_pairs=true";
  const bool is_nvls =
      choice.best.algorithm == Algorithm::kNvls || choice.best.algorithm == Algorithm::kNvlsTree;
  if (is_nvls && tuner.nvls_percent() != kNvlsPercent)
    text += fmt::format(",efficiency={}", tuner.nvls_percent());
  if (choice.least_chunk_bytes > 0 && collective.kind == CollectiveKind::kAllreduce) {
    text += fmt::format(",least_chunk={}B", choice.least_chunk_bytes);
  }
  if (choice.chunk_grain_bytes > 0 && collective.kind == CollectiveKind::kAllreduce) {
    text += fmt::format(",chunk_grain={}B", choice.chunk_grain_bytes);
  }
  return text;
}

}  // namespace weft::goal::nccl
