// Lists of ranks as users write them: "0-3,8".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

// A set of ranks, kept as sorted ranges that do not touch, and the order in which they were named.
class RankList {
 public:
  // Reads ranges and single ranks with commas between, in any order; "all" is every rank. Throws InputError,
  // with `what` as the place ("--ranks"), for anything else and for ranks from `ranks` on.
  RankList(std::string_view text, Rank ranks, const std::string& what);
  // Exactly these. REQUIRES: sorted, no two equal.
  explicit RankList(const std::vector<Rank>& ranks);

  bool contains(Rank rank) const;
  // Was any named more than once?
  bool has_repeats() const { return has_repeats_; }
  std::vector<Rank> ranks() const;  // in ascending order
  // "6-8,0-2" is 6, 7, 8, 0, 1, 2; one that is named again keeps its first place.
  std::vector<Rank> ranks_as_named() const;

 private:
  struct Range {
    Rank first, last;
  };
  static std::vector<Rank> listed(const std::vector<Range>& ranges);
  std::vector<Range> ranges_, named_;
  bool has_repeats_ = false;
};

}  // namespace weft::goal
