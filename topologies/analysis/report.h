// Analyses for people and for programs.
#pragma once

#include <span>
#include <string>

#include "topologies/analysis/analyze.h"

namespace weft::topologies {

// A table of a few dozen lines.
std::string analysis_text(const Analysis& analysis);
// One object; README.md lists its keys. Rates in bit/s, lengths in hops.
std::string analysis_json(const Analysis& analysis);

// Side by side, a column for each network. Measures that all lack have no row.
std::string comparison_text(std::span<const Analysis> analyses);
// An array with the objects of analysis_json().
std::string comparison_json(std::span<const Analysis> analyses);

}  // namespace weft::topologies
