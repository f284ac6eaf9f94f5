#include "tools/export/timeline_export.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "sim/units/input_error.h"
#include "tools/export/counters.h"

namespace weft::tools {
namespace {

using Query = RunDatabase::Query;

constexpr std::array kTables = {"timeline", "timeline_messages", "samples", "network_samples"};
// A table of a run has no more; so a trace stays below 500 MB, at 200 bytes a row and less.
constexpr std::uint64_t kMostRows = 1'000'000;
// At most so many messages of one rank that are under way at a time have slices of their own.
constexpr std::size_t kMostLanes = 64;

class Export {
 public:
  Export(const RunDatabase& run, TraceWriter& trace) : run_(run), trace_(trace) {}

  ExportTotals write() {
    if (run_.has_table("timeline") && run_.has_table("timeline_messages")) {
      write_slices();
      write_messages();
    }
    totals_.counters = export_counters(run_, groups_, tracks_, trace_);
    add_omissions();
    trace_.finish();
    return std::move(totals_);
  }

 private:
  std::uint32_t group_of(std::uint32_t job) {
    const auto [found, is_new] = group_of_job_.emplace(job, groups_);
    if (!is_new) return found->second;
    Query names(run_, fmt::format("SELECT name FROM jobs WHERE job = {}", job));
    const std::string name = names.next() ? std::string(names.text(0)) : "";
    trace_.group(groups_, fmt::format("job {}{}{}", job, name.empty() ? "" : ": ", name));
    return groups_++;
  }

  std::uint32_t new_track(std::uint32_t job, TraceWriter::Track kind, const std::string& name) {
    const std::uint32_t group = group_of(job);
    trace_.track(tracks_, group, kind, name);
    return tracks_++;
  }

  static std::string name_of(std::string_view collective, std::string_view kind) {
    std::string name(kind);
    std::replace(name.begin(), name.end(), '_', ' ');
    return collective.empty() ? name : fmt::format("{}: {}", collective, name);
  }

  // What a row has of these columns, which stand behind each other in a query.
  std::span<const TraceArgument> arguments(const Query& rows, int first,
                                           std::initializer_list<const char*> names) {
    arguments_.clear();
    for (const char* name : names) {
      if (!rows.is_null(first)) {
        arguments_.push_back({name, static_cast<std::uint64_t>(rows.integer(first))});
      }
      ++first;
    }
    return arguments_;
  }

  void write_slices() {
    using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Place, std::uint32_t> tracks;
    Query rows(
        run_,
        "SELECT job, rank, cpu, kind, start_ns, end_ns, collective, message, op, peer, bytes, tag, message "
        "FROM timeline ORDER BY rowid");
    while (rows.next()) {
      const Place place(rows.number(0), rows.number(1), rows.number(2));
      auto found = tracks.find(place);
      if (found == tracks.end()) {
        const auto [job, rank, cpu] = place;
        const std::string name =
            cpu == 0 ? fmt::format("rank {}", rank) : fmt::format("rank {} cpu {}", rank, cpu);
        found = tracks.emplace(place, new_track(job, TraceWriter::Track::kCpu, name)).first;
      }
      const std::string_view kind = rows.text(3);
      TraceArrow arrow;
      if (!rows.is_null(7)) arrow.number = static_cast<std::uint64_t>(rows.integer(7));
      if (kind == "send") arrow.part = TraceArrow::Part::kFirst;
      if (kind == "receive") arrow.part = TraceArrow::Part::kLast;
      const Time start = rows.time(4);
      const std::string name = name_of(rows.text(6), kind);
      trace_.slice(found->second,
                   {.start = start,
                    .end = std::max(start, rows.time(5)),
                    .name = name,
                    .arrow = arrow,
                    .arguments = arguments(rows, 8, {"op", "peer", "bytes", "tag", "message"})});
      ++totals_.slices;
    }
  }

