// How messages share connections, as a scenario says it.
#pragma once

#include <cstdint>
#include <string>

#include "sim/units/input_error.h"

namespace weft::sim {

struct ConnectionChoice {
  bool per_message = true;
  std::uint32_t per_pair = 0;  // so many between two ranks; 0: as the protocol says

  bool operator==(const ConnectionChoice&) const = default;
};
// Reads "per_message", "per_pair" or "4 per_pair". Throws InputError at `location`.
ConnectionChoice parse_connections(const std::string& text, const SourceLocation& location);
// Gives the text that parse_connections() reads so.
std::string to_text(const ConnectionChoice& choice);

}  // namespace weft::sim
