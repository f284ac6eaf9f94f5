#include "goal/import/mpi/rank_importer.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "goal/import/mpi/collective_record.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

// An agreement on a new communicator's context is an allreduce of about this many bytes.
constexpr std::uint64_t kAgreementBytes = 8;

bool is_buffered(Function function) {
  return function == Function::kBsend || function == Function::kIbsend || function == Function::kBsend_init;
}

bool is_synchronous(Function function) {
  return function == Function::kSsend || function == Function::kIssend || function == Function::kSsend_init;
}

std::uint32_t tag_of(std::int32_t tag) { return tag < 0 ? kAny : static_cast<std::uint32_t>(tag); }

// Tells whether a receive that the call is, or waited for, has got a message; it may have been too long for
// it.
bool has_message(const TraceRecord& record) {
  switch (trace::function_info(record.function).shape) {
    case Shape::kRecv:
    case Shape::kSendrecv:
      return record.received.valid;
    case Shape::kMessageRecv:
      return record.message != 0;
    case Shape::kComplete:
      return std::any_of(record.completions.begin(), record.completions.end(),
                         [](const TraceCompletion& one) { return one.message.valid; });
    default:
      return false;
  }
}

}  // namespace

void RankImporter::add(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  notes_.set_counting(program_.is_inside());
  take(record, known);
  notes_.set_counting(true);
}

void RankImporter::take(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  const Shape shape = trace::function_info(record.function).shape;
  if (program_.is_inside()) account_.add(record);
  if (shape == Shape::kUndecoded) return program_.passed_over(record);
  const bool truncated = record.error != 0 && has_message(record);
  const bool failed = record.error != 0 && shape != Shape::kComplete && !truncated;
  const bool is_file = shape == Shape::kFile || shape == Shape::kFileRequest;
  if (is_file || (!failed && stands_for_nothing(record, known))) return pass_over(record);
  Thread& thread = program_.enter(record);
  if (record.error != 0) notes_.add(truncated ? Note::kTruncatedMessages : Note::kFailedCalls);
  if (failed) return leave_out(record);
  one_sided_.see(record, known);
  replay(thread, record, known);
  one_sided_.admit(thread);
  if (std::exchange(outside_, false)) leave_out(record);
  program_.left(thread, record);
}

// Has the replay nothing that would take as long as the call did? Also tells what is with another world.
bool RankImporter::stands_for_nothing(const TraceRecord& record,
                                      const std::vector<TraceCommunicator>& known) {
  const Shape shape = trace::function_info(record.function).shape;
  if (shape == Shape::kComplete) return requests_.waits_for_left_out(record);
  const bool takes_probed = shape == Shape::kMessageRecv || shape == Shape::kMessageRecvRequest;
  const auto probed = takes_probed ? probed_.find(record.message) : probed_.end();
  outside_ = is_with_outside(record, known) || (probed != probed_.end() && is_outside(probed->second.source));
  const bool is_collective = shape == Shape::kCollectiveRequest || shape == Shape::kCollectiveInit;
  const bool over_two_groups = record.comm < known.size() && known[record.comm].inter;
  return outside_ || ((is_collective || shape == Shape::kCollective) && over_two_groups &&
                      !TwoGroups::has(record.function));
}

// The time inside stays compute.
void RankImporter::pass_over(const TraceRecord& record) {
  const Shape shape = trace::function_info(record.function).shape;
  if (!program_.is_inside()) notes_.add(Note::kOutsideRegion);
  program_.passed_over(record);
  if (std::exchange(outside_, false)) notes_.add(Note::kOutsideWorld);
  if (shape == Shape::kComplete) {
    if (record.error != 0) notes_.add(Note::kFailedCalls);
    requests_.settle(record);
  }
  if (shape == Shape::kProbe && record.message != 0) probed_[record.message] = record.received;
  if (shape == Shape::kMessageRecv || shape == Shape::kMessageRecvRequest) probed_.erase(record.message);
  if (makes_request(shape)) {
    requests_[record.request] =
        OpenOperation{.persistent = makes_persistent(record.function), .left_out = true};
  }
  leave_out(record);
}

