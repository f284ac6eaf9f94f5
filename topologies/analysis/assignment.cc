#include "topologies/analysis/assignment.h"

#include <algorithm>
#include <limits>

namespace weft::topologies {

std::vector<std::uint32_t> best_assignment(const std::vector<std::uint8_t>& value, std::uint32_t n) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  constexpr int kFar = std::numeric_limits<int>::max();
  // The cost of a row and a column is -value; potentials keep every reduced cost at 0 or more.
  std::vector<int> of_row(n, 0), of_column(n, 0), reach(n);
  std::vector<std::uint32_t> row_of(n, kNone), column_of(n, kNone), before(n);
  for (std::uint32_t r = 0; r < n; ++r) {
    for (std::uint32_t c = 0; c < n; ++c)
      of_row[r] = std::min(of_row[r], -static_cast<int>(value[r * std::size_t{n} + c]));
  }
  const auto reduced = [&](std::uint32_t r, std::uint32_t c) {
    return -static_cast<int>(value[r * std::size_t{n} + c]) - of_row[r] - of_column[c];
  };
  for (std::uint32_t r = 0; r < n; ++r) {  // what costs nothing is taken at once
    for (std::uint32_t c = 0; c < n && column_of[r] == kNone; ++c) {
      if (row_of[c] == kNone && reduced(r, c) == 0) {
        row_of[c] = r;
        column_of[r] = c;
      }
    }
  }
  std::vector<std::uint32_t> open, done;  // columns
  for (std::uint32_t start = 0; start < n; ++start) {
    if (column_of[start] != kNone) continue;
    open.clear();
    done.clear();
    for (std::uint32_t c = 0; c < n; ++c) {
      reach[c] = kFar;
      open.push_back(c);
    }
    std::uint32_t row = start, end = kNone;
    int length = 0;
    while (end == kNone) {
      std::size_t nearest = 0;
      int least = kFar;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const std::uint32_t c = open[i];
        const int through = length + reduced(row, c);
        if (through < reach[c]) {
          reach[c] = through;
          before[c] = row;
        }
        if (reach[c] < least || (reach[c] == least && row_of[c] == kNone && row_of[open[nearest]] != kNone)) {
          least = reach[c];
          nearest = i;
        }
      }
      const std::uint32_t c = open[nearest];
      open[nearest] = open.back();
      open.pop_back();
      length = least;
      if (row_of[c] == kNone) {
        end = c;
      } else {
        done.push_back(c);
        row = row_of[c];
      }
    }
    of_row[start] += length;
    for (const std::uint32_t c : done) {
      of_row[row_of[c]] += length - reach[c];
      of_column[c] -= length - reach[c];
    }
    for (std::uint32_t c = end;;) {
      const std::uint32_t r = before[c], next = column_of[r];
      row_of[c] = r;
      column_of[r] = c;
      if (r == start) break;
      c = next;
    }
  }
  return column_of;
}

}  // namespace weft::topologies
