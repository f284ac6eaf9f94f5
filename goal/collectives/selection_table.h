// Rules that choose an algorithm by the size of a call: a text file of the user's, or a built-in profile.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "goal/collectives/steps.h"

namespace weft::goal {

// A line of the file is a rule: KIND CONDITION… ALGORITHM, as in
//   allreduce ranks<16 bytes<8KiB recursive_doubling
//   bcast bytes>=1MiB pipelined_chain:segment=128KiB
// The first of the rules for a kind whose conditions all hold decides. README.md of this folder has the
// quantities that conditions compare. '#' starts a comment.
class SelectionTable {
 public:
  SelectionTable() = default;  // without rules
  // Throws InputError with line and column; `file_name` is for messages.
  SelectionTable(std::string_view text, const std::string& file_name);

  // For a call of `collective` on a communicator of `ranks` ranks; null if no rule applies. Uses only what
  // every rank of the communicator knows. Good as long as the table.
  const ChosenAlgorithm* find(const Collective& collective, std::uint32_t ranks) const;
  // Calls change(ChosenAlgorithm&) for the algorithm of each rule.
  template <typename Change>
  void change_each(Change change) {
    for (auto& rules : rules_) {
      for (Rule& rule : rules) change(rule.chosen);
    }
  }

 private:
  enum class Quantity : std::uint8_t { kNumber, kRanks, kPower, kBytes, kTotal, kElements, kForm };
  enum class Relation : std::uint8_t { kLess, kAtMost, kMore, kAtLeast, kEqual };
  struct Facts;
  struct Condition {
    Quantity left = Quantity::kNumber, right = Quantity::kNumber;
    Relation relation = Relation::kEqual;
    std::uint64_t number = 0;  // where right is one
    bool holds(const Facts& facts) const;
  };
  struct Rule {
    std::vector<Condition> conditions;
    ChosenAlgorithm chosen;
  };
  static Condition parse_condition(std::string_view text, const SourceLocation& location);

  std::array<std::vector<Rule>, kCollectiveKinds> rules_;
};

}  // namespace weft::goal
