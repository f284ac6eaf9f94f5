#include "topologies/analysis/assignment.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::topologies {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// The cost of a row and a column is -value; potentials keep every reduced cost at 0 or more.
class Assignment {
 public:
  Assignment(const std::vector<std::uint8_t>& value, std::uint32_t n)
      : value_(value),
        n_(n),
        of_row_(n, 0),
        of_column_(n, 0),
        reach_(n),
        row_of_(n, kNone),
        column_of_(n, kNone),
        before_(n) {}

  std::vector<std::uint32_t> run() {
    for (std::uint32_t r = 0; r < n_; ++r) {
      for (std::uint32_t c = 0; c < n_; ++c)
        of_row_[r] = std::min(of_row_[r], -static_cast<int>(value_[r * std::size_t{n_} + c]));
    }
    take_free();
    for (std::uint32_t start = 0; start < n_; ++start) {
      if (column_of_[start] == kNone) augment(start, shortest_path(start));
    }
    return std::move(column_of_);
  }

 private:
  int reduced(std::uint32_t r, std::uint32_t c) const {
    return -static_cast<int>(value_[r * std::size_t{n_} + c]) - of_row_[r] - of_column_[c];
  }

  // What costs nothing is taken at once.
  void take_free() {
    for (std::uint32_t r = 0; r < n_; ++r) {
      for (std::uint32_t c = 0; c < n_ && column_of_[r] == kNone; ++c) {
        if (row_of_[c] == kNone && reduced(r, c) == 0) {
          row_of_[c] = r;
          column_of_[r] = c;
        }
      }
    }
  }

  // The place in open_ of the column that is nearest, of two as near one without a row; `length` becomes its
  // distance.
  std::size_t reach_from(std::uint32_t row, int& length) {
    constexpr int kFar = std::numeric_limits<int>::max();
    std::size_t nearest = 0;
    int least = kFar;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const std::uint32_t c = open_[i];
      const int through = length + reduced(row, c);
      if (through < reach_[c]) {
        reach_[c] = through;
        before_[c] = row;
      }
      if (reach_[c] < least ||
          (reach_[c] == least && row_of_[c] == kNone && row_of_[open_[nearest]] != kNone)) {
        least = reach_[c];
        nearest = i;
      }
    }
    length = least;
    return nearest;
  }

  // The column without a row that ends the cheapest alternating path from row `start`; before_ holds the
  // path. The potentials are made to fit.
  std::uint32_t shortest_path(std::uint32_t start) {
    open_.clear();
    done_.clear();
    for (std::uint32_t c = 0; c < n_; ++c) {
      reach_[c] = std::numeric_limits<int>::max();
      open_.push_back(c);
    }
    std::uint32_t row = start, end = kNone;
    int length = 0;
    while (end == kNone) {
      const std::size_t nearest = reach_from(row, length);
      const std::uint32_t c = open_[nearest];
      open_[nearest] = open_.back();
      open_.pop_back();
      if (row_of_[c] == kNone) {
        end = c;
      } else {
        done_.push_back(c);
        row = row_of_[c];
      }
    }
    of_row_[start] += length;
    for (const std::uint32_t c : done_) {
      of_row_[row_of_[c]] += length - reach_[c];
      of_column_[c] -= length - reach_[c];
    }
    return end;
  }

  // Every row on the path to `end` takes the column after it.
  void augment(std::uint32_t start, std::uint32_t end) {
    for (std::uint32_t c = end;;) {
      const std::uint32_t r = before_[c], next = column_of_[r];
      row_of_[c] = r;
      column_of_[r] = c;
      if (r == start) break;
      c = next;
    }
  }

  const std::vector<std::uint8_t>& value_;
  std::uint32_t n_;
  std::vector<int> of_row_, of_column_, reach_;
  std::vector<std::uint32_t> row_of_, column_of_, before_;
  std::vector<std::uint32_t> open_, done_;  // columns
};

}  // namespace

std::vector<std::uint32_t> best_assignment(const std::vector<std::uint8_t>& value, std::uint32_t n) {
  return Assignment(value, n).run();
}

}  // namespace weft::topologies
