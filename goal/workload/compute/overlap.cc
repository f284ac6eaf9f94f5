#include "goal/workload/compute/overlap.h"

#include <fmt/core.h>

namespace weft::goal {

ParameterSpec overlap_slowdown_parameter() {
  return {"overlap_slowdown", ParameterType::kReal, "1.16",
          "How many times as long computing takes while collectives of the same rank are under way; measured "
          "on an A100, "
          "1: they slow nothing down.",
          from_to("1", "1000")};
}

double overlap_slowdown(const Parameters& parameters) { return parameters.real("overlap_slowdown"); }

std::pair<std::string, std::string> overlap_slowdown_fact(double slowdown) {
  return {"overlap_slowdown", fmt::format("{}", slowdown)};
}

}  // namespace weft::goal
