// The tables of a report, row by row: CSV files and tables of results.sqlite. README.md describes the
// columns.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sim/results/report.h"

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
  // Appends a row: as many fields, with commas between, and a newline. A field in quotes may hold commas and
  // quotes twice; an empty one is not known.
  void (*append)(const Report& report, std::size_t index, std::string& row);
};

// Every table, in the order in which they are written.
std::span<const Table> report_tables();

// A text as a field: in quotes where it holds what divides fields. Where it begins with what a spreadsheet
// would take for a formula (= + - @, a tab or a carriage return), or with ', one ' stands before it, which
// readers take off; SqliteRows does.
std::string csv_field(const std::string& text);
// The same, in quotes always.
std::string csv_quoted(const std::string& text);
// Does this field, without its quotes, have that ' before it?
bool has_csv_guard(std::string_view field);

}  // namespace weft::results
