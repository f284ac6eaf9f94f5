// What the parts of check() share: the report being made, and words for operations. Not for other folders.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "goal/check/check.h"
#include "goal/check/op_source.h"
#include "goal/graph/communicator_places.h"

namespace weft::goal::checks {

class Recorder {
 public:
  Recorder(OpSource& source, const CheckOptions& options) : source_(source), options_(options) {}

  // Counts `count` findings; keeps the sentence that `sentence()` makes if there is room for one more
  // example.
  template <typename MakeSentence>
  void add(FindingKind kind, std::uint64_t count, Rank rank, OpIndex op, const MakeSentence& sentence) {
    const auto index = static_cast<std::size_t>(kind);
    report_.counts[index] += count;
    if (kept_[index] == options_.examples) return;
    ++kept_[index];
    report_.findings.push_back({kind, rank, op, sentence()});
  }

  // "operation 12 of rank 3 ('l13': send 8b to 1)"; reads the rank up to there. Long lists are cut.
  std::string describe(Rank rank, OpIndex op) const;
  // The operation, read from its rank; `block` has its label.
  Op read(Rank rank, OpIndex op, OpBlock& block) const;
  std::string communicator(std::uint32_t comm) const;
  OpSource& source() const { return source_; }
  std::size_t examples() const { return options_.examples; }
  Report finish();

 private:
  OpSource& source_;
  const CheckOptions& options_;
  Report report_;
  std::array<std::size_t, kFindingKinds> kept_{};
};

// Cycles, labels, collectives: one rank after the other.
void check_ranks(Recorder& recorder, const CommunicatorPlaces& members);
// Sends and receives: all ranks side by side.
void check_messages(Recorder& recorder, const CommunicatorPlaces& members);

}  // namespace weft::goal::checks