void RankImporter::replay(Thread& thread, const TraceRecord& record,
                          const std::vector<TraceCommunicator>& known) {
  switch (trace::function_info(record.function).shape) {
    case Shape::kPlain:
      begin_or_end(thread, record);
      break;
    case Shape::kSend:
      send(thread, record, known);
      break;
    case Shape::kRecv:
      recv(thread, record, known);
      break;
    case Shape::kSendRequest:
    case Shape::kRecvRequest:
      make_request(thread, record, known);
      break;
    case Shape::kSendrecv:
    case Shape::kSendrecvRequest:
      exchange(thread, record, known);
      break;
    case Shape::kProbe:
      if (!record.flag) break;
      notes_.add(Note::kProbes);
      if (record.message != 0) probed_[record.message] = record.received;
      break;
    case Shape::kMessageRecv:
    case Shape::kMessageRecvRequest:
      matched_recv(thread, record, known);
      break;
    case Shape::kComplete:
    case Shape::kStatus:
      complete(thread, record);
      break;
    case Shape::kStart:
      start(thread, record);
      break;
    case Shape::kRequest:
      record.function == Function::kRequest_free ? requests_.free(record.request)
                                                 : requests_.ask_to_cancel(record.request);
      break;
    case Shape::kCollective:
    case Shape::kCollectiveRequest:
    case Shape::kCollectiveInit:
    case Shape::kNeighbor:
    case Shape::kNeighborRequest:
    case Shape::kNeighborInit:
      collective(thread, record, known);
      break;
    case Shape::kCommCreate:
    case Shape::kCommCreateRequest:
      create_communicator(thread, record, known);
      break;
    case Shape::kWindowCreate:
    case Shape::kWindow:
    case Shape::kWindowTarget:
    case Shape::kWindowGroup:
    case Shape::kWindowTest:
    case Shape::kOneSided:
    case Shape::kOneSidedRequest:
      one_sided(thread, record, known);
      break;
    case Shape::kPartitionedInit:
    case Shape::kReady:
    case Shape::kArrived:
      partitioned(thread, record, known);
      break;
    default:  // nothing that a replay would have
      break;
  }
}

void RankImporter::begin_or_end(Thread& thread, const TraceRecord& record) {
  if (begins_mpi(record.function) && program_.initialized(record.leave_ns)) thread.pending_ns = 0;
  if (ends_mpi(record.function)) {
    program_.flush(thread, static_cast<std::uint16_t>(record.thread));
  }
}

void RankImporter::partitioned(Thread& thread, const TraceRecord& record,
                               const std::vector<TraceCommunicator>& known) {
  const Shape shape = trace::function_info(record.function).shape;
  if (shape == Shape::kReady) return partitioned_.ready(thread, record);
  if (shape == Shape::kArrived) {
    if (record.flag) partitioned_.arrived(thread, record);
    return;
  }
  requests_[record.request] = OpenOperation{.persistent = true, .left_out = is_outside(record.peer)};
  // It has no wildcards (MPI 4.0, section 4.2.1).
  if (is_operation(record.peer) && record.peer >= 0) partitioned_.make(record, known);
}

void RankImporter::add(const TraceCounter& counter) {
  if (options_.region.empty()) account_.add(counter);  // it is of the whole run
}

void RankImporter::leave_out(const TraceRecord& record) {
  if (program_.is_inside()) account_.leave_out(record);
}

// Is a message to or from `peer` an operation? Not with MPI_PROC_NULL.
bool RankImporter::is_operation(std::int32_t peer) {
  if (peer == trace::kProcNull) return false;
  if (peer < 0 && peer != trace::kAnySource) {
    notes_.add(Note::kOutsideWorld);
    outside_ = true;
    return false;
  }
  if (peer >= static_cast<std::int64_t>(world_size_)) {
    throw InputError("a message has peer " + std::to_string(peer) + ", but MPI_COMM_WORLD has only " +
                     std::to_string(world_size_) + " ranks");
  }
  return true;
}

Op RankImporter::send_of(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  if (is_synchronous(record.function)) notes_.add(Note::kSynchronousSends);
  return {.kind = KindOfOp(OpKind::kSend, is_synchronous(record.function)),
          .cpu = static_cast<std::uint16_t>(record.thread),
          .peer = static_cast<std::uint32_t>(record.peer),
          .tag = tag_of(record.tag),
          .comm = communicators_.graph_number(known, record.comm),
          .value = record.bytes()};
}

Op RankImporter::recv_of(const TraceRecord& record, std::int32_t peer, std::int32_t tag, std::uint64_t posted,
                         const std::vector<TraceCommunicator>& known) {
  return {.kind = OpKind::kRecv,
          .cpu = static_cast<std::uint16_t>(record.thread),
          .peer = peer < 0 ? kAny : static_cast<std::uint32_t>(peer),
          .tag = tag_of(tag),
          .comm = communicators_.graph_number(known, record.comm),
          .value = posted};
}

