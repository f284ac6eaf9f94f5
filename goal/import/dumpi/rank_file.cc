#include "goal/import/dumpi/rank_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "goal/import/dumpi/layout.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

// Bits of a record's mask.
constexpr std::uint8_t kHasStatuses = 3, kHasCpuTime = 4, kHasWallTime = 8, kHasThread = 64,
                       kHasCounters = 128;
constexpr std::uint16_t kCommNull = 1, kCommWorld = 2, kCommSelf = 3;
constexpr std::uint32_t kRequestNull = 1;
constexpr std::uint64_t kIndexNumbers = 8, kIndexBytes = 8 * kIndexNumbers;

std::int32_t as_signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }

Function function_at(std::uint16_t number) {
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

}  // namespace

DumpiRankFile::DumpiRankFile(const std::string& path, Rank world_size, DumpiNotes& notes)
    : path_(path), file_(path), bytes_(file_.bytes()), notes_(notes), types_({}), groups_(world_size) {
  if (!bytes_.starts_with(kDumpiMagic)) {
    throw InputError({path_, 0, 0, 0}, "no DUMPI trace: it does not begin with the bytes ff aa dd 44 'UMPI'");
  }
  read_index();
}

// The last 64 bytes: the magic number, and where the parts of the file are.
void DumpiRankFile::read_index() {
  end_ = bytes_.size();
  if (bytes_.size() < kIndexBytes + kDumpiMagic.size() ||
      !bytes_.substr(bytes_.size() - kIndexBytes).starts_with(kDumpiMagic)) {
    throw InputError({path_, 0, 0, static_cast<std::int64_t>(bytes_.size())},
                     "the index at the end is missing: the file was cut, or is older than DUMPI 0.6.6");
  }
  at_ = bytes_.size() - kIndexBytes + 8;
  const std::uint64_t sizes = u64();
  at_ += 16;  // addresses of functions, names of counters
  const std::uint64_t header = u64(), body = u64(), footer = u64();
  for (const std::uint64_t place : {sizes, header, body, footer}) {
    if (place > bytes_.size() - kIndexBytes) fail(fmt::format("an index with byte {}, past the end", place));
  }
  if (header == 0 || body == 0 || footer < body) fail("an index without header, body or footer");
  at_ = header;
  for (std::uint8_t& part : version_) part = u8();
  constexpr std::array<std::uint8_t, 3> kOldest = {0, 6, 9};
  if (version_ < kOldest) {
    at_ = header;
    fail(
        fmt::format("version {}.{}.{}; files are read from 0.6.9 on", version_[0], version_[1], version_[2]));
  }
  if (sizes != 0) {
    at_ = sizes;
    std::vector<std::uint64_t> table(length(4));
    for (std::uint64_t& size : table) size = u32();
    types_ = DumpiTypes(std::move(table));
  }
  at_ = body;
  end_ = footer;
  cpu_offset_ = u32();
  wall_offset_ = u32();
}

bool DumpiRankFile::next(MpiCall& call) {
  while (!ended_) {
    record_at_ = at_;
    if (at_ >= end_) fail("the end of the calls; expected the record that says so");
    const std::uint16_t number = u16();
    if (number == kDumpiEnd) break;
    const bool is_call = number < dumpi_functions().size();
    const bool of_user = number == kDumpiFunctionEnter || number == kDumpiFunctionExit;
    if (!of_user && (!is_call || dumpi_functions()[number].layout == nullptr)) {
      at_ = record_at_;
      fail(fmt::format("function {}, which no DUMPI tracer writes", number));
    }
    call.clear();
    const std::uint8_t mask = u8();
    read_times(call, mask);
    if (of_user) {
      skip_bytes(8);
      continue;
    }
    const DumpiFunction& function = dumpi_functions()[number];
    call.record.function = function_at(number);
    call.name = function.name;
    arguments_ = {};
    read_arguments(call, function.layout, mask);
    finish_call(call);
    return true;
  }
  notes_.unknown_types += std::exchange(ended_, true) ? 0 : types_.unknown();
  return false;
}

