#include "goal/import/mpi/trace_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {

using trace::Function;
using trace::Meta;
using trace::Shape;

namespace {

bool read_exactly(std::ifstream& file, std::uint8_t* out, std::size_t bytes) {
  file.read(reinterpret_cast<char*>(out), static_cast<std::streamsize>(bytes));
  return static_cast<std::size_t>(file.gcount()) == bytes;
}

// The vectors keep their memory: a reader calls next() millions of times with one record.
void clear(TraceRecord& record) {
  TraceRecord empty;
  const auto keep = [](auto& kept, auto& old) {
    old.clear();
    kept.swap(old);
  };
  keep(empty.send_bytes, record.send_bytes);
  keep(empty.recv_bytes, record.recv_bytes);
  keep(empty.completions, record.completions);
  keep(empty.started, record.started);
  keep(empty.destinations, record.destinations);
  keep(empty.sources, record.sources);
  keep(empty.group, record.group);
  record = std::move(empty);
}

}  // namespace

TraceReader::TraceReader(const std::string& path) : path_(path) {
  check_input(path);
  file_.open(path, std::ios::binary);
  if (!file_) {
    const int error = errno;
    if (error == ENOMEM) throw std::bad_alloc();
    throw InputError({path, 0, 0, -1}, std::string("cannot open this trace file: ") + std::strerror(error));
  }
  read_header();
}

void TraceReader::read_header() {
  std::uint8_t head[16];
  if (!read_exactly(file_, head, sizeof head) ||
      std::memcmp(head, trace::kMagic, sizeof trace::kMagic) != 0) {
    throw InputError({path_, 0, 0, 0}, "not a trace file: expected it to begin with \"WEFTTRC\"");
  }
  header_.version = trace::get_u32(head + 8);
  if (header_.version < trace::kOldestVersion || header_.version > trace::kVersion) {
    throw InputError({path_, 0, 0, 8},
                     fmt::format("trace format version {}: this program reads versions {} to {}",
                                 header_.version, trace::kOldestVersion, trace::kVersion));
  }
  const std::uint32_t bytes = trace::get_u32(head + 12);
  if (bytes > 65536)
    throw InputError({path_, 0, 0, 12}, fmt::format("header of {} bytes: expected at most 65536", bytes));
  chunk_.resize(bytes + 4);
  if (!read_exactly(file_, chunk_.data(), chunk_.size()) ||
      trace::get_u32(chunk_.data() + bytes) != trace::checksum(chunk_.data(), bytes)) {
    throw InputError({path_, 0, 0, 16}, "the header is cut or damaged (its checksum does not hold)");
  }
  at_ = chunk_.data();
  chunk_end_ = at_ + bytes;
  header_.rank = static_cast<std::uint32_t>(varint_at_most(trace::kMaxMembers, "world rank"));
  header_.size = static_cast<std::uint32_t>(varint_at_most(trace::kMaxMembers, "world size"));
  if (header_.rank >= header_.size) fail(fmt::format("rank {} of {}", header_.rank, header_.size));
  header_.mpi_library = text();
  header_.host = text();
  header_.program = text();
  header_.clock = text();
  header_.clock_ns = varint();
  header_.epoch_ns = varint();
  next_chunk_ = 16 + bytes + 4;
  if (header_.version >= 2) {
    header_.process = varint();
    live_offset_ = trace::aligned(next_chunk_);
    next_chunk_ = live_offset_ + sizeof live_;
    read_live();
  }
  at_ = chunk_end_;
}

void TraceReader::read_live() {
  static_assert(std::endian::native == std::endian::little, "the file's numbers are little-endian");
  std::uint8_t bytes[sizeof live_];
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(live_offset_));
  if (!read_exactly(file_, bytes, sizeof bytes)) {
    throw InputError({path_, 0, 0, static_cast<std::int64_t>(live_offset_)},
                     "the file ends inside its live block");
  }
  std::memcpy(&live_, bytes, sizeof live_);
}

