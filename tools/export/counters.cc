#include "tools/export/counters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::tools {
namespace {

using Query = RunDatabase::Query;

// The intervals of a run's samples.
struct Intervals {
  Time length;   // 0: not known
  Time spacing;  // of those that were kept

  // Where the interval that ends then began; the last one of a run is cut short.
  Time begin_of(Time end) const {
    if (length == Time() || end == Time()) return end;
    return length * ((end.ps() - 1) / length.ps());
  }
};

// What the scenario says after `"key": "`.
std::string setting(std::string_view scenario, const std::string& key) {
  const std::string head = key + ": \"";
  const std::size_t at = scenario.find(head);
  if (at == std::string_view::npos) return "";
  const std::size_t begin = at + head.size();
  return std::string(scenario.substr(begin, scenario.find('"', begin) - begin));
}

Intervals intervals_of(const RunDatabase& run) {
  Intervals intervals;
  Query scenario(run, "SELECT text FROM scenario");
  try {
    if (scenario.next()) intervals.length = parse_time(setting(scenario.text(0), "sample_interval"));
  } catch (const InputError&) {
    return {};  // of another version, perhaps: the values are all the same
  }
  intervals.spacing = intervals.length;
  Query rule(run, "SELECT rule FROM omitted WHERE table_name = 'samples'");
  if (!rule.next()) return intervals;
  const std::string text(rule.text(0));
  const std::uint64_t stride = std::strtoull(text.substr(text.find_last_of(' ') + 1).c_str(), nullptr, 10);
  const auto kept = static_cast<std::int64_t>(std::clamp<std::uint64_t>(stride, 1, 1 << 20));
  intervals.spacing = std::min(intervals.length, Time::ps(kEndOfTime.ps() / kept)) * kept;
  return intervals;
}

// One counter. Intervals without a row have the value 0.
class Counter {
 public:
  enum class Of : std::uint8_t { kInterval, kItsEnd };

  Counter(std::uint32_t track, Of of) : track_(track), of_(of) {}

  void add(Time end, double value, const Intervals& intervals, TraceWriter& trace) {
    const Time begin = intervals.begin_of(end);
    if (end_ > Time() && intervals.spacing > Time() && begin >= end_ + intervals.spacing) {
      rest(intervals, trace);
    }
    trace.counter(track_, of_ == Of::kInterval ? begin : end, value);
    end_ = end;
  }
  // Nothing follows the last row for a while.
  void rest(const Intervals& intervals, TraceWriter& trace) const {
    trace.counter(track_, of_ == Of::kInterval ? end_ : end_ + intervals.spacing, 0);
  }
  bool is_state_at(Time end) const { return of_ == Of::kItsEnd && end_ == end; }

 private:
  std::uint32_t track_;
  Of of_;
  Time end_;  // of the last interval with a row
};

class Counters {
 public:
  Counters(const RunDatabase& run, std::uint32_t group, std::uint32_t first, TraceWriter& trace)
      : run_(run), group_(group), first_(first), trace_(trace), intervals_(intervals_of(run)) {}

  std::uint32_t write() {
    write_network();
    write_links();
    return tracks_;
  }

 private:
  Counter announce(TraceWriter::Track kind, Counter::Of of, const std::string& name) {
    if (tracks_ == 0) trace_.group(group_, "network");
    trace_.track(first_ + tracks_, group_, kind, name);
    return {first_ + tracks_++, of};
  }

  // The end of the run: what is left in a queue then stays, load does not.
  void finish(const Counter& counter, Time end) {
    if (intervals_.length > Time() && !counter.is_state_at(end)) counter.rest(intervals_, trace_);
  }

  void write_network() {
    std::vector<Counter> counters;
    Query rows(run_,
               "SELECT time_ns, packets_in_flight, drops, ecn_marks FROM network_samples ORDER BY rowid");
    while (rows.next()) {
      if (counters.empty()) {
        counters.push_back(announce(TraceWriter::Track::kCount, Counter::Of::kItsEnd, "packets in flight"));
        counters.push_back(announce(TraceWriter::Track::kCount, Counter::Of::kInterval, "drops"));
        counters.push_back(announce(TraceWriter::Track::kCount, Counter::Of::kInterval, "ECN marks"));
      }
      const Time end = rows.time(0);
      end_ = std::max(end_, end);
      for (int i = 0; i < 3; ++i) counters[i].add(end, rows.real(i + 1), intervals_, trace_);
    }
    for (const Counter& counter : counters) finish(counter, end_);
  }

  std::string name_of(std::uint32_t link) const {
    Query names(run_, fmt::format("SELECT \"from\", \"to\" FROM links WHERE link = {}", link));
    if (!names.next()) return fmt::format("link {}", link);
    return fmt::format("{} -> {}", names.text(0), names.text(1));
  }

  void write_links() {
    struct OfLink {
      Counter utilization, queue;
    };
    std::map<std::uint32_t, OfLink> links;
    Query rows(run_, "SELECT time_ns, link, utilization, queue_bytes FROM samples ORDER BY rowid");
    while (rows.next()) {
      const std::uint32_t link = rows.number(1);
      auto found = links.find(link);
      if (found == links.end()) {
        const std::string name = name_of(link);
        const Counter load =
            announce(TraceWriter::Track::kPercent, Counter::Of::kInterval, name + ": utilization (%)");
        const Counter queue =
            announce(TraceWriter::Track::kBytes, Counter::Of::kItsEnd, name + ": queue (bytes)");
        found = links.emplace(link, OfLink{load, queue}).first;
      }
      const Time end = rows.time(0);
      end_ = std::max(end_, end);
      found->second.utilization.add(end, 100 * rows.real(2), intervals_, trace_);
      found->second.queue.add(end, rows.real(3), intervals_, trace_);
    }
    for (const auto& [link, counters] : links) {
      finish(counters.utilization, end_);
      finish(counters.queue, end_);
    }
  }

  const RunDatabase& run_;
  const std::uint32_t group_, first_;
  TraceWriter& trace_;
  const Intervals intervals_;
  std::uint32_t tracks_ = 0;
  Time end_;
};

}  // namespace

std::uint32_t export_counters(const RunDatabase& run, std::uint32_t group, std::uint32_t first,
                              TraceWriter& trace) {
  for (const char* table : {"samples", "network_samples", "scenario", "omitted", "links"}) {
    if (!run.has_table(table)) return 0;
  }
  return Counters(run, group, first, trace).write();
}

}  // namespace weft::tools
