#include "sim/packet/queues/droptail.h"

namespace weft::sim::packet {
namespace {

QueueRule rule(const Parameters& parameters, const QueueSite& site) {
  return {.capacity_bytes = capacity_or_default(parameters, site)};
}

}  // namespace

Discipline droptail() {
  return {.info = {.name = "droptail",
                   .summary = "First in, first out; a packet that does not fit is dropped.",
                   .source = "textbook FIFO",
                   .parameters = {{"capacity", ParameterType::kBytes, "auto", kCapacityHelp}}},
          .offers = {.always = Capability::kCutThrough},
          .rule = rule};
}

}  // namespace weft::sim::packet
