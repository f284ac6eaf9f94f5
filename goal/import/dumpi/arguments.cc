#include "goal/import/dumpi/arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

constexpr std::uint16_t kCommNull = 1, kCommWorld = 2, kCommSelf = 3;
constexpr std::uint32_t kRequestNull = 1;

std::int32_t as_signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }

Function function_at(std::size_t number) {
  static const std::vector<Function> kAll = [] {
    std::vector<Function> all;
    for (const DumpiFunction& function : dumpi_functions()) all.push_back(function_of(function.name));
    return all;
  }();
  return kAll[number];
}

void multiply(std::vector<std::uint64_t>& counts, std::uint64_t size,
              const std::vector<std::uint64_t>& sizes) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] *= i < sizes.size() ? sizes[i] : size;
}

std::uint64_t comm_handle(std::uint32_t number) {
  if (number == kCommWorld) return kWorldHandle;
  if (number == kCommSelf) return kSelfHandle;
  return number <= kCommNull ? kNoHandle : number;
}

}  // namespace

void DumpiArguments::begin(MpiCall& call, std::size_t number) {
  call.record.function = function_at(number);
  call.name = dumpi_functions()[number].name;
  given_ = {};
}

void DumpiArguments::take(MpiCall& call, char what, std::uint32_t value) {
  switch (what) {
    case 'n':
    case 't':
    case 'd':
    case 'g':
    case 'N':
    case 'T':
    case 'D':
    case 'G':
    case 'r':
    case 'V':
    case 'W':
      take_of_message(call, what, value);
      break;
    case 'a':
      given_.numbers.push_back(value);
      break;
    case 'B':
      given_.ranges.back().push_back(value);
      break;
    case 'I':
    case 'i':
      given_.indices.push_back(value);
      given_.has_indices = true;
      break;
    case 'L':
      given_.block_lengths.push_back(value);
      break;
    case 'q':
    case 'Q':
      given_.requests.push_back(value);
      break;
    case 'X':
      given_.types.push_back(types_.size(static_cast<std::uint16_t>(value)));
      break;
    case 'Y':
      given_.receive_types.push_back(types_.size(static_cast<std::uint16_t>(value)));
      break;
    default:
      take_object(call, what, value);
  }
}

void DumpiArguments::take_of_message(MpiCall& call, char what, std::uint32_t number) {
  TraceRecord& record = call.record;
  const std::int32_t value = as_signed(number);
  const bool receives = record.function == Function::kRecv || record.function == Function::kIrecv ||
                        record.function == Function::kRecv_init ||
                        trace::function_info(record.function).shape == Shape::kProbe;
  const auto peer = [&](bool may_be_any) {
    if (value >= 0) return value;
    return may_be_any && value == -1 ? trace::kAnySource : trace::kProcNull;
  };
  switch (what) {
    case 't':
    case 'T':
      (what == 't' ? record.type_size : record.recv_type_size) =
          types_.size(static_cast<std::uint16_t>(number));
      break;
    case 'n':
    case 'N':
      (what == 'n' ? record.count : record.recv_count) = static_cast<std::uint64_t>(std::max(value, 0));
      break;
    case 'V':
    case 'W':
      (what == 'V' ? record.send_bytes : record.recv_bytes).push_back(number);
      break;
    case 'd':
      record.peer = peer(receives);
      break;
    case 'D':
      record.recv_peer = peer(true);
      break;
    case 'g':
    case 'G':
      (what == 'g' ? record.tag : record.recv_tag) = value < 0 ? trace::kAnyTag : value;
      break;
    default:
      record.root = value;
  }
}

void DumpiArguments::take_object(MpiCall& call, char what, std::uint32_t value) {
  const auto number = static_cast<std::uint16_t>(value);
  switch (what) {
    case 'b':
      given_.block_length = value;
      break;
    case 'o':
      given_.taken = number;
      break;
    case 'u':
      given_.made = number;
      given_.makes_type = true;
      break;
    case 'z':
      given_.new_size = value;
      given_.has_size = true;
      break;
    case 'm':
      call.comm = comm_handle(value);
      break;
    case 'h':
      given_.of_world = value == kCommWorld;
      break;
    case 'e':
      call.new_comm = comm_handle(value);
      break;
    case 'p':
      given_.groups[std::min(given_.groups_taken++, 1)] = number;
      break;
    case 'P':
      given_.new_group = number;
      given_.makes_group = true;
      break;
    case 'f':
      given_.flag = value;
      break;
    case 'c':
      call.creation.color = as_signed(value);
      break;
    case 'k':
      call.creation.key = as_signed(value);
      break;
    case 'R':
      given_.commrank = value;
      break;
    default:
      throw std::logic_error(fmt::format("no argument of DUMPI is called '{}'", what));
  }
}

void DumpiArguments::begin_array(char what) {
  if (what == 'I') given_.has_indices = true;
  if (what == 'B') given_.ranges.emplace_back();
}

void DumpiArguments::take_status(const TraceMessage& status, bool cancelled) {
  given_.statuses.push_back(status);
  given_.cancelled.push_back(cancelled);
}

bool DumpiArguments::is_root(const MpiCall& call) const {
  return as_signed(given_.commrank) == call.record.root;
}

