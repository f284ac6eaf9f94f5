#include "goal/import/mpi/trace_reader.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {

using trace::Function;
using trace::Meta;
using trace::Shape;

namespace {

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

TraceReader::TraceReader(const std::string& path)
    : chunks_(path), communicators_(chunks_), arguments_(chunks_, communicators_) {}

bool TraceReader::read_chunk() {
  if (!chunks_.next()) return false;
  if (chunks_.is_blank() && chunks_.is_open()) return true;
  last_leave_ = chunks_.varint();
  thread_ = static_cast<std::uint32_t>(chunks_.varint_at_most(UINT32_MAX, "thread"));
  arguments_.set_next_request(chunks_.varint());
  slots_ = {};
  return true;
}

bool TraceReader::next(TraceRecord& record) {
  if (!chunks_.cut().empty()) return false;
  try {
    return next_record(record) || (chunks_.is_open() && pending_polls(record));
  } catch (const InputError&) {
    // No checksum tells whether what was written last is whole: what can't be read ends the file.
    if (!chunks_.is_open()) throw;
    chunks_.end_here("a record makes no sense in the chunk that was being written");
    return false;
  }
}

bool TraceReader::next_record(TraceRecord& record) {
  for (;;) {
    if (end_ != trace::End::kNone || !chunks_.cut().empty()) return false;
    if (chunks_.at_end()) {
      if (!read_chunk()) return false;
      continue;
    }
    const std::uint8_t kind = chunks_.byte();
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
  const trace::PendingPolls polls = chunks_.take_polls();
  // They stand there until their record is in the file.
  const bool written = polls.enter_ns == last_enter_ && polls.leave_ns == last_leave_;
  if (end_ != trace::End::kNone || polls.calls == 0 || written || polls.leave_ns < polls.enter_ns)
    return false;
  const auto function = static_cast<Function>(polls.function);
  const Shape shape = trace::function_info(function).shape;
  if (polls.function > 255 || (shape != Shape::kProbe && shape != Shape::kComplete &&
                               shape != Shape::kArrived && shape != Shape::kStatus))
    return false;
  if (polls.comm_plus_1 > communicators().size()) return false;
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
    const trace::NowIn& slot = chunks_.live().now_in[thread];
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
    now.comm = communicators_.of_handle(slot.comm_handle);
    now.peer = communicators_.world_rank(now.comm, slot.peer);
    if (exchange) now.to = communicators_.world_rank(now.comm, static_cast<std::int32_t>(slot.count));
    all.push_back(now);
  }
  return all;
}

void TraceReader::read_region() {
  TraceRegionEvent event;
  event.begin = chunks_.byte() != 0;
  event.at_ns = last_leave_ + static_cast<std::uint64_t>(chunks_.signed_varint());
  event.name = chunks_.text();
  if (event.name.size() > trace::kMaxRegionName) chunks_.fail("a region's name of more than 255 bytes");
  region_events_.push_back(std::move(event));
}

void TraceReader::read_fact() {
  const std::string name = chunks_.text();
  facts_[name] = chunks_.text();
  ++facts_read_;
  if (facts_.size() > 1024) chunks_.fail("more than 1024 kinds of facts");
}

std::uint64_t TraceReader::read_off_core_ns() {
  return 1000 * chunks_.varint_at_most(INT64_MAX / 4000, "microseconds off a core");
}

void TraceReader::read_off_core() {
  const std::uint8_t flags = chunks_.byte();
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
      thread_begins_cpu_ns_ = chunks_.varint();
      return true;
    case Meta::kOverlap:
      overlap_ns_ = chunks_.varint();
      return true;
    case Meta::kFailure:
      error_ = chunks_.small_signed("error code");
      return true;
    case Meta::kThreadEnd: {
      TraceThreadEnd end;
      end.thread = static_cast<std::uint32_t>(chunks_.varint_at_most(UINT32_MAX, "thread"));
      end.at_ns = last_leave_ + static_cast<std::uint64_t>(chunks_.signed_varint());
      end.process_cpu_ns = chunks_.varint();
      if (end.thread == 0) end.off_before = std::exchange(off_before_, {});
      thread_ends_.push_back(end);
      return true;
    }
    case Meta::kThread:
      thread_ = static_cast<std::uint32_t>(chunks_.varint_at_most(UINT32_MAX, "thread"));
      return true;
    case Meta::kCommunicator:
      communicators_.define();
      return true;
    case Meta::kHandle:
      communicators_.define_handle();
      return true;
    case Meta::kRegion:
      read_region();
      return true;
    case Meta::kName: {
      TraceCounter counter;
      counter.call_class = static_cast<trace::CallClass>(chunks_.varint_at_most(1, "class of a call"));
      counter.name = chunks_.text();
      if (names_.size() > 65535) chunks_.fail("more than 65536 names of functions");
      names_.push_back(counter.name);
      counters_.push_back(std::move(counter));
      return true;
    }
    case Meta::kCounter: {
      const std::uint64_t index = chunks_.varint();
      if (index >= counters_.size())
        chunks_.fail(fmt::format("a count for function {}, which has no name", index));
      counters_[index].calls = chunks_.varint();
      counters_[index].ns = chunks_.varint();
      return true;
    }
    case Meta::kEnd:
      end_ = static_cast<trace::End>(chunks_.varint_at_most(4, "reason of the end"));
      if (end_ == trace::End::kNone) chunks_.fail("an end without a reason");
      return true;
  }
  return false;
}

