// Attributes of nodes and links as they stand in files, checked.
#pragma once

#include <string_view>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// Each throws InputError without a place that says what was found and what was expected.

// kLeastRate or more.
Bandwidth rate_attribute(std::string_view text);
// Not negative, and below kEndOfTime.
Time time_attribute(std::string_view text, Time bare_unit);
// From 0 to below 1; with % or ppm as parts of a hundred or a million.
double loss_attribute(std::string_view text);
// A whole number up to `most`.
std::uint32_t number_attribute(std::string_view text, std::uint32_t most);

}  // namespace weft::topologies
