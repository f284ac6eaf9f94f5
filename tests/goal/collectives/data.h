// The buffers of all ranks of a collective, filled with numbers that tell who contributed what.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"

namespace weft::goal {

// A unit is the least that algorithms may move: an element; of kinds made of many or long blocks the blocks'
// greatest common divisor; a slot of alltoall. Every contribution is a number drawn from (rank, place);
// combining adds. So a sum is right only if each contribution that belongs to it is there, once, and at its
// place. (Barrier: one unit per rank, which says whether this rank knows that the other has come.)
class CollectiveData {
 public:
  explicit CollectiveData(std::span<const Collective> calls);

  // A range of units, modulo units().
  struct Units {
    std::uint64_t begin = 0, count = 0;
  };
  std::uint64_t units() const { return units_; }
  // A part as rank `me` names it. Throws std::runtime_error if it splits an element or is no part of the
  // vector.
  Units locate(std::uint32_t me, const Part& part) const;
  // The block that a step of `me` moves to or from `peer` if it goes by peers.
  Units block(std::uint32_t me, std::uint32_t peer, StepKind kind) const;

  using Payload = std::vector<std::uint64_t>;
  // Appends; `original`: what was there before the collective began.
  void read(std::uint32_t rank, const Units& units, bool original, Payload& into) const;
  void write(std::uint32_t rank, const Units& units, std::span<const std::uint64_t> payload);
  void combine(std::uint32_t rank, const Units& units, std::span<const std::uint64_t> payload);
  // Bytes of all blocks in a payload of alltoall.
  std::uint64_t alltoall_bytes(std::span<const std::uint64_t> payload) const;

  // "" if the rank holds what the collective promises, else what is wrong.
  std::string wrong_at(std::uint32_t rank) const;

 private:
  std::uint64_t unit_at(std::uint64_t byte) const;

  std::span<const Collective> calls_;
  CollectiveKind kind_;
  std::uint32_t p_, root_;
  bool only_root_knows_ = false;  // v form of gather or scatter
  std::uint64_t unit_bytes_ = 1, units_ = 0, bytes_ = 0;
  std::vector<std::uint64_t> block_begin_;           // per rank and one more, in bytes; of kinds with blocks
  std::vector<std::vector<std::uint64_t>> held_;     // per rank and unit
  std::vector<std::vector<std::uint64_t>> initial_;  // alltoall: held_ before
  std::vector<std::vector<std::uint64_t>> before_;   // exscan: combined without the rank's own
  std::vector<std::vector<std::uint64_t>> sums_;     // reductions: what ranks 0 … r contribute together
};

}  // namespace weft::goal
