#include "sim/results/timeline_tables.h"

#include <fmt/format.h>

#include <iterator>

namespace weft::results {
namespace {

std::string or_empty(std::uint32_t number) { return number == kNotGiven ? "" : fmt::to_string(number); }

void append_slice(const Report& report, std::size_t index, std::string& out) {
  const Timeline& timeline = report.timeline;
  const Slice& row = timeline.slices[index];
  const bool has_message = row.message != kNoMessage;
  fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{}\n", row.job, row.rank, row.cpu,
                 name(row.kind), to_ns_string(row.start), to_ns_string(row.end), or_empty(row.op),
                 timeline.collectives[row.collective], or_empty(row.peer),
                 has_message || row.bytes > 0 ? fmt::to_string(row.bytes) : "", or_empty(row.tag),
                 has_message ? fmt::to_string(row.message) : "");
}

void append_message(const Report& report, std::size_t index, std::string& out) {
  const Timeline& timeline = report.timeline;
  const TimelineMessage& row = timeline.messages[index];
  fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{}\n", row.number, row.job, row.source,
                 row.destination, row.bytes, or_empty(row.tag), timeline.collectives[row.collective],
                 to_ns_string(row.sent),
                 row.arrived == TimelineMessage::kNever ? "" : to_ns_string(row.arrived));
}

void append_bin(const Report& report, std::size_t index, std::string& out) {
  const TimelineBin& row = report.timeline.bins[index];
  fmt::format_to(std::back_inserter(out), "{},{},{},{},{}", row.job, row.first_rank, row.last_rank,
                 to_ns_string(row.start), to_ns_string(row.end));
  for (const Time time : row.time) fmt::format_to(std::back_inserter(out), ",{}", to_ns_string(time));
  out += '\n';
}

constexpr Table kTables[] = {
    {"timeline", "A row for each thing that a cpu of a rank did, or waited for.",
     "job,rank,cpu,kind,start_ns,end_ns,op,collective,peer,bytes,tag,message",
     [](const Report& report) { return report.timeline.slices.size(); }, append_slice},
    {"timeline_messages", "A row for each message between ranks.",
     "message,job,source,destination,bytes,tag,collective,sent_ns,arrived_ns",
     [](const Report& report) { return report.timeline.messages.size(); }, append_message},
    {"timeline_bins", "A row for each interval and group of ranks: what their cpus did.",
     "job,first_rank,last_rank,start_ns,end_ns,compute_ns,send_ns,receive_ns,wait_network_ns,wait_peer_ns,"
     "wait_other_ns",
     [](const Report& report) { return report.timeline.bins.size(); }, append_bin},
};

}  // namespace

std::span<const Table> timeline_tables() { return kTables; }

std::string sampling_rule(const Timeline& timeline) {
  std::string rule;
  if (timeline.stride > 1) {
    rule = fmt::format("ranks whose number, jobs behind each other, is a multiple of {}", timeline.stride);
  }
  if (timeline.until < Time::max()) {
    rule += fmt::format("{}until {} ns", rule.empty() ? "" : ", ", to_ns_string(timeline.until));
  }
  return rule;
}

}  // namespace weft::results
