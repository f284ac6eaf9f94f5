// Large numbers for people.
#pragma once

#include <string>

namespace weft {

// "1,234,567": thousands apart. Below 1,000, what is no whole number keeps two digits behind the point.
// REQUIRES: value >= 0.
std::string grouped(double value);

// Three significant digits with a decimal prefix: "12.3 MB", "950 ms". REQUIRES: not negative.
std::string short_bytes(double bytes);
std::string short_time(double ns);

}  // namespace weft
