#include "goal/workload/compute/overlap.h"

#include <fmt/core.h>

namespace weft::goal {

ParameterSpec overlap_slowdown_parameter() {
  return {"overlap_slowdown", ParameterType::kReal, "1.16",
          "How many times as long computing takes while collectives of the same rank are under way; measured "
          "on an A100, "
          "1: they slow nothing down."};
}

double overlap_slowdown(const Parameters& parameters) {
  const double slowdown = parameters.real("overlap_slowdown");
  if (!(slowdown >= 1) || slowdown > 1000) parameters.fail("overlap_slowdown", "it must be from 1 to 1000");
  return slowdown;
}

std::pair<std::string, std::string> overlap_slowdown_fact(double slowdown) {
  return {"overlap_slowdown", fmt::format("{}", slowdown)};
}

}  // namespace weft::goal
