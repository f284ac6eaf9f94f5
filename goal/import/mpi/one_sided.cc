#include "goal/import/mpi/one_sided.h"

#include <fmt/core.h>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

// Messages of a window, in a communicator of its own.
enum Tag : std::uint32_t {
  kPut = 0,       // to the target: bytes for its memory
  kRequest = 1,   // to the target: bytes too, and an answer is wanted
  kAnswer = 2,    // to the origin
  kArrived = 3,   // to the origin: all that it put is there
  kExposed = 4,   // to the origin: MPI_Win_post was called
  kComplete = 5,  // to the target: MPI_Win_complete was called
};

// As for a new communicator: an agreement is an allreduce of about this many bytes.
constexpr std::uint64_t kAgreementBytes = 8;

std::uint16_t cpu_of(const TraceRecord& record) { return static_cast<std::uint16_t>(record.thread); }

}  // namespace

Op OneSided::message(OpKind kind, std::uint32_t tag, std::uint32_t peer, std::uint64_t bytes,
                     const State& state, std::uint32_t cpu) const {
  return {.kind = kind,
          .cpu = static_cast<std::uint16_t>(cpu),
          .peer = peer,
          .tag = tag,
          .comm = state.messages,
          .value = bytes};
}

bool OneSided::replay(RankProgram::Thread& thread, const TraceRecord& record,
                      const std::vector<TraceCommunicator>& known) {
  request_ = RankProgram::kNone;
  waits_outside_ = false;
  const AccessWindow* const window = epochs_.window(record.window);
  if (window == nullptr) return false;
  const Shape shape = trace::function_info(record.function).shape;
  if (shape == Shape::kWindowCreate) {
    create(thread, record, known);
    return true;
  }
  State& state = windows_[window->key];
  if (shape == Shape::kOneSided || shape == Shape::kOneSidedRequest) {
    if (!epochs_.meeting()) return false;
    operate(thread, record, state);
  } else {
    change(thread, record, known, state);
  }
  return true;
}

// The ranks tell each other of their parts.
void OneSided::create(RankProgram::Thread& thread, const TraceRecord& record,
                      const std::vector<TraceCommunicator>& known) {
  const AccessWindow& window = *epochs_.window(record.window);
  windows_[window.key].messages = communicators_.window_number(known, record.comm, window.key);
  notes_.add(Note::kWindows);
  if (record.function == Function::kWin_allocate_shared) notes_.add(Note::kSharedWindows);
  agree(thread, record, known, record.comm, CollectiveKind::kAllreduce);
}

void OneSided::agree(RankProgram::Thread& thread, const TraceRecord& record,
                     const std::vector<TraceCommunicator>& known, std::uint32_t comm, CollectiveKind kind) {
  if (known[comm].ranks.size() < 2) return;
  waits_outside_ = known[comm].outside;
  if (waits_outside_) return;
  Collective collective{.kind = kind, .comm = communicators_.graph_number(known, comm)};
  if (kind == CollectiveKind::kAllreduce) {
    collective.bytes = kAgreementBytes;
    collective.element_bytes = kAgreementBytes;
  }
  program_.blocking(thread, program_.collective(record.thread, collective));
}

// The ranks of a group that the graph has.
std::vector<std::uint32_t> OneSided::members(const TraceRecord& record) const {
  std::vector<std::uint32_t> ranks;
  for (const std::int32_t rank : record.group) {
    if (rank >= static_cast<std::int64_t>(world_size_)) {
      throw InputError(
          fmt::format("a group has rank {}, but MPI_COMM_WORLD has only {} ranks", rank, world_size_));
    }
    if (rank >= 0) ranks.push_back(static_cast<std::uint32_t>(rank));
  }
  return ranks;
}

void OneSided::change(RankProgram::Thread& thread, const TraceRecord& record,
                      const std::vector<TraceCommunicator>& known, State& state) {
  switch (record.function) {
    case Function::kWin_fence:
    case Function::kWin_free:
      return synchronize_all(thread, record, known, state);
    case Function::kWin_flush:
    case Function::kWin_flush_all:
    case Function::kWin_unlock:
    case Function::kWin_unlock_all:
      join_begun(thread, record, state, record.peer);
      return join_acknowledgements(thread, record, state);
    case Function::kWin_flush_local:
    case Function::kWin_flush_local_all:
      return join_begun(thread, record, state, record.peer);
    case Function::kWin_post:
      state.posted = members(record);
      for (const std::uint32_t rank : state.posted) {
        program_.nonblocking(thread, message(OpKind::kSend, kExposed, rank, 0, state, record.thread));
      }
      return;
    case Function::kWin_start: {
      state.started = members(record);
      std::vector<OpIndex> waits;
      for (const std::uint32_t rank : state.started) {
        waits.push_back(
            program_.nonblocking(thread, message(OpKind::kRecv, kExposed, rank, 0, state, record.thread)));
      }
      for (const OpIndex op : waits) program_.join(thread, cpu_of(record), op);
      return;
    }
    case Function::kWin_complete:
      for (const std::uint32_t rank : state.started) {
        join_begun(thread, record, state, static_cast<std::int32_t>(rank));
      }
      for (const std::uint32_t rank : state.started) {
        program_.nonblocking(thread, message(OpKind::kSend, kComplete, rank, 0, state, record.thread));
      }
      state.started.clear();
      return;
    case Function::kWin_wait:
    case Function::kWin_test:
      if (record.flag) end_exposure(thread, record, state);
      return;
    default:
      return;  // a lock is asked for with the first operation; MPI_Win_sync concerns this rank alone
  }
}

