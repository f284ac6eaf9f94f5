#include "goal/import/mpi/rank_importer.h"

#include <fmt/core.h>

#include <algorithm>
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

bool is_test(Function function) {
  return function == Function::kTest || function == Function::kTestall || function == Function::kTestany ||
         function == Function::kTestsome;
}

bool is_poll(const TraceRecord& record) {
  return is_test(record.function) || record.function == Function::kIprobe ||
         record.function == Function::kImprobe;
}

bool in_vain(const TraceRecord& record) {
  return is_poll(record) && record.completions.empty() &&
         (!record.flag || record.function == Function::kTestsome);
}

bool is_buffered(Function function) {
  return function == Function::kBsend || function == Function::kIbsend || function == Function::kBsend_init;
}

bool is_synchronous(Function function) {
  return function == Function::kSsend || function == Function::kIssend || function == Function::kSsend_init;
}

bool is_persistent(Function function) {
  return function >= Function::kSend_init && function <= Function::kRecv_init;
}

std::uint32_t tag_of(std::int32_t tag) { return tag < 0 ? kAny : static_cast<std::uint32_t>(tag); }

}  // namespace

void RankImporter::add(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  // Nothing stands for these in the replay, so the time inside them stays compute.
  const Shape shape = trace::function_info(record.function).shape;
  const bool over_two_groups = record.comm < known.size() && known[record.comm].inter;
  if (shape == Shape::kUndecoded) return;
  if ((shape == Shape::kCollective || shape == Shape::kCollectiveRequest) && over_two_groups) {
    notes_.add(Note::kIntercommunicatorCollectives);
    return;
  }
  Thread& thread = enter(record);
  if (record.error != 0) notes_.add(Note::kFailedCalls);
  if (record.error != 0 && shape != Shape::kComplete) return;
  switch (shape) {
    case Shape::kPlain:
      if (record.function == Function::kInit || record.function == Function::kInit_thread) {
        init_ns_ = region_begin_ns_ = record.leave_ns;
        thread.pending_ns = 0;
      }
      if (record.function == Function::kFinalize) flush(thread, static_cast<std::uint16_t>(record.thread));
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
      sendrecv(thread, record, known);
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
      complete(thread, record);
      break;
    case Shape::kStart:
      start(thread, record);
      break;
    case Shape::kRequest:
      // A freed operation goes on, but nothing waits for it. What Cancel did shows when the request
      // completes.
      if (record.function == Function::kRequest_free) requests_.erase(record.request);
      break;
    case Shape::kCollective:
    case Shape::kCollectiveRequest:
      collective(thread, record, known);
      break;
    case Shape::kCommCreate:
    case Shape::kCommCreateRequest:
      create_communicator(thread, record, known);
      break;
    case Shape::kComm:
    case Shape::kUndecoded:
      break;
  }
  if (record.thread == 0) {
    const Before join = thread.joins.empty() ? Before{} : thread.joins.back();
    main_points_.push_back({record.leave_ns, thread.point, join});
  }
}

// Accounts for the time since the thread's last call.
RankImporter::Thread& RankImporter::enter(const TraceRecord& record) {
  if (!is_inside()) notes_.add(Note::kOutsideRegion);
  if (record.thread > 0xFFFF) throw InputError("more than 65536 threads made MPI calls");
  if (threads_.size() <= record.thread) threads_.resize(record.thread + 1);
  Thread& thread = threads_[record.thread];
  if (!thread.seen) fork(thread, record.enter_ns);
  const std::uint64_t gap =
      record.enter_ns > thread.last_leave_ns ? record.enter_ns - thread.last_leave_ns : 0;
  if (thread.polling && is_poll(record) && gap <= options_.poll_gap_ns) {
    notes_.add(Note::kPollingNs, gap);
  } else {
    if (thread.polling && is_poll(record)) notes_.add(Note::kComputeBetweenPollsNs, gap);
    if (is_inside()) thread.pending_ns += gap;
  }
  thread.polling = in_vain(record);
  if (thread.polling) {
    // The tracer may have joined many polls to one record; the gaps between them were short.
    notes_.add(Note::kPolls, record.polls);
    if (record.polls > 1) notes_.add(Note::kPollingNs, record.leave_ns - record.enter_ns - record.inside_ns);
  }
  thread.last_leave_ns = record.leave_ns;
  last_ns_ = std::max(last_ns_, record.function == Function::kFinalize ? record.enter_ns : record.leave_ns);
  return thread;
}