// Puts what was received in the place of what was asked for.
void RankImporter::resolve(Op& op, const TraceMessage& message) {
  if (!message.valid) return;
  op.value = message.bytes;
  if (options_.keep_wildcards) return;
  if (message.source >= 0) op.peer = static_cast<std::uint32_t>(message.source);
  if (message.tag >= 0) op.tag = static_cast<std::uint32_t>(message.tag);
}

void RankImporter::send(Thread& thread, const TraceRecord& record,
                        const std::vector<TraceCommunicator>& known) {
  if (!is_operation(record.peer)) return;
  const Op op = send_of(record, known);
  if (is_buffered(record.function)) {
    program_.nonblocking(thread, op);
  } else {
    program_.blocking(thread, op);
  }
}

void RankImporter::recv(Thread& thread, const TraceRecord& record,
                        const std::vector<TraceCommunicator>& known) {
  if (!is_operation(record.peer)) return;
  if (record.received.valid && !is_operation(record.received.source)) return;
  Op op = recv_of(record, record.peer, record.tag, record.bytes(), known);
  resolve(op, record.received);
  program_.blocking(thread, op);
}

void RankImporter::exchange(Thread& thread, const TraceRecord& record,
                            const std::vector<TraceCommunicator>& known) {
  const bool has_request = trace::function_info(record.function).shape == Shape::kSendrecvRequest;
  has_request ? isendrecv(thread, record, known) : sendrecv(thread, record, known);
}

// Both halves start together and the program goes on when both have finished.
void RankImporter::sendrecv(Thread& thread, const TraceRecord& record,
                            const std::vector<TraceCommunicator>& known) {
  const bool receives =
      is_operation(record.recv_peer) && (!record.received.valid || is_operation(record.received.source));
  const bool sends = is_operation(record.peer);
  Op received;
  if (receives) {
    received = recv_of(record, record.recv_peer, record.recv_tag, record.recv_posted_bytes(), known);
    resolve(received, record.received);
  }
  if (!program_.is_inside()) return;
  if (receives && !sends) program_.blocking(thread, received);
  if (sends && !receives) program_.blocking(thread, send_of(record, known));
  if (!sends || !receives) return;
  program_.flush(thread, received.cpu);
  const Before point = thread.point;
  const std::vector<Before> joins = thread.joins;
  const OpIndex first = program_.append(thread, received);
  thread.point = point;
  thread.joins = joins;
  program_.blocking(thread, send_of(record, known));
  thread.joins.push_back({first, false});
}

void RankImporter::isendrecv(Thread& thread, const TraceRecord& record,
                             const std::vector<TraceCommunicator>& known) {
  OpenOperation request;
  if (is_operation(record.peer)) request.send = program_.nonblocking(thread, send_of(record, known));
  if (is_operation(record.recv_peer)) {
    request.op = program_.nonblocking(
        thread, recv_of(record, record.recv_peer, record.recv_tag, record.recv_posted_bytes(), known));
  }
  requests_[record.request] = request;
}

// The program has learnt that it is complete, and goes on from there; the request stays.
void RankImporter::status(Thread& thread, const TraceRecord& record) {
  OpenOperation* const request = record.flag ? requests_.find(record.request) : nullptr;
  if (request == nullptr || request->local || partitioned_.has(record.request)) return;
  request->cancel_asked = false;
  for (const OpIndex op : {request->op, request->send}) {
    if (op != RankProgram::kNone) program_.join(thread, static_cast<std::uint16_t>(record.thread), op);
  }
}

void RankImporter::make_request(Thread& thread, const TraceRecord& record,
                                const std::vector<TraceCommunicator>& known) {
  OpenOperation request;
  request.persistent = makes_persistent(record.function);
  request.bytes = moved_bytes(record);
  request.local = is_buffered(record.function);
  request.operation = is_operation(record.peer);
  if (request.operation) {
    const bool receives = trace::function_info(record.function).shape == Shape::kRecvRequest;
    request.prototype =
        receives ? recv_of(record, record.peer, record.tag, record.bytes(), known) : send_of(record, known);
    if (!request.persistent) request.op = program_.nonblocking(thread, request.prototype);
  }
  requests_[record.request] = request;
}

