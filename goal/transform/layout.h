// How the ranks of a program lie on a grid, so that those that lie alike do alike.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/transform/communicator_shapes.h"
#include "goal/transform/grid.h"

namespace weft::goal {

struct Layout {
  RankGrid grid;
  std::shared_ptr<const CommunicatorShapes> shapes;  // of the graph's communicators, on that grid
  bool confirmed = false;                            // do two ranks lie alike?
  // Ranks that lie alike call the same collectives in the same order, but between them not all send the same
  // messages, or not in the same order. Few differ (kMostMissing).
  bool loose = false;
  // What ranks that lie alike differ in, counted where one differs from the first of its kind:
  std::uint64_t sizes_compared = 0, sizes_varied = 0;  // messages and collectives
  std::uint64_t bytes_compared = 0, bytes_varied = 0;  // of those; collectives count their own buffer
  std::uint64_t ranks_varied = 0;  // whose operations come in another order, or with other dependencies
  std::uint64_t messages = 0, messages_varied = 0;  // that one has and the other has not
};

// How many of a rank's messages those that lie alike may be without, as a share.
inline constexpr double kMostMissing = 0.1;

// Finds the layout with the fewest kinds of ranks of those that `serves` accepts. Ranks of a kind do the same
// on the same parts of the grid, but for compute times; and but for sizes, if no layout with equal sizes has
// two ranks that lie alike; and but for the order of messages and for a few of them (see Layout::loose), if
// that fails too.
class LayoutFinder {
 public:
  explicit LayoutFinder(const Graph& graph);
  // Nothing if there is none.
  std::unique_ptr<Layout> find(const std::function<bool(const RankGrid&)>& serves);
  // Why the layout that came nearest is none.
  const std::string& nearest() const { return nearest_; }
  bool has_messages() const { return has_messages_; }

 private:
  struct Candidate {
    RankGrid grid;
    std::size_t roles = 1;
    std::uint32_t fixed = 0, reach = 0;                // dimensions; in all of them
    std::shared_ptr<const CommunicatorShapes> shapes;  // once examined
  };

  void list_candidates();
  void add_candidates(const std::vector<std::uint32_t>& dims);
  bool within_reach(const RankGrid& grid);
  const CommunicatorShapes& shapes_of(Candidate& candidate);
  enum class Likeness { kSizes, kOrder, kLoose };
  // What a rank has of messages between collectives: by how many more than another.
  using Surplus = std::map<std::array<std::int64_t, 7>, std::int64_t>;

  std::unique_ptr<Layout> layout_of(const Candidate& candidate, bool confirmed, Likeness likeness) const;
  bool fits(const Candidate& candidate, const CommunicatorShapes& shapes, Likeness likeness);
  std::size_t count_loosely_alike(Rank a, Rank b, const RankGrid& grid, const CommunicatorShapes& shapes,
                                  std::uint64_t& missing) const;
  bool add_segment(Rank r, std::size_t& k, int sign, const RankGrid& grid, const CommunicatorShapes& shapes,
                   Surplus& surplus) const;
  std::size_t count_alike(Rank a, Rank b, const RankGrid& grid, const CommunicatorShapes& shapes,
                          bool equal_sizes) const;
  bool alike(Rank a, const Op& x, Rank b, const Op& y, const RankGrid& grid, const CommunicatorShapes& shapes,
             bool equal_sizes) const;
  bool alike(Rank a, const Collective& x, Rank b, const Collective& y, const RankGrid& grid,
             bool equal_sizes) const;
  bool same_neighbors(Rank a, const Collective& x, Rank b, const Collective& y, const RankGrid& grid) const;
  void count_variation(Layout& layout) const;
  std::uint64_t size_of(const Op& op) const;
  bool same_dependencies(Rank a, Rank b) const;

  const Graph& graph_;
  std::vector<std::vector<OpIndex>> calls_;      // per rank: what is no calc
  std::vector<std::pair<Rank, Rank>> partners_;  // that exchange messages, each pair once
  std::vector<std::uint64_t> messages_;          // per rank
  std::vector<Candidate> candidates_;            // the best first
  bool has_messages_ = false;
  std::string nearest_ = "there are too few ranks to tell";
  // How far it came: to this rank; -1, its partners are too far away; -2, nothing was tried.
  std::int64_t nearest_rank_ = -2;
  std::size_t nearest_pairs_ = 0;  // and so many pairs of partners are not
};

}  // namespace weft::goal
