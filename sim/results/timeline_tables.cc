#include "sim/results/timeline_tables.h"

#include <fmt/format.h>

#include <optional>

#include "sim/results/row.h"

namespace weft::results {
namespace {

std::optional<std::uint32_t> given(std::uint32_t number) {
  if (number == kNotGiven) return std::nullopt;
  return number;
}

template <typename Value>
std::optional<Value> only_if(bool is_there, Value value) {
  if (!is_there) return std::nullopt;
  return value;
}

void fill_slice(const Report& report, std::size_t index, Row& out) {
  const Timeline& timeline = report.timeline;
  const Slice& row = timeline.slices[index];
  const bool has_message = row.message != kNoMessage;
  out.add(row.job, row.rank, row.cpu, name(row.kind), row.start, row.end, given(row.op),
          timeline.collectives[row.collective], given(row.peer),
          only_if(has_message || row.bytes > 0, row.bytes), given(row.tag),
          only_if(has_message, row.message));
}

void fill_message(const Report& report, std::size_t index, Row& out) {
  const Timeline& timeline = report.timeline;
  const TimelineMessage& row = timeline.messages[index];
  out.add(row.number, row.job, row.source, row.destination, row.bytes, given(row.tag),
          timeline.collectives[row.collective], row.sent,
          only_if(row.arrived != TimelineMessage::kNever, row.arrived));
}

void fill_bin(const Report& report, std::size_t index, Row& out) {
  const TimelineBin& row = report.timeline.bins[index];
  out.add(row.job, row.first_rank, row.last_rank, row.start, row.end);
  for (const Time time : row.time) out.add(time);
}

constexpr Table kTables[] = {
    {"timeline", "A row for each thing that a cpu of a rank did, or waited for.",
     "job,rank,cpu,kind,start_ns,end_ns,op,collective,peer,bytes,tag,message",
     [](const Report& report) { return report.timeline.slices.size(); }, fill_slice},
    {"timeline_messages", "A row for each message between ranks.",
     "message,job,source,destination,bytes,tag,collective,sent_ns,arrived_ns",
     [](const Report& report) { return report.timeline.messages.size(); }, fill_message},
    {"timeline_bins", "A row for each interval and group of ranks: what their cpus did.",
     "job,first_rank,last_rank,start_ns,end_ns,compute_ns,send_ns,receive_ns,wait_network_ns,wait_peer_ns,"
     "wait_other_ns",
     [](const Report& report) { return report.timeline.bins.size(); }, fill_bin},
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
