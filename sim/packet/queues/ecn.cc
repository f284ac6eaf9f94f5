#include "sim/packet/queues/ecn.h"

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
Discipline ecn() {
  return {.info = {.name = "ecn",
                   .summary =
                       "Drop-tail that marks data packets with a probability that rises from kmin to kmax.",
                   .source = "Floyd and Jacobson, ToN 1993; RFC 3168; Zhu et al., SIGCOMM 2015",
                   .parameters = marking_parameters()},
          .offers = {.always = Capability::kMark | Capability::kCutThrough},
          .rule = marking_rule};
}

}  // namespace weft::sim::packet
