// What came of applications on networks, in rows that can be set beside each other.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/sweep/folder.h"
#include "tools/sweep/statistics.h"

namespace weft::cli {

// A network to compare, with what is known of it before it runs.
struct PricedNetwork {
  std::string topology;
  std::optional<double> price, watts;  // $, W; where its prices have all parts
  double endpoint_bps = 0;             // of one endpoint into the network; 0 where there is no price
};

// One application on one network.
struct NetworkRow {
  std::string application;
  PricedNetwork network;
  // Over all seeds; empty unless the run came to its end with each.
  std::optional<sweep::Estimate> runtime_ns;
  bool tie = false;  // with the application's fastest network, or as the fastest with another
  std::string fabric, routing;
  std::set<std::string> bound_by, warnings;  // of any seed
  std::uint64_t endpoints = 0, ranks = 0;
  double messages = 0, bytes = 0;  // means over seeds

  // Of a single seed, the runtime itself. REQUIRES: runtime_ns.
  double low() const { return runtime_ns->low.value_or(runtime_ns->mean); }
  double high() const { return runtime_ns->high.value_or(runtime_ns->mean); }
  std::optional<double> price_time() const;  // $ s
};

// What is told of a comparison.
struct NetworkTable {
  std::size_t seeds = 0;
  std::vector<NetworkRow> rows;          // by application, the fastest first and what failed last
  std::vector<std::string> differences;  // of networks and of what was done on them, a line each
  std::vector<std::string>
      other_work;  // what makes runtimes doubtful: an application that did not do the same

  bool tie() const;  // Is an application's fastest network not alone?
};

// REQUIRES: the folder's fields are application and topology; each application and network has `seeds`
// points.
NetworkTable network_table(const sweep::Folder& folder, const std::vector<std::string>& applications,
                           const std::vector<PricedNetwork>& networks, std::size_t seeds);

std::string as_text(const NetworkTable& table);
std::string as_csv(const NetworkTable& table);
nlohmann::ordered_json as_json(const NetworkTable& table);

}  // namespace weft::cli
