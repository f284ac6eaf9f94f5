#include "goal/import/mpi/rank_program.h"

#include <algorithm>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;

bool is_test(Function function) {
  return function == Function::kTest || function == Function::kTestall || function == Function::kTestany ||
         function == Function::kTestsome || function == Function::kWin_test ||
         function == Function::kParrived;
}

bool is_poll(const TraceRecord& record) {
  switch (record.function) {
    case Function::kIprobe:
    case Function::kImprobe:
    case Function::kRequest_get_status:
    case Function::kParrived:
    case Function::kWin_test:
      return true;
    default:
      return is_test(record.function);
  }
}

// What it takes to end a thread and to begin another: 15 to 30 us were seen.
constexpr std::uint64_t kOfThreadNs = 50'000;

std::uint64_t less(std::uint64_t from, std::uint64_t what) { return from - std::min(from, what); }

bool in_vain(const TraceRecord& record) {
  return is_poll(record) && record.completions.empty() &&
         (!record.flag || record.function == Function::kTestsome);
}

}  // namespace

RankProgram::Thread& RankProgram::thread(std::uint32_t number) {
  if (number > 0xFFFE) throw InputError("more than 65535 threads made MPI calls");
  if (threads_.size() <= number) threads_.resize(number + 1);
  return threads_[number];
}

void RankProgram::passed_over(const TraceRecord& record) {
  Thread& caller = thread(record.thread);
  caller.off += record.off_before;
  caller.off += record.off_inside;
}

// What the thread did not run for in the gap before a call.
trace::OffCore RankProgram::off_in(std::uint64_t gap, Thread& thread, const TraceRecord& record) {
  thread.off += record.off_before;
  return at_most(std::exchange(thread.off, {}), gap);
}

RankProgram::Thread& RankProgram::enter(const TraceRecord& record) {
  if (!is_inside()) notes_.add(Note::kOutsideRegion);
  Thread& thread = this->thread(record.thread);
  // Where the gap before a thread's first call is what the process ran for, nothing is to be taken from it.
  const bool is_run_time = !thread.seen && fork(thread, record);
  const std::uint64_t passed =
      record.enter_ns > thread.last_leave_ns ? record.enter_ns - thread.last_leave_ns : 0;
  const trace::OffCore off = is_run_time ? trace::OffCore{} : off_in(passed, thread, record);
  const bool joins = record.thread == 0 && has_ended_by(record.enter_ns);
  std::uint64_t not_compute = not_compute_ns(compute_times_, off);
  ThreadWaits::Wait wait;
  if (joins) {
    if (compute_times_ == ComputeTimes::kAuto) not_compute += waited_for_ended(thread, record.enter_ns, off);
  } else if (compute_times_ != ComputeTimes::kWall) {
    wait = waits_.of(record.thread, thread.last_leave_ns, record.enter_ns, off.asleep_ns);
    // With `cpu` none of the time that it slept is left to take this from.
    if (compute_times_ == ComputeTimes::kAuto) not_compute += wait.ns;
  }
  std::uint64_t gap = less(passed, not_compute);
  const bool counts = record.thread == 0 && is_inside();
  if (thread.polling && is_poll(record) && gap <= poll_gap_ns_) {
    notes_.add(Note::kPollingNs, gap);
    if (counts) split_.polling_ns += passed;
  } else {
    if (thread.polling && is_poll(record)) notes_.add(Note::kComputeBetweenPollsNs, gap);
    if (counts) split_.add_gap(passed, gap, off);
    if (wait.ns > 0 && is_inside()) gap = after_wait(thread, record, wait, gap);
    if (is_inside()) thread.pending_ns += gap;
  }
  if (counts && !begins_mpi(record.function) && !ends_mpi(record.function)) {
    split_.calls_ns += record.leave_ns - record.enter_ns;
    split_.calls_off += record.off_inside;
  }
  thread.polling = in_vain(record);
  if (thread.polling) {
    // The tracer may have joined many polls to one record; the gaps between them were short.
    notes_.add(Note::kPolls, record.polls);
    if (record.polls > 1) notes_.add(Note::kPollingNs, record.leave_ns - record.enter_ns - record.inside_ns);
  }
  if (joins) join_ended(thread, record.enter_ns);
  if (take_turns_ && wait.ns == 0) follow_last(thread, record);
  last_thread_ = record.thread;
  thread.last_leave_ns = record.leave_ns;
  last_ns_ = std::max(last_ns_, ends_mpi(record.function) ? record.enter_ns : record.leave_ns);
  return thread;
}

