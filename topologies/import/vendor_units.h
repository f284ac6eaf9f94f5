// Quantities as vendors and other people's programs write them, in the forms that sim/units/quantity.h reads.
#pragma once

#include <string>
#include <string_view>

namespace weft::topologies {

// "25GE", "10 GigE", "100gbps" and "12.5 GBps" with a unit that parse_bandwidth() has, and the link rates
// that InfiniBand has names for: "NDR", "4x EDR" and "HDR100" as the bits of data they carry in a second.
// Other texts as they are.
std::string standard_rate(std::string_view text);
// "5µs", "5 usec" and "2 msec" with a unit that parse_time() has. Other texts as they are.
std::string standard_time(std::string_view text);
// Is this a rate by name, as InfiniBand has them?
bool is_rate_name(std::string_view text);

// A name's "µs" as "us", and units of bytes in it as words that no case changes: "GB/s" and "GBps" as "
// gbyteps ".
std::string with_plain_units(std::string_view name);

}  // namespace weft::topologies
