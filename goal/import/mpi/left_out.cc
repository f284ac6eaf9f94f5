#include "goal/import/mpi/left_out.h"

#include <algorithm>
#include <numeric>

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

// What it moves itself: of persistent operations nothing, each Start does that.
std::uint64_t given_bytes(const TraceRecord& record) {
  return makes_persistent(record.function) ? 0 : moved_bytes(record);
}

// Is one of its processes outside of the world?
bool reaches_outside(const TraceCommunicator& communicator) {
  return communicator.outside ||
         std::any_of(communicator.remote_ranks.begin(), communicator.remote_ranks.end(), is_outside);
}

bool reaches_outside(const std::vector<TraceCommunicator>& known, std::uint32_t id) {
  return id < known.size() && reaches_outside(known[id]);
}

// Do these make their request of the new communicator's ranks alone?
bool is_made_by_group(Function function) {
  return function == Function::kComm_create_group || function == Function::kComm_create_from_group ||
         function == Function::kIntercomm_create;
}

}  // namespace

std::uint32_t agreeing(const TraceRecord& record) {
  return is_made_by_group(record.function) ? record.new_comm : record.comm;
}

bool makes_request(Shape shape) {
  switch (shape) {
    case Shape::kSendRequest:
    case Shape::kRecvRequest:
    case Shape::kSendrecvRequest:
    case Shape::kMessageRecvRequest:
    case Shape::kCollectiveRequest:
    case Shape::kCollectiveInit:
    case Shape::kNeighborRequest:
    case Shape::kNeighborInit:
    case Shape::kCommCreateRequest:
    case Shape::kFileRequest:
      return true;
    default:
      return false;
  }
}

bool is_with_outside(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
  switch (trace::function_info(record.function).shape) {
    case Shape::kCollective:
    case Shape::kCollectiveRequest:
    case Shape::kCollectiveInit:
    case Shape::kNeighbor:
    case Shape::kNeighborRequest:
    case Shape::kNeighborInit:
      return reaches_outside(known, record.comm);
    case Shape::kCommCreate:
    case Shape::kCommCreateRequest:
      return reaches_outside(known, agreeing(record));
    case Shape::kComm:
      return record.function == Function::kComm_disconnect && reaches_outside(known, record.comm);
    case Shape::kSend:
    case Shape::kSendRequest:
    case Shape::kRecvRequest:
      return is_outside(record.peer);
    case Shape::kRecv:
    case Shape::kProbe:
    case Shape::kMessageRecv:
      return is_outside(record.received.valid ? record.received.source : record.peer);
    case Shape::kSendrecv:
    case Shape::kSendrecvRequest: {
      const std::int32_t source = record.received.valid ? record.received.source : record.recv_peer;
      const bool none_here = record.peer < 0 && source < 0 && source != trace::kAnySource;
      return none_here && (is_outside(record.peer) || is_outside(source));
    }
    default:
      return false;
  }
}

void CallAccount::add(const TraceCounter& counter) {
  // Counters are written now and then, records one by one: of a trace that was cut either may know more.
  Undecoded& known = undecoded_[counter.name];
  if (counter.calls > known.calls) known = {counter.calls, counter.ns};
}

void CallAccount::add(const TraceRecord& record) {
  switch (trace::function_info(record.function).shape) {
    case Shape::kPlain:
    case Shape::kComm:
      return;
    case Shape::kUndecoded: {
      auto found = undecoded_.find(record.name);
      if (found == undecoded_.end()) found = undecoded_.emplace(record.name, Undecoded{}).first;
      ++found->second.calls;
      found->second.ns += record.inside_ns;
      return;  // counted with the others of its name in the end
    }
    default:
      ++sums_.all_calls;
      sums_.all_bytes += given_bytes(record);
  }
}

void CallAccount::leave_out(const TraceRecord& record) {
  if (trace::function_info(record.function).shape == Shape::kComm) ++sums_.all_calls;  // else not counted
  sums_.add(record.function_name(), 1, given_bytes(record), record.inside_ns);
}

void CallAccount::finish(std::uint64_t elapsed_ns) {
  sums_.all_time_ns += elapsed_ns;
  for (const auto& [name, undecoded] : undecoded_) {
    sums_.add(name, undecoded.calls, 0, undecoded.ns);
    sums_.all_calls += undecoded.calls;
  }
}

}  // namespace weft::goal
