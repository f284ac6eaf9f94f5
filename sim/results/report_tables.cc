#include "sim/results/report_tables.h"

#include <algorithm>

namespace weft::results {

void write_ranks(const Report& report, OutputFile& out) {
  out.print("{}\n", kRankColumns);
  for (const Rank& row : report.ranks) {
    out.print("{},{},{},{},", row.rank, to_ns_string(row.finish), row.job, row.host);
    if (row.finish_only) {
      out.write(",,,,,,,\n");
      continue;
    }
    out.print("{},{},{},{},{},{},{},{}\n", to_ns_string(row.compute), to_ns_string(row.overhead),
              to_ns_string(row.waiting), row.messages_sent, row.messages_received, row.bytes_sent,
              row.bytes_received, row.ops);
  }
}

void write_hosts(const Report& report, OutputFile& out) {
  out.print("{}\n", kHostColumns);
  const auto& hosts = report.flow_statistics.hosts();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const FlowStatistics::Host& row = hosts[i];
    out.print("{},{},{},{},{},{:.0f}\n", i, row.flows_sent, row.bytes_sent, row.flows_received,
              row.bytes_received, goodput_bps(row.bytes_received, report.makespan));
  }
}

void write_links(const Report& report, OutputFile& out) {
  out.print("{}\n", kLinkColumns);
  const double span = static_cast<double>(std::max(report.makespan, report.stopped_at).ps());
  for (std::size_t i = 0; i < report.links.size(); ++i) {
    const Link& row = report.links[i];
    out.print("{},{},{},{},{},{},{},{:.6f},{},{},{}\n", i, row.from, row.to, row.rate.bps(), row.bytes,
              row.packets, to_ns_string(row.busy), span > 0 ? static_cast<double>(row.busy.ps()) / span : 0.0,
              row.drops, row.ecn_marks, row.max_queue_bytes);
  }
}

void write_flows(const Report& report, OutputFile& out) {
  out.print("{}\n", kFlowColumns);
  for (std::size_t i = 0; i < report.flows.size(); ++i) {
    const Flow& row = report.flows[i];
    const Time completion = row.finish - row.start;
    out.print("{},{},{},{},{},{},{},{},{},", i, row.source, row.destination, row.bytes,
              to_ns_string(row.start), to_ns_string(row.finish), row.packets, row.retransmissions,
              row.ecn_marked);
    if (row.ideal > Time()) {
      out.print("{},{:.4f},", to_ns_string(row.ideal),
                static_cast<double>(completion.ps()) / static_cast<double>(row.ideal.ps()));
    } else {
      out.write(",,");
    }
    out.print("{:.0f},{},{}\n", goodput_bps(row.bytes, completion), row.out_of_order, row.reorder_distance);
  }
}

}  // namespace weft::results
