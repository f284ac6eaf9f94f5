#include "sim/routing/policies/ecmp.h"

namespace weft::routing {

Policy ecmp() {
  return {.info = {.name = "ecmp",
                   .summary = "Each flow keeps one of the shortest paths, picked by a hash at every switch.",
                   .source = "C. Hopps, Analysis of an equal-cost multi-path algorithm, RFC 2992, 2000",
                   .parameters = {}},
          .fluid = FluidPaths::kOne};
}

}  // namespace weft::routing
