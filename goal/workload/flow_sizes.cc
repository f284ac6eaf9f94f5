#include "goal/workload/flow_sizes.h"

#include <algorithm>
#include <cmath>

#include "goal/file.h"
#include "goal/workload/line_reader.h"
#include "sim/units/module.h"

namespace weft::goal {
namespace {

constexpr double kMostBytes = 0x1p53;  // whole numbers up to here are exact

}  // namespace

FlowSizes::FlowSizes(std::string_view text, const std::string& file_name) {
  LineReader reader(text, file_name);
  while (reader.next_line()) {
    const double least_bytes = points_.empty() ? 0 : points_.back().bytes;
    const double least_percent = points_.empty() ? 0 : points_.back().share * 100;
    const double bytes =
        reader.next_word().real("a size in bytes, not below the line before", least_bytes, kMostBytes);
    const Word word = reader.next_word();
    double percent = word.real("the percentage of messages up to that size", 0, 100);
    if (percent < least_percent - 1e-9) {
      word.fail("the percentage falls; expected at least that of the line before");
    }
    reader.expect_end_of_line("the percentage");
    if (points_.empty() && percent > 0) points_.push_back({bytes, 0});
    points_.push_back({bytes, percent / 100});
  }
  if (points_.empty() || points_.back().share != 1) {
    reader.end_of_file().fail(
        "the last line of a size distribution must be the largest size with 100 percent");
  }
  if (mean_bytes() == 0) reader.end_of_file().fail("all messages of this distribution are empty");
}

double FlowSizes::bytes_at(double quantile) const {
  // The first point whose share is above the quantile; the one before has a share that is not.
  const auto upper = std::upper_bound(points_.begin() + 1, points_.end() - 1, quantile,
                                      [](double value, const Point& point) { return value < point.share; });
  const Point& high = *upper;
  const Point& low = *(upper - 1);
  return low.bytes + (high.bytes - low.bytes) * (quantile - low.share) / (high.share - low.share);
}

double FlowSizes::mean_bytes() const {
  double mean = 0;
  for (std::size_t i = 1; i < points_.size(); ++i) {
    mean += (points_[i].share - points_[i - 1].share) * (points_[i].bytes + points_[i - 1].bytes) / 2;
  }
  return mean;
}

std::uint64_t FlowSizes::draw(RandomStream& random) const {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes_at(random.uniform()) + 0.5));
}

FlowSizes load_flow_sizes(const std::string& name_or_path) {
  std::vector<std::string> known;
  for (const BuiltInSizes& sizes : built_in_sizes()) {
    if (sizes.name == name_or_path) return FlowSizes(sizes.text, name_or_path);
    known.emplace_back(sizes.name);
  }
  if (name_or_path.find_first_of("./") == std::string::npos) {
    fail_unknown_name("size distribution", name_or_path, known);
  }
  return FlowSizes(FileView(name_or_path).bytes(), name_or_path);
}

}  // namespace weft::goal
