// What a record has behind its times: the fields of each shape of call (tracer/format/README.md).
#include <fmt/core.h>

#include <numeric>

#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

using trace::Function;
using trace::Shape;

namespace {

bool is_probe_for_message(Function f) { return f == Function::kMprobe || f == Function::kImprobe; }

}  // namespace

namespace {

std::uint64_t bytes_to_neighbors(const TraceRecord& record) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < record.destinations.size(); ++i) {
    if (record.destinations[i] == trace::kProcNull) continue;
    bytes += record.send_bytes.empty() ? record.bytes() : record.send_bytes[i];
  }
  return bytes;
}

}  // namespace

std::uint64_t moved_bytes(const TraceRecord& record) {
  switch (trace::function_info(record.function).shape) {
    case Shape::kSend:
    case Shape::kSendRequest:
    case Shape::kSendrecv:
    case Shape::kSendrecvRequest:
      return record.peer == trace::kProcNull ? 0 : record.bytes();
    case Shape::kPartitionedInit:
      if (record.function == Function::kPrecv_init || record.peer == trace::kProcNull) return 0;
      return record.partitions * record.bytes();
    case Shape::kFile:
    case Shape::kFileRequest:
      return record.bytes();
    case Shape::kOneSided:
    case Shape::kOneSidedRequest:
      return record.peer == trace::kProcNull ? 0 : record.bytes_out + record.bytes_in;
    case Shape::kCollective:
    case Shape::kCollectiveRequest:
    case Shape::kCollectiveInit:
      return std::accumulate(record.send_bytes.begin(), record.send_bytes.end(), record.bytes());
    case Shape::kNeighbor:
    case Shape::kNeighborRequest:
    case Shape::kNeighborInit:
      return bytes_to_neighbors(record);
    default:
      return 0;
  }
}

bool begins_mpi(Function function) {
  return function == Function::kInit || function == Function::kInit_thread ||
         function == Function::kSession_init;
}

bool ends_mpi(Function function) {
  return function == Function::kFinalize || function == Function::kSession_finalize;
}

bool makes_persistent(Function function) {
  const Shape shape = trace::function_info(function).shape;
  return shape == Shape::kCollectiveInit || shape == Shape::kNeighborInit ||
         shape == Shape::kPartitionedInit ||
         (function >= Function::kSend_init && function <= Function::kRecv_init);
}

// `posted`: what the receive asked for; not valid where that isn't known.
void TraceReader::read_message(TraceMessage& message, std::uint8_t flags, const TraceMessage& posted) {
  if ((flags & trace::kHasMessage) == 0) return;
  const bool as_posted = (flags & trace::kAsPosted) != 0, whole = (flags & trace::kAllAsPosted) != 0;
  if (!posted.valid && (as_posted || whole)) fail("a message as its receive was posted, which is not known");
  message.valid = true;
  message.source = as_posted ? posted.source : small_signed("source");
  message.tag = as_posted ? posted.tag : small_signed("tag");
  message.bytes = whole ? posted.bytes : varint();
}

void TraceReader::remember_posted(const TraceRecord& r, const TraceMessage& receive) {
  if (header_.version < 3 || receive.source < 0 || receive.tag < 0 || r.error != 0) return;
  posted_[r.request] = {receive, makes_persistent(r.function)};
}

void TraceReader::read_posted(TraceRecord& r) {
  r.comm = comm_id();
  r.peer = small_signed("peer");
  r.tag = small_signed("tag");
}

void TraceReader::read_size(TraceRecord& r) {
  r.count = varint();
  r.type_size = varint();
}

std::uint8_t TraceReader::read_flags() {
  if (at_ == chunk_end_) fail("a record that is cut");
  return *at_++;
}

std::uint64_t TraceReader::read_reference() {
  const std::uint64_t back = varint_at_most(next_request_ - 1, "reference to a request");
  return back == 0 ? trace::kUnknownRequest : next_request_ - back;
}

void TraceReader::read_polls(TraceRecord& r) {
  r.polls = 1 + varint_at_most(UINT64_MAX - 1, "polls");
  if (r.polls > 1) r.inside_ns = varint();
}

void TraceReader::read_probe(TraceRecord& r) {
  read_posted(r);
  const std::uint8_t bits = read_flags();
  r.flag = (bits & trace::kFound) != 0;
  if (!r.flag) read_polls(r);
  read_message(r.received, bits, {});
  if (r.flag && is_probe_for_message(r.function)) r.message = varint();
}

