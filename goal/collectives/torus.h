// The ranks of a communicator as points of a torus, for algorithms that go along its dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"

namespace weft::goal {

// Ranks are numbered with the last dimension fastest.
class Torus {
 public:
  static constexpr std::size_t kMostDimensions = 8;

  // Sizes of 0 are worked out: as equal as they can be, larger ones first (as MPI_Dims_create does). Without
  // a solution size() is not `ranks`. REQUIRES: 1 to kMostDimensions sizes.
  Torus(const std::vector<std::uint32_t>& dims, std::uint32_t ranks);

  std::uint32_t dimensions() const { return dimensions_; }
  std::uint64_t size() const;
  std::uint32_t size(std::uint32_t d) const { return sizes_[d]; }
  // From a rank to the next one in dimension d.
  std::uint32_t stride(std::uint32_t d) const;
  std::uint32_t place(std::uint32_t rank, std::uint32_t d) const { return rank / stride(d) % sizes_[d]; }
  // The rank at another place in dimension d.
  std::uint32_t moved(std::uint32_t rank, std::uint32_t d, std::uint32_t to) const {
    return rank + (to - place(rank, d)) * stride(d);
  }

 private:
  std::uint32_t dimensions_;
  std::array<std::uint32_t, kMostDimensions> sizes_{};
};

// The option `parallel` of such algorithms: parts of the vector that go their own ways side by side, at most
// one for each direction of each dimension; 0: as many as that.
std::uint32_t torus_lanes(const CollectiveCall& call);
// CollectiveAlgorithm::objection of such algorithms.
std::string torus_objection(const CollectiveOptions& options, std::uint32_t ranks);

}  // namespace weft::goal
