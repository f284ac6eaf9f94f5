#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/report/sections.h"

namespace weft::report {
namespace {

// Neighbours are added up until so many ranges are left.
Json distribution(const Database& database, const char* quantity, std::size_t most) {
  const std::uint64_t rows =
      database.count(fmt::format("SELECT count(*) FROM histograms WHERE quantity = '{}'", quantity));
  const std::uint64_t together = std::max<std::uint64_t>((rows + most - 1) / most, 1);
  return database.columns(fmt::format(
      "SELECT min(first) AS first, max(last) AS last, sum(count) AS count FROM (SELECT first, last, count, "
      "row_number() OVER (ORDER BY first) - 1 AS number FROM histograms WHERE quantity = '{}') "
      "GROUP BY number / {} ORDER BY first LIMIT {}",
      quantity, together, most));
}

}  // namespace

Json messages(const Database& database, const Budget& budget) {
  Json json = Json::object();
  for (const char* quantity : {"size_bytes", "completion_ns", "slowdown"}) {
    json[quantity] = distribution(database, quantity, budget.buckets);
  }
  const std::uint64_t rows = database.count("SELECT count(*) FROM flows");
  const std::uint64_t step = std::max<std::uint64_t>((rows + budget.messages - 1) / budget.messages, 1);
  json["rows"] = rows;
  json["step"] = step;
  json["sample"] = database.columns(fmt::format(
      "SELECT flow, source, destination, bytes, round(start_ns, 1) AS start_ns, "
      "round(finish_ns - start_ns, 1) AS completion_ns, round(slowdown, 3) AS slowdown, out_of_order "
      "FROM flows WHERE (rowid - 1) % {} = 0 ORDER BY rowid LIMIT {}",
      step, budget.messages));
  // The messages that were slowed most: the sample may lack them.
  json["slowest"] = database.columns(
      "SELECT flow, source, destination, bytes, start_ns, finish_ns - start_ns AS completion_ns, ideal_ns, "
      "slowdown, "
      "retransmissions, ecn_marked, out_of_order FROM flows WHERE slowdown IS NOT NULL AND bytes > 0 "
      "ORDER BY slowdown DESC, flow LIMIT 20");
  return json;
}

}  // namespace weft::report