void DumpiRankFile::read_times(MpiCall& call, std::uint8_t mask) {
  if ((mask & kHasThread) != 0) {
    call.record.thread =
        threads_.try_emplace(u16(), static_cast<std::uint32_t>(threads_.size())).first->second;
  }
  const auto time = [&] {
    const std::uint64_t second = u16();
    return second * 1'000'000'000 + u32();
  };
  std::uint64_t start = 0, stop = 0;
  for (const std::uint8_t clock : {kHasCpuTime, kHasWallTime}) {  // the wall's counts, if there are both
    if ((mask & clock) == 0) continue;
    start = time();
    stop = time();
  }
  notes_.without_time += (mask & (kHasCpuTime | kHasWallTime)) == 0;
  // Seconds are counted in 16 bits: 18 hours.
  constexpr std::uint64_t kWrap = 65'536'000'000'000;
  for (std::uint64_t* value : {&start, &stop}) {
    *value += second_wraps_;
    if (*value + kWrap / 2 < last_second_) {
      second_wraps_ += kWrap;
      *value += kWrap;
    }
    last_second_ = std::max(last_second_, *value);
  }
  call.record.enter_ns = start;
  call.record.leave_ns = stop;
  if ((mask & kHasCounters) != 0) skip_bytes(std::uint64_t{u8()} * 16);
}

void DumpiRankFile::read_arguments(MpiCall& call, const char* layout, std::uint8_t mask) {
  for (; *layout != '\0'; ++layout) {
    if (*layout == '?') {
      ++layout;
      if (as_signed(arguments_.commrank) != call.record.root) continue;
    }
    switch (*layout) {
      case '1':
      case '2':
      case '4':
      case '8':
      case 'A':
      case 'E':
      case 'S':
      case 'Z':
      case '3':
        skip(*layout);
        break;
      case 's':
        if ((mask & kHasStatuses) != 0) read_statuses();
        break;
      case 'a':
      case 'B':
      case 'I':
      case 'L':
      case 'Q':
      case 'V':
      case 'W':
      case 'X':
      case 'Y':
        read_array(call, *layout);
        break;
      case 'n':
      case 't':
      case 'd':
      case 'g':
      case 'N':
      case 'T':
      case 'D':
      case 'G':
      case 'r':
        read_message_argument(call, *layout);
        break;
      default:
        read_object_argument(call, *layout);
    }
  }
}

void DumpiRankFile::read_message_argument(MpiCall& call, char what) {
  TraceRecord& record = call.record;
  const bool is_type = what == 't' || what == 'T';
  if (is_type) {
    (what == 't' ? record.type_size : record.recv_type_size) = types_.size(u16());
    return;
  }
  const std::int32_t value = as_signed(u32());
  const bool receives = record.function == Function::kRecv || record.function == Function::kIrecv ||
                        record.function == Function::kRecv_init ||
                        trace::function_info(record.function).shape == Shape::kProbe;
  const auto peer = [&](bool may_be_any) {
    if (value >= 0) return value;
    return may_be_any && value == -1 ? trace::kAnySource : trace::kProcNull;
  };
  switch (what) {
    case 'n':
      record.count = static_cast<std::uint64_t>(std::max(value, 0));
      break;
    case 'N':
      record.recv_count = static_cast<std::uint64_t>(std::max(value, 0));
      break;
    case 'd':
      record.peer = peer(receives);
      break;
    case 'D':
      record.recv_peer = peer(true);
      break;
    case 'g':
      record.tag = value < 0 ? trace::kAnyTag : value;
      break;
    case 'G':
      record.recv_tag = value < 0 ? trace::kAnyTag : value;
      break;
    default:
      record.root = value;
  }
}

void DumpiRankFile::read_object_argument(MpiCall& call, char what) {
  Arguments& arguments = arguments_;
  switch (what) {
    case 'b':
      arguments.block_length = u32();
      break;
    case 'o':
      arguments.taken = u16();
      break;
    case 'u':
      arguments.made = u16();
      arguments.makes_type = true;
      break;
    case 'z':
      arguments.new_size = u32();
      arguments.has_size = true;
      break;
    case 'm':
      call.comm = comm_handle(u16());
      break;
    case 'h':
      arguments.of_world = u16() == kCommWorld;
      break;
    case 'e':
      call.new_comm = comm_handle(u16());
      break;
    case 'p':
      arguments.groups[std::min(arguments.groups_taken++, 1)] = u16();
      break;
    case 'P':
      arguments.new_group = u16();
      arguments.makes_group = true;
      break;
    case 'q':
      arguments.requests.push_back(u32());
      break;
    case 'f':
      arguments.flag = u32();
      break;
    case 'i':
      arguments.indices.push_back(u32());
      arguments.has_indices = true;
      break;
    case 'c':
      call.creation.color = as_signed(u32());
      break;
    case 'k':
      call.creation.key = as_signed(u32());
      break;
    case 'R':
      arguments.commrank = u32();
      break;
    default:
      throw std::logic_error(fmt::format("no argument of DUMPI is called '{}'", what));
  }
}