// A fence: all ranks wait until what they began is done, and what was to arrive here has.
void OneSided::synchronize_all(RankProgram::Thread& thread, const TraceRecord& record,
                               const std::vector<TraceCommunicator>& known, State& state) {
  join_begun(thread, record, state, trace::kUndefined);
  for (const OpIndex op : state.arrived) program_.join(thread, cpu_of(record), op);
  state.arrived.clear();
  state.since.clear();
  agree(thread, record, known, epochs_.window(record.window)->comm, CollectiveKind::kBarrier);
}

void OneSided::operate(RankProgram::Thread& thread, const TraceRecord& record, State& state) {
  const auto target = static_cast<std::uint32_t>(record.peer);
  const bool wants = record.bytes_in > 0;
  request_ = program_.nonblocking(thread, message(OpKind::kSend, wants ? kRequest : kPut, target,
                                                  record.bytes_out, state, record.thread));
  if (wants) {
    request_ = program_.nonblocking(
        thread, message(OpKind::kRecv, kAnswer, target, record.bytes_in, state, record.thread));
  }
  state.begun[record.peer].push_back(request_);
  notes_.add(Note::kOneSided);
}

// Waits, at the origin, for what was begun to a target, or (below zero) to all.
void OneSided::join_begun(RankProgram::Thread& thread, const TraceRecord& record, State& state,
                          std::int32_t target) {
  for (auto& [rank, ops] : state.begun) {
    if (target >= 0 && rank != target) continue;
    for (const OpIndex op : ops) program_.join(thread, cpu_of(record), op);
    ops.clear();
  }
}

void OneSided::join_acknowledgements(RankProgram::Thread& thread, const TraceRecord& record, State& state) {
  std::vector<OpIndex> waits;
  for (const AccessEpochs::Acknowledgement& wanted : epochs_.acknowledgements()) {
    waits.push_back(program_.nonblocking(
        thread, message(OpKind::kRecv, kArrived, static_cast<std::uint32_t>(wanted.target), 0, state,
                        record.thread)));
  }
  for (const OpIndex op : waits) program_.join(thread, cpu_of(record), op);
}

void OneSided::end_exposure(RankProgram::Thread& thread, const TraceRecord& record, State& state) {
  std::vector<OpIndex> waits = std::exchange(state.arrived, {});
  for (const std::uint32_t rank : state.posted) {
    waits.push_back(
        program_.nonblocking(thread, message(OpKind::kRecv, kComplete, rank, 0, state, record.thread)));
  }
  state.posted.clear();
  state.since.clear();
  for (const OpIndex op : waits) program_.join(thread, cpu_of(record), op);
}

void OneSided::admit(const RankProgram::Thread& thread) {
  if (windows_.empty()) return;  // nobody can reach this rank yet
  // What has started here, a target has reached.
  const Before gate{thread.point.op, true};
  if (epochs_.synchronization()) admit(*epochs_.synchronization(), gate);
  for (const MeetingPoint& point : epochs_.exposures()) admit(point, gate);
}

void OneSided::admit(const MeetingPoint& point, Before gate) {
  auto& arrivals = traffic_.at(rank_).arrivals;
  const auto found = arrivals.find(point);
  if (found == arrivals.end()) return;
  take(found->second, gate);
  arrivals.erase(found);
}

// Receives on a stream of their own: the target's threads have no part in it.
void OneSided::take(const std::vector<Arrival>& arrivals, Before gate) {
  const std::uint32_t cpu = traffic_.at(rank_).threads;
  for (const Arrival& arrival : arrivals) {
    const auto window = windows_.find(arrival.window);
    if (window == windows_.end()) {
      notes_.add(Note::kLostArrivals);
      continue;
    }
    State& state = window->second;
    std::vector<OpIndex>& since = state.since[arrival.origin];
    if (arrival.kind == Arrival::Kind::kFlush) {
      const OpIndex told = program_.append_beside(
          message(OpKind::kSend, kArrived, arrival.origin, 0, state, cpu), since.empty() ? gate : Before{});
      for (const OpIndex op : since) program_.add_edge(op, told);
      since.clear();
      continue;
    }
    const bool wants = arrival.kind == Arrival::Kind::kRequest;
    OpIndex last = program_.append_beside(
        message(OpKind::kRecv, wants ? kRequest : kPut, arrival.origin, arrival.bytes, state, cpu), gate);
    if (!wants) since.push_back(last);
    if (wants) {
      const OpIndex request = last;
      last = program_.append_beside(
          message(OpKind::kSend, kAnswer, arrival.origin, arrival.wanted, state, cpu), {request, false});
    }
    if (!arrival.passive) state.arrived.push_back(last);
  }
}

void OneSided::finish() {
  if (windows_.empty()) return;
  auto& arrivals = traffic_.at(rank_).arrivals;
  for (const auto& [point, list] : arrivals) {
    notes_.add(Note::kUngatedArrivals, list.size());
    take(list, {});
  }
  arrivals.clear();
}

}  // namespace weft::goal
