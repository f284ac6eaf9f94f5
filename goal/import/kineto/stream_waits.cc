#include <algorithm>
#include <limits>

#include "goal/import/kineto/timeline.h"

namespace weft::goal {
namespace {

using Waits = std::map<std::uint32_t, std::vector<std::uint32_t>>;
constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();

void add(Waits& waits, std::uint32_t target, std::uint32_t source) {
  std::vector<std::uint32_t>& list = waits[target];
  if (std::find(list.begin(), list.end(), source) == list.end()) list.push_back(source);
}

std::uint32_t stream_of(const RankTrace& trace, std::int64_t number) {
  const auto at = std::find(trace.stream_numbers.begin(), trace.stream_numbers.end(), number);
  return at == trace.stream_numbers.end() ? kNone
                                          : static_cast<std::uint32_t>(at - trace.stream_numbers.begin());
}

// The profile says which stream waited for which. Returns whether it does.
bool add_recorded(const Timeline& timeline, Waits& waits, KinetoNotes& notes) {
  const RankTrace& trace = timeline.trace();
  bool any = false;
  for (const SyncRecord& sync : trace.syncs) {
    if (sync.stream < 0 || sync.wait_on_stream < 0) continue;
    const std::uint32_t waiting = stream_of(trace, sync.stream);
    const std::uint32_t source_stream = stream_of(trace, sync.wait_on_stream);
    const std::uint32_t wait = timeline.host_of(sync.correlation);
    const std::uint32_t record = timeline.host_of(sync.record_correlation);
    if (waiting == kNone || source_stream == kNone || wait == kNone || record == kNone) continue;
    any = true;
    const std::uint32_t target = timeline.streams()[waiting].next(trace.host[wait].start);
    if (target == kNone) continue;
    const std::uint32_t source =
        timeline.streams()[source_stream].last(trace.host[record].start, trace.gpu[target].start);
    if (source == kNone || waiting == source_stream) continue;
    add(waits, target, source);
    notes.add(KinetoNote::kRecordedStreamWaits);
  }
  return any;
}

// PyTorch lets a collective's stream wait for what was launched on the current stream before the call.
void add_before_collectives(const Timeline& timeline, Waits& waits, KinetoNotes& notes) {
  const RankTrace& trace = timeline.trace();
  for (std::uint32_t i = 0; i < trace.gpu.size(); ++i) {
    const GpuEvent& kernel = trace.gpu[i];
    if (!kernel.communicates || timeline.launch(i) == kNone) continue;
    const HostEvent& launch = trace.host[timeline.launch(i)];
    std::uint32_t source = timeline.compute_of(launch.thread).last(launch.start, kEver);
    if (source == kNone) source = timeline.compute().last(launch.start, kEver);
    // It cannot have been waited for if it ended later.
    if (source == kNone || trace.gpu[source].stream == kernel.stream ||
        trace.gpu[source].end > kernel.start) {
      continue;
    }
    add(waits, i, source);
    notes.add(KinetoNote::kInferredStreamWaits);
  }
}

// A wait for a collective (Work.wait) lets what the thread launches next wait for it.
void add_behind_collectives(const Timeline& timeline, Waits& waits, KinetoNotes& notes) {
  const RankTrace& trace = timeline.trace();
  for (std::uint32_t thread = 0; thread < trace.threads; ++thread) {
    const auto [first, last] = timeline.events_of(thread);
    std::int64_t asked_until = std::numeric_limits<std::int64_t>::min();  // end of the call for a collective
    for (std::uint32_t i = first; i < last; ++i) {
      const HostEvent& event = trace.host[i];
      if (event.kind == HostKind::kComm && trace.calls[event.call].kind != CommKind::kNone) {
        asked_until = std::max(asked_until, event.end);
      }
      if (event.kind != HostKind::kStreamWait || event.start < asked_until) continue;
      const std::uint32_t target = timeline.compute_of(thread).next(event.start);
      if (target == kNone) continue;
      for (std::uint32_t stream = 0; stream < timeline.streams().size(); ++stream) {
        if (!timeline.communicates(stream) || stream == trace.gpu[target].stream) continue;
        const std::uint32_t source = timeline.streams()[stream].last(event.start, trace.gpu[target].start);
        if (source == kNone || !trace.gpu[source].communicates) continue;
        add(waits, target, source);
        notes.add(KinetoNote::kInferredStreamWaits);
      }
    }
  }
}

}  // namespace

Waits stream_waits(const Timeline& timeline, KinetoNotes& notes) {
  Waits waits;
  if (add_recorded(timeline, waits, notes)) return waits;
  add_before_collectives(timeline, waits, notes);
  add_behind_collectives(timeline, waits, notes);
  return waits;
}

}  // namespace weft::goal
