// Spans that are longer than a simulation's: hours, days, years.
#pragma once

#include <string>
#include <string_view>

namespace weft::cli {

// Seconds of "3.9s", "250ms", "10min", "2h", "30d", "5.8y" (365.25 days). Throws InputError that names what
// it is of, with an example, for anything else, and for what isn't above 0, or 0 where that is allowed.
double parse_span(std::string_view text, std::string_view of, bool zero_allowed = false);

// "3.91 s", "12.3 min", "2.1 h", "5.8 d": as people say it.
std::string span_text(double seconds);

}  // namespace weft::cli