bool TraceReader::cut(const char* why) {
  cut_ = fmt::format("{}, at byte {}", why, chunk_offset_);
  return false;
}

bool TraceReader::read_chunk() {
  const bool last = open_;  // nothing is behind a chunk that was not finished
  chunk_offset_ = header_.version >= 2 ? trace::aligned(next_chunk_) : next_chunk_;
  if (last) {
    read_live();  // as of after the records, should the program be running
    return cut("the file ends without an end mark");
  }
  std::uint8_t head[trace::kChunkHeaderBytes];
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(chunk_offset_));
  file_.read(reinterpret_cast<char*>(head), sizeof head);
  const auto got = static_cast<std::size_t>(file_.gcount());
  if (got == 0) return cut("the file ends without an end mark");
  if (got < sizeof head) return cut("the file ends inside a chunk's header");
  const std::uint32_t bytes = trace::get_u32(head + 4), state = trace::get_u32(head + 12);
  // Room that was kept for the next chunk holds zeros.
  if (header_.version >= 2 && trace::get_u32(head) == 0) return cut("the file ends without an end mark");
  const bool known = header_.version < 2 || state == 0 || state == trace::kChunkOpen;
  if (trace::get_u32(head) != trace::kChunkMagic || bytes > trace::kMaxChunkBytes || !known)
    return cut("no chunk begins here");
  open_ = header_.version >= 2 && state == trace::kChunkOpen;
  if (!read_payload(bytes, open_)) return cut("the file ends inside a chunk");
  if (!open_ && trace::checksum(chunk_.data(), bytes) != trace::get_u32(head + 8))
    return cut("a chunk's checksum does not hold");
  next_chunk_ = chunk_offset_ + trace::kChunkHeaderBytes + chunk_.size();
  at_ = chunk_.data();
  chunk_end_ = at_ + chunk_.size();
  if (open_ && bytes == 0) return true;
  last_leave_ = varint();
  thread_ = static_cast<std::uint32_t>(varint_at_most(UINT32_MAX, "thread"));
  next_request_ = varint();
  return true;
}

// Grown while reading, so that a damaged length cannot ask for more memory than the file has bytes. Of an
// open chunk what there is will do.
bool TraceReader::read_payload(std::uint32_t bytes, bool open) {
  chunk_.clear();
  for (std::size_t have = 0; have < bytes;) {
    const std::size_t step = std::min<std::size_t>(bytes - have, std::size_t{4} << 20);
    chunk_.resize(have + step);
    if (!read_exactly(file_, chunk_.data() + have, step)) {
      chunk_.resize(have + static_cast<std::size_t>(file_.gcount()));
      return open;
    }
    have += step;
  }
  return true;
}

bool TraceReader::next(TraceRecord& record) {
  if (!cut_.empty()) return false;
  try {
    return next_record(record) || (open_ && pending_polls(record));
  } catch (const InputError&) {
    // No checksum tells whether what was written last is whole: what can't be read ends the file.
    if (!open_) throw;
    next_chunk_ = chunk_offset_ + trace::kChunkHeaderBytes + static_cast<std::size_t>(at_ - chunk_.data());
    return cut("a record makes no sense in the chunk that was being written");
  }
}

bool TraceReader::next_record(TraceRecord& record) {
  for (;;) {
    if (end_ != trace::End::kNone || !cut_.empty()) return false;
    if (at_ == chunk_end_) {
      if (!read_chunk()) return false;
      continue;
    }
    const std::uint8_t kind = *at_++;
    if (read_meta(kind)) continue;
    clear(record);
    read_call(kind, record);
    take_off_core(record);
    ++records_;
    return true;
  }
}

void TraceReader::take_off_core(TraceRecord& record) {
  record.off_before = std::exchange(off_before_, {});
  record.off_inside = std::exchange(off_inside_, {});
  record.thread_begins_cpu_ns = std::exchange(thread_begins_cpu_ns_, 0);
}

