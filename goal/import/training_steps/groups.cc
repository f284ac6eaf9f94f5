#include "goal/import/training_steps/groups.h"

#include <fmt/core.h>

#include <utility>

namespace weft::goal {

std::string_view name(TrainingAxis axis) {
  static constexpr std::array<std::string_view, kTrainingAxes> kNames = {
      "tp", "ep", "ep_tp", "edp", "dp", "pp", "embedding", "dim0", "dim1", "world"};
  return kNames[static_cast<std::size_t>(axis)];
}

std::uint32_t TrainingLayout::size(TrainingAxis axis) const {
  switch (axis) {
    case TrainingAxis::kTensor:
      return tensor;
    case TrainingAxis::kExpert:
      return expert;
    case TrainingAxis::kExpertTensor:
      return expert * tensor;
    case TrainingAxis::kExpertData:
      return data / expert;
    case TrainingAxis::kData:
      return data;
    case TrainingAxis::kPipeline:
      return pipeline;
    case TrainingAxis::kEmbedding:
      return pipeline > 1 ? 2 : 1;
    case TrainingAxis::kFirstDimension:
      return first_dimension;
    case TrainingAxis::kOtherDimensions:
      return ranks() / first_dimension;
    case TrainingAxis::kWorld:
      return ranks();
  }
  return 1;
}

std::uint32_t TrainingLayout::group(TrainingAxis axis, Rank rank) const {
  const std::uint32_t t = rank % tensor, d = rank / tensor % data, p = stage(rank);
  switch (axis) {
    case TrainingAxis::kTensor:
      return p * data + d;
    case TrainingAxis::kExpert:
      return (p * (data / expert) + d / expert) * tensor + t;
    case TrainingAxis::kExpertTensor:
      return p * (data / expert) + d / expert;
    case TrainingAxis::kExpertData:
      return (p * expert + d % expert) * tensor + t;
    case TrainingAxis::kData:
      return p * tensor + t;
    case TrainingAxis::kPipeline:
    case TrainingAxis::kEmbedding:
      return d * tensor + t;
    case TrainingAxis::kFirstDimension:
      return rank / first_dimension;
    case TrainingAxis::kOtherDimensions:
      return rank % first_dimension;
    case TrainingAxis::kWorld:
      return 0;
  }
  return 0;
}

bool TrainingLayout::in_group(TrainingAxis axis, Rank rank) const {
  return axis != TrainingAxis::kEmbedding || stage(rank) == 0 || stage(rank) == pipeline - 1;
}

void TrainingGroups::add(TrainingAxis axis) {
  std::vector<std::uint32_t>& numbers = numbers_[static_cast<std::size_t>(axis)];
  if (axis == TrainingAxis::kWorld || layout_.size(axis) < 2 || !numbers.empty()) return;
  std::vector<Communicator> made;
  for (Rank rank = 0; rank < layout_.ranks(); ++rank) {
    if (!layout_.in_group(axis, rank)) continue;
    const std::uint32_t group = layout_.group(axis, rank);
    if (group >= made.size()) made.resize(group + 1);
    made[group].ranks.push_back(rank);
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i].name = fmt::format("{} {}", name(axis), i);
    numbers.push_back(builder_.add_communicator(std::move(made[i])));
  }
}

std::uint32_t TrainingGroups::communicator(TrainingAxis axis, Rank rank) const {
  if (axis == TrainingAxis::kWorld) return kWorld;
  return numbers_[static_cast<std::size_t>(axis)][layout_.group(axis, rank)];
}

std::uint64_t TrainingGroups::count() const {
  std::uint64_t count = 0;
  for (const std::vector<std::uint32_t>& numbers : numbers_) count += numbers.size();
  return count;
}

}  // namespace weft::goal
