// What an importer or a check has to tell the user about a graph: named, counted, and graded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::goal {

// The order is part of the packed file format: append only.
enum class Severity : std::uint8_t {
  kInfo = 0,     // worth knowing; the graph says what the program did
  kWarning = 1,  // something was guessed or left out; results may be off
  kError = 2,    // the graph can't be trusted or replayed
};

inline std::string_view name(Severity severity) {
  return severity == Severity::kInfo ? "info" : severity == Severity::kWarning ? "warning" : "error";
}

// One kind of irregularity met while a graph was made. Records are never dropped without one.
struct Anomaly {
  std::string name;  // lower case with underscores; the same for every file
  Severity severity = Severity::kWarning;
  std::string sentence;     // for the user: what it is and what it means for results
  std::uint64_t count = 0;  // how often it was met
  bool operator==(const Anomaly&) const = default;
};

// Anomalies of what a file has and a reader did not use begin with it.
inline constexpr std::string_view kUnreadPrefix = "unread";

}  // namespace weft::goal