// The polls that were not yet a record when a file of version 2 was cut.
bool TraceReader::pending_polls(TraceRecord& r) {
  const trace::PendingPolls polls = std::exchange(live_.polls, {});
  // They stand there until their record is in the file.
  const bool written = polls.enter_ns == last_enter_ && polls.leave_ns == last_leave_;
  if (end_ != trace::End::kNone || polls.calls == 0 || written || polls.leave_ns < polls.enter_ns)
    return false;
  const auto function = static_cast<Function>(polls.function);
  const Shape shape = trace::function_info(function).shape;
  if (polls.function > 255 || (shape != Shape::kProbe && shape != Shape::kComplete &&
                               shape != Shape::kArrived && shape != Shape::kStatus))
    return false;
  if (polls.comm_plus_1 > communicators_.size()) return false;
  clear(r);
  r.function = function;
  r.thread = polls.thread;
  r.enter_ns = polls.enter_ns;
  r.leave_ns = polls.leave_ns;
  r.flag = false;
  r.polls = polls.calls;
  r.inside_ns = polls.inside_ns;
  if (shape == Shape::kProbe) {
    r.comm = polls.comm_plus_1 == 0 ? trace::kNoComm : polls.comm_plus_1 - 1;
    r.peer = polls.peer;
    r.tag = polls.tag;
  } else {
    r.requests_given = polls.given;
  }
  take_off_core(r);
  ++records_;
  return true;
}

std::vector<TraceNowIn> TraceReader::now_in() const {
  std::vector<TraceNowIn> all;
  if (end_ != trace::End::kNone) return all;
  for (std::uint32_t thread = 0; thread < trace::kNowInSlots; ++thread) {
    const trace::NowIn& slot = live_.now_in[thread];
    // A call has a record before its slot is free again.
    const auto left = left_.find(thread);
    if (slot.enter_ns == 0 || (left != left_.end() && slot.enter_ns < left->second)) continue;
    TraceNowIn now;
    now.thread = thread;
    now.function = static_cast<Function>(slot.function);
    const trace::FunctionInfo info = trace::function_info(now.function);
    if (slot.function > 255 || info.name == nullptr) continue;
    now.name = info.name;
    now.enter_ns = slot.enter_ns;
    now.tag = slot.tag;
    const bool exchange = info.shape == Shape::kSendrecv;
    if (info.shape == Shape::kComplete) now.requests = slot.count;
    if (info.shape == Shape::kUndecoded) {
      const bool known = slot.count > 0 && slot.count <= names_.size();
      now.name = known ? std::string_view(names_[slot.count - 1]) : "an MPI function";
    }
    const auto comm = handles_.find(slot.comm_handle);
    if (comm != handles_.end() && slot.comm_handle != 0) now.comm = comm->second;
    now.peer = world_rank(now.comm, slot.peer);
    if (exchange) now.to = world_rank(now.comm, static_cast<std::int32_t>(slot.count));
    all.push_back(now);
  }
  return all;
}

std::int32_t TraceReader::world_rank(std::uint32_t comm, std::int32_t rank) const {
  if (rank < 0 || comm >= communicators_.size()) return rank < 0 ? rank : trace::kUndefined;
  const TraceCommunicator& c = communicators_[comm];
  const std::vector<std::int32_t>& ranks = c.inter ? c.remote_ranks : c.ranks;
  return static_cast<std::size_t>(rank) < ranks.size() ? ranks[static_cast<std::size_t>(rank)]
                                                       : trace::kUndefined;
}

void TraceReader::read_members(std::vector<std::int32_t>& ranks) {
  const auto n = varint_at_most(trace::kMaxMembers, "members of a communicator");
  ranks.reserve(std::min<std::uint64_t>(n, 1 << 16));
  while (ranks.size() < n) {
    const std::uint64_t run = varint_at_most(n - ranks.size(), "run of members");
    if (run == 0) fail("an empty run of members");
    const std::int64_t start = small_signed("world rank"), stride = small_signed("stride of world ranks");
    for (std::uint64_t i = 0; i < run; ++i) {
      const std::int64_t r = start + static_cast<std::int64_t>(i) * stride;
      if (r < trace::kOutsideWorld || r >= header_.size)
        fail(fmt::format("a communicator with world rank {}", r));
      ranks.push_back(static_cast<std::int32_t>(r));
    }
  }
}

