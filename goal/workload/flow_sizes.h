// Distributions of message sizes: cumulative distribution functions given by points.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/random.h"

namespace weft::goal {

// Between two points the sizes are spread evenly (linear interpolation of the cumulative distribution).
//
// The file has a line "BYTES PERCENT" for each point: PERCENT of all messages have at most BYTES bytes. Both
// never fall from line to line, and the last PERCENT is 100. If the first PERCENT is above 0, so many
// messages have exactly that size. '#' starts a comment.
class FlowSizes {
 public:
  // Throws InputError with line and column. `file_name` is for messages.
  FlowSizes(std::string_view text, const std::string& file_name);

  // The size that the share `quantile` of all messages does not exceed. REQUIRES: 0 <= quantile < 1.
  double bytes_at(double quantile) const;
  // Exact for the interpolated distribution, before draws are rounded.
  double mean_bytes() const;
  // A size drawn by inversion, rounded to a whole byte; at least 1.
  std::uint64_t draw(RandomStream& random) const;

 private:
  struct Point {
    double bytes, share;
  };
  std::vector<Point> points_;  // the first has a share of 0
};

// A distribution that is part of the program: the file sizes/NAME.txt.
struct BuiltInSizes {
  std::string_view name, text;
};
// In the order of their names.
std::span<const BuiltInSizes> built_in_sizes();

// The distribution of that name, or the one in the file: a word with a '.' or '/' in it is a path. Throws
// InputError for an unknown name, with the nearest known one, and for a file that can't be read.
FlowSizes load_flow_sizes(const std::string& name_or_path);

}  // namespace weft::goal
