// How much of a run the page holds.
#pragma once

#include <algorithm>
#include <cstddef>

namespace weft::report {

// Each run gets so much. What is more is sampled or added up, by rules that the page states.
struct Budget {
  std::size_t ranks = 1'024;      // bars of the breakdown
  std::size_t jobs = 1'000;       // rows
  std::size_t matrix = 64;        // jobs in the interference matrix
  std::size_t messages = 20'000;  // points of size and completion time
  std::size_t buckets = 800;      // of a distribution
  std::size_t links = 200;        // rows of links
  std::size_t nodes = 1'500;      // of the drawing, and lines in it
  std::size_t lines = 6'000;
  std::size_t intervals = 1'000;  // of series
  std::size_t hot_links = 24;     // with series of their own
  std::size_t slices = 100'000;   // of the timeline
  std::size_t text = 1 << 18;     // bytes of scenario, and of warnings

  // Divided; something is left of everything.
  Budget divided_by(std::size_t parts) const {
    const auto share = [&](std::size_t whole, std::size_t least) { return std::max(whole / parts, least); };
    return {.ranks = share(ranks, 16),
            .jobs = share(jobs, 16),
            .matrix = share(matrix, 8),
            .messages = share(messages, 50),
            .buckets = share(buckets, 50),
            .links = share(links, 10),
            .nodes = share(nodes, 50),
            .lines = share(lines, 100),
            .intervals = share(intervals, 50),
            .hot_links = share(hot_links, 5),
            .slices = share(slices, 200),
            .text = share(text, 1 << 12)};
  }
};

}  // namespace weft::report
