#include "goal/transform/rank_list.h"

#include <algorithm>
#include <charconv>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

Rank parse_rank(std::string_view word, Rank ranks, const std::string& what) {
  Rank rank = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), rank);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) {
    throw InputError(what + ": '" + std::string(word) + "' is not a rank; expected a list such as 0-3,8");
  }
  if (rank >= ranks) {
    throw InputError(what + ": rank " + std::string(word) + " does not exist; the graph has " +
                     std::to_string(ranks) + ", counted from 0");
  }
  return rank;
}

}  // namespace

RankList::RankList(std::string_view text, Rank ranks, const std::string& what) {
  if (text == "all") {
    if (ranks > 0) ranges_.push_back({0, ranks - 1});
    named_ = ranges_;
    return;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, comma - at);
    const std::size_t dash = item.find('-');
    const Rank first = parse_rank(item.substr(0, dash), ranks, what);
    const Rank last = dash == std::string_view::npos ? first : parse_rank(item.substr(dash + 1), ranks, what);
    if (last < first) {
      throw InputError(what + ": '" + std::string(item) + "' ends before it begins");
    }
    ranges_.push_back({first, last});
    at = comma + 1;
  }
  named_ = ranges_;
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    has_repeats_ |= !merged.empty() && range.first <= merged.back().last;
    if (!merged.empty() && range.first <= merged.back().last + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
}

RankList::RankList(const std::vector<Rank>& ranks) {
  for (const Rank rank : ranks) {
    if (!ranges_.empty() && rank == ranges_.back().last + 1) {
      ranges_.back().last = rank;
    } else {
      ranges_.push_back({rank, rank});
    }
  }
  named_ = ranges_;
}

bool RankList::contains(Rank rank) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), rank,
                                      [](Rank r, const Range& range) { return r < range.first; });
  return after != ranges_.begin() && rank <= (after - 1)->last;
}

std::vector<Rank> RankList::listed(const std::vector<Range>& ranges) {
  std::vector<Rank> list;
  for (const Range& range : ranges) {
    for (std::uint64_t rank = range.first; rank <= range.last; ++rank)
      list.push_back(static_cast<Rank>(rank));
  }
  return list;
}

std::vector<Rank> RankList::ranks() const { return listed(ranges_); }

std::vector<Rank> RankList::ranks_as_named() const {
  if (ranges_.empty()) return {};
  std::vector<bool> seen(std::size_t{ranges_.back().last} + 1);
  std::vector<Rank> once;
  for (const Range& range : named_) {
    for (std::uint64_t rank = range.first; rank <= range.last; ++rank) {
      if (!seen[rank]) once.push_back(static_cast<Rank>(rank));
      seen[rank] = true;
    }
  }
  return once;
}

}  // namespace weft::goal
