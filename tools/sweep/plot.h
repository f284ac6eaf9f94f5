// Pictures of a sweep, as SVG.
#pragma once

#include <string>
#include <vector>

#include "tools/sweep/groups.h"

namespace weft::sweep {

// Makespan over the first field varied, a line for each combination of the others, with the 95% interval as a
// band. Values that are all numbers or quantities stand where they are, others side by side.
std::string makespan_plot(const std::vector<std::string>& fields, const std::vector<Group>& groups);
// Makespan against the network's price; what nothing beats in both is joined.
std::string price_plot(const std::vector<Group>& groups);

}  // namespace weft::sweep