  // From the NIC of the sender to that of the receiver. Those of a rank overlap, so that they take several
  // tracks.
  void write_messages() {
    struct Lane {
      std::uint32_t track;
      Time free;
    };
    std::vector<Lane> lanes;
    std::pair<std::int64_t, std::int64_t> of_lanes(-1, -1);
    std::uint64_t crowded = 0, lost = 0;
    Query rows(
        run_,
        "SELECT job, source, sent_ns, arrived_ns, collective, message, destination, bytes, tag, message "
        "FROM timeline_messages ORDER BY job, source, sent_ns, message");
    while (rows.next()) {
      ++totals_.messages;
      const std::pair place(rows.integer(0), rows.integer(1));
      if (place != of_lanes) lanes.clear();
      of_lanes = place;
      if (rows.is_null(3)) {
        ++lost;
        continue;
      }
      const Time start = rows.time(2), end = std::max(start, rows.time(3));
      auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.free <= start; });
      if (lane == lanes.end()) {
        if (lanes.size() == kMostLanes) {
          ++crowded;
          continue;
        }
        lanes.push_back({new_track(rows.number(0), TraceWriter::Track::kMessages,
                                   fmt::format("messages of rank {}", rows.number(1))),
                         {}});
        lane = lanes.end() - 1;
      }
      lane->free = end;
      const std::string name = name_of(rows.text(4), "message");
      trace_.slice(lane->track,
                   {.start = start,
                    .end = end,
                    .name = name,
                    .arrow = {TraceArrow::Part::kMiddle, static_cast<std::uint64_t>(rows.integer(5))},
                    .arguments = arguments(rows, 6, {"destination", "bytes", "tag", "message"})});
    }
    remark(crowded, fmt::format("more than {} messages of a rank are under way at a time", kMostLanes));
    remark(lost, "nobody received the message");
  }

  void remark(std::uint64_t messages, const std::string& why) {
    if (messages == 0) return;
    totals_.remarks.push_back(fmt::format("{} messages have no slice of their own: {}", messages, why));
  }

  void add_omissions() {
    if (!run_.has_table("omitted")) return;
    Query rows(run_, "SELECT table_name, rows, kept, rule FROM omitted");
    while (rows.next()) {
      const std::string table(rows.text(0));
      if (std::find(kTables.begin(), kTables.end(), table) == kTables.end()) continue;
      totals_.remarks.push_back(
          fmt::format("{}: {} of {} rows: {}", table, rows.integer(2), rows.integer(1), rows.text(3)));
    }
  }

  const RunDatabase& run_;
  TraceWriter& trace_;
  ExportTotals totals_;
  std::uint32_t groups_ = 0, tracks_ = 0;
  std::map<std::uint32_t, std::uint32_t> group_of_job_;
  std::vector<TraceArgument> arguments_;
};

// Why there is no timeline, as the run says.
std::string reason(const RunDatabase& run) {
  if (!run.has_table("run") || !run.has_table("timeline"))
    return "an earlier version of weft wrote this file";
  Query why(run, "SELECT value FROM run WHERE key = 'timeline.absent'");
  return why.next() ? std::string(why.text(0)) : "it did nothing";
}

}  // namespace

std::uint64_t rows_to_export(const RunDatabase& run) {
  std::uint64_t all = 0;
  for (const char* table : kTables) {
    const std::uint64_t rows = run.rows(table);
    if (rows > kMostRows) {
      throw InputError(fmt::format("{}: table {} has {} rows; a run leaves at most {}", run.path(), table,
                                   rows, kMostRows));
    }
    all += rows;
  }
  if (all == 0) {
    throw InputError(
        fmt::format("{}: this run has neither a timeline ({}) nor samples; repeat it with --set "
                    "output.timeline=on, or with --sample",
                    run.path(), reason(run)));
  }
  return all;
}

ExportTotals export_timeline(const RunDatabase& run, TraceWriter& trace) {
  return Export(run, trace).write();
}

}  // namespace weft::tools