void TraceReader::read_completions(TraceRecord& r) {
  const std::uint8_t found = read_flags();
  r.flag = found != trace::kNothingFound;
  r.requests_given = found == trace::kFoundOne
                         ? 1
                         : static_cast<std::uint32_t>(varint_at_most(UINT32_MAX, "number of requests"));
  if (!r.flag) return read_polls(r);
  const auto left = static_cast<std::uint64_t>(chunk_end_ - at_);
  std::uint64_t n = r.requests_given;
  if (found == trace::kFoundSome) n = varint_at_most(left, "completed requests");
  if (n > left) fail(fmt::format("{} completed requests in a record that is cut", n));
  while (n-- > 0) {
    TraceCompletion& done = r.completions.emplace_back();
    done.request = read_reference();
    const std::uint8_t bits = read_flags();
    done.cancelled = (bits & trace::kCancelled) != 0;
    const auto posted = posted_.find(done.request);
    read_message(done.message, bits, posted == posted_.end() ? TraceMessage{} : posted->second.message);
    if (posted != posted_.end() && !posted->second.persistent) posted_.erase(posted);
  }
}

void TraceReader::read_started(TraceRecord& r) {
  std::uint64_t n = varint_at_most(static_cast<std::uint64_t>(chunk_end_ - at_), "started requests");
  while (n-- > 0) r.started.push_back(read_reference());
}

void TraceReader::read_collective(TraceRecord& r) {
  r.comm = comm_id();
  const std::uint8_t bits = read_flags();
  r.in_place = (bits & trace::kInPlace) != 0;
  if ((bits & trace::kHasRoot) != 0) r.root = small_signed("root");
  read_size(r);
  if ((bits & trace::kHasReceiveCount) != 0) {
    r.recv_count = varint();
    r.recv_type_size = varint();
  }
  if ((bits & trace::kHasSendVector) != 0) read_vector(r.send_bytes);
  if ((bits & trace::kHasReceiveVector) != 0) read_vector(r.recv_bytes);
}

void TraceReader::read_matched(Shape shape, TraceRecord& r) {
  r.comm = comm_id();
  r.message = varint();
  read_size(r);
  if (shape == Shape::kMessageRecv) {
    read_message(r.received, read_flags(), {});
  } else {
    r.request = next_request_++;
  }
}

void TraceReader::read_operation(Shape shape, TraceRecord& r) {
  if (shape >= Shape::kNeighbor) return read_neighbors(r);
  read_collective(r);
}

void TraceReader::read_ranks(std::vector<std::int32_t>& ranks) {
  std::uint64_t n = varint_at_most(static_cast<std::uint64_t>(chunk_end_ - at_), "length of a list of ranks");
  while (n-- > 0) ranks.push_back(small_signed("rank"));
}

void TraceReader::read_neighbors(TraceRecord& r) {
  r.comm = comm_id();
  read_ranks(r.destinations);
  read_ranks(r.sources);
  const std::uint8_t bits = read_flags();
  read_size(r);
  r.recv_count = varint();
  r.recv_type_size = varint();
  if ((bits & trace::kHasSendVector) != 0) {
    for (std::size_t i = 0; i < r.destinations.size(); ++i) r.send_bytes.push_back(varint());
  }
  if ((bits & trace::kHasReceiveVector) != 0) {
    for (std::size_t i = 0; i < r.sources.size(); ++i) r.recv_bytes.push_back(varint());
  }
}

void TraceReader::read_file(Shape shape, TraceRecord& r) {
  read_size(r);
  if (shape == Shape::kFileRequest) r.request = next_request_++;
}

void TraceReader::read_partitions(Shape shape, TraceRecord& r) {
  constexpr std::uint64_t kMostPartitions = 0x7FFFFFFF;  // they are counted by int
  if (shape == Shape::kPartitionedInit) {
    read_posted(r);
    r.partitions = static_cast<std::uint32_t>(varint_at_most(kMostPartitions, "number of partitions"));
    read_size(r);
    r.request = next_request_++;
    return;
  }
  if (shape == Shape::kArrived) {
    r.flag = read_flags() != 0;
    r.requests_given = static_cast<std::uint32_t>(varint_at_most(UINT32_MAX, "number of requests"));
    if (!r.flag) return read_polls(r);
    r.request = read_reference();
    r.ready.push_back(static_cast<std::uint32_t>(varint_at_most(kMostPartitions, "partition")));
    return;
  }
  r.request = read_reference();
  std::uint64_t n =
      varint_at_most(static_cast<std::uint64_t>(chunk_end_ - at_), "length of a list of partitions");
  std::int64_t partition = 0;
  while (n-- > 0) {
    partition += small_signed("partition");
    if (partition < 0 || partition > static_cast<std::int64_t>(kMostPartitions))
      fail(fmt::format("partition {}", partition));
    r.ready.push_back(static_cast<std::uint32_t>(partition));
  }
}