void TraceReader::read_call(std::uint8_t kind, TraceRecord& r) {
  r.thread = thread_;
  if (header().version < 4) {
    read_function(kind & ~trace::kFailed, r);
    read_times(r);
    if ((kind & trace::kFailed) != 0) r.error = chunks_.small_signed("error code");
    read_fields(r);
  } else if ((kind & trace::kRepeats) != 0) {
    repeat_fields(kind & ~trace::kRepeats, r);
  } else {
    if (kind != trace::kLongNumber) read_function(kind, r);
    read_times(r);
    r.error = std::exchange(error_, 0);
    const std::size_t begin = chunks_.place();
    if (kind == trace::kLongNumber) read_function(kind, r);
    read_fields(r);
    const std::size_t end = chunks_.place();
    if (end - begin <= trace::kMostKept)
      slots_[trace::slot_of(kind, chunks_.bytes_at(begin), end - begin)] = {begin, end, kind};
  }
  if (!r.flag) arguments_.read_polls(r);
}

void TraceReader::repeat_fields(std::size_t number, TraceRecord& r) {
  const Slot slot = slots_[number];
  if (slot.begin == 0) chunks_.fail_at_last(fmt::format("fields of slot {}, where none are", number));
  read_times(r);
  r.error = std::exchange(error_, 0);
  const std::size_t place = chunks_.place();
  chunks_.go_to(slot.begin);
  read_function(slot.first, r);
  read_fields(r);
  if (chunks_.place() != slot.end) chunks_.fail("fields that end elsewhere when they come again");
  chunks_.go_to(place);
}

// `first`: byte of the record, without what is added to it.
void TraceReader::read_function(std::uint8_t first, TraceRecord& r) {
  unsigned number = first;
  if (number == trace::kLongNumber) {
    number = trace::kFirstLongNumber + static_cast<unsigned>(chunks_.varint_at_most(1024, "function number"));
  }
  r.function = static_cast<Function>(number);
  if (trace::function_info(r.function).name == nullptr) {
    chunks_.fail_at_last(fmt::format("record kind {}: no such kind in version {}", number, header().version));
  }
}

void TraceReader::read_times(TraceRecord& r) {
  const bool forward = header().version >= 4;
  r.enter_ns = last_leave_ - std::exchange(overlap_ns_, 0) +
               (forward ? chunks_.varint() : static_cast<std::uint64_t>(chunks_.signed_varint()));
  r.leave_ns = last_leave_ = r.enter_ns + chunks_.varint();
  last_enter_ = r.enter_ns;
  r.inside_ns = r.leave_ns - r.enter_ns;
  if (r.thread < trace::kNowInSlots) left_[r.thread] = r.leave_ns;
}

void TraceReader::read_fields(TraceRecord& r) {
  const Shape shape = trace::function_info(r.function).shape;
  if (shape == Shape::kUndecoded) return read_name(r);
  arguments_.read(shape, r);
}

void TraceReader::read_name(TraceRecord& r) {
  const std::uint64_t index = chunks_.varint();
  if (index >= names_.size()) chunks_.fail(fmt::format("a call of function {}, which has no name", index));
  r.name = names_[index];
  // A count that follows says the same; but a file that is cut may lack it.
  ++counters_[index].calls;
  counters_[index].ns += r.leave_ns - r.enter_ns;
}

std::string TraceReader::status() const {
  if (complete()) return "complete";
  if (end_ == trace::End::kStopped) {
    return fmt::format("truncated after {} records: the tracer could not write on (a full disk)", records_);
  }
  if (chunks_.cut().empty()) return fmt::format("{} records read so far", records_);
  return fmt::format("truncated after {} records: {}", records_, chunks_.cut());
}

}  // namespace weft::goal
