// Which rank has what part of a model that is trained in parallel, and with whom it talks.
//
// Sources: D. Narayanan et al., SC 2021 (tensor, pipeline and data parallelism); the order of ranks of
// Megatron-LM's parallel_state.py, and that of The Llama 3 Herd of Models, 2024, section 3.3.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal::llm {

// Which of them varies slower, from the second on: tensor, context, data, pipeline; or tensor, context,
// pipeline, data.
enum class RankOrder : std::uint8_t { kMegatron, kLlama3 };

// Those that exchange data with each other.
enum class Axis : std::uint8_t {
  kTensor,
  kContext,
  kExpert,
  kExpertInternode,  // those of kExpert that have the same place in their nodes
  kExpertIntranode,  // those of kExpert in a node
  kPipeline,
  kData,        // gradients and weights, over context and data parallelism, or over a shard group of it
  kExpertData,  // the same of experts: the ranks that have the same ones
  kReplicas,    // those that have the same part in the shard groups, of experts too
  kEmbedding,   // the first and the last stage, where embedding and head share weights
  kWorld,
};
inline constexpr int kAxes = 11;
// "tp", "cp", "ep", "ep_internode", "ep_intranode", "pp", "dp", "edp", "dp_replicate", "embedding",
// "world": the first word of a communicator's name.
std::string_view name(Axis axis);

struct Place {
  std::uint32_t tensor = 0, context = 0, data = 0, stage = 0;
};

struct Layout {
  std::uint32_t tensor = 1, context = 1, data = 1, pipeline = 1;
  // Experts are divided among so many ranks of a stage, which stand side by side in the order tensor,
  // context, data; none is divided further.
  std::uint32_t expert = 1;
  // So many neighbors among the ranks that divide the experts are in a node, and tokens go from node to node,
  // and on from there; 0: each rank sends to each other one.
  std::uint32_t expert_node = 0;
  // Data parallelism is so many shard groups of neighbors: each divides the weights among its ranks, and has
  // all of them.
  std::uint32_t replicas = 1;
  RankOrder order = RankOrder::kMegatron;
  // Stages s and pipeline-1-s have the same weights: a group of data parallelism is of both.
  bool mirrored = false;

  std::uint32_t stage_ranks() const { return tensor * context * data; }
  // Those of a stage that have all of its weights together.
  std::uint32_t shard_ranks() const { return stage_ranks() / replicas; }
  std::uint32_t ranks() const { return stage_ranks() * pipeline; }
  Place place(Rank rank) const;
  std::uint32_t expert_nodes() const { return expert_node == 0 ? 1 : expert / expert_node; }
  // The rank's position among those that divide the experts.
  std::uint32_t expert_position(const Place& place) const { return in_stage(place) % expert; }
  Rank rank(const Place& place) const;
  // Ranks in a group of that axis.
  std::uint32_t size(Axis axis) const;
  // Which group of that axis a place belongs to, from 0 on, and how many there are.
  std::uint32_t group(Axis axis, const Place& place) const;
  std::uint32_t groups(Axis axis) const {
    return axis == Axis::kEmbedding ? stage_ranks() : ranks() / size(axis);
  }

 private:
  // The first of the stages that have the same weights.
  std::uint32_t weights_stage(const Place& place) const {
    return mirrored && place.stage >= pipeline / 2 ? pipeline - 1 - place.stage : place.stage;
  }
  std::uint32_t copies() const { return mirrored ? 2 : 1; }
  // Numbered over all weights.
  std::uint32_t shard_group(const Place& place) const {
    return weights_stage(place) * replicas + in_stage(place) / shard_ranks();
  }
  // The rank's position in its stage.
  std::uint32_t in_stage(const Place& place) const {
    return (place.data * context + place.context) * tensor + place.tensor;
  }
};

// The communicators of a layout, in a builder: one for each group of more than one rank.
class Groups {
 public:
  // `tied`: there is an embedding axis.
  Groups(const Layout& layout, bool tied, GraphBuilder& builder);
  // Returns the number for that rank's group; kWorld if it is alone in it.
  std::uint32_t communicator(Axis axis, const Place& place) const;

 private:
  const Layout& layout_;
  std::array<std::vector<std::uint32_t>, kAxes> numbers_;
};

}  // namespace weft::goal::llm