void TraceReader::define_communicator() {
  TraceCommunicator comm;
  comm.id = static_cast<std::uint32_t>(varint_at_most(UINT32_MAX - 1, "communicator"));
  if (comm.id != communicators_.size()) {
    fail(fmt::format("communicator {} defined where {} comes next", comm.id, communicators_.size()));
  }
  comm.key = varint();
  comm.parent = comm_id();
  comm.inter = varint_at_most(1, "intercommunicator mark") != 0;
  read_members(comm.ranks);
  comm.outside = std::any_of(comm.ranks.begin(), comm.ranks.end(), [](std::int32_t r) { return r < 0; });
  if (comm.inter) read_members(comm.remote_ranks);
  communicators_.push_back(std::move(comm));
}

void TraceReader::read_region() {
  TraceRegionEvent event;
  event.begin = read_flags() != 0;
  event.at_ns = last_leave_ + static_cast<std::uint64_t>(signed_varint());
  event.name = text();
  if (event.name.size() > trace::kMaxRegionName) fail("a region's name of more than 255 bytes");
  region_events_.push_back(std::move(event));
}

void TraceReader::read_fact() {
  const std::string name = text();
  facts_[name] = text();
  if (facts_.size() > 1024) fail("more than 1024 kinds of facts");
}

std::uint64_t TraceReader::read_off_core_ns() {
  return 1000 * varint_at_most(INT64_MAX / 4000, "microseconds off a core");
}

void TraceReader::read_off_core() {
  const std::uint8_t flags = read_flags();
  std::uint64_t* const times_ns[] = {&off_before_.waiting_ns, &off_before_.asleep_ns, &off_inside_.waiting_ns,
                                     &off_inside_.asleep_ns};
  for (int i = 0; i < 4; ++i) {
    const bool told = (flags >> i & 1) != 0;
    *times_ns[i] = told ? read_off_core_ns() : 0;
  }
}

bool TraceReader::read_meta(std::uint8_t kind) {
  switch (static_cast<Meta>(kind)) {
    case Meta::kFact:
      read_fact();
      return true;
    case Meta::kOffCore:
      read_off_core();
      return true;
    case Meta::kWaitingInside:
      off_before_ = {};
      off_inside_ = {read_off_core_ns(), 0};
      return true;
    case Meta::kThreadBegin:
      thread_begins_cpu_ns_ = varint();
      return true;
    case Meta::kThreadEnd: {
      TraceThreadEnd end;
      end.thread = static_cast<std::uint32_t>(varint_at_most(UINT32_MAX, "thread"));
      end.at_ns = last_leave_ + static_cast<std::uint64_t>(signed_varint());
      end.process_cpu_ns = varint();
      thread_ends_.push_back(end);
      return true;
    }
    case Meta::kThread:
      thread_ = static_cast<std::uint32_t>(varint_at_most(UINT32_MAX, "thread"));
      return true;
    case Meta::kCommunicator:
      define_communicator();
      return true;
    case Meta::kHandle: {
      const std::uint64_t id = varint();
      if (id >= communicators_.size()) fail(fmt::format("a handle of communicator {}, not defined", id));
      handles_[varint()] = static_cast<std::uint32_t>(id);
      return true;
    }
    case Meta::kRegion:
      read_region();
      return true;
    case Meta::kName: {
      TraceCounter counter;
      counter.call_class = static_cast<trace::CallClass>(varint_at_most(1, "class of a call"));
      counter.name = text();
      if (names_.size() > 65535) fail("more than 65536 names of functions");
      names_.push_back(counter.name);
      counters_.push_back(std::move(counter));
      return true;
    }
    case Meta::kCounter: {
      const std::uint64_t index = varint();
      if (index >= counters_.size()) fail(fmt::format("a count for function {}, which has no name", index));
      counters_[index].calls = varint();
      counters_[index].ns = varint();
      return true;
    }
    case Meta::kEnd:
      end_ = static_cast<trace::End>(varint_at_most(4, "reason of the end"));
      if (end_ == trace::End::kNone) fail("an end without a reason");
      return true;
  }
  return false;
}

