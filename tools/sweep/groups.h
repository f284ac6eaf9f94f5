// The points of a sweep that differ in nothing but the seed, together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/sweep/folder.h"
#include "tools/sweep/statistics.h"

namespace weft::sweep {

// A figure of summary.json, as a column of the tables.
struct Figure {
  const char *column, *place;  // a JSON pointer
};
const std::vector<Figure>& figures();

struct Group {
  std::vector<std::string> values;
  std::size_t seeds = 0, complete = 0;  // points, and those of them that came to their end
  std::optional<double> price, watts;
  // Over the complete ones, in the order of figures(); the first is the makespan.
  std::vector<std::optional<Estimate>> estimates;
};
// In the order of their first points.
std::vector<Group> groups_of(const Folder& folder);

}  // namespace weft::sweep
