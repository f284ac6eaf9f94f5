// Communicators as parts of a grid of ranks: rows, columns, planes, blocks, one rank.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "goal/graph/communicator_places.h"
#include "goal/graph/graph.h"
#include "goal/transform/grid.h"

namespace weft::goal {

// Which of a grid's ranks a communicator holds, seen from any of them, and in what order.
struct CommunicatorShape {
  struct Extent {
    bool own = false;              // only the coordinate that the rank itself has
    std::int64_t step = 0;         // those that are the rank's own modulo this; 0: otherwise
    std::int64_t low = 0;          // all but so many at the begin
    std::int64_t high = 0;         // and so many at the end of the dimension;
    std::vector<std::int64_t> of;  // of a fixed dimension: these
    bool operator==(const Extent&) const = default;
  };
  std::array<Extent, 3> extents;
  std::array<std::uint8_t, 3> order{0, 1, 2};  // dimensions, the one whose coordinate runs fastest last
  bool backward = false;                       // the order is the opposite one
  std::uint32_t copy = 0;  // communicators of the same ranks are told apart by their order in the graph
  bool operator==(const CommunicatorShape&) const = default;
};

// The ranks of such a communicator that `rank` belongs to, in communicator order.
std::vector<Rank> members(const CommunicatorShape& shape, const RankGrid& grid, Rank rank);

// The shapes of all communicators of a graph.
class CommunicatorShapes {
 public:
  CommunicatorShapes(const Graph& graph, const RankGrid& grid);
  // Has every communicator a shape? If not, words for the first that has none.
  bool complete() const { return failure_.empty(); }
  const std::string& failure() const { return failure_; }
  // Communicators of equal shape have equal numbers. REQUIRES: complete().
  std::uint32_t number(std::uint32_t comm) const { return numbers_[comm]; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(shapes_.size()); }
  const CommunicatorShape& shape(std::uint32_t number) const { return shapes_[number]; }
  // The first communicator that has it.
  std::uint32_t first(std::uint32_t number) const { return firsts_[number]; }

 private:
  std::vector<CommunicatorShape> shapes_;
  std::vector<std::uint32_t> firsts_;   // by number of the shape
  std::vector<std::uint32_t> numbers_;  // by communicator
  std::string failure_;
};

// A communicator's members, the world's spelled out.
std::vector<Rank> members(const Graph& graph, std::uint32_t comm);

}  // namespace weft::goal
