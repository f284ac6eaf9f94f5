// Marking between two thresholds, as several disciplines do it: their parameters, and the decision.
#pragma once

#include <string>
#include <vector>

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// capacity, kmin, kmax and pmax, with the meaning of QueueRule.
std::vector<ParameterSpec> marking_parameters();
// Throws InputError for values that make no sense, here and below.
QueueRule marking_rule(const Parameters& parameters, const QueueSite& site);

// For disciplines with another limit than `capacity` (one of kNodeMemory marks nothing): kmin, kmax and pmax
// alone. `limit` names, as the object of a sentence, what the automatic values are parts of.
std::vector<ParameterSpec> threshold_parameters(const std::string& limit);
QueueRule marking_below(const Parameters& parameters, std::uint64_t limit_bytes);

// Scales all limits of a rule, and leaves room for a full packet.
QueueRule scaled(QueueRule rule, double share, std::uint32_t packet_bytes);

// Is a data packet marked that finds `bytes` in the queue?
inline bool marks(const QueueRule& rule, std::uint64_t bytes, RandomStream& random) {
  if (bytes <= rule.mark_from_bytes) return false;
  if (bytes > rule.mark_all_bytes) return true;
  const double ramp = static_cast<double>(rule.mark_all_bytes - rule.mark_from_bytes);
  const double share = static_cast<double>(bytes - rule.mark_from_bytes) / ramp;
  return random.uniform() < rule.mark_probability * share;
}

}  // namespace weft::sim::packet
