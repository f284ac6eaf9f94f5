// The tables of a report, row by row: CSV files and tables of results.sqlite. FILES.md describes the
// columns.
#pragma once

#include <cstddef>
#include <span>

#include "sim/results/report.h"
#include "sim/results/row.h"

namespace weft::results {

inline constexpr const char* kRankColumns =
    "rank,finish_ns,job,host,compute_ns,overhead_ns,waiting_ns,messages_sent,messages_received,bytes_sent,"
    "bytes_received,ops";
inline constexpr const char* kHostColumns =
    "host,flows_sent,bytes_sent,flows_received,bytes_received,goodput_bps";
inline constexpr const char* kLinkColumns =
    "link,from,to,rate_bps,bytes,packets,busy_ns,utilization,drops,ecn_marks,max_queue_bytes";
inline constexpr const char* kFlowColumns =
    "flow,source,destination,bytes,start_ns,finish_ns,packets,retransmissions,ecn_marked,ideal_ns,slowdown,"
    "goodput_bps,out_of_order,reorder_distance";

struct Table {
  const char* name;     // "ranks": of the file ranks.csv
  const char* summary;  // one sentence
  const char* columns;  // the first line of the file: names with commas between
  std::size_t (*rows)(const Report& report);
  // Fills a row, which is empty: as many fields. Texts in it are the report's or the row's own.
  void (*fill)(const Report& report, std::size_t index, Row& row);
};

// Every table, in the order in which they are written.
std::span<const Table> report_tables();

}  // namespace weft::results
