// The operations of one rank of a packed file that a replay has at hand.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/packed_program.h"

namespace weft::sim {

// A range of the rank's operations: [begin(), end()). It grows at its end, block by block, when the outline
// says that the next one is due; what has finished goes at its front, when room is needed.
//
// Each operation has a word, as in a replay of a graph: when it is loaded, what it waits for and has not been
// released by yet.
class ProgramWindow {
 public:
  // The word of an operation that has finished.
  static constexpr std::uint32_t kFinished = 0xFFFFFFFEu;

  // The outline is that of the reader's rank, and outlives this. Times of calcs are multiplied by
  // `compute_scale`.
  ProgramWindow(goal::RankReader reader, const goal::ProgramOutline& outline, double compute_scale = 1);

  goal::OpIndex begin() const { return begin_; }
  goal::OpIndex end() const { return end_; }
  bool is_due_at_start() const { return next_block() < outline_->blocks_at_start; }
  // Must the next block be there before operation `op` starts or finishes?
  bool is_due(goal::OpIndex op) const { return end_ < outline_->ops && outline_->is_due(next_block(), op); }
  // Reads the next block, with `scratch`. Views and words given before are void. Keeps operation `keep` and
  // those behind it. Throws InputError where the file is damaged. REQUIRES: end() is not the rank's end.
  void load(goal::OpIndex keep, goal::OpBlock& scratch);

  // How much an operation behind end() waits for those before it. An operation with far edges
  // (OpRecord::has_far_edges) lowers it for each of them in time.
  std::uint32_t& waits_to_come(goal::OpIndex op) { return waits_to_come_.at(op); }

  // Good until the next load. They are asked for operations of the range only, by their index in the rank.
  goal::OpView view() const;
  std::uint32_t* words();
  // The first operation that has not finished; the rank's number of operations if there is none.
  goal::OpIndex first_unfinished() const;
  // Bytes held.
  std::uint64_t memory_bytes() const;

 private:
  std::uint32_t next_block() const { return (end_ + outline_->block - 1) / outline_->block; }
  void make_room(goal::OpIndex keep);
  void move_to(std::size_t gone, std::size_t capacity);
  void add_words(goal::OpIndex count);

  goal::RankReader reader_;
  const goal::ProgramOutline* outline_;
  double compute_scale_;
  goal::OpIndex begin_ = 0, end_ = 0;
  std::vector<goal::OpRecord> records_;
  std::vector<goal::Edge> edges_;  // of the records, one behind the other
  std::vector<std::uint32_t> words_;
  goal::BlockedNumbers waits_to_come_;
};

}  // namespace weft::sim
