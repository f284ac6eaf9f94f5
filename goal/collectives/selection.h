// Which algorithm a collective operation uses: what the scenario asks for.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "goal/collectives/nccl/choice.h"
#include "goal/collectives/nccl/tuner.h"
#include "goal/collectives/selection_table.h"
#include "goal/collectives/steps.h"

namespace weft::goal {

// What decides, the first that has an answer: `forced`, the graph (Collective::algorithm), `table`,
// `profile`, and the first algorithm of the kind.
struct CollectiveChoices {
  std::array<std::string, kCollectiveKinds> forced;  // per kind an algorithm ("ring"), or empty
  std::string table;                                 // path of a SelectionTable's file, or empty
  std::string profile;  // one of selection_profiles(), "nccl:node=dgx_a100"; empty: "default"
};

// Every rank of a communicator gets the same answer, so it depends only on what all of them know.
class CollectiveSelection {
 public:
  // Each kind's default.
  CollectiveSelection() : CollectiveSelection(CollectiveChoices{}) {}
  // Throws InputError for an unknown name, a wrong parameter or a fault in the table.
  explicit CollectiveSelection(const CollectiveChoices& choices);
  explicit CollectiveSelection(const std::array<std::string, kCollectiveKinds>& forced)
      : CollectiveSelection(CollectiveChoices{forced, {}, {}}) {}

  // Where messages that go the same way at the same time are the same as one, as in fluids: NCCL's channels
  // go in bundles in large collectives, and long rings in few rounds, if the profile leaves that open. See
  // goal/collectives/nccl/bundle.h and coarse.h. `rank_gbs`: what the network takes of a rank, in GB/s; 0:
  // not known. `latency`: of its way between nodes.
  void allow_bundles(double rank_gbs = 0, Time latency = {}) {
    may_bundle_ = true;
    rank_gbs_ = rank_gbs;
    latency_ = latency;
  }

  // Whose communicators they are. NCCL chooses by how many of a group share a node, and orders its ranks by
  // node. Consecutive ranks of the world fill the nodes, or are on `nodes`, by rank; without this call,
  // consecutive ranks of the group are taken to.
  void know_groups(const ProgramFacts& facts, std::span<const std::uint32_t> nodes = {});
  // GPUs of a node where NCCL is the profile; else 0.
  std::uint32_t gpus_of_a_node() const { return nccl_ ? nccl_->node().gpus : 0; }

  // For a call of `collective` on a communicator of `ranks` ranks. Good as long as the selection.
  // Throws InputError if the algorithm can't be used by so many, or the graph asks for one that isn't there.
  // Not for several threads at a time: it remembers what graphs have asked for.
  const ChosenAlgorithm& choose(const Collective& collective, std::uint32_t ranks) const;

 private:
  const ChosenAlgorithm& find(const Collective& collective, std::uint32_t ranks) const;
  // `on`: ranks of nodes, for NCCL's; else none.
  const ChosenAlgorithm& named(CollectiveKind kind, const std::string& algorithm, const NodeRanks& on) const;
  // NCCL's on nodes that have as many of this group. REQUIRES: nccl_.
  const nccl::Tuner& tuner_of(std::uint32_t comm) const;
  // NCCL's algorithms run on GPUs of the profile's node, whoever names them.
  void set_gpu(ChosenAlgorithm& chosen) const;
  std::uint32_t bundle_of(const ChosenAlgorithm& chosen, const Collective& collective,
                          std::uint32_t ranks) const;
  const ChosenAlgorithm& bundled(const ChosenAlgorithm& chosen, std::uint32_t bundle) const;
  // In few rounds, if it has very many.
  const ChosenAlgorithm& coarse(const ChosenAlgorithm& chosen, const Collective& collective,
                                std::uint32_t ranks) const;
  // With the group's order by node, where the algorithm knows nodes, and they are the group's.
  const ChosenAlgorithm& ordered(const ChosenAlgorithm& chosen, std::uint32_t comm) const;
  const ChosenAlgorithm& with_options(const ChosenAlgorithm& chosen, const CollectiveOptions& options) const;

  std::array<ChosenAlgorithm, kCollectiveKinds> fixed_;  // forced, or the default
  std::array<bool, kCollectiveKinds> forced_{};
  SelectionTable table_, profile_;
  std::optional<nccl::Tuner> nccl_;  // where that is the profile
  std::map<std::pair<NodeRanks, std::uint32_t>, nccl::Tuner>
      sparse_;                            // of groups that have fewer ranks on a node, by GroupNodes::key()
  std::vector<nccl::GroupNodes> groups_;  // by communicator
  mutable std::map<std::tuple<CollectiveKind, std::string, NodeRanks>, ChosenAlgorithm>
      asked_;  // by graphs, or NCCL, so far
  bool may_bundle_ = false;
  double rank_gbs_ = 0;
  Time latency_;
  std::uint32_t bundle_ = 0;  // as the profile fixes it; 0: by rule
  mutable std::map<std::pair<const CollectiveAlgorithm*, const RankOrder*>, std::deque<ChosenAlgorithm>>
      variants_;  // with other options, those met so far
};

}  // namespace weft::goal
