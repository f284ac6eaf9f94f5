// The ranks of a graph one at a time, wherever they are: in memory, or in a file of which one is read at a
// time. What writes or sums up a graph takes its ranks from here.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

class RankSource {
 public:
  virtual ~RankSource() = default;
  virtual Rank ranks() const = 0;
  virtual std::uint64_t ops() const = 0;
  virtual std::uint64_t edges() const = 0;
  virtual const std::vector<Communicator>& communicators() const = 0;
  virtual const std::vector<Collective>& collectives() const = 0;
  // The operations, dependencies and labels of a rank, good until the next call. The view may be of a graph
  // that holds nothing else: rank() of it and collective() mean nothing here. Throws InputError if what it is
  // read from is damaged.
  virtual RankView rank(Rank rank) = 0;
};

// Gives the ranks of a graph in memory, which must outlive it.
class GraphRanks : public RankSource {
 public:
  explicit GraphRanks(const Graph& graph) : graph_(graph) {}
  Rank ranks() const override { return graph_.ranks(); }
  std::uint64_t ops() const override { return graph_.ops(); }
  std::uint64_t edges() const override { return graph_.edges(); }
  const std::vector<Communicator>& communicators() const override { return graph_.communicators(); }
  const std::vector<Collective>& collectives() const override { return graph_.collectives(); }
  RankView rank(Rank rank) override { return graph_.rank(rank); }

 private:
  const Graph& graph_;
};

}  // namespace weft::goal
