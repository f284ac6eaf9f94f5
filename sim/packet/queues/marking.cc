#include "sim/packet/queues/marking.h"

#include <algorithm>

namespace weft::sim::packet {

std::vector<ParameterSpec> marking_parameters() {
  std::vector<ParameterSpec> list = threshold_parameters("the capacity");
  list.insert(list.begin(), {"capacity", ParameterType::kBytes, "auto", kCapacityHelp});
  return list;
}

std::vector<ParameterSpec> threshold_parameters(const std::string& limit) {
  return {{"kmin", ParameterType::kBytes, "auto",
           "Occupancy from which packets may be marked; auto: a quarter of " + limit + "."},
          {"kmax", ParameterType::kBytes, "auto",
           "Occupancy from which all are marked; auto: three quarters of " + limit + "."},
          {"pmax", ParameterType::kReal, "1", "Marking probability just below kmax.", from_to("0", "1")}};
}

QueueRule marking_rule(const Parameters& parameters, const QueueSite& site) {
  const QueueRule rule = marking_below(parameters, capacity_or_default(parameters, site));
  if (rule.mark_from_bytes >= rule.capacity_bytes && !site.in_node) {
    parameters.fail("kmin", "it must be below the capacity (" + bytes_to_string(rule.capacity_bytes) +
                                " here), or no packet is ever marked");
  }
  return rule;
}

QueueRule marking_below(const Parameters& parameters, std::uint64_t limit_bytes) {
  QueueRule rule{.capacity_bytes = limit_bytes, .marks = true};
  rule.mark_from_bytes = parameters.automatic("kmin") ? rule.capacity_bytes / 4 : parameters.bytes("kmin");
  rule.mark_all_bytes = parameters.automatic("kmax") ? rule.capacity_bytes / 4 * 3 : parameters.bytes("kmax");
  rule.mark_probability = parameters.real("pmax");
  if (rule.mark_from_bytes > rule.mark_all_bytes) {
    parameters.fail(parameters.automatic("kmin") ? "kmax" : "kmin",
                    "kmin (" + bytes_to_string(rule.mark_from_bytes) + " here) must not be above kmax (" +
                        bytes_to_string(rule.mark_all_bytes) + " here)");
  }
  if (limit_bytes == kNodeMemory) rule.mark_from_bytes = rule.mark_all_bytes = limit_bytes;
  return rule;
}

QueueRule scaled(QueueRule rule, double share, std::uint32_t packet_bytes) {
  const auto part = [&](std::uint64_t bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) * share);
  };
  rule.capacity_bytes = std::max<std::uint64_t>(part(rule.capacity_bytes), packet_bytes);
  rule.mark_from_bytes = part(rule.mark_from_bytes);
  rule.mark_all_bytes = part(rule.mark_all_bytes);
  return rule;
}

}  // namespace weft::sim::packet