void DumpiRankFile::read_array(MpiCall& call, char what) {
  const bool of_types = what == 'X' || what == 'Y';
  std::uint32_t count = length(of_types ? 2 : 4);
  if (what == 'I') arguments_.has_indices = true;
  for (; count > 0; --count) {
    switch (what) {
      case 'a':
        arguments_.numbers.push_back(u32());
        break;
      case 'B': {
        std::vector<std::uint32_t>& range = arguments_.ranges.emplace_back();
        for (std::uint32_t n = length(4); n > 0; --n) range.push_back(u32());
        break;
      }
      case 'I':
        arguments_.indices.push_back(u32());
        break;
      case 'L':
        arguments_.block_lengths.push_back(u32());
        break;
      case 'Q':
        arguments_.requests.push_back(u32());
        break;
      case 'V':
        call.record.send_bytes.push_back(u32());
        break;
      case 'W':
        call.record.recv_bytes.push_back(u32());
        break;
      default:
        (what == 'X' ? arguments_.types : arguments_.receive_types).push_back(types_.size(u16()));
    }
  }
}

void DumpiRankFile::skip(char what) {
  switch (what) {
    case 'A':
      return skip_bytes(std::uint64_t{length(4)} * 4);
    case 'E':
    case 'S':
      return skip_bytes(length(1));
    case 'Z':
      for (std::uint32_t n = length(4); n > 0; --n) skip_bytes(length(1));
      return;
    case '3':
      for (std::uint32_t n = length(4); n > 0; --n) skip('Z');
      return;
    default:
      skip_bytes(static_cast<std::uint64_t>(what - '0'));
  }
}

void DumpiRankFile::read_statuses() {
  constexpr std::uint32_t kStatusBytes = 14;
  for (std::uint32_t n = length(kStatusBytes); n > 0; --n) {
    TraceMessage status{.valid = true};
    status.bytes = u32();
    status.source = as_signed(u32());
    arguments_.cancelled.push_back(u8() != 0);
    skip_bytes(1);
    status.tag = as_signed(u32());
    arguments_.statuses.push_back(status);
  }
}

void DumpiRankFile::finish_call(MpiCall& call) {
  TraceRecord& record = call.record;
  const bool own_types = !arguments_.receive_types.empty();  // Alltoallw
  multiply(record.send_bytes, record.type_size, arguments_.types);
  multiply(record.recv_bytes,
           record.function == Function::kReduce_scatter ? record.type_size : record.recv_type_size,
           own_types ? arguments_.receive_types : std::vector<std::uint64_t>{});
  const std::uint64_t first_request = arguments_.requests.empty() ? 0 : arguments_.requests[0];
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
      record.flag = arguments_.flag != 0;
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
      record.started = arguments_.requests;
      break;
    case Shape::kComplete:
      finish_completions(call);
      break;
    case Shape::kCommCreate:
      finish_creation(call);
      break;
    case Shape::kUndecoded:
      if (arguments_.makes_type || arguments_.has_size) finish_types(call);
      if (arguments_.makes_group) finish_groups(call);
      break;
    default:
      break;
  }
}

void DumpiRankFile::finish_types(const MpiCall& call) {
  const Arguments& a = arguments_;
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

void DumpiRankFile::finish_groups(const MpiCall& call) {
  const Arguments& a = arguments_;
  if (a.groups_taken == 2) return groups_.combine(call.name, a.groups[0], a.groups[1], a.new_group);
  if (a.groups_taken == 1) return groups_.select(call.name, a.groups[0], a.numbers, a.ranges, a.new_group);
  if (a.of_world) return groups_.set_world(a.new_group);
  groups_.set_unknown(a.new_group);
}

void DumpiRankFile::finish_creation(MpiCall& call) {
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
      if (const DumpiGroups::Members* members = groups_.find(arguments_.groups[0])) {
        creation.how = How::kGroup;
        creation.members = *members;
      }
      break;
    case Function::kCart_create:
      creation.how = How::kGrid;
      creation.dims = arguments_.numbers;
      break;
    case Function::kGraph_create:
      creation.how = How::kGrid;
      creation.dims = {static_cast<std::uint32_t>(call.record.count)};
      break;
    case Function::kCart_sub:
      creation.how = How::kSubgrid;
      creation.keep = arguments_.numbers;
      break;
    default:
      break;
  }
}

