// Hosts that have failed, as users name them.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/placement/placement.h"
#include "sim/units/input_error.h"

namespace weft::placement {

// Makes hosts fail by a list such as "3,lrdn0041,1%": hosts by name or number (HostNames), and shares of all
// hosts there are, rounded to whole ones (not to none) and drawn by the seed from those that have not failed
// yet. Their state becomes kFailed. They take no ranks; their links are as before, so that what goes through
// them in networks whose hosts forward still does. Throws InputError for hosts that don't exist, for what is
// no share, and for a share above 0 that rounds to no host.
void fail_hosts(std::string_view list, const SourceLocation& location, std::uint64_t seed, Machine& machine);

}  // namespace weft::placement
