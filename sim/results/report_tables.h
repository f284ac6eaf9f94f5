// The tables of a report, as CSV: a line of columns, which README.md describes, then a row for each record.
#pragma once

#include "sim/results/output_file.h"
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

void write_ranks(const Report& report, OutputFile& out);
void write_hosts(const Report& report, OutputFile& out);
void write_links(const Report& report, OutputFile& out);
void write_flows(const Report& report, OutputFile& out);

}  // namespace weft::results
