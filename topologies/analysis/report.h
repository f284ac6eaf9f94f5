// Analyses for people and for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topologies/analysis/analyze.h"

namespace weft::topologies {

// A table of a few dozen lines.
std::string analysis_text(const Analysis& analysis);
// One object; MEASURES.md lists its keys. Rates in bit/s, lengths in hops.
std::string analysis_json(const Analysis& analysis);

// A row that is worked out elsewhere: a cell for each network, "" where there is none.
struct ComparisonRow {
  std::string name;
  std::vector<std::string> cells;
};

// Side by side, a column for each network, with `more` rows at the end. Measures that all lack have no row.
// REQUIRES: as many cells in a row as analyses.
std::string comparison_text(std::span<const Analysis> analyses, std::span<const ComparisonRow> more = {});
// An array with the objects of analysis_json().
std::string comparison_json(std::span<const Analysis> analyses);

}  // namespace weft::topologies