// A receive of the message that Mprobe or Improbe found.
void RankImporter::matched_recv(Thread& thread, const TraceRecord& record,
                                const std::vector<TraceCommunicator>& known) {
  TraceMessage message = record.received;
  const auto found = probed_.find(record.message);
  if (found != probed_.end()) {
    if (!message.valid) message = found->second;
    probed_.erase(found);
  }
  const bool operation = message.valid && is_operation(message.source);
  Op op;
  if (operation) {
    // The message is taken by its envelope: a wildcard of the probe has no part in it.
    op = recv_of(record, message.source, message.tag, message.bytes, known);
  }
  if (trace::function_info(record.function).shape == Shape::kMessageRecv) {
    if (operation) program_.blocking(thread, op);
    return;
  }
  OpenOperation request;
  request.operation = operation;
  if (operation) request.op = program_.nonblocking(thread, op);
  requests_[record.request] = request;
}

void RankImporter::complete(Thread& thread, const TraceRecord& record) {
  if (trace::function_info(record.function).shape == Shape::kStatus) return status(thread, record);
  for (const TraceCompletion& completion : record.completions) {
    OpenOperation* const found = requests_.find(completion.request);
    if (found == nullptr) {
      notes_.add(Note::kUnknownCompletions);
      continue;
    }
    if (partitioned_.has(completion.request)) {
      partitioned_.complete(thread, record.thread, completion.request);
      continue;
    }
    OpenOperation& request = *found;
    const OpIndex op = std::exchange(request.op, RankProgram::kNone);
    const bool local = request.local;
    request.cancel_asked = false;
    if (request.send != RankProgram::kNone) {
      program_.join(thread, static_cast<std::uint16_t>(record.thread), request.send);
    }
    if (!request.persistent) requests_.erase(completion.request);
    if (op == RankProgram::kNone) continue;
    if (completion.cancelled) {
      notes_.add(Note::kCancelled);
      program_.erase(op);
      continue;
    }
    if (program_.op(op).kind == OpKind::kRecv && completion.message.valid) {
      if (is_operation(completion.message.source)) {
        resolve(program_.op(op), completion.message);
      } else {
        program_.erase(op);
      }
    }
    if (!local) program_.join(thread, static_cast<std::uint16_t>(record.thread), op);
  }
}

void RankImporter::start(Thread& thread, const TraceRecord& record) {
  for (const std::uint64_t number : record.started) {
    OpenOperation* const found = requests_.find(number);
    if (found == nullptr) {
      notes_.add(Note::kUnknownCompletions);
      continue;
    }
    if (partitioned_.has(number)) {
      partitioned_.start(thread, record.thread, number);
      continue;
    }
    OpenOperation& request = *found;
    if (!request.operation) continue;
    Op op = request.prototype;
    if (program_.is_inside()) account_.add_started(request.bytes);
    op.cpu = static_cast<std::uint16_t>(record.thread);
    request.op = program_.nonblocking(thread, op);
  }
}

void RankImporter::collective(Thread& thread, const TraceRecord& record,
                              const std::vector<TraceCommunicator>& known) {
  if (record.comm >= known.size()) throw InputError("a collective of no communicator");
  if (known[record.comm].inter) return between_groups(thread, record, known);
  const TraceCommunicator& members = known[record.comm];
  const bool among_neighbors = trace::function_info(record.function).shape >= Shape::kNeighbor;
  Collective collective = among_neighbors ? neighbor_collective_of(record) : collective_of(record);
  // Alone a rank may still be its own neighbor.
  if (members.ranks.size() == 1 && !among_neighbors) return perform(thread, record, nullptr);
  collective.comm =
      makes_persistent(record.function)
          ? communicators_.persistent_number(known, record.comm, persistent_made_[record.comm]++)
          : communicators_.graph_number(known, record.comm);
  check_fits(collective, members);
  const Op op = program_.collective(record.thread, collective);
  perform(thread, record, &op);
}

void RankImporter::between_groups(Thread& thread, const TraceRecord& record,
                                  const std::vector<TraceCommunicator>& known) {
  notes_.add(Note::kIntercommunicatorCollectives);
  const OpIndex last = two_groups_.replay(thread, record, known);
  if (trace::function_info(record.function).shape == Shape::kCollectiveRequest) {
    requests_[record.request] = OpenOperation{.op = last};
  } else if (last != RankProgram::kNone) {
    program_.join(thread, static_cast<std::uint16_t>(record.thread), last);
  }
}