// The thread computes what it did before it slept, and waits for the call that it slept through. Returns what
// it computed after that.
std::uint64_t RankProgram::after_wait(Thread& thread, const TraceRecord& record,
                                      const ThreadWaits::Wait& wait, std::uint64_t gap) {
  notes_.add(Note::kThreadWaits);
  notes_.add(Note::kThreadWaitsNs, wait.ns);
  const std::uint64_t after = std::min(gap, record.enter_ns - wait.end_ns);
  thread.pending_ns += gap - after;
  flush(thread, static_cast<std::uint16_t>(record.thread));
  for (const Before& before : {wait.point.at, wait.point.joined}) {
    if (before.op != kNone) thread.joins.push_back(before);
  }
  return after;
}

// The call of another thread before this one had been left before this could be made. What the thread
// computed until then it may have done beside it.
void RankProgram::follow_last(Thread& thread, const TraceRecord& record) {
  if (last_thread_ == record.thread || last_thread_ >= threads_.size() || !is_inside()) return;
  Thread& last = threads_[last_thread_];
  if (!last.seen || last.last_leave_ns > record.enter_ns) return;
  flush(last, static_cast<std::uint16_t>(last_thread_));
  flush(thread, static_cast<std::uint16_t>(record.thread));
  const auto waits_for = [&](const Before& before) {
    if (before.op != kNone && before.op != thread.point.op) thread.joins.push_back(before);
  };
  waits_for(last.point);
  for (const Before& before : last.joins) waits_for(before);
}

// Time outside of the region is no compute: what a thread did since its last call counts up to the end, and
// from the begin on.
void RankProgram::region(const TraceRegionEvent& event) {
  if (event.name != region_ || (!event.begin && inside_ == 0)) return;
  const bool begins = event.begin && inside_ == 0, ends = !event.begin && inside_ == 1;
  if (begins) region_begin_ns_ = event.at_ns;
  if (ends) region_ns_ += event.at_ns - std::min(event.at_ns, region_begin_ns_);
  for (Thread& thread : threads_) {
    if ((!begins && !ends) || !thread.seen) continue;
    const std::uint64_t since = std::max(event.at_ns, thread.last_leave_ns);
    if (ends) {
      const std::uint64_t before = since - thread.last_leave_ns;
      thread.pending_ns += before;
      if (&thread == threads_.data()) split_.add_gap(before, before, {});
      flush(thread, static_cast<std::uint16_t>(&thread - threads_.data()));
    }
    thread.last_leave_ns = since;
    thread.polling = false;
  }
  event.begin ? ++inside_ : --inside_;
}

std::uint64_t RankProgram::elapsed_ns() const {
  const std::uint64_t all = last_ns_ > init_ns_ ? last_ns_ - init_ns_ : 0;
  if (region_.empty()) return all;
  return region_ns_ + (is_inside() && last_ns_ > region_begin_ns_ ? last_ns_ - region_begin_ns_ : 0);
}

void RankProgram::thread_ended(const TraceThreadEnd& end) {
  Thread& thread = this->thread(end.thread);
  if (!thread.seen) return;
  if (end.thread == 0) return program_ended(end);
  thread.end_ns = end.at_ns;
  Ended ended{.after_ns = thread.first_ns,
              .first_ns = thread.first_ns,
              .end_ns = end.at_ns,
              .process_cpu_ns = end.process_cpu_ns,
              .last = thread.joins};
  if (thread.point.op != kNone) ended.last.push_back(thread.point);
  // Who was followed by the one that has ended now needs no edge of its own any more.
  std::erase_if(ended_, [&](const Ended& earlier) {
    if (earlier.end_ns > ended.first_ns) return false;
    ended.after_ns = std::min(ended.after_ns, earlier.after_ns);
    ended.threads += earlier.threads;
    return true;
  });
  ended_.push_back(std::move(ended));
}

