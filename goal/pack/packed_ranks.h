// A packed file as a source of ranks: one of them is in memory at a time.
#pragma once

#include "goal/graph/rank_source.h"
#include "goal/pack/packed_file.h"

namespace weft::goal {

// The file must outlive it.
class PackedRanks : public RankSource {
 public:
  explicit PackedRanks(PackedFile& file) : file_(file) {}
  Rank ranks() const override { return file_.ranks(); }
  std::uint64_t ops() const override { return file_.ops(); }
  std::uint64_t edges() const override { return file_.edges(); }
  const std::vector<Communicator>& communicators() const override { return file_.communicators(); }
  const std::vector<Collective>& collectives() const override { return file_.collectives(); }
  RankView rank(Rank rank) override;

 private:
  PackedFile& file_;
  Graph at_hand_;  // of one rank
  OpBlock block_;
};

}  // namespace weft::goal
