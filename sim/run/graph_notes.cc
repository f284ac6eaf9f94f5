#include "sim/run/graph_notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "goal/noted_number.h"

namespace weft::sim {
namespace {

std::optional<double> number(const goal::Program& program, const char* key) {
  return goal::noted_number(program.metadata(key));
}

bool was_changed(const goal::Program& program) { return !program.metadata("transform 1").empty(); }

// Merging adds up what its jobs note.
bool was_changed_alone(const goal::Program& program) {
  for (int n = 1;; ++n) {
    const std::string change = program.metadata(fmt::format("transform {}", n));
    if (change.empty()) return false;
    if (!change.starts_with("merge ")) return true;
  }
}

Time time_of(double ns) { return Time::ps(std::llround(std::min(ns * 1000, 9e18))); }

}  // namespace

std::optional<results::OpenLoopWindow> open_loop_window(const goal::Program& program) {
  const auto from = number(program, "open_loop_from_ns"), until = number(program, "open_loop_until_ns");
  const auto load = number(program, "open_loop_load"), capacity = number(program, "open_loop_capacity_bps");
  if (!from || !until || !load || !capacity || *capacity == 0) return std::nullopt;
  if (was_changed(program)) return std::nullopt;
  const results::OpenLoopWindow window{time_of(*from), time_of(*until), *load, *capacity};
  return window.from < window.until ? std::optional(window) : std::nullopt;
}

double noted_tokens(const goal::Program& program) {
  return was_changed_alone(program) ? 0 : number(program, "tokens").value_or(0);
}

double noted_model_flops(const goal::Program& program) {
  return was_changed_alone(program) ? 0 : number(program, "model_flops").value_or(0);
}

double noted_device_flops(const goal::Program& program) {
  return was_changed_alone(program) ? 0 : number(program, "device_flops").value_or(0);
}

std::string noted_device(const goal::Program& program) {
  return was_changed_alone(program) ? "" : program.metadata("device");
}

double noted_overlap_slowdown(const goal::Program& program) {
  return std::clamp(number(program, "overlap_slowdown").value_or(1), 1.0, 1000.0);
}

}  // namespace weft::sim