// Thread 0 was computing up to there.
void RankProgram::program_ended(const TraceThreadEnd& end) {
  if (!is_inside() || end.at_ns < threads_[0].last_leave_ns) return;
  TraceRecord last;
  last.function = trace::Function::kFinalize;
  last.enter_ns = last.leave_ns = end.at_ns;
  last.off_before = end.off_before;
  enter(last);
}

// The most that lived at once.
std::size_t RankProgram::threads_at_once() const {
  std::vector<std::uint64_t> begins, ends;
  for (const Thread& thread : threads_) {
    if (!thread.seen) continue;
    begins.push_back(thread.first_ns);
    ends.push_back(thread.end_ns);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  std::size_t most = 0, ended = 0;
  for (std::size_t begun = 0; begun < begins.size(); ++begun) {
    while (ends[ended] <= begins[begun]) ++ended;
    most = std::max(most, begun + 1 - ended);
  }
  return most;
}

// One that ends while thread 0 is in a call stands before that call, which can't have waited for it.
bool RankProgram::has_ended_by(std::uint64_t at_ns) const {
  return std::any_of(ended_.begin(), ended_.end(), [&](const Ended& ended) { return ended.end_ns <= at_ns; });
}

// Thread 0 goes on at `at_ns`, and has joined the threads that had ended: it does so once it has done what it
// did meanwhile.
void RankProgram::join_ended(Thread& thread, std::uint64_t at_ns) {
  flush(thread, 0);
  std::erase_if(ended_, [&](const Ended& ended) {
    if (ended.end_ns > at_ns) return false;
    thread.joins.insert(thread.joins.end(), ended.last.begin(), ended.last.end());
    return true;
  });
}

// In the gap before a call of thread 0, in which these threads have ended: how long it slept while they
// lived, and what it took to begin and end them.
std::uint64_t RankProgram::waited_for_ended(const Thread& thread, std::uint64_t at_ns,
                                            const trace::OffCore& off) const {
  std::uint64_t first_ns = UINT64_MAX, end_ns = 0, threads = 0;
  for (const Ended& ended : ended_) {
    if (ended.end_ns > at_ns) continue;
    threads += ended.threads;
    first_ns = std::min(first_ns, ended.after_ns);
    end_ns = std::max(end_ns, ended.end_ns);
  }
  first_ns = std::max(first_ns, thread.last_leave_ns);
  return std::min(off.asleep_ns, less(end_ns, first_ns)) + threads * kOfThreadNs;
}

// A thread that begins after others have ended, since thread 0 left its last call at `since_ns`, follows
// them: steps of a program that are threads of their own. What lay between is what the process ran for, but
// for what it takes to end a thread and begin another.
bool RankProgram::follow_ended(Thread& thread, const TraceRecord& record, std::uint64_t since_ns) {
  std::uint64_t cpu_ns = 0, end_ns = 0;
  for (const Ended& ended : ended_) {
    if (ended.first_ns < since_ns || ended.end_ns > record.enter_ns) continue;
    thread.joins.insert(thread.joins.end(), ended.last.begin(), ended.last.end());
    cpu_ns = std::max(cpu_ns, ended.process_cpu_ns);
    end_ns = std::max(end_ns, ended.end_ns);
  }
  if (end_ns == 0) return false;
  const std::uint64_t ran = std::min(record.enter_ns - end_ns, less(record.thread_begins_cpu_ns, cpu_ns));
  thread.last_leave_ns = record.enter_ns - less(ran, kOfThreadNs);
  return true;
}

// A thread begins where thread 0 was, in program order, when the new one made its first call. Returns whether
// the gap since is what the process ran for.
bool RankProgram::fork(Thread& thread, const TraceRecord& record) {
  const std::uint64_t enter_ns = record.enter_ns;
  thread.seen = true;
  thread.last_leave_ns = enter_ns;
  // It lived, and was waited for, while it had no core yet.
  thread.first_ns = less(enter_ns, record.off_before.waiting_ns);
  auto after = std::upper_bound(main_points_.begin(), main_points_.end(), enter_ns,
                                [](std::uint64_t ns, const MainPoint& point) { return ns < point.leave_ns; });
  if (after == main_points_.begin()) return false;
  --after;
  thread.point = after->point.at;
  if (after->point.joined.op != kNone) thread.joins = {after->point.joined};
  thread.last_leave_ns = after->leave_ns;
  const bool is_run_time = follow_ended(thread, record, after->leave_ns);
  if (!region_.empty()) thread.last_leave_ns = std::max(thread.last_leave_ns, region_begin_ns_);
  return is_run_time;
}

void RankProgram::left(const Thread& thread, const TraceRecord& record) {
  const ThreadWaits::Point point{thread.point, thread.joins.empty() ? Before{} : thread.joins.back()};
  if (threads_.size() > 1 && !thread.polling && is_inside()) {
    waits_.add(record.thread, record.enter_ns, record.leave_ns, point);
  }
  if (record.thread == 0) main_points_.push_back({record.leave_ns, point});
}

void RankProgram::flush(Thread& thread, std::uint16_t cpu) {
  if (thread.pending_ns == 0) return;
  const Op calc{.kind = OpKind::kCalc, .cpu = cpu, .value = thread.pending_ns};
  thread.pending_ns = 0;  // before append(), which flushes
  blocking(thread, calc);
}

OpIndex RankProgram::add(const Op& op) {
  const auto index = static_cast<OpIndex>(ops_.size());
  if (index >= 0x7FFFFFFFu) throw InputError("a rank has more than 2^31 - 1 operations");
  ops_.push_back(op);
  return index;
}

OpIndex RankProgram::append(Thread& thread, const Op& op) {
  flush(thread, op.cpu);
  const OpIndex index = add(op);
  if (thread.point.op != kNone) edges_.push_back({thread.point.op, index, thread.point.on_start});
  for (const Before& before : thread.joins) edges_.push_back({before.op, index, before.on_start});
  thread.joins.clear();
  thread.point = {kNone, false};
  return index;
}

OpIndex RankProgram::nonblocking(Thread& thread, const Op& op) {
  if (!is_inside()) return kNone;
  const OpIndex index = append(thread, op);
  thread.point = {index, true};
  return index;
}

void RankProgram::join(Thread& thread, std::uint16_t cpu, OpIndex op) {
  flush(thread, cpu);
  if (thread.point.op == op) {
    thread.point.on_start = false;
  } else {
    thread.joins.push_back({op, false});
  }
}

OpIndex RankProgram::append_after(std::uint32_t number, const Op& op, std::span<const OpIndex> after) {
  Thread& thread = threads_[number];
  const auto cpu = static_cast<std::uint16_t>(number);
  flush(thread, cpu);
  // What the thread waits for, in one operation, lest each of many has an edge from each of those.
  if (!thread.joins.empty()) blocking(thread, {.kind = OpKind::kCalc, .cpu = cpu, .value = 0});
  const OpIndex index = append_beside(op, thread.point);
  for (const OpIndex first : after) add_edge(first, index);
  return index;
}

OpIndex RankProgram::append_beside(const Op& op, Before before) {
  const OpIndex index = add(op);
  if (before.op != kNone) edges_.push_back({before.op, index, before.on_start});
  return index;
}

Op RankProgram::collective(std::uint32_t thread, const Collective& collective) {
  if (collectives_.empty() || collectives_.back() != collective) collectives_.push_back(collective);
  return {.kind = OpKind::kCollective,
          .cpu = static_cast<std::uint16_t>(thread),
          .comm = collective.comm,
          .value = collectives_.size() - 1};
}

void RankProgram::finish(GraphBuilder& builder, bool keep_wildcards) {
  for (Thread& thread : threads_) {
    flush(thread, static_cast<std::uint16_t>(&thread - threads_.data()));
  }
  for (const Op& op : ops_) {
    if (op.kind == OpKind::kCollective) {
      builder.add_collective(collectives_[op.value], op.cpu);
    } else {
      const bool wild = op.kind == OpKind::kRecv && (op.peer == kAny || op.tag == kAny);
      if (wild && !keep_wildcards) notes_.add(Note::kUnresolvedWildcards);
      builder.add(op);
    }
  }
  for (const EdgeRecord& edge : edges_) builder.add_edge(edge.first, edge.dependent, edge.on_start);
}

}  // namespace weft::goal
