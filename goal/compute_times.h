// What is known of how far the compute times of an imported graph can be trusted. It is kept as anomalies,
// which go with the graph through files and transforms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "goal/anomaly.h"

namespace weft::goal {

// What the names of such anomalies begin with.
inline constexpr std::string_view kComputeTimesPrefix = "compute_times_";

// The sentences that a run of the graph, and a check of it, have to repeat: warnings of that kind.
inline std::vector<std::string> compute_times_warnings(const std::vector<Anomaly>& anomalies) {
  std::vector<std::string> sentences;
  for (const Anomaly& anomaly : anomalies) {
    const bool repeat = anomaly.severity != Severity::kInfo &&
                        std::string_view(anomaly.name).starts_with(kComputeTimesPrefix);
    if (repeat) sentences.push_back(anomaly.sentence);
  }
  return sentences;
}

}  // namespace weft::goal
