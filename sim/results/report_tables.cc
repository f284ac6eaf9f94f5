#include "sim/results/report_tables.h"

#include <algorithm>

#include "sim/results/jobs.h"

namespace weft::results {
namespace {

void fill_rank(const Report& report, std::size_t index, Row& out) {
  const Rank& row = report.ranks[index];
  out.add(row.rank, row.finish, row.job, row.host);
  if (row.finish_only) {
    for (int i = 0; i < 8; ++i) out.add(NotKnown());
    return;
  }
  out.add(row.compute, row.overhead, row.waiting, row.messages_sent, row.messages_received, row.bytes_sent,
          row.bytes_received, row.ops);
}

void fill_host(const Report& report, std::size_t index, Row& out) {
  const FlowStatistics::Host& row = report.flow_statistics.hosts()[index];
  out.add(index, row.flows_sent, row.bytes_sent, row.flows_received, row.bytes_received,
          Fixed{goodput_bps(row.bytes_received, span_of_jobs(report)), 0});
}

void fill_link(const Report& report, std::size_t index, Row& out) {
  const double span = static_cast<double>(std::max(report.makespan, report.stopped_at).ps());
  const Link& row = report.links[index];
  out.add(index, row.from, row.to, row.rate.bps(), row.bytes, row.packets, row.busy,
          Fixed{span > 0 ? static_cast<double>(row.busy.ps()) / span : 0.0}, row.drops, row.ecn_marks,
          row.max_queue_bytes);
}

void fill_flow(const Report& report, std::size_t index, Row& out) {
  const Flow& row = report.flows[index];
  const Time completion = row.finish - row.start;
  out.add(index, row.source, row.destination, row.bytes, row.start, row.finish, row.packets,
          row.retransmissions, row.ecn_marked);
  if (row.ideal > Time()) {
    out.add(row.ideal, Fixed{static_cast<double>(completion.ps()) / static_cast<double>(row.ideal.ps()), 4});
  } else {
    out.add(NotKnown(), NotKnown());
  }
  out.add(Fixed{goodput_bps(row.bytes, completion), 0}, row.out_of_order, row.reorder_distance);
}

constexpr Table kTables[] = {
    {"ranks", "A row for each rank: when it finished and what it did until then.", kRankColumns,
     [](const Report& report) { return report.ranks.size(); }, fill_rank},
    {"jobs", "A row for each job: when it ran, how long, and how much it was slowed.", kJobColumns,
     [](const Report& report) { return report.jobs.size(); }, fill_job},
    {"job_links", "A row for each job on each busy link: how much of what it carries.", kJobLinkColumns,
     [](const Report& report) { return report.job_links.size(); }, fill_job_link},
    {"interference", "A row for each job beside each other one: how much it was slowed.",
     kInterferenceColumns, [](const Report& report) { return report.interference.size(); },
     fill_interference},
    {"hosts", "A row for each host: what it sent and received.", kHostColumns,
     [](const Report& report) { return report.flow_statistics.hosts().size(); }, fill_host},
    {"links", "A row for each direction of a cable: load, longest queue, drops, marks.", kLinkColumns,
     [](const Report& report) { return report.links.size(); }, fill_link},
    {"flows", "A row for each message: its size, start, finish, and ideal time.", kFlowColumns,
     [](const Report& report) { return report.flows.size(); }, fill_flow},
};

}  // namespace

std::span<const Table> report_tables() { return kTables; }

}  // namespace weft::results
