// What a packed file holds beside the graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "goal/anomaly.h"
#include "goal/not_replayed.h"

namespace weft::goal {

struct PackInfo {
  std::map<std::string, std::string> metadata;  // "application", "command", "source", …
  std::vector<Anomaly> anomalies;               // what happened while the graph was made
  NotReplayed not_replayed;                     // what the graph lacks of the program traced
  bool operator==(const PackInfo&) const = default;
};

}  // namespace weft::goal
