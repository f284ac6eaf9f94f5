#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/sections.h"

namespace weft::report {
namespace {

// In this order the page knows them, by number.
constexpr const char* kKind =
    "CASE kind WHEN 'compute' THEN 0 WHEN 'send' THEN 1 WHEN 'receive' THEN 1 WHEN 'wait_network' THEN 2 "
    "WHEN 'wait_peer' THEN 3 ELSE 4 END";

// Ranks that have slices, numbered; `wanted` is which of them are kept.
std::string ranks_where(const std::string& wanted) {
  return "(SELECT job, rank FROM (SELECT job, rank, row_number() OVER (ORDER BY job, rank) - 1 AS number "
         "FROM timeline GROUP BY job, rank) WHERE " +
         wanted + ")";
}

}  // namespace

Json timeline(const Database& database, const Budget& budget) {
  if (!database.has_table("timeline")) return {{"absent", "the run is of a version that recorded none"}};
  const Json absent = database.value("SELECT value FROM run WHERE key = 'timeline.absent'");
  if (absent.is_string()) return {{"absent", absent}};
  const char* const kLong = "end_ns > start_ns";
  const std::uint64_t rows = database.count(fmt::format("SELECT count(*) FROM timeline WHERE {}", kLong));
  const std::uint64_t ranks =
      database.count("SELECT count(*) FROM (SELECT DISTINCT job, rank FROM timeline)");
  // Every step-th rank; of one rank that alone has too many, the first.
  const std::uint64_t step = std::clamp<std::uint64_t>((rows + budget.slices - 1) / budget.slices, 1,
                                                       std::max<std::uint64_t>(ranks, 1));
  const std::string kept = ranks_where(fmt::format("number % {} = 0", step));
  Json json = {{"rows", rows}, {"ranks", ranks}, {"step", step}};
  json["slices"] = database.columns(fmt::format(
      "SELECT job, rank, cpu, {} AS kind, round(start_ns, 1) AS start, round(end_ns, 1) AS end, op, "
      "collective, peer, "
      "bytes FROM timeline WHERE {} AND (job, rank) IN {} ORDER BY job, rank, cpu, start_ns LIMIT {}",
      kKind, kLong, kept, budget.slices));
  json["messages"] = database.columns(fmt::format(
      "SELECT job, source, destination, bytes, round(sent_ns, 1) AS sent, round(arrived_ns, 1) AS arrived "
      "FROM timeline_messages WHERE arrived_ns IS NOT NULL AND (job, source) IN {0} AND (job, destination) "
      "IN {0} "
      "ORDER BY sent_ns LIMIT {1}",
      kept, budget.slices / 3));
  json["bins"] = database.columns(fmt::format(
      "SELECT job, first_rank, last_rank, start_ns AS start, end_ns AS end, round(compute_ns) AS compute_ns, "
      "round(send_ns + receive_ns) AS overhead_ns, round(wait_network_ns) AS wait_network_ns, "
      "round(wait_peer_ns) AS wait_peer_ns, round(wait_other_ns) AS waiting_ns FROM timeline_bins "
      "ORDER BY job, first_rank, start_ns LIMIT {}",
      budget.slices));
  return json;
}

}  // namespace weft::report