// Time outside of the region is no compute: what a thread did since its last call counts up to the end, and
// from the begin on.
void RankImporter::region(const TraceRegionEvent& event) {
  if (event.name != options_.region || (!event.begin && inside_ == 0)) return;
  const bool begins = event.begin && inside_ == 0, ends = !event.begin && inside_ == 1;
  if (begins) region_begin_ns_ = event.at_ns;
  if (ends) region_ns_ += event.at_ns - std::min(event.at_ns, region_begin_ns_);
  for (Thread& thread : threads_) {
    if ((!begins && !ends) || !thread.seen) continue;
    const std::uint64_t since = std::max(event.at_ns, thread.last_leave_ns);
    if (ends) {
      thread.pending_ns += since - thread.last_leave_ns;
      flush(thread, static_cast<std::uint16_t>(&thread - threads_.data()));
    }
    thread.last_leave_ns = since;
    thread.polling = false;
  }
  event.begin ? ++inside_ : --inside_;
}

std::uint64_t RankImporter::elapsed_ns() const {
  const std::uint64_t all = last_ns_ > init_ns_ ? last_ns_ - init_ns_ : 0;
  if (options_.region.empty()) return all;
  return region_ns_ + (is_inside() && last_ns_ > region_begin_ns_ ? last_ns_ - region_begin_ns_ : 0);
}

// A thread begins where thread 0 was, in program order, when the new one made its first call.
void RankImporter::fork(Thread& thread, std::uint64_t enter_ns) {
  thread.seen = true;
  thread.last_leave_ns = enter_ns;
  auto after = std::upper_bound(main_points_.begin(), main_points_.end(), enter_ns,
                                [](std::uint64_t ns, const MainPoint& point) { return ns < point.leave_ns; });
  if (after == main_points_.begin()) return;
  --after;
  thread.point = after->point;
  if (after->last_join.op != kNone) thread.joins = {after->last_join};
  thread.last_leave_ns = after->leave_ns;
  if (!options_.region.empty()) thread.last_leave_ns = std::max(thread.last_leave_ns, region_begin_ns_);
}

void RankImporter::flush(Thread& thread, std::uint16_t cpu) {
  if (thread.pending_ns == 0) return;
  const Op calc{.kind = OpKind::kCalc, .cpu = cpu, .value = thread.pending_ns};
  thread.pending_ns = 0;  // before append(), which flushes
  blocking(thread, calc);
}

// Adds an operation that waits for all that the thread has waited for so far.
OpIndex RankImporter::append(Thread& thread, const Op& op) {
  flush(thread, op.cpu);
  const auto index = static_cast<OpIndex>(ops_.size());
  if (index >= 0x7FFFFFFFu) throw InputError("a rank has more than 2^31 - 1 operations");
  ops_.push_back(op);
  if (thread.point.op != kNone) edges_.push_back({thread.point.op, index, thread.point.on_start});
  for (const Before& before : thread.joins) edges_.push_back({before.op, index, before.on_start});
  thread.joins.clear();
  thread.point = {kNone, false};
  return index;
}

// The program goes on when the operation has started.
OpIndex RankImporter::nonblocking(Thread& thread, const Op& op) {
  if (!is_inside()) return kNone;
  const OpIndex index = append(thread, op);
  thread.point = {index, true};
  return index;
}