void TraceReader::read_one_sided(Shape shape, TraceRecord& r) {
  if (shape == Shape::kWindowCreate) r.comm = comm_id();
  if (shape == Shape::kWindowTest) r.flag = read_flags() != 0;
  r.window = varint_at_most(UINT32_MAX, "number of a window");
  switch (shape) {
    case Shape::kWindowCreate:
      r.window_bytes = varint();
      break;
    case Shape::kWindowTarget:
      r.peer = small_signed("target");
      break;
    case Shape::kWindowGroup:
      read_ranks(r.group);
      break;
    case Shape::kWindowTest:
      if (!r.flag) read_polls(r);
      break;
    case Shape::kOneSided:
    case Shape::kOneSidedRequest:
      r.peer = small_signed("target");
      r.bytes_out = varint();
      r.bytes_in = varint();
      if (shape == Shape::kOneSidedRequest) r.request = next_request_++;
      break;
    default:
      break;
  }
}

void TraceReader::read_exchange(Shape shape, TraceRecord& r) {
  read_posted(r);
  read_size(r);
  r.recv_peer = small_signed("peer");
  r.recv_tag = small_signed("tag");
  r.recv_count = varint();
  r.recv_type_size = varint();
  const TraceMessage posted{true, r.recv_peer, r.recv_tag, r.recv_posted_bytes()};
  if (shape == Shape::kSendrecv) return read_message(r.received, read_flags(), posted);
  r.request = next_request_++;
  remember_posted(r, posted);
}

void TraceReader::read_status(TraceRecord& r) {
  r.flag = read_flags() != 0;
  r.requests_given = static_cast<std::uint32_t>(varint_at_most(UINT32_MAX, "number of requests"));
  if (!r.flag) return read_polls(r);
  r.request = read_reference();
}

void TraceReader::read_arguments(Shape shape, TraceRecord& r) {
  switch (shape) {
    case Shape::kPlain:
      break;
    case Shape::kSend:
    case Shape::kSendRequest:
    case Shape::kRecvRequest:
      read_posted(r);
      read_size(r);
      if (shape != Shape::kSend) r.request = next_request_++;
      if (shape == Shape::kRecvRequest) remember_posted(r, {true, r.peer, r.tag, r.bytes()});
      break;
    case Shape::kRecv:
      read_posted(r);
      read_size(r);
      read_message(r.received, read_flags(), {true, r.peer, r.tag, r.bytes()});
      break;
    case Shape::kSendrecv:
    case Shape::kSendrecvRequest:
      read_exchange(shape, r);
      break;
    case Shape::kStatus:
      read_status(r);
      break;
    case Shape::kProbe:
      read_probe(r);
      break;
    case Shape::kMessageRecv:
    case Shape::kMessageRecvRequest:
      read_matched(shape, r);
      break;
    case Shape::kComplete:
      read_completions(r);
      break;
    case Shape::kStart:
      read_started(r);
      break;
    case Shape::kRequest:
      r.request = read_reference();
      if (r.function == Function::kRequest_free) posted_.erase(r.request);
      break;
    case Shape::kCollective:
    case Shape::kNeighbor:
      read_operation(shape, r);
      break;
    case Shape::kCollectiveRequest:
    case Shape::kCollectiveInit:
    case Shape::kNeighborRequest:
    case Shape::kNeighborInit:
      read_operation(shape, r);
      r.request = next_request_++;
      break;
    case Shape::kCommCreate:
    case Shape::kCommCreateRequest:
    case Shape::kComm:
      r.comm = comm_id();
      if (shape != Shape::kComm) r.new_comm = comm_id();
      if (shape == Shape::kCommCreateRequest) r.request = next_request_++;
      break;
    case Shape::kUndecoded:
      read_name(r);
      break;
    case Shape::kDevice:
      read_device(r);
      break;
    default:
      if (shape >= Shape::kPartitionedInit) return read_partitions(shape, r);
      shape >= Shape::kFile ? read_file(shape, r) : read_one_sided(shape, r);
  }
}

void TraceReader::read_device(TraceRecord& r) {
  r.device.function = static_cast<trace::DeviceFunction>(read_flags());
  const trace::DeviceFunctionInfo info = trace::device_function_info(r.device.function);
  if (info.name == nullptr) {
    --at_;
    fail(fmt::format("device call {}: no such call in version {}", *at_, trace::kVersion));
  }
  r.name = info.name;
  for (std::size_t i = 0; i < trace::device_field_count(info.shape); ++i) {
    r.device.fields[i] = signed_varint();
  }
}

void TraceReader::read_name(TraceRecord& r) {
  const std::uint64_t index = varint();
  if (index >= names_.size()) fail(fmt::format("a call of function {}, which has no name", index));
  r.name = names_[index];
  // A count that follows says the same; but a file that is cut may lack it.
  ++counters_[index].calls;
  counters_[index].ns += r.leave_ns - r.enter_ns;
}

}  // namespace weft::goal