void DumpiRankFile::finish_completions(MpiCall& call) {
  TraceRecord& record = call.record;
  record.flag = arguments_.flag != 0;
  record.requests_given = static_cast<std::uint32_t>(arguments_.requests.size());
  if (!record.flag) return;
  if (!arguments_.has_indices) {
    for (std::size_t i = 0; i < arguments_.requests.size(); ++i) complete(call, i, i);
  }
  for (std::size_t i = 0; i < arguments_.indices.size(); ++i) {
    complete(call, arguments_.indices[i], i);  // MPI_UNDEFINED is none of the requests
  }
}

void DumpiRankFile::complete(MpiCall& call, std::size_t request, std::size_t status) {
  if (request >= arguments_.requests.size() || arguments_.requests[request] <= kRequestNull) return;
  TraceCompletion done{.request = arguments_.requests[request]};
  const auto posted = posted_bytes_.find(done.request);
  if (status < arguments_.statuses.size()) {
    done.cancelled = arguments_.cancelled[status];
    // Those of sends hold whatever was there.
    const TraceMessage& message = arguments_.statuses[status];
    const bool fits = posted != posted_bytes_.end() && message.bytes <= posted->second && message.source >= 0;
    if (fits) done.message = message;
    if (!fits && !done.cancelled && posted != posted_bytes_.end()) ++notes_.strange_statuses;
  }
  call.record.completions.push_back(done);
}

void DumpiRankFile::keep_status(MpiCall& call) {
  TraceRecord& record = call.record;
  const Shape shape = trace::function_info(record.function).shape;
  const bool both = shape == Shape::kSendrecv;
  if (arguments_.statuses.empty() || (both ? record.recv_peer : record.peer) == trace::kProcNull) return;
  const TraceMessage& status = arguments_.statuses[0];
  const std::uint64_t posted = both ? record.recv_posted_bytes() : record.bytes();
  if ((shape == Shape::kProbe || status.bytes <= posted) && status.source >= 0) {
    record.received = status;
  } else {
    ++notes_.strange_statuses;
  }
}

std::uint8_t DumpiRankFile::u8() {
  if (at_ >= bytes_.size()) fail("the end of the file, in a record");
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint16_t DumpiRankFile::u16() {
  const auto high = static_cast<std::uint16_t>(u8() << 8);
  return static_cast<std::uint16_t>(high | u8());
}

std::uint32_t DumpiRankFile::u32() {
  const auto high = static_cast<std::uint32_t>(u16()) << 16;
  return high | u16();
}

std::uint64_t DumpiRankFile::u64() {
  const auto high = static_cast<std::uint64_t>(u32()) << 32;
  return high | u32();
}

std::uint32_t DumpiRankFile::length(std::uint32_t bytes) {
  const std::uint32_t count = u32();
  if (as_signed(count) < 0) return 0;  // tracers write what the program passed
  if (count > (bytes_.size() - at_) / bytes) {
    at_ -= 4;
    fail(fmt::format("an array of {}, longer than the file", count));
  }
  return count;
}

void DumpiRankFile::skip_bytes(std::uint64_t bytes) {
  if (bytes > bytes_.size() - at_) fail("the end of the file, in a record");
  at_ += bytes;
}

std::uint64_t DumpiRankFile::comm_handle(std::uint16_t number) const {
  if (number == kCommWorld) return kWorldHandle;
  if (number == kCommSelf) return kSelfHandle;
  return number <= kCommNull ? kNoHandle : number;
}

void DumpiRankFile::fail(const std::string& what) const {
  throw InputError({path_, 0, 0, static_cast<std::int64_t>(at_)}, "found " + what);
}

}  // namespace weft::goal
