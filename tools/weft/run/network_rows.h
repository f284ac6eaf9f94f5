// What came of applications on networks, in rows that can be set beside each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
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
  std::string prices;                  // the list
  std::string unpriced;                // what that leaves out, "NICs and power"; "" for nothing
  std::optional<double> price, watts;  // $, W; where its prices have all parts, and watts
  double endpoint_bps = 0;             // of one endpoint into the network; 0 where there is no price
};

// What tokens cost: a network's price, and that of each endpoint beside it, over the time that it is used.
struct TokenPrices {
  double years = 4, endpoint_price = 0;  // years of running all the time, $
};

// How long a rank's computing waits for an axis of communication, as shares of the runtime.
struct ExposedShare {
  double all = 0, unsent = 0;  // `unsent`: the part of it for what had not been sent, as a pipeline's bubble
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
  double messages = 0, bytes = 0;               // means over seeds, as are those below
  double tokens_per_second = 0;                 // 0 where the application has no tokens
  double compute_share = 0;                     // of the runtime
  std::map<std::string, ExposedShare> exposed;  // by axis or kind of communication

  // These are the runtime itself where a single seed gives no interval. Student's may begin below 0, where
  // few seeds differ much; no runtime does. REQUIRES: runtime_ns.
  bool is_cut() const { return runtime_ns->low && *runtime_ns->low < 0; }
  double low() const { return std::max(0.0, runtime_ns->low.value_or(runtime_ns->mean)); }
  double high() const { return runtime_ns->high.value_or(runtime_ns->mean); }
  std::optional<double> price_time() const;                                         // $ s
  std::optional<double> price_per_million_tokens(const TokenPrices& prices) const;  // $
};

// What is told of a comparison.
struct NetworkTable {
  std::size_t seeds = 0;
  TokenPrices token_prices;
  std::vector<NetworkRow> rows;          // by application, the fastest first and what failed last
  std::vector<std::string> differences;  // of networks and of what was done on them, a line each
  std::vector<std::string>
      other_work;  // what makes runtimes doubtful: an application that did not do the same

  bool tie() const;  // Is an application's fastest network not alone?
};

// REQUIRES: the folder's fields are application and topology; each application and network has `seeds`
// points.
NetworkTable network_table(const sweep::Folder& folder, const std::vector<std::string>& applications,
                           const std::vector<PricedNetwork>& networks, std::size_t seeds,
                           const TokenPrices& token_prices);

std::string as_text(const NetworkTable& table);
std::string as_csv(const NetworkTable& table);
nlohmann::ordered_json as_json(const NetworkTable& table);

}  // namespace weft::cli
