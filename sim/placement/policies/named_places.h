// Ranks on hosts that a file names.
#pragma once

#include <string>
#include <vector>

#include "sim/placement/placement.h"
#include "sim/placement/policies/rank_list.h"

namespace weft::placement {

// No room: a host that is named is taken. Throws InputError with the line for names that no host has, hosts
// that have failed, and more ranks on a host than the job lets it have. REQUIRES: a place for each rank.
Outcome place_by_names(const Setup& setup, const std::string& path, const std::vector<RankPlace>& places);

}  // namespace weft::placement
