#include "sim/routing/policies/ecmp.h"

#include <string>

namespace weft::routing {
namespace {

void configure_ecmp(const Parameters& parameters, Policy& policy) {
  policy.one_salt = parameters.text("salt") == "none";
  if (policy.one_salt) {
    policy.paths_remark = "switches choose alike, so that flows leave out some of these and load others more";
  }
}

}  // namespace

Policy ecmp() {
  return {.info = {.name = "ecmp",
                   .summary = "Each flow keeps one of the shortest paths, picked by a hash at every switch.",
                   .source = "C. Hopps, Analysis of an equal-cost multi-path algorithm, RFC 2992, 2000",
                   .parameters = {{"salt", ParameterType::kText, "per_switch",
                                   "What makes the hashes of switches differ: per_switch, or none; then "
                                   "switches that have as many next links make the same choices, and tiers "
                                   "after the first leave links unused (polarization).",
                                   one_of({"per_switch", "none"})}}},
          .configure = configure_ecmp,
          .fluid = FluidPaths::kOne};
}

}  // namespace weft::routing
