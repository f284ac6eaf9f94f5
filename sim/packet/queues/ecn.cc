#include "sim/packet/queues/ecn.h"

#include <cstdint>
#include <vector>

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

std::vector<ParameterSpec> ecn_parameters() {
  std::vector<ParameterSpec> list = marking_parameters();
  list.push_back({"bdps", ParameterType::kReal, "1",
                  "Times the automatic capacity is that large; automatic thresholds stay where they are.",
                  at_least("1")});
  return list;
}

// Thresholds are of one bandwidth-delay product, so that a deeper queue is room for bursts and losses come
// later, not marks.
QueueRule ecn_rule(const Parameters& parameters, const QueueSite& site) {
  QueueRule rule = marking_rule(parameters, site);
  if (parameters.automatic("capacity") && !site.in_node) {
    rule.capacity_bytes =
        static_cast<std::uint64_t>(static_cast<double>(rule.capacity_bytes) * parameters.real("bdps"));
  }
  return rule;
}

}  // namespace

Discipline ecn() {
  return {.info = {.name = "ecn",
                   .summary =
                       "Drop-tail that marks data packets with a probability that rises from kmin to kmax.",
                   .source = "Floyd and Jacobson, ToN 1993; RFC 3168; Zhu et al., SIGCOMM 2015",
                   .parameters = ecn_parameters()},
          .offers = {.always = Capability::kMark | Capability::kCutThrough},
          .rule = ecn_rule};
}

}  // namespace weft::sim::packet
