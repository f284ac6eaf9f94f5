#include "sim/results/report_tables.h"

#include <algorithm>

#include "sim/results/jobs.h"
#include "sim/results/row_text.h"

namespace weft::results {
namespace {

void append_rank(const Report& report, std::size_t index, std::string& out) {
  const Rank& row = report.ranks[index];
  append_fields(out, row.rank, row.finish, row.job, row.host);
  if (row.finish_only) {
    out += ",,,,,,,\n";
    return;
  }
  append_row(out, row.compute, row.overhead, row.waiting, row.messages_sent, row.messages_received,
             row.bytes_sent, row.bytes_received, row.ops);
}

void append_host(const Report& report, std::size_t index, std::string& out) {
  const FlowStatistics::Host& row = report.flow_statistics.hosts()[index];
  append_row(out, index, row.flows_sent, row.bytes_sent, row.flows_received, row.bytes_received,
             Fixed{goodput_bps(row.bytes_received, report.makespan), 0});
}

void append_name(std::string& out, const std::string& name) { append_fields(out, csv_field(name)); }

void append_link(const Report& report, std::size_t index, std::string& out) {
  const double span = static_cast<double>(std::max(report.makespan, report.stopped_at).ps());
  const Link& row = report.links[index];
  append_fields(out, index);
  append_name(out, row.from);
  append_name(out, row.to);
  append_row(out, row.rate.bps(), row.bytes, row.packets, row.busy,
             Fixed{span > 0 ? static_cast<double>(row.busy.ps()) / span : 0.0}, row.drops, row.ecn_marks,
             row.max_queue_bytes);
}

void append_flow(const Report& report, std::size_t index, std::string& out) {
  const Flow& row = report.flows[index];
  const Time completion = row.finish - row.start;
  append_fields(out, index, row.source, row.destination, row.bytes, row.start, row.finish, row.packets,
                row.retransmissions, row.ecn_marked);
  if (row.ideal > Time()) {
    append_fields(out, row.ideal,
                  Fixed{static_cast<double>(completion.ps()) / static_cast<double>(row.ideal.ps()), 4});
  } else {
    out += ",,";
  }
  append_row(out, Fixed{goodput_bps(row.bytes, completion), 0}, row.out_of_order, row.reorder_distance);
}

constexpr Table kTables[] = {
    {"ranks", "A row for each rank: when it finished and what it did until then.", kRankColumns,
     [](const Report& report) { return report.ranks.size(); }, append_rank},
    {"jobs", "A row for each job: when it ran, how long, and how much it was slowed.", kJobColumns,
     [](const Report& report) { return report.jobs.size(); }, append_job},
    {"job_links", "A row for each job on each busy link: how much of what it carries.", kJobLinkColumns,
     [](const Report& report) { return report.job_links.size(); }, append_job_link},
    {"interference", "A row for each job beside each other one: how much it was slowed.",
     kInterferenceColumns, [](const Report& report) { return report.interference.size(); },
     append_interference},
    {"hosts", "A row for each host: what it sent and received.", kHostColumns,
     [](const Report& report) { return report.flow_statistics.hosts().size(); }, append_host},
    {"links", "A row for each direction of a cable: load, longest queue, drops, marks.", kLinkColumns,
     [](const Report& report) { return report.links.size(); }, append_link},
    {"flows", "A row for each message: its size, start, finish, and ideal time.", kFlowColumns,
     [](const Report& report) { return report.flows.size(); }, append_flow},
};

// OWASP, "CSV Injection": what makes a formula of a cell. The guard itself too, so that it can be told apart.
constexpr std::string_view kGuarded = "=+-@\t\r'";

bool is_guarded(std::string_view text) {
  return !text.empty() && kGuarded.find(text[0]) != std::string_view::npos;
}

}  // namespace

std::span<const Table> report_tables() { return kTables; }

bool has_csv_guard(std::string_view field) {
  return field.size() > 1 && field[0] == '\'' && kGuarded.find(field[1]) != std::string_view::npos;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") != std::string::npos) return csv_quoted(text);
  return is_guarded(text) ? "'" + text : text;
}

std::string csv_quoted(const std::string& text) {
  std::string quoted = is_guarded(text) ? "\"'" : "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace weft::results