void DumpiArguments::finish(MpiCall& call) {
  TraceRecord& record = call.record;
  const bool own_types = !given_.receive_types.empty();  // Alltoallw
  multiply(record.send_bytes, record.type_size, given_.types);
  multiply(record.recv_bytes,
           record.function == Function::kReduce_scatter ? record.type_size : record.recv_type_size,
           own_types ? given_.receive_types : std::vector<std::uint64_t>{});
  const std::uint64_t first_request = given_.requests.empty() ? 0 : given_.requests[0];
  switch (trace::function_info(record.function).shape) {
    case Shape::kRecv:
    case Shape::kSendrecv:
      if (record.function == Function::kSendrecv_replace) {
        record.recv_count = record.count;
        record.recv_type_size = record.type_size;
      }
      keep_status(call);
      break;
    case Shape::kProbe:
      record.flag = given_.flag != 0;
      if (record.flag) keep_status(call);
      break;
    case Shape::kRecvRequest:
      posted_bytes_[first_request] = record.bytes();
      record.request = first_request;
      break;
    case Shape::kSendRequest:
    case Shape::kRequest:
      record.request = first_request;
      break;
    case Shape::kStart:
      record.started = given_.requests;
      break;
    case Shape::kComplete:
      finish_completions(call);
      break;
    case Shape::kCommCreate:
      finish_creation(call);
      break;
    case Shape::kUndecoded:
      if (given_.makes_type || given_.has_size) finish_types(call);
      if (given_.makes_group) finish_groups(call);
      break;
    default:
      break;
  }
}

void DumpiArguments::finish_types(const MpiCall& call) {
  const Given& a = given_;
  if (a.has_size) return types_.set(a.makes_type ? a.made : a.taken, a.new_size);
  const auto named = [&](const char* part) { return call.name.find(part) != std::string::npos; };
  if (named("struct")) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < std::min(a.block_lengths.size(), a.types.size()); ++i) {
      bytes += a.block_lengths[i] * a.types[i];
    }
    return types_.set(a.made, bytes);
  }
  std::uint64_t elements = 1;
  if (named("darray")) return types_.derive(a.made, 0, 0);  // not known
  if (named("subarray")) {
    for (const std::uint32_t n : a.numbers) elements = std::min<std::uint64_t>(elements * n, UINT32_MAX);
  } else if (named("contiguous")) {
    elements = call.record.count;
  } else if (named("vector") || named("indexed_block")) {
    elements = call.record.count * a.block_length;
  } else if (named("indexed")) {
    elements = std::accumulate(a.block_lengths.begin(), a.block_lengths.end(), std::uint64_t{0});
  }
  types_.derive(a.made, a.taken, elements);
}

void DumpiArguments::finish_groups(const MpiCall& call) {
  const Given& a = given_;
  if (a.groups_taken == 2) return groups_.combine(call.name, a.groups[0], a.groups[1], a.new_group);
  if (a.groups_taken == 1) return groups_.select(call.name, a.groups[0], a.numbers, a.ranges, a.new_group);
  if (a.of_world) return groups_.set_world(a.new_group);
  groups_.set_unknown(a.new_group);
}

void DumpiArguments::finish_creation(MpiCall& call) {
  using How = CommCreation::How;
  CommCreation& creation = call.creation;
  switch (call.record.function) {
    case Function::kComm_dup:
      creation.how = How::kSame;
      break;
    case Function::kComm_split:
      creation.how = How::kSplit;
      break;
    case Function::kComm_create:
      if (const DumpiGroups::Members* members = groups_.find(given_.groups[0])) {
        creation.how = How::kGroup;
        creation.members = *members;
      }
      break;
    case Function::kCart_create:
      creation.how = How::kGrid;
      creation.dims = given_.numbers;
      break;
    case Function::kGraph_create:
      creation.how = How::kGrid;
      creation.dims = {static_cast<std::uint32_t>(call.record.count)};
      break;
    case Function::kCart_sub:
      creation.how = How::kSubgrid;
      creation.keep = given_.numbers;
      break;
    default:
      break;
  }
}

void DumpiArguments::finish_completions(MpiCall& call) {
  TraceRecord& record = call.record;
  record.flag = given_.flag != 0;
  record.requests_given = static_cast<std::uint32_t>(given_.requests.size());
  if (!record.flag) return;
  if (!given_.has_indices) {
    for (std::size_t i = 0; i < given_.requests.size(); ++i) complete(call, i, i);
  }
  for (std::size_t i = 0; i < given_.indices.size(); ++i) {
    complete(call, given_.indices[i], i);  // MPI_UNDEFINED is none of the requests
  }
}

void DumpiArguments::complete(MpiCall& call, std::size_t request, std::size_t status) {
  if (request >= given_.requests.size() || given_.requests[request] <= kRequestNull) return;
  TraceCompletion done{.request = given_.requests[request]};
  const auto posted = posted_bytes_.find(done.request);
  if (status < given_.statuses.size()) {
    done.cancelled = given_.cancelled[status];
    // Those of sends hold whatever was there.
    const TraceMessage& message = given_.statuses[status];
    const bool fits = posted != posted_bytes_.end() && message.bytes <= posted->second && message.source >= 0;
    if (fits) done.message = message;
    if (!fits && !done.cancelled && posted != posted_bytes_.end()) ++notes_.strange_statuses;
  }
  call.record.completions.push_back(done);
}

void DumpiArguments::keep_status(MpiCall& call) {
  TraceRecord& record = call.record;
  const Shape shape = trace::function_info(record.function).shape;
  const bool both = shape == Shape::kSendrecv;
  if (given_.statuses.empty() || (both ? record.recv_peer : record.peer) == trace::kProcNull) return;
  const TraceMessage& status = given_.statuses[0];
  const std::uint64_t posted = both ? record.recv_posted_bytes() : record.bytes();
  if ((shape == Shape::kProbe || status.bytes <= posted) && status.source >= 0) {
    record.received = status;
  } else {
    ++notes_.strange_statuses;
  }
}

}  // namespace weft::goal
