#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/sections.h"

namespace weft::report {
namespace {

constexpr const char* kSums =
    "count(*) AS ranks, sum(compute_ns) AS compute_ns, sum(overhead_ns) AS overhead_ns, sum(waiting_ns) AS "
    "waiting_ns, "
    "max(finish_ns) AS finish_ns, sum(messages_sent) AS messages_sent, sum(bytes_sent) AS bytes_sent, "
    "sum(bytes_received) AS bytes_received";

// Ranks, and where the run recorded all of what they did, what they waited for.
std::string ranks_with_waiting(const Database& database) {
  const bool recorded = database.has_table("timeline") &&
                        database.count("SELECT count(*) FROM timeline") > 0 &&
                        database.count("SELECT count(*) FROM omitted WHERE table_name = 'timeline'") == 0;
  if (!recorded) return "(SELECT *, NULL AS wait_network_ns, NULL AS wait_peer_ns FROM ranks)";
  return "(SELECT * FROM ranks LEFT JOIN (SELECT job, rank, "
         "sum(CASE kind WHEN 'wait_network' THEN end_ns - start_ns ELSE 0 END) AS wait_network_ns, "
         "sum(CASE kind WHEN 'wait_peer' THEN end_ns - start_ns ELSE 0 END) AS wait_peer_ns "
         "FROM timeline GROUP BY job, rank) USING (job, rank))";
}

// A rank with several cpus waits while none of them works: the time of its job, not that of every cpu. (Where
// several work at the same time, it waits less.) `share`: of the waiting of all cpus.
std::string waiting_together(const std::string& ranks) {
  const std::string with_share = fmt::format(
      R"((SELECT r.*, CASE WHEN r.waiting_ns > 0
                       AND compute_ns + overhead_ns + r.waiting_ns > 1.5 * (r.finish_ns - coalesce(start_ns, 0))
                  THEN max(0.0, 1.0 * (r.finish_ns - coalesce(start_ns, 0) - compute_ns - overhead_ns) / r.waiting_ns)
                  ELSE 1 END AS share
          FROM {} AS r LEFT JOIN jobs ON jobs.job = r.job))",
      ranks);
  return fmt::format(
      R"((SELECT job, rank, host, finish_ns, compute_ns, overhead_ns, messages_sent, bytes_sent, bytes_received,
                 waiting_ns * share AS waiting_ns, wait_network_ns * share AS wait_network_ns,
                 wait_peer_ns * share AS wait_peer_ns
          FROM {}))",
      with_share);
}

// Where slices of some ranks only were kept, bins know those of all.
void add_waiting_of_jobs(const Database& database, Json& by_job) {
  if (!database.has_table("timeline_bins")) return;
  const Json bins = database.columns(
      "SELECT job, total(wait_network_ns) AS network, total(wait_peer_ns) AS peer FROM timeline_bins GROUP "
      "BY "
      "job LIMIT 100000");
  for (std::size_t i = 0; i < bins["job"].size(); ++i) {
    for (std::size_t row = 0; row < by_job["job"].size(); ++row) {
      if (by_job["job"][row] != bins["job"][i]) continue;
      const double network = bins["network"][i], peer = bins["peer"][i];
      // Bins have what every cpu waits.
      const Json& waiting = by_job["waiting_ns"][row];
      const double share =
          waiting.is_number() ? std::min(1.0, waiting.get<double>() / std::max(network + peer, 1.0)) : 1.0;
      by_job["wait_network_ns"][row] = network * share;
      by_job["wait_peer_ns"][row] = peer * share;
    }
  }
}

}  // namespace

Json rank_times(const Database& database, const Budget& budget) {
  const std::uint64_t count = database.count("SELECT count(*) FROM ranks");
  const std::uint64_t together = std::max<std::uint64_t>((count + budget.ranks - 1) / budget.ranks, 1);
  const std::string waiting = waiting_together(ranks_with_waiting(database));
  const std::string sums =
      fmt::format("{}, sum(wait_network_ns) AS wait_network_ns, sum(wait_peer_ns) AS wait_peer_ns", kSums);
  Json json = {{"count", count}, {"together", together}};
  json["by_job"] = database.columns(
      fmt::format("SELECT job, {} FROM {} GROUP BY job ORDER BY job LIMIT {}", sums, waiting, budget.jobs));
  add_waiting_of_jobs(database, json["by_job"]);
  // Ranks of one job only stand together, so there may be more bars than ranks / together.
  json["by_rank"] = database.columns(
      fmt::format("SELECT job, min(rank) AS rank, max(rank) AS last_rank, min(host) AS host, {} FROM {} "
                  "GROUP BY job, rank / {} ORDER BY job, rank LIMIT {}",
                  sums, waiting, together, 2 * budget.ranks));
  return json;
}

Json jobs(const Database& database, const Budget& budget) {
  Json json = {{"count", database.count("SELECT count(*) FROM jobs")}};
  json["rows"] = database.columns(
      fmt::format("SELECT job, substr(name, 1, 200) AS name, status, ranks, nodes, runs, submit_ns, "
                  "start_ns, finish_ns, runtime_ns, "
                  "waiting_ns, turnaround_ns, alone_ns, slowdown, bounded_slowdown, messages, bytes, hops, "
                  "substr(hosts, 1, 200) AS hosts{} FROM jobs ORDER BY job LIMIT {}",
                  database.has_column("jobs", "bound_by") ? ", bound_by" : "", budget.jobs));
  json["matrix_jobs"] = budget.matrix;
  json["interference"] = database.columns(
      fmt::format("SELECT job, beside, slowdown FROM interference WHERE job < {0} AND beside < {0} LIMIT {1}",
                  budget.matrix, budget.matrix * budget.matrix));
  return json;
}

}  // namespace weft::report
