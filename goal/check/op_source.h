// What check() reads: a graph in memory or a packed file. Not for other folders.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/packed_file.h"

namespace weft::goal::checks {

// A place within one rank.
class OpCursor {
 public:
  virtual ~OpCursor() = default;
  // As RankReader::next.
  virtual bool next(OpBlock& block, std::uint32_t most) = 0;
};

class OpSource {
 public:
  virtual ~OpSource() = default;
  virtual Rank ranks() const = 0;
  virtual std::uint64_t ops() const = 0;
  virtual OpIndex ops(Rank rank) const = 0;
  virtual bool has_labels(Rank rank) const = 0;
  // Equal numbers: the ranks' operations are of the same kinds, with the same dependencies. kAny: not known.
  virtual std::uint32_t program(Rank rank) const = 0;
  virtual const std::vector<Communicator>& communicators() const = 0;
  virtual const std::vector<Collective>& collectives() const = 0;
  // A cursor before the rank's first operation; any number may be in use side by side.
  virtual std::unique_ptr<OpCursor> open(Rank rank) = 0;

  std::uint32_t communicator_size(std::uint32_t comm) const { return members().communicator_size(comm); }
  Rank world_rank(std::uint32_t comm, std::uint32_t rank_in_comm) const {
    return members().world_rank(comm, rank_in_comm);
  }

 private:
  // No more of them than who is in which communicator.
  ProgramFacts members() const { return {.ranks = ranks(), .communicators = communicators()}; }
};

// The graph must outlive what is made here.
std::unique_ptr<OpSource> source_of(const Graph& graph);
std::unique_ptr<OpSource> source_of(PackedFile& file);

}  // namespace weft::goal::checks
