#include "goal/import/kineto/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "goal/import/kineto/timeline.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
// Clocks of host and GPU may differ by so much where one waited for the other.
constexpr std::int64_t kSkewNs = 5000;

// What happens at a time, in this order where times are equal.
enum class What : std::uint8_t { kSyncEnd, kAnchor, kResume, kLaunch, kHostComm, kGpu };

struct Item {
  std::int64_t time;
  What what;
  std::uint32_t index;  // of the host event, GPU event or pause
};

// A pause of a thread in which another one finished something: it waited for that.
struct Pause {
  std::uint32_t thread, other;
  std::int64_t start, end, other_end;
  std::uint32_t anchor = kNone;  // the other's operation then
};

struct ThreadState {
  std::uint32_t last = kNone;  // its last operation
  std::int64_t time = 0;       // up to where its time is in operations
  bool used = false;
};

class Planner {
 public:
  Planner(RankTrace& trace, const PlannerOptions& options, KinetoNotes& notes)
      : trace_(trace), timeline_(trace), options_(options), notes_(notes) {}

  RankPlan plan() {
    calls_ = match_calls(trace_, timeline_, notes_);
    waits_ = stream_waits(timeline_, notes_);
    for (const SyncRecord& sync : trace_.syncs) {
      const std::uint32_t host = timeline_.host_of(sync.correlation);
      if (host != kNone && sync.stream >= 0) synced_stream_[host] = sync.stream;
    }
    if (trace_.threads + trace_.stream_numbers.size() > 0xFFFF) {
      throw InputError({trace_.path}, "more than 65535 threads and streams together");
    }
    threads_.assign(trace_.threads, {.time = timeline_.begin()});
    gpu_ops_.assign(trace_.gpu.size(), {kNone, 0});
    stream_last_.assign(trace_.stream_numbers.size(), kNone);
    gather();
    for (const Item& item : items_) take(item);
    finish_threads();
    plan_.calls = std::move(trace_.calls);
    plan_.span_ns = static_cast<std::uint64_t>(timeline_.end() - timeline_.begin());
    return std::move(plan_);
  }

