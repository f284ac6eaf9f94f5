#include "goal/import/mpi/trace_arguments.h"

#include <fmt/core.h>

#include <algorithm>

namespace weft::goal {

using trace::Function;
using trace::Shape;

namespace {

bool is_probe_for_message(Function f) { return f == Function::kMprobe || f == Function::kImprobe; }

}  // namespace

// `posted`: what the receive asked for; not valid where that isn't known.
void TraceArguments::read_message(TraceMessage& message, std::uint8_t flags, const TraceMessage& posted) {
  if ((flags & trace::kHasMessage) == 0) return;
  const bool as_posted = (flags & trace::kAsPosted) != 0, whole = (flags & trace::kAllAsPosted) != 0;
  if (!posted.valid && (as_posted || whole))
    values_.fail("a message as its receive was posted, which is not known");
  message.valid = true;
  message.source = as_posted ? posted.source : values_.small_signed("source");
  message.tag = as_posted ? posted.tag : values_.small_signed("tag");
  message.bytes = whole ? posted.bytes : values_.varint();
}

void TraceArguments::remember_posted(const TraceRecord& r, const TraceMessage& receive) {
  if (values_.header().version < 3 || receive.source < 0 || receive.tag < 0 || r.error != 0) return;
  posted_[r.request] = {receive, makes_persistent(r.function)};
}

void TraceArguments::read_posted(TraceRecord& r) {
  r.comm = communicators_.read_id();
  r.peer = values_.small_signed("peer");
  r.tag = values_.small_signed("tag");
}

void TraceArguments::read_size(TraceRecord& r) {
  r.count = values_.varint();
  r.type_size = values_.varint();
}

std::uint64_t TraceArguments::read_reference() {
  const std::uint64_t back = values_.varint_at_most(next_request_ - 1, "reference to a request");
  return back == 0 ? trace::kUnknownRequest : next_request_ - back;
}

void TraceArguments::read_polls(TraceRecord& r) {
  r.polls = 1 + values_.varint_at_most(UINT64_MAX - 1, "polls");
  if (r.polls == 1) return;
  const std::uint64_t ns = values_.varint(), all_ns = r.leave_ns - r.enter_ns;
  r.inside_ns = values_.header().version < 4 ? ns : all_ns - std::min(ns, all_ns);
}

void TraceArguments::read_probe(TraceRecord& r) {
  read_posted(r);
  const std::uint8_t bits = values_.byte();
  r.flag = (bits & trace::kFound) != 0;
  read_message(r.received, bits, {});
  if (r.flag && is_probe_for_message(r.function)) r.message = values_.varint();
}

void TraceArguments::read_completions(TraceRecord& r) {
  const std::uint8_t found = values_.byte();
  r.flag = found != trace::kNothingFound;
  r.requests_given =
      found == trace::kFoundOne
          ? 1
          : static_cast<std::uint32_t>(values_.varint_at_most(UINT32_MAX, "number of requests"));
  if (!r.flag) return;
  const auto left = values_.left();
  std::uint64_t n = r.requests_given;
  if (found == trace::kFoundSome) n = values_.varint_at_most(left, "completed requests");
  if (n > left) values_.fail(fmt::format("{} completed requests in a record that is cut", n));
  while (n-- > 0) {
    TraceCompletion& done = r.completions.emplace_back();
    done.request = read_reference();
    const std::uint8_t bits = values_.byte();
    done.cancelled = (bits & trace::kCancelled) != 0;
    const auto posted = posted_.find(done.request);
    read_message(done.message, bits, posted == posted_.end() ? TraceMessage{} : posted->second.message);
    if (posted != posted_.end() && !posted->second.persistent) posted_.erase(posted);
  }
}

void TraceArguments::read_started(TraceRecord& r) {
  std::uint64_t n = values_.length("started requests");
  while (n-- > 0) r.started.push_back(read_reference());
}

void TraceArguments::read_vector(std::vector<std::uint64_t>& values) {
  std::uint64_t n = values_.length("length of a vector");
  while (n-- > 0) values.push_back(values_.varint());
}

void TraceArguments::read_collective(TraceRecord& r) {
  r.comm = communicators_.read_id();
  const std::uint8_t bits = values_.byte();
  r.in_place = (bits & trace::kInPlace) != 0;
  if ((bits & trace::kHasRoot) != 0) r.root = values_.small_signed("root");
  read_size(r);
  if ((bits & trace::kHasReceiveCount) != 0) {
    r.recv_count = values_.varint();
    r.recv_type_size = values_.varint();
  }
  if ((bits & trace::kHasSendVector) != 0) read_vector(r.send_bytes);
  if ((bits & trace::kHasReceiveVector) != 0) read_vector(r.recv_bytes);
}

void TraceArguments::read_matched(Shape shape, TraceRecord& r) {
  r.comm = communicators_.read_id();
  r.message = values_.varint();
  read_size(r);
  if (shape == Shape::kMessageRecv) {
    read_message(r.received, values_.byte(), {});
  } else {
    r.request = next_request_++;
  }
}

void TraceArguments::read_operation(Shape shape, TraceRecord& r) {
  if (shape >= Shape::kNeighbor) return read_neighbors(r);
  read_collective(r);
}

void TraceArguments::read_ranks(std::vector<std::int32_t>& ranks) {
  std::uint64_t n = values_.length("length of a list of ranks");
  while (n-- > 0) ranks.push_back(values_.small_signed("rank"));
}

void TraceArguments::read_neighbors(TraceRecord& r) {
  r.comm = communicators_.read_id();
  read_ranks(r.destinations);
  read_ranks(r.sources);
  const std::uint8_t bits = values_.byte();
  read_size(r);
  r.recv_count = values_.varint();
  r.recv_type_size = values_.varint();
  if ((bits & trace::kHasSendVector) != 0) {
    for (std::size_t i = 0; i < r.destinations.size(); ++i) r.send_bytes.push_back(values_.varint());
  }
  if ((bits & trace::kHasReceiveVector) != 0) {
    for (std::size_t i = 0; i < r.sources.size(); ++i) r.recv_bytes.push_back(values_.varint());
  }
}

void TraceArguments::read_file(Shape shape, TraceRecord& r) {
  read_size(r);
  if (shape == Shape::kFileRequest) r.request = next_request_++;
}

void TraceArguments::read_partitions(Shape shape, TraceRecord& r) {
  constexpr std::uint64_t kMostPartitions = 0x7FFFFFFF;  // they are counted by int
  if (shape == Shape::kPartitionedInit) {
    read_posted(r);
    r.partitions =
        static_cast<std::uint32_t>(values_.varint_at_most(kMostPartitions, "number of partitions"));
    read_size(r);
    r.request = next_request_++;
    return;
  }
  if (shape == Shape::kArrived) {
    r.flag = values_.byte() != 0;
    r.requests_given = static_cast<std::uint32_t>(values_.varint_at_most(UINT32_MAX, "number of requests"));
    if (!r.flag) return;
    r.request = read_reference();
    r.ready.push_back(static_cast<std::uint32_t>(values_.varint_at_most(kMostPartitions, "partition")));
    return;
  }
  r.request = read_reference();
  std::uint64_t n = values_.length("length of a list of partitions");
  std::int64_t partition = 0;
  while (n-- > 0) {
    partition += values_.small_signed("partition");
    if (partition < 0 || partition > static_cast<std::int64_t>(kMostPartitions))
      values_.fail(fmt::format("partition {}", partition));
    r.ready.push_back(static_cast<std::uint32_t>(partition));
  }
}

void TraceArguments::read_one_sided(Shape shape, TraceRecord& r) {
  if (shape == Shape::kWindowCreate) r.comm = communicators_.read_id();
  if (shape == Shape::kWindowTest) r.flag = values_.byte() != 0;
  r.window = values_.varint_at_most(UINT32_MAX, "number of a window");
  switch (shape) {
    case Shape::kWindowCreate:
      r.window_bytes = values_.varint();
      break;
    case Shape::kWindowTarget:
      r.peer = values_.small_signed("target");
      break;
    case Shape::kWindowGroup:
      read_ranks(r.group);
      break;
    case Shape::kOneSided:
    case Shape::kOneSidedRequest:
      r.peer = values_.small_signed("target");
      r.bytes_out = values_.varint();
      r.bytes_in = values_.varint();
      if (shape == Shape::kOneSidedRequest) r.request = next_request_++;
      break;
    default:
      break;
  }
}

void TraceArguments::read_exchange(Shape shape, TraceRecord& r) {
  read_posted(r);
  read_size(r);
  r.recv_peer = values_.small_signed("peer");
  r.recv_tag = values_.small_signed("tag");
  r.recv_count = values_.varint();
  r.recv_type_size = values_.varint();
  const TraceMessage posted{true, r.recv_peer, r.recv_tag, r.recv_posted_bytes()};
  if (shape == Shape::kSendrecv) return read_message(r.received, values_.byte(), posted);
  r.request = next_request_++;
  remember_posted(r, posted);
}

void TraceArguments::read_status(TraceRecord& r) {
  r.flag = values_.byte() != 0;
  r.requests_given = static_cast<std::uint32_t>(values_.varint_at_most(UINT32_MAX, "number of requests"));
  if (r.flag) r.request = read_reference();
}

void TraceArguments::read(Shape shape, TraceRecord& r) {
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
      read_message(r.received, values_.byte(), {true, r.peer, r.tag, r.bytes()});
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
      r.comm = communicators_.read_id();
      if (shape != Shape::kComm) r.new_comm = communicators_.read_id();
      if (shape == Shape::kCommCreateRequest) r.request = next_request_++;
      break;
    case Shape::kDevice:
      read_device(r);
      break;
    default:
      if (shape >= Shape::kPartitionedInit) return read_partitions(shape, r);
      shape >= Shape::kFile ? read_file(shape, r) : read_one_sided(shape, r);
  }
}

void TraceArguments::read_device(TraceRecord& r) {
  r.device.function = static_cast<trace::DeviceFunction>(values_.byte());
  const trace::DeviceFunctionInfo info = trace::device_function_info(r.device.function);
  if (info.name == nullptr) {
    values_.fail_at_last(fmt::format("device call {}: no such call in version {}",
                                     static_cast<unsigned>(r.device.function), trace::kVersion));
  }
  r.name = info.name;
  for (std::size_t i = 0; i < trace::device_field_count(info.shape); ++i) {
    r.device.fields[i] = values_.signed_varint();
  }
}

}  // namespace weft::goal
