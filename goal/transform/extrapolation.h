// A program laid out on a larger or smaller grid, one rank at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "goal/graph/communicator_places.h"
#include "goal/graph/rank_source.h"
#include "goal/transform/channels.h"
#include "goal/transform/layout.h"

namespace weft::goal {

// Memory: that of the old program and what is common to all ranks of the new one (communicators, table of
// collectives). The old graph and the layout must outlive it.
class Extrapolation : public RankSource {
 public:
  // `share_alltoalls`: a rank's bytes in an alltoall stay the same, not each block. Throws InputError if the
  // program can't be laid out so.
  Extrapolation(const Graph& graph, const Layout& layout, RankGrid grid, bool share_alltoalls);

  Rank ranks() const override { return grid_.ranks(); }
  std::uint64_t ops() const override { return ops_; }
  std::uint64_t edges() const override { return edges_; }
  const std::vector<Communicator>& communicators() const override { return communicators_; }
  const std::vector<Collective>& collectives() const override { return collectives_; }
  RankView rank(Rank rank) override;

  // Counts the new program's messages. Those left out are operations that do nothing.
  const Channels::Balance& balance() const { return balance_; }

 private:
  // The collective operation that a communicator's members meet in, as one of them calls it.
  struct Meeting {
    Rank rank;  // of the new program
    Rank model;
    OpIndex op;  // of the model
    std::uint32_t comm;
  };

  void make_communicators();
  void make_communicators(std::uint32_t shape, const std::vector<std::vector<std::uint32_t>>& shapes);
  void collect_collectives();
  Rank home(std::uint32_t shape, Rank rank) const;
  std::uint32_t new_communicator(Rank rank, std::uint32_t old) const;
  std::uint32_t new_size(std::uint32_t comm) const;
  Rank new_member(std::uint32_t comm, std::uint32_t position) const;
  std::uint32_t collective_index(const Meeting& meeting);
  std::uint32_t store(Collective collective);
  Collective grown(const Meeting& meeting);
  void grow_counts(const Meeting& meeting, const Collective& old, Collective& collective) const;
  void grow_neighbors(const Meeting& meeting, const Collective& old, Collective& collective) const;
  void grow_rooted(const Meeting& meeting, const Collective& old, Collective& collective) const;
  std::uint32_t new_root(const Meeting& meeting, const Collective& old);
  std::vector<std::uint64_t> counts_of(const std::vector<std::uint64_t>& old, const Meeting& meeting,
                                       std::uint32_t old_comm) const;
  std::uint64_t shared(std::uint64_t bytes, const Collective& old, std::uint32_t comm) const;

  const Graph& graph_;
  const Layout& layout_;
  const RankGrid grid_;
  const bool share_alltoalls_;
  const CommunicatorPlaces old_places_;
  std::optional<CommunicatorPlaces> new_places_;
  std::optional<Channels> channels_;  // unless there are wildcards
  Channels::Balance balance_;
  std::uint64_t ops_ = 0, edges_ = 0;
  std::vector<Communicator> communicators_;
  std::vector<std::unordered_map<Rank, std::uint32_t>> numbers_;  // of communicators, by shape and home
  std::vector<Collective> collectives_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by old collective and new communicator
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> roots_;  // by old root, new communicator
  // Per old rank and communicator, its collective operations in order.
  std::vector<std::map<std::uint32_t, std::vector<std::uint32_t>>> meetings_;
  std::uint64_t counts_held_ = 0;
  Graph at_hand_;  // of one rank
};

}  // namespace weft::goal
