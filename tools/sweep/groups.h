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

// What tables, summary and remarks take of a run: its summary.json is read once for all of them.
struct Outcome {
  std::string outcome, digest;
  std::vector<std::optional<double>> figures;  // in the order of figures()
  std::vector<std::string> warnings;
  std::string stamp = {};  // Folder::stamp() of what was read

  bool complete() const { return outcome == "complete"; }
};
// By point, in the order of Folder::points(); none: it is not done.
using Outcomes = std::vector<std::optional<Outcome>>;
// `known`: what was read before, of the first points; what is still so is not read again.
Outcomes outcomes_of(const Folder& folder, Outcomes known = {});

struct Group {
  std::vector<std::string> values;
  std::size_t seeds = 0, complete = 0;  // points, and those of them that came to their end
  std::optional<double> price, watts;
  // Over the complete ones, in the order of figures(); the first is the makespan.
  std::vector<std::optional<Estimate>> estimates;

  // Is the interval of the mean makespan as narrow, to either side, as this share of it?
  bool narrow(double share) const;
};
// In the order of their first points.
std::vector<Group> groups_of(const Folder& folder, const Outcomes& outcomes);

}  // namespace weft::sweep