// The thread's next operation waits for `op` to finish.
void RankImporter::join(Thread& thread, std::uint16_t cpu, OpIndex op) {
  flush(thread, cpu);
  if (thread.point.op == op) {
    thread.point.on_start = false;
  } else {
    thread.joins.push_back({op, false});
  }
}

// Is a message to or from `peer` an operation? Not with MPI_PROC_NULL.
bool RankImporter::is_operation(std::int32_t peer) {
  if (peer == trace::kProcNull) return false;
  if (peer < 0 && peer != trace::kAnySource) {
    notes_.add(Note::kOutsideWorld);
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
  return {.kind = OpKind::kSend,
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
    nonblocking(thread, op);
  } else {
    blocking(thread, op);
  }
}

void RankImporter::recv(Thread& thread, const TraceRecord& record,
                        const std::vector<TraceCommunicator>& known) {
  if (!is_operation(record.peer)) return;
  if (record.received.valid && !is_operation(record.received.source)) return;
  Op op = recv_of(record, record.peer, record.tag, record.bytes(), known);
  resolve(op, record.received);
  blocking(thread, op);
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
  if (!is_inside()) return;
  if (receives && !sends) blocking(thread, received);
  if (sends && !receives) blocking(thread, send_of(record, known));
  if (!sends || !receives) return;
  flush(thread, received.cpu);
  const Before point = thread.point;
  const std::vector<Before> joins = thread.joins;
  const OpIndex first = append(thread, received);
  thread.point = point;
  thread.joins = joins;
  blocking(thread, send_of(record, known));
  thread.joins.push_back({first, false});
}

void RankImporter::make_request(Thread& thread, const TraceRecord& record,
                                const std::vector<TraceCommunicator>& known) {
  Request request;
  request.persistent = is_persistent(record.function);
  request.local = is_buffered(record.function);
  request.operation = is_operation(record.peer);
  if (request.operation) {
    const bool receives = trace::function_info(record.function).shape == Shape::kRecvRequest;
    request.prototype =
        receives ? recv_of(record, record.peer, record.tag, record.bytes(), known) : send_of(record, known);
    if (!request.persistent) request.op = nonblocking(thread, request.prototype);
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
    if (operation) blocking(thread, op);
    return;
  }
  Request request;
  request.operation = operation;
  if (operation) request.op = nonblocking(thread, op);
  requests_[record.request] = request;
}

void RankImporter::complete(Thread& thread, const TraceRecord& record) {
  for (const TraceCompletion& completion : record.completions) {
    const auto found = requests_.find(completion.request);
    if (found == requests_.end()) {
      notes_.add(Note::kUnknownCompletions);
      continue;
    }
    Request& request = found->second;
    const OpIndex op = std::exchange(request.op, kNone);
    const bool local = request.local;
    if (!request.persistent) requests_.erase(found);
    if (op == kNone) continue;
    if (completion.cancelled) {
      notes_.add(Note::kCancelled);
      erase(op);
      continue;
    }
    if (ops_[op].kind == OpKind::kRecv && completion.message.valid) {
      if (is_operation(completion.message.source)) {
        resolve(ops_[op], completion.message);
      } else {
        erase(op);
      }
    }
    if (!local) join(thread, static_cast<std::uint16_t>(record.thread), op);
  }
}

void RankImporter::start(Thread& thread, const TraceRecord& record) {
  for (const std::uint64_t number : record.started) {
    const auto found = requests_.find(number);
    if (found == requests_.end()) {
      notes_.add(Note::kUnknownCompletions);
      continue;
    }
    Request& request = found->second;
    if (!request.operation) continue;
    Op op = request.prototype;
    op.cpu = static_cast<std::uint16_t>(record.thread);
    request.op = nonblocking(thread, op);
  }
}

Op RankImporter::collective_op(const TraceRecord& record, const Collective& collective) {
  if (collectives_.empty() || collectives_.back() != collective) collectives_.push_back(collective);
  return {.kind = OpKind::kCollective,
          .cpu = static_cast<std::uint16_t>(record.thread),
          .comm = collective.comm,
          .value = collectives_.size() - 1};
}

// No MPI program has another root, or other counts, than its communicator has ranks.
void RankImporter::check_fits(const Collective& collective, const TraceCommunicator& communicator) {
  const std::size_t ranks = communicator.ranks.size();
  if (collective.root >= ranks) {
    throw InputError(fmt::format("root {} in a communicator of {} ranks", collective.root, ranks));
  }
  for (const auto* counts : {&collective.counts, &collective.receive_counts}) {
    if (counts->empty() || counts->size() == ranks) continue;
    throw InputError(fmt::format("{} counts in a communicator of {} ranks", counts->size(), ranks));
  }
  const bool two_lists = collective.kind == CollectiveKind::kAlltoall;
  if (two_lists && collective.counts.empty() != collective.receive_counts.empty()) {
    throw InputError("counts of what is sent or of what is received, but not of both");
  }
}

void RankImporter::collective(Thread& thread, const TraceRecord& record,
                              const std::vector<TraceCommunicator>& known) {
  const bool alone = record.comm < known.size() && known[record.comm].ranks.size() == 1;
  OpIndex index = kNone;
  const bool has_request = trace::function_info(record.function).shape == Shape::kCollectiveRequest;
  Collective collective = collective_of(record);
  // Roots and counts are by ranks of the communicator, of which the graph has those in the world only.
  const bool by_rank = record.root >= 0 || !collective.counts.empty();
  const bool outside = by_rank && record.comm < known.size() && known[record.comm].outside;
  if (outside) notes_.add(Note::kOutsideWorld);
  if (!alone && !outside) {
    collective.comm = communicators_.graph_number(known, record.comm);
    check_fits(collective, known[record.comm]);
    const Op op = collective_op(record, collective);
    if (has_request) {
      index = nonblocking(thread, op);
    } else {
      blocking(thread, op);
    }
  }
  if (has_request) requests_[record.request] = Request{.op = index};
}

// The members agree on a context, which needs a small allreduce; what an implementation sends besides is left
// out.
void RankImporter::create_communicator(Thread& thread, const TraceRecord& record,
                                       const std::vector<TraceCommunicator>& known) {
  if (trace::function_info(record.function).shape == Shape::kCommCreateRequest) {
    requests_[record.request] = Request{};
  }
  // Only the members of the new one call MPI_Comm_create_group.
  const bool by_group = record.function == Function::kComm_create_group;
  const std::uint32_t over = by_group ? record.new_comm : record.comm;
  if (over >= known.size() || known[over].inter || known[over].ranks.size() < 2) return;
  if (record.function == Function::kIntercomm_create) return;
  Collective agreement{.kind = CollectiveKind::kAllreduce,
                       .comm = communicators_.graph_number(known, over),
                       .bytes = kAgreementBytes,
                       .element_bytes = kAgreementBytes};
  notes_.add(Note::kCommunicatorCreations);
  const Op op = collective_op(record, agreement);
  if (trace::function_info(record.function).shape == Shape::kCommCreateRequest) {
    requests_[record.request].op = nonblocking(thread, op);
  } else {
    blocking(thread, op);
  }
}

void RankImporter::finish(GraphBuilder& builder) {
  for (Thread& thread : threads_) {
    flush(thread, static_cast<std::uint16_t>(&thread - threads_.data()));
  }
  for (const Op& op : ops_) {
    if (op.kind == OpKind::kCollective) {
      builder.add_collective(collectives_[op.value], op.cpu);
    } else {
      const bool wild = op.kind == OpKind::kRecv && (op.peer == kAny || op.tag == kAny);
      if (wild && !options_.keep_wildcards) notes_.add(Note::kUnresolvedWildcards);
      builder.add(op);
    }
  }
  for (const EdgeRecord& edge : edges_) builder.add_edge(edge.first, edge.dependent, edge.on_start);
  builder.end_rank();
}

}  // namespace weft::goal
