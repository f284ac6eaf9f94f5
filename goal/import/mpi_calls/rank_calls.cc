#include "goal/import/mpi_calls/rank_calls.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

std::uint64_t key_of(std::uint32_t number) { return number; }
// No number of the solver, and different on every rank.
std::uint64_t self_key(Rank rank) { return (std::uint64_t{1} << 32) + rank; }

// Calls on windows and files, neighbors' and persistent collectives: what these formats tell of them is not
// taken.
bool is_left_out(Shape shape) { return shape > Shape::kUndecoded; }

bool uses_communicator(Shape shape) {
  switch (shape) {
    case Shape::kSend:
    case Shape::kSendRequest:
    case Shape::kRecv:
    case Shape::kRecvRequest:
    case Shape::kSendrecv:
    case Shape::kProbe:
    case Shape::kMessageRecv:
    case Shape::kMessageRecvRequest:
    case Shape::kCollective:
    case Shape::kCollectiveRequest:
    case Shape::kCommCreate:
    case Shape::kCommCreateRequest:
      return true;
    default:
      return false;
  }
}

}  // namespace

RankCalls::RankCalls(const MpiImportOptions& options, const CommunicatorSolver& solver, Rank rank,
                     CommunicatorTable& communicators, ImportNotes& notes)
    : solver_(solver),
      view_(solver, rank),
      rank_(rank),
      notes_(notes),
      traffic_(solver.ranks(), [](OneSidedTraffic&) {}),
      importer_(options, rank, solver.ranks(), communicators, traffic_, notes) {
  const std::vector<Rank>& world = solver.communicator(CommunicatorSolver::kWorldNumber).ranks;
  known_.push_back({.id = trace::kCommWorld, .key = key_of(CommunicatorSolver::kWorldNumber)});
  known_.back().ranks.assign(world.begin(), world.end());
  known_.push_back(
      {.id = trace::kCommSelf, .key = self_key(rank), .ranks = {static_cast<std::int32_t>(rank)}});
  local_[CommunicatorSolver::kWorldNumber] = trace::kCommWorld;
  local_[CommunicatorSolver::kAlone] = trace::kCommSelf;
}

std::uint32_t RankCalls::local(std::uint32_t number) {
  if (number == CommunicatorSolver::kUnknown) return trace::kNoComm;
  const auto [found, added] = local_.try_emplace(number, static_cast<std::uint32_t>(known_.size()));
  if (added) {
    const std::vector<Rank>& ranks = solver_.communicator(number).ranks;
    known_.push_back({.id = found->second, .key = key_of(number)});
    known_.back().ranks.assign(ranks.begin(), ranks.end());
  }
  return found->second;
}

// The call's time stays compute, as nothing else stands for it.
void RankCalls::leave_out(const MpiCall& call) {
  const TraceRecord& record = call.record;
  notes_.not_replayed.add(record.function_name(), 1, 0,
                          record.leave_ns - std::min(record.enter_ns, record.leave_ns));
  ++notes_.not_replayed.all_calls;
  const Shape shape = trace::function_info(record.function).shape;
  if (is_request_maker(shape)) requests_[record.request] = {};
}

bool RankCalls::is_request_maker(Shape shape) const {
  return shape == Shape::kSendRequest || shape == Shape::kRecvRequest ||
         shape == Shape::kMessageRecvRequest || shape == Shape::kCollectiveRequest ||
         shape == Shape::kCommCreateRequest || shape == Shape::kSendrecvRequest;
}

void RankCalls::add(MpiCall& call) {
  TraceRecord& record = call.record;
  record.inside_ns = record.leave_ns - std::min(record.enter_ns, record.leave_ns);
  const Shape shape = trace::function_info(record.function).shape;
  if (shape == Shape::kUndecoded) {
    if (is_communication(call.name)) {
      record.name = call.name;
      leave_out(call);
    } else {
      ++notes_.local_calls;
    }
    return;
  }
  if (shape == Shape::kComm || shape == Shape::kStatus) return;
  if (is_left_out(shape)) return leave_out(call);
  if (uses_communicator(shape) && !take_communicators(call)) return leave_out(call);
  take_collective(record);
  record.peer = world_rank(record.comm, record.peer);
  record.recv_peer = world_rank(record.comm, record.recv_peer);
  take_message(record.received, record.comm);
  take_requests(record);
  take_completions(record);
  importer_.add(record, known_);
}