 private:
  void gather() {
    find_pauses();
    for (std::uint32_t i = 0; i < trace_.gpu.size(); ++i) {
      items_.push_back({trace_.gpu[i].start, What::kGpu, i});
      const std::uint32_t launch = timeline_.launch(i);
      if (launch != kNone) launch_op_.emplace(launch, kNone);
    }
    for (std::uint32_t i = 0; i < trace_.host.size(); ++i) {
      const HostEvent& event = trace_.host[i];
      const bool sync = event.kind == HostKind::kStreamSync || event.kind == HostKind::kEventSync ||
                        event.kind == HostKind::kDeviceSync;
      if (sync) items_.push_back({event.end, What::kSyncEnd, i});
      if (event.kind == HostKind::kHostComm) items_.push_back({event.start, What::kHostComm, i});
      if (!launch_op_.contains(i)) continue;
      items_.push_back({event.start, What::kLaunch, i});
      if (event.kind == HostKind::kMemcpy) items_.push_back({event.end, What::kSyncEnd, i});
    }
    std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return std::tie(a.time, a.what) < std::tie(b.time, b.what);
    });
  }

  void find_pauses() {
    std::vector<std::pair<std::int64_t, std::uint32_t>> ends;  // of all events, with their threads
    ends.reserve(trace_.host.size());
    for (const HostEvent& event : trace_.host) ends.emplace_back(event.end, event.thread);
    std::sort(ends.begin(), ends.end());
    for (std::uint32_t thread = 0; thread < trace_.threads; ++thread) {
      std::int64_t busy_until = timeline_.begin();
      const auto [first, last] = timeline_.events_of(thread);
      for (std::uint32_t i = first; i < last; ++i) {
        const HostEvent& event = trace_.host[i];
        if (event.start - busy_until >= options_.min_wait_ns)
          find_pause(ends, thread, busy_until, event.start);
        busy_until = std::max(busy_until, event.end);
      }
    }
  }

  void find_pause(const std::vector<std::pair<std::int64_t, std::uint32_t>>& ends, std::uint32_t thread,
                  std::int64_t start, std::int64_t end) {
    // No event of the thread itself ends within its pause.
    auto at = std::upper_bound(ends.begin(), ends.end(), std::pair(end, kNone));
    if (at == ends.begin()) return;
    --at;
    if (at->first <= start || at->second == thread) return;
    const auto index = static_cast<std::uint32_t>(pauses_.size());
    pauses_.push_back({thread, at->second, start, end, at->first});
    items_.push_back({at->first, What::kAnchor, index});
    items_.push_back({end, What::kResume, index});
  }

  void take(const Item& item) {
    switch (item.what) {
      case What::kSyncEnd:
        return end_sync(item.index);
      case What::kAnchor:
        pauses_[item.index].anchor = advance(pauses_[item.index].other, pauses_[item.index].other_end);
        return;
      case What::kResume:
        return resume(pauses_[item.index]);
      case What::kLaunch:
        launch_op_[item.index] = advance(trace_.host[item.index].thread, trace_.host[item.index].start);
        launch_seen_.emplace(item.index, true);
        return;
      case What::kHostComm:
        return communicate_on_host(item.index);
      case What::kGpu:
        return run_on_gpu(item.index);
    }
  }

  std::uint32_t add(std::uint64_t ns, std::uint16_t cpu, std::uint32_t call = kNoCall) {
    if (plan_.ops.size() >= 0x7FFFFFFE) throw InputError({trace_.path}, "more than 2^31 operations");
    plan_.ops.push_back({.ns = ns, .call = call, .cpu = cpu});
    return static_cast<std::uint32_t>(plan_.ops.size() - 1);
  }
  void depend(std::uint32_t op, std::uint32_t on) {
    if (on != kNone) plan_.edges.emplace_back(on, op);
  }

  // The thread computes until then. Returns its last operation, kNone if there is none.
  std::uint32_t advance(std::uint32_t thread, std::int64_t time) {
    ThreadState& state = threads_[thread];
    state.used = true;
    if (time > state.time) {
      const std::uint32_t op =
          add(static_cast<std::uint64_t>(time - state.time), static_cast<std::uint16_t>(thread));
      depend(op, state.last);
      state.last = op;
      state.time = time;
    }
    return state.last;
  }

  // The thread goes on at `time` after what it waited for, which ended at `waited_until`.
  void join(std::uint32_t thread, const std::vector<std::uint32_t>& waited_for, std::int64_t waited_until,
            std::int64_t time) {
    ThreadState& state = threads_[thread];
    const std::int64_t from = std::clamp(waited_until, state.time, std::max(state.time, time));
    const std::uint32_t op = add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, time - from)),
                                 static_cast<std::uint16_t>(thread));
    depend(op, state.last);
    for (const std::uint32_t other : waited_for) depend(op, other);
    state.last = op;
    state.time = std::max(state.time, time);
  }

  void resume(const Pause& pause) {
    advance(pause.thread, pause.start);
    notes_.add(KinetoNote::kThreadWaits);
    join(pause.thread, {pause.anchor}, pause.other_end, pause.end);
  }

  // The GPU operations that a call of the host waited for.
  std::vector<std::uint32_t> waited_for(std::uint32_t host) const {
    const HostEvent& event = trace_.host[host];
    std::vector<std::uint32_t> found;
    std::uint32_t latest = kNone;
    const auto synced = synced_stream_.find(host);
    for (std::uint32_t stream = 0; stream < timeline_.streams().size(); ++stream) {
      const std::uint32_t gpu = timeline_.streams()[stream].last(event.start, event.end + kSkewNs);
      if (gpu == kNone) continue;
      const bool named = event.kind == HostKind::kStreamSync && synced != synced_stream_.end() &&
                         synced->second == trace_.stream_numbers[stream];
      if (event.kind == HostKind::kDeviceSync || named) found.push_back(gpu);
      if (latest == kNone || trace_.gpu[gpu].end > trace_.gpu[latest].end) latest = gpu;
    }
    // Else what it was for is not recorded: what ended last while it lasted.
    if (event.kind != HostKind::kDeviceSync && found.empty() && latest != kNone &&
        trace_.gpu[latest].end >= event.start) {
      found.push_back(latest);
    }
    return found;
  }

  // A copy that ended before the call did: the call waited for it.
  std::vector<std::uint32_t> copied(std::uint32_t host) const {
    const HostEvent& event = trace_.host[host];
    for (const Lane& lane : timeline_.streams()) {
      const std::uint32_t gpu = lane.last(event.start + 1, event.end);
      if (gpu != kNone && timeline_.launch(gpu) == host) return {gpu};
    }
    return {};
  }

  void end_sync(std::uint32_t host) {
    const HostEvent& event = trace_.host[host];
    const bool copy = event.kind == HostKind::kMemcpy;
    const std::vector<std::uint32_t> gpus = copy ? copied(host) : waited_for(host);
    if (copy && gpus.empty()) return;
    advance(event.thread, event.start);
    std::vector<std::uint32_t> ops;
    std::int64_t until = event.start;
    for (const std::uint32_t gpu : gpus) {
      for (std::uint32_t i = 0; i < gpu_ops_[gpu].second; ++i) ops.push_back(gpu_ops_[gpu].first + i);
      until = std::max(until, trace_.gpu[gpu].end);
    }
    join(event.thread, ops, std::min(until, event.end), event.end);
  }

  void communicate_on_host(std::uint32_t host) {
    const HostEvent& event = trace_.host[host];
    const CommCall& call = trace_.calls[event.call];
    const bool collective =
        call.kind == CommKind::kCollective && (call.sized || call.collective == CollectiveKind::kBarrier);
    if (!collective) {  // its time stays compute
      notes_.add(call.kind == CommKind::kCollective ? KinetoNote::kUnknownSize
                 : call.kind == CommKind::kUnknown  ? KinetoNote::kUnknownCalls
                                                    : KinetoNote::kMessagesWithoutPeer);
      if (call.kind == CommKind::kUnknown) notes_.name(KinetoNote::kUnknownCalls, call.name);
      return;
    }
    advance(event.thread, event.start);
    ThreadState& state = threads_[event.thread];
    const std::uint32_t op = add(static_cast<std::uint64_t>(event.end - event.start),
                                 static_cast<std::uint16_t>(event.thread), event.call);
    depend(op, state.last);
    state.last = op;
    state.time = std::max(state.time, event.end);
  }

  // What a GPU operation has to wait for; the time when the last of it was over.
  std::int64_t gpu_dependencies(std::uint32_t gpu, std::vector<std::uint32_t>& ops) {
    const GpuEvent& event = trace_.gpu[gpu];
    std::int64_t ready = timeline_.begin();
    const auto wait_for = [&](std::uint32_t other) {
      for (std::uint32_t i = 0; i < gpu_ops_[other].second; ++i) ops.push_back(gpu_ops_[other].first + i);
      ready = std::max(ready, trace_.gpu[other].end);
    };
    if (stream_last_[event.stream] != kNone) wait_for(stream_last_[event.stream]);
    const auto waits = waits_.find(gpu);
    if (waits != waits_.end()) {
      for (const std::uint32_t other : waits->second) wait_for(other);
    }
    const std::uint32_t launch = timeline_.launch(gpu);
    if (launch == kNone) {
      notes_.add(KinetoNote::kKernelsWithoutLaunch);
    } else if (!launch_seen_.contains(launch)) {
      notes_.add(KinetoNote::kKernelsBeforeLaunch);
    } else {
      if (launch_op_[launch] != kNone) ops.push_back(launch_op_[launch]);
      ready = std::max(ready, trace_.host[launch].start);
    }
    return ready;
  }

  void run_on_gpu(std::uint32_t gpu) {
    const GpuEvent& event = trace_.gpu[gpu];
    const auto cpu = static_cast<std::uint16_t>(trace_.threads + event.stream);
    std::vector<std::uint32_t> before;
    const std::int64_t ready = gpu_dependencies(gpu, before);
    const auto idle = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.start - ready));
    const auto took = static_cast<std::uint64_t>(event.end - event.start);
    notes_.add(KinetoNote::kUnexplainedGpuIdleNs, idle);
    stream_last_[event.stream] = gpu;
    const auto calls = calls_.find(gpu);
    if (calls == calls_.end() ||
        calls->second.empty()) {  // empty: goes on with what an earlier kernel carries out
      const std::uint32_t op = add(calls == calls_.end() ? idle + took : idle, cpu);
      for (const std::uint32_t other : before) depend(op, other);
      gpu_ops_[gpu] = {op, 1};
      return;
    }
    if (idle > 0 || before.size() > 1) {  // also so that each of several messages has one dependency
      const std::uint32_t op = add(idle, cpu);
      for (const std::uint32_t other : before) depend(op, other);
      before = {op};
    }
    gpu_ops_[gpu] = {static_cast<std::uint32_t>(plan_.ops.size()),
                     static_cast<std::uint32_t>(calls->second.size())};
    for (const std::uint32_t call : calls->second) {
      const std::uint32_t op = add(took, cpu, call);
      for (const std::uint32_t other : before) depend(op, other);
    }
  }

  // What threads still compute behind their last point, and the thread that does most in any case.
  void finish_threads() {
    std::vector<std::int64_t> ends(trace_.threads, timeline_.begin());
    std::vector<std::uint32_t> events(trace_.threads);
    for (const HostEvent& event : trace_.host) {
      ends[event.thread] = std::max(ends[event.thread], event.end);
      ++events[event.thread];
    }
    const auto most = std::max_element(events.begin(), events.end()) - events.begin();
    for (std::uint32_t thread = 0; thread < trace_.threads; ++thread) {
      if (threads_[thread].used || thread == most) advance(thread, ends[thread]);
    }
  }

  RankTrace& trace_;
  Timeline timeline_;
  const PlannerOptions& options_;
  KinetoNotes& notes_;
  RankPlan plan_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> calls_, waits_;
  std::unordered_map<std::uint32_t, std::int64_t> synced_stream_;
  std::vector<Item> items_;
  std::vector<Pause> pauses_;
  std::vector<ThreadState> threads_;
  std::unordered_map<std::uint32_t, std::uint32_t> launch_op_;  // by host event
  std::unordered_map<std::uint32_t, bool> launch_seen_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> gpu_ops_;  // first operation and how many
  std::vector<std::uint32_t> stream_last_;                        // GPU events
};

}  // namespace

RankPlan plan_rank(RankTrace& trace, const PlannerOptions& options, KinetoNotes& notes) {
  return Planner(trace, options, notes).plan();
}

}  // namespace weft::goal
