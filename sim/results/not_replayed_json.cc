#include "sim/results/not_replayed_json.h"

#include <nlohmann/json.hpp>

namespace weft::results {

nlohmann::ordered_json not_replayed_json(const goal::NotReplayed& not_replayed) {
  const goal::NotReplayed::Function total = not_replayed.total();
  nlohmann::ordered_json json = {{"calls", total.calls},
                                 {"share_of_calls", goal::share(total.calls, not_replayed.all_calls)},
                                 {"bytes", total.bytes},
                                 {"share_of_bytes", goal::share(total.bytes, not_replayed.all_bytes)},
                                 {"time_ns", total.time_ns},
                                 {"share_of_time", goal::share(total.time_ns, not_replayed.all_time_ns)},
                                 {"functions", nlohmann::ordered_json::array()}};
  for (const goal::NotReplayed::Function& function : not_replayed.functions) {
    json["functions"].push_back({{"name", function.name},
                                 {"calls", function.calls},
                                 {"bytes", function.bytes},
                                 {"time_ns", function.time_ns}});
  }
  return json;
}

}  // namespace weft::results