// False if it isn't known who is in the communicator.
bool RankCalls::take_communicators(MpiCall& call) {
  const std::uint32_t number = view_.used(call);
  call.record.comm = local(number);
  const Shape shape = trace::function_info(call.record.function).shape;
  if (shape == Shape::kCommCreate || shape == Shape::kCommCreateRequest) {
    call.record.new_comm = local(view_.created(call));
  }
  return call.record.comm != trace::kNoComm;
}

std::int32_t RankCalls::world_rank(std::uint32_t comm, std::int32_t rank) const {
  if (rank < 0 || comm >= known_.size()) return rank;
  const std::vector<std::int32_t>& ranks = known_[comm].ranks;
  if (static_cast<std::size_t>(rank) >= ranks.size()) {
    throw InputError(fmt::format("rank {} of a communicator of {} ranks", rank, ranks.size()));
  }
  return ranks[static_cast<std::size_t>(rank)];
}

void RankCalls::take_message(TraceMessage& message, std::uint32_t comm) const {
  if (message.valid) message.source = world_rank(comm, message.source);
}

void RankCalls::take_requests(TraceRecord& record) {
  const Shape shape = trace::function_info(record.function).shape;
  if (is_request_maker(shape)) {
    const Request request{
        .number = next_request_++,
        .comm = record.comm,
        .persistent = record.function >= Function::kSend_init && record.function <= Function::kRecv_init,
        .receives = shape == Shape::kRecvRequest || shape == Shape::kMessageRecvRequest};
    requests_[record.request] = request;
    record.request = request.number;
    return;
  }
  if (shape == Shape::kRequest) {
    const auto found = requests_.find(record.request);
    record.request = found == requests_.end() ? trace::kUnknownRequest : found->second.number;
    if (found != requests_.end() && record.function == Function::kRequest_free) requests_.erase(found);
  }
  for (std::uint64_t& handle : record.started) {
    const auto found = requests_.find(handle);
    handle = found == requests_.end() ? trace::kUnknownRequest : found->second.number;
  }
}

void RankCalls::take_completions(TraceRecord& record) {
  std::size_t kept = 0;
  for (TraceCompletion& completion : record.completions) {
    const auto found = requests_.find(completion.request);
    const Request request = found == requests_.end() ? Request{} : found->second;
    if (found == requests_.end()) notes_.add(Note::kUnknownCompletions);
    if (found != requests_.end() && !request.persistent) requests_.erase(found);
    if (request.number == 0) continue;
    completion.request = request.number;
    // What stands in the status of a send is chance.
    if (!request.receives) completion.message = {};
    take_message(completion.message, request.comm);
    record.completions[kept++] = completion;
  }
  record.completions.resize(kept);
}

// Leaves of a collective's counts those that MPI looks at on this rank.
void RankCalls::take_collective(TraceRecord& record) const {
  const Shape shape = trace::function_info(record.function).shape;
  if (shape != Shape::kCollective && shape != Shape::kCollectiveRequest) return;
  const std::vector<std::int32_t>& ranks = known_[record.comm].ranks;
  const bool at_root = record.root >= 0 && static_cast<std::size_t>(record.root) < ranks.size() &&
                       ranks[static_cast<std::size_t>(record.root)] == static_cast<std::int32_t>(rank_);
  switch (record.function) {
    case Function::kGather:
    case Function::kIgather:
      if (!at_root) record.recv_count = 0;
      break;
    case Function::kGatherv:
    case Function::kIgatherv:
      if (!at_root) record.recv_bytes.clear();
      break;
    case Function::kScatter:
    case Function::kIscatter:
      (at_root ? record.recv_count : record.count) = 0;
      break;
    case Function::kScatterv:
    case Function::kIscatterv:
      if (!at_root) record.send_bytes.clear();
      break;
    case Function::kAllgather:
    case Function::kIallgather:
    case Function::kAlltoall:
    case Function::kIalltoall:
      // MPI_IN_PLACE: what is sent has the size of what is received.
      if (record.in_place || record.bytes() == 0) {
        record.count = record.recv_count;
        record.type_size = record.recv_type_size;
      }
      break;
    case Function::kAlltoallv:
    case Function::kAlltoallw:
    case Function::kIalltoallv:
    case Function::kIalltoallw:
      if (record.in_place || record.send_bytes.empty()) record.send_bytes = record.recv_bytes;
      break;
    default:
      break;
  }
}

}  // namespace weft::goal
