#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/report/sections.h"

namespace weft::report {

Json links(const Database& database, const Budget& budget) {
  Json json = {{"count", database.count("SELECT count(*) FROM links")}};
  json["used"] = database.count("SELECT count(*) FROM links WHERE bytes > 0");
  json["drops"] = database.count("SELECT sum(drops) FROM links");
  json["marks"] = database.count("SELECT sum(ecn_marks) FROM links");
  json["mean_utilization"] = database.value("SELECT avg(utilization) FROM links");
  // Links that are high in any of the lists; a table can be sorted by each.
  const std::string chosen = fmt::format(
      "SELECT link FROM (SELECT link FROM links ORDER BY utilization DESC, link LIMIT {0}) UNION "
      "SELECT link FROM (SELECT link FROM links ORDER BY max_queue_bytes DESC, link LIMIT {0}) UNION "
      "SELECT link FROM (SELECT link FROM links ORDER BY drops DESC, link LIMIT {1}) UNION "
      "SELECT link FROM (SELECT link FROM links ORDER BY ecn_marks DESC, link LIMIT {1})",
      budget.links / 2, budget.links / 4);
  json["rows"] =
      database.columns(fmt::format("SELECT link, substr(\"from\", 1, 100) AS \"from\", substr(\"to\", 1, "
                                   "100) AS \"to\", rate_bps, bytes, packets, "
                                   "round(utilization, 6) AS utilization, max_queue_bytes, drops, ecn_marks "
                                   "FROM links WHERE bytes > 0 AND "
                                   "link IN ({}) ORDER BY utilization DESC, link",
                                   chosen));
  // Twentieths of all time.
  json["busy"] = database.columns(
      "SELECT min(CAST(utilization * 20 AS INTEGER), 19) AS twentieth, count(*) AS links FROM links GROUP BY "
      "1 "
      "ORDER BY 1 LIMIT 21");
  json["by_job"] = nullptr;
  if (database.has_table("job_links")) {
    json["by_job"] = database.columns(
        fmt::format("SELECT link, job, substr(name, 1, 100) AS name, round(share, 5) AS share FROM job_links "
                    "WHERE link IN ({}) ORDER BY link, bytes DESC, job LIMIT {}",
                    chosen, 8 * budget.links));
  }
  return json;
}

}  // namespace weft::report
