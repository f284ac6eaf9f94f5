// Large numbers for people.
#pragma once

#include <string>

namespace weft {

// "1,234,567": thousands apart. Below 1,000, what is no whole number keeps two digits behind the point.
// REQUIRES: value >= 0.
std::string grouped(double value);

}  // namespace weft