void TraceReader::read_call(std::uint8_t kind, TraceRecord& r) {
  unsigned number = kind & ~trace::kFailed;
  if (number == trace::kLongNumber) {
    number = trace::kFirstLongNumber + static_cast<unsigned>(varint_at_most(1024, "function number"));
  }
  r.function = static_cast<Function>(number);
  const trace::FunctionInfo info = trace::function_info(r.function);
  if (info.name == nullptr) {
    --at_;
    fail(fmt::format("record kind {}: no such kind in version {}",
                     number < trace::kFirstLongNumber ? kind : number, header_.version));
  }
  r.thread = thread_;
  r.enter_ns = last_leave_ + static_cast<std::uint64_t>(signed_varint());
  r.leave_ns = last_leave_ = r.enter_ns + varint();
  last_enter_ = r.enter_ns;
  r.inside_ns = r.leave_ns - r.enter_ns;
  if ((kind & trace::kFailed) != 0) r.error = small_signed("error code");
  if (r.thread < trace::kNowInSlots) left_[r.thread] = r.leave_ns;

  read_arguments(info.shape, r);
}

void TraceReader::read_vector(std::vector<std::uint64_t>& values) {
  std::uint64_t n = varint_at_most(static_cast<std::uint64_t>(chunk_end_ - at_), "length of a vector");
  while (n-- > 0) values.push_back(varint());
}

std::uint64_t TraceReader::varint() {
  std::uint64_t value = 0;
  if (!trace::get_varint(at_, chunk_end_, value)) fail("a number that is cut or too long");
  return value;
}

std::int64_t TraceReader::signed_varint() { return trace::unzigzag(varint()); }

std::uint64_t TraceReader::varint_at_most(std::uint64_t most, const char* what) {
  const std::uint64_t value = varint();
  if (value > most) fail(fmt::format("{} {}: expected at most {}", what, value, most));
  return value;
}

std::int32_t TraceReader::small_signed(const char* what) {
  const std::int64_t value = signed_varint();
  if (value < INT32_MIN || value > INT32_MAX) fail(fmt::format("{} {}: expected 32 bits", what, value));
  return static_cast<std::int32_t>(value);
}

std::uint32_t TraceReader::comm_id() {
  const std::uint64_t id = varint_at_most(communicators_.size(), "communicator (counted from 1)");
  return id == 0 ? trace::kNoComm : static_cast<std::uint32_t>(id - 1);
}

std::string TraceReader::text() {
  const std::uint64_t n = varint();
  const auto left = static_cast<std::uint64_t>(chunk_end_ - at_);  // behind that number
  if (n > left) fail(fmt::format("length of a text {}: expected at most {}", n, left));
  std::string value(reinterpret_cast<const char*>(at_), n);
  at_ += n;
  return value;
}

std::string TraceReader::status() const {
  if (complete()) return "complete";
  if (end_ == trace::End::kStopped) {
    return fmt::format("truncated after {} records: the tracer could not write on (a full disk)", records_);
  }
  if (cut_.empty()) return fmt::format("{} records read so far", records_);
  return fmt::format("truncated after {} records: {}", records_, cut_);
}

void TraceReader::fail(const std::string& what) const {
  const std::int64_t head =
      chunk_offset_ == 0 ? 16 : static_cast<std::int64_t>(chunk_offset_ + trace::kChunkHeaderBytes);
  throw InputError({path_, 0, 0, head + (at_ - chunk_.data())}, what);
}

}  // namespace weft::goal
