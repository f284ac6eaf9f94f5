#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/sections.h"

namespace weft::report {
namespace {

Json end_of(const Database& database) { return database.value("SELECT max(time_ns) FROM network_samples"); }

// Intervals that are shown as one: as long as this, in nanoseconds; 0 where nothing was sampled. The last one
// says nothing of how long they are: the end of the run cuts it short.
double shown_interval(const Database& database, std::size_t most) {
  const Json interval = database.value(
      "SELECT min(gap) FROM (SELECT time_ns - lag(time_ns, 1, 0) OVER (ORDER BY time_ns) AS gap FROM "
      "(SELECT time_ns FROM network_samples WHERE time_ns < (SELECT max(time_ns) FROM network_samples) OR "
      "(SELECT count(*) FROM network_samples) = 1 ORDER BY time_ns LIMIT 2))");
  const Json end = end_of(database);
  if (!interval.is_number() || !end.is_number() || interval.get<double>() <= 0) return 0;
  const double intervals = std::ceil(end.get<double>() / interval.get<double>());
  return interval.get<double>() * std::max(std::ceil(intervals / static_cast<double>(most)), 1.0);
}

// An SQL expression: in which of the shown intervals, which end at the times of the rows, a row is.
std::string place(double shown) {
  return fmt::format("CAST(ceil(round(time_ns * 1.0 / {}, 6)) AS INTEGER)", shown);
}

}  // namespace

Json series(const Database& database, const Budget& budget) {
  const double shown = shown_interval(database, budget.intervals);
  if (shown == 0) return nullptr;
  Json json = {{"interval_ns", shown},
               {"end_ns", end_of(database)},
               {"samples", database.count("SELECT count(*) FROM network_samples")}};
  json["network"] = database.columns(fmt::format(
      "SELECT {0} AS place, max(packets_in_flight) AS packets_in_flight, sum(bytes_delivered) AS "
      "bytes_delivered, "
      "sum(drops) AS drops, sum(ecn_marks) AS ecn_marks FROM network_samples GROUP BY 1 ORDER BY 1 LIMIT {1}",
      place(shown), budget.intervals + 1));
  json["queues"] = database.columns(fmt::format(
      "SELECT {0} AS place, max(queue_bytes) AS longest, max(together) AS together, "
      "round(max(busiest), 5) AS utilization FROM (SELECT time_ns, max(queue_bytes) AS queue_bytes, "
      "sum(queue_bytes) AS together, max(utilization) AS busiest FROM samples GROUP BY time_ns) "
      "GROUP BY 1 ORDER BY 1 LIMIT {1}",
      place(shown), budget.intervals + 1));
  // A heat map: the links with the longest queues, in fewer intervals.
  const double coarse = shown * std::ceil(static_cast<double>(budget.intervals) / 240);
  const std::string hottest = fmt::format(
      "SELECT link FROM samples GROUP BY link ORDER BY max(queue_bytes) DESC, sum(bytes) DESC, link LIMIT {}",
      budget.hot_links);
  json["hot"] = {{"interval_ns", coarse}};
  json["hot"]["links"] = database.columns(
      fmt::format("SELECT link, substr(\"from\", 1, 100) AS \"from\", substr(\"to\", 1, 100) AS \"to\", "
                  "max_queue_bytes FROM links WHERE link IN ({}) ORDER BY max_queue_bytes DESC, link",
                  hottest));
  json["hot"]["cells"] = database.columns(fmt::format(
      "SELECT link, {0} AS place, max(queue_bytes) AS queue, round(avg(utilization), 4) AS utilization "
      "FROM samples WHERE link IN ({1}) GROUP BY 1, 2 ORDER BY 1, 2 LIMIT {2}",
      place(coarse), hottest, budget.hot_links * 250));
  return json;
}

}  // namespace weft::report