// Makes the operation, and the request if the call makes one; null: only that.
void RankImporter::perform(Thread& thread, const TraceRecord& record, const Op* op) {
  const Shape shape = trace::function_info(record.function).shape;
  if (makes_persistent(record.function)) {
    OpenOperation request{.persistent = true, .operation = op != nullptr};
    if (op != nullptr) request.prototype = *op;
    request.bytes = moved_bytes(record);
    requests_[record.request] = request;
  } else if (shape == Shape::kCollectiveRequest || shape == Shape::kNeighborRequest) {
    requests_[record.request] =
        OpenOperation{.op = op == nullptr ? RankProgram::kNone : program_.nonblocking(thread, *op)};
  } else if (op != nullptr) {
    program_.blocking(thread, *op);
  }
}

void RankImporter::one_sided(Thread& thread, const TraceRecord& record,
                             const std::vector<TraceCommunicator>& known) {
  const Shape shape = trace::function_info(record.function).shape;
  const bool moves = shape == Shape::kOneSided || shape == Shape::kOneSidedRequest;
  OpIndex op = RankProgram::kNone;
  bool replayed = true;
  if (!moves || is_operation(record.peer)) {
    replayed = one_sided_.replay(thread, record, known);
    if (!replayed) leave_out(record);
    if (replayed) op = one_sided_.request();
  }
  if (one_sided_.waits_outside()) {
    notes_.add(Note::kOutsideWorld);
    outside_ = true;
    if (program_.is_inside()) thread.pending_ns += record.inside_ns;
  }
  if (shape == Shape::kOneSidedRequest) {
    requests_[record.request] = OpenOperation{.op = op, .left_out = !replayed || is_outside(record.peer)};
  }
}

// The members agree on a context, which needs a small allreduce; what an implementation sends besides is left
// out.
void RankImporter::create_communicator(Thread& thread, const TraceRecord& record,
                                       const std::vector<TraceCommunicator>& known) {
  if (trace::function_info(record.function).shape == Shape::kCommCreateRequest) {
    requests_[record.request] = OpenOperation{};
  }
  const std::uint32_t over = agreeing(record);
  if (over >= known.size()) return;
  if (known[over].inter) return agree_between_groups(thread, record, over, known);
  if (known[over].ranks.size() < 2) return;
  Collective agreement{.kind = CollectiveKind::kAllreduce,
                       .comm = communicators_.graph_number(known, over),
                       .bytes = kAgreementBytes,
                       .element_bytes = kAgreementBytes};
  notes_.add(Note::kCommunicatorCreations);
  const Op op = program_.collective(record.thread, agreement);
  if (trace::function_info(record.function).shape == Shape::kCommCreateRequest) {
    requests_[record.request].op = program_.nonblocking(thread, op);
  } else {
    program_.blocking(thread, op);
  }
}

void RankImporter::agree_between_groups(Thread& thread, const TraceRecord& record, std::uint32_t over,
                                        const std::vector<TraceCommunicator>& known) {
  notes_.add(Note::kCommunicatorCreations);
  const OpIndex last = two_groups_.agree(thread, record, over, known);
  if (last == RankProgram::kNone) return;
  if (trace::function_info(record.function).shape == Shape::kCommCreateRequest) {
    requests_[record.request].op = last;
  } else {
    program_.join(thread, static_cast<std::uint16_t>(record.thread), last);
  }
}

void RankImporter::pass_time(const TraceRecord& record, bool inside_too) {
  Thread& thread = program_.enter(record);
  if (inside_too) thread.pending_ns += record.leave_ns - record.enter_ns;
  program_.left(thread, record);
}

OpIndex RankImporter::add_beside(const TraceRecord& record, const Op& op, std::span<const OpIndex> after) {
  return program_.append_after(record.thread, op, after);
}

OpIndex RankImporter::add_beside(const TraceRecord& record, std::uint16_t cpu, const Collective& collective,
                                 std::span<const OpIndex> after) {
  Op op = program_.collective(record.thread, collective);
  op.cpu = cpu;
  return add_beside(record, op, after);
}

void RankImporter::wait_for(const TraceRecord& record, std::span<const OpIndex> ops) {
  for (const OpIndex op : ops) program_.join(record.thread, op);
}

void RankImporter::finish(GraphBuilder& builder) {
  account_.finish(elapsed_ns());
  requests_.finish();
  one_sided_.finish();
  program_.finish(builder, options_.keep_wildcards);
  builder.end_rank();
}

}  // namespace weft::goal
