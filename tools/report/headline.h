// What a run came to, in sentences for people who don't read tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::report {

// Takes the data of one run, as read_run() gives it, and returns `title` (how long it took), `because` (what
// bound it, and how much a better network could do about it), `bound` (that in a word or two), `shares` of
// the ranks' time, `floor_ns` (no network makes the run shorter than what the busiest rank computes, sends
// and receives) and `uneven` (most computing of a rank / mean).
nlohmann::ordered_json headline(const nlohmann::ordered_json& run);

// "4.24 ms", "12.5 µs": three digits, in the unit that suits.
std::string time_text(double nanoseconds);

}  // namespace weft::report
