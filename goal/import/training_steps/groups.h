// Which ranks exchange data with each other in a training of which a file tells only how large groups are.
//
// Source of the order: Megatron-LM, parallel_state.py (tp-cp-ep-dp-pp, from the inside out).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

enum class TrainingAxis : std::uint8_t {
  kTensor,
  kExpert,
  kExpertTensor,  // the ranks of a group of experts with all their parts
  kExpertData,    // the ranks that have the same experts
  kData,
  kPipeline,
  kEmbedding,       // the first and the last stage
  kFirstDimension,  // of a machine: so many consecutive ranks
  kOtherDimensions,
  kWorld,
};
inline constexpr int kTrainingAxes = 10;
// "tp", "ep", "ep_tp", "edp", "dp", "pp", "embedding", "dim0", "dim1", "world": the first word of a
// communicator's name.
std::string_view name(TrainingAxis axis);

// Ranks count through tensor parallelism first, then data, then the stages of a pipeline; a group of experts
// has neighbors of data parallelism.
struct TrainingLayout {
  std::uint32_t tensor = 1, data = 1, expert = 1, pipeline = 1;
  std::uint32_t first_dimension = 1;  // divides ranks()

  std::uint32_t ranks() const { return tensor * data * pipeline; }
  // Ranks in a group of that axis.
  std::uint32_t size(TrainingAxis axis) const;
  // Which group of that axis a rank belongs to, from 0 on.
  std::uint32_t group(TrainingAxis axis, Rank rank) const;
  std::uint32_t stage(Rank rank) const { return rank / (tensor * data); }
  // Are there ranks without a group (of kEmbedding those of stages in between)?
  bool in_group(TrainingAxis axis, Rank rank) const;
};

// The communicators of some axes of a layout, in a builder.
class TrainingGroups {
 public:
  // There are no communicators for axes that were not added, nor for groups of one rank.
  TrainingGroups(const TrainingLayout& layout, GraphBuilder& builder) : layout_(layout), builder_(builder) {}
  void add(TrainingAxis axis);
  // REQUIRES: the axis was added, its groups have more than one rank, and the rank is in one.
  std::uint32_t communicator(TrainingAxis axis, Rank rank) const;
  const TrainingLayout& layout() const { return layout_; }
  // How many groups there are, of all axes but the world.
  std::uint64_t count() const;

 private:
  const TrainingLayout layout_;
  GraphBuilder& builder_;
  std::array<std::vector<std::uint32_t>, kTrainingAxes> numbers_;
};

}  // namespace weft::goal
