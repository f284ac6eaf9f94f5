// Shares of a critical path, for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft::results {

// "62.0% bandwidth, 30.1% compute": by share and name, the largest first; below a thousandth they are left
// out.
std::string path_text(std::vector<std::pair<double, std::string>> shares);

}  // namespace weft::results
