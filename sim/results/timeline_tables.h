// The timeline's tables in results.sqlite. TIMELINE.md describes the columns.
#pragma once

#include <span>
#include <string>

#include "sim/results/report_tables.h"

namespace weft::results {

std::span<const Table> timeline_tables();

// Which ranks the slices are of, where they are not of all, and until when; "" where all are there.
std::string sampling_rule(const Timeline& timeline);

}  // namespace weft::results
