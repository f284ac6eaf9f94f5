#include "sim/run/open_loop_window.h"

#include <charconv>
#include <cmath>
#include <string>

namespace weft::sim {
namespace {

// None if it isn't there, or is no number that a generator writes.
std::optional<double> number(const goal::Program& program, const char* key) {
  const std::string text = program.metadata(key);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

Time time_of(double ns) { return Time::ps(std::llround(std::min(ns * 1000, 9e18))); }

}  // namespace

std::optional<results::OpenLoopWindow> open_loop_window(const goal::Program& program) {
  const auto from = number(program, "open_loop_from_ns"), until = number(program, "open_loop_until_ns");
  const auto load = number(program, "open_loop_load"), capacity = number(program, "open_loop_capacity_bps");
  if (!from || !until || !load || !capacity || *capacity == 0) return std::nullopt;
  if (!program.metadata("transform 1").empty()) return std::nullopt;
  const results::OpenLoopWindow window{time_of(*from), time_of(*until), *load, *capacity};
  return window.from < window.until ? std::optional(window) : std::nullopt;
}

}  // namespace weft::sim
