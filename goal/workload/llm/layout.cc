#include "goal/workload/llm/layout.h"

#include <fmt/core.h>

#include <algorithm>

namespace weft::goal::llm {

std::string_view name(Axis axis) {
  static constexpr std::array<std::string_view, kAxes> kNames = {
      "tp", "cp",  "ep",           "ep_internode", "ep_intranode", "pp",
      "dp", "edp", "dp_replicate", "embedding",    "world"};
  return kNames[static_cast<std::size_t>(axis)];
}

Place Layout::place(Rank rank) const {
  Place place;
  place.tensor = rank % tensor;
  rank /= tensor;
  place.context = rank % context;
  rank /= context;
  if (order == RankOrder::kMegatron) {
    place.data = rank % data;
    place.stage = rank / data;
  } else {
    place.stage = rank % pipeline;
    place.data = rank / pipeline;
  }
  return place;
}

Rank Layout::rank(const Place& place) const {
  const std::uint32_t outer =
      order == RankOrder::kMegatron ? place.stage * data + place.data : place.data * pipeline + place.stage;
  return (outer * context + place.context) * tensor + place.tensor;
}

std::uint32_t Layout::size(Axis axis) const {
  switch (axis) {
    case Axis::kTensor:
      return tensor;
    case Axis::kContext:
      return context;
    case Axis::kExpert:
      return expert;
    case Axis::kExpertInternode:
      return expert_nodes();
    case Axis::kExpertIntranode:
      return std::max(expert_node, 1u);
    case Axis::kPipeline:
      return pipeline;
    case Axis::kData:
      return data / replicas * context * copies();
    case Axis::kExpertData:
      return shard_ranks() / expert * copies();
    case Axis::kReplicas:
      return replicas;
    case Axis::kEmbedding:
      return pipeline > 1 ? 2 : 1;
    case Axis::kWorld:
      return ranks();
  }
  return 1;
}

std::uint32_t Layout::group(Axis axis, const Place& place) const {
  const std::uint32_t position = in_stage(place);
  switch (axis) {
    case Axis::kTensor:
      return place.stage * (data * context) + position / tensor;
    case Axis::kContext:
      return (place.stage * data + place.data) * tensor + place.tensor;
    case Axis::kExpert:
      return (place.stage * stage_ranks() + position) / expert;
    case Axis::kExpertInternode:
      return group(Axis::kExpert, place) * expert_node + position % expert_node;
    case Axis::kExpertIntranode:
      return (place.stage * stage_ranks() + position) / expert_node;
    case Axis::kPipeline:
      return position;
    case Axis::kData:
      return shard_group(place) * tensor + place.tensor;
    case Axis::kExpertData:
      return shard_group(place) * expert + position % expert;
    case Axis::kReplicas:
      return place.stage * shard_ranks() + position % shard_ranks();
    case Axis::kEmbedding:
      return position;
    case Axis::kWorld:
      return 0;
  }
  return 0;
}

Groups::Groups(const Layout& layout, bool tied, GraphBuilder& builder) : layout_(layout) {
  // Members in the order of their stages and of their positions there.
  std::array<std::vector<Communicator>, kAxes> made;
  const auto exists = [&](Axis axis) {
    if (axis == Axis::kExpert && layout.expert_node != 0) return false;
    return axis != Axis::kWorld && layout.size(axis) > 1 && (axis != Axis::kEmbedding || tied);
  };
  for (int a = 0; a < kAxes; ++a) {
    if (exists(static_cast<Axis>(a))) made[a].resize(layout.groups(static_cast<Axis>(a)));
  }
  for (std::uint32_t at = 0; at < layout.ranks(); ++at) {
    Place place;
    place.tensor = at % layout.tensor;
    place.context = at / layout.tensor % layout.context;
    place.data = at / (layout.tensor * layout.context) % layout.data;
    place.stage = at / layout.stage_ranks();
    for (int a = 0; a < kAxes; ++a) {
      const Axis axis = static_cast<Axis>(a);
      if (made[a].empty()) continue;
      if (axis == Axis::kEmbedding && place.stage != 0 && place.stage != layout.pipeline - 1) continue;
      made[a][layout.group(axis, place)].ranks.push_back(layout.rank(place));
    }
  }
  for (int a = 0; a < kAxes; ++a) {
    for (std::size_t i = 0; i < made[a].size(); ++i) {
      made[a][i].name = fmt::format("{} {}", name(static_cast<Axis>(a)), i);
      numbers_[a].push_back(builder.add_communicator(std::move(made[a][i])));
    }
  }
}

std::uint32_t Groups::communicator(Axis axis, const Place& place) const {
  const std::vector<std::uint32_t>& numbers = numbers_[static_cast<std::size_t>(axis)];
  return numbers.empty() ? kWorld : numbers[layout_.group(axis, place)];
}

}  // namespace weft::goal::llm
