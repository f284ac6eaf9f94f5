// The trace file of a process that uses NCCL, and what the wrappers share: when a call counts, and how it
// becomes a record.
//
// There is one file per process, DIRECTORY/nccl-HOST-PID.wtrc, opened when the first communicator is made.
// All state is behind one lock: threads of a process drive one GPU each, and NCCL's own threads call the
// profiler.
#pragma once

#include <errno.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tracer/format/device.h"
#include "tracer/format/format.h"
#include "tracer/nccl/abi.h"

namespace weft::trace::nccl {

// Calls that NCCL or CUDA make while they serve one are not the program's: only the outermost is traced.
// (No thread-local variable here may be of the initial-exec kind: a plugin is loaded late, when there is no
// room for such.)
extern constinit thread_local int call_depth;

std::uint64_t now_ns();  // CLOCK_MONOTONIC
bool is_recording();     // a file is open

// Lives as long as the wrapper of one call. `errno` is what the library leaves, whatever is done after it.
class Call {
 public:
  Call() : outermost_(call_depth++ == 0), enter_ns_(outermost_ ? now_ns() : 0) {}
  ~Call() {
    --call_depth;
    if (outermost_) errno = errno_left_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  bool outermost() const { return outermost_; }
  // To be called as soon as the library has returned `error`. False if there is nothing to record.
  bool left(int error) {
    returned();
    if (!outermost_ || !is_recording()) return false;
    leave_ns_ = now_ns();
    error_ = error;
    return true;
  }
  // The library has returned: what comes before left() does not change `errno` for the program.
  void returned() {
    if (!returned_) errno_left_ = errno;
    returned_ = true;
  }
  std::uint64_t enter_ns() const { return enter_ns_; }
  std::uint64_t leave_ns() const { return leave_ns_; }
  int error() const { return error_; }

 private:
  bool outermost_, returned_ = false;
  int error_ = 0, errno_left_ = errno;
  std::uint64_t enter_ns_, leave_ns_ = 0;
};

// Holds the tracer's lock while it lives. What follows needs it.
class Locked {
 public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

// Opens this process's file, if WEFT_TRACE_DIR asks for one and it is not open yet. False if there is none.
bool open_file();
// Writes a record; its number among stream operations, or 0 if it is none or could not be written.
std::uint64_t record(DeviceFunction function, const Call& call, std::initializer_list<std::int64_t> fields);
// One that no call stands behind: a definition or a measurement.
// note(): at the time of the record before it.
void note(DeviceFunction function, std::initializer_list<std::int64_t> fields);
void note_now(DeviceFunction function, std::initializer_list<std::int64_t> fields);

// Communicators by handle. A handle is forgotten when it is destroyed.
struct CommEntry {
  Comm handle;
  std::uint64_t key;     // the same at all ranks
  std::int64_t number;   // of the file; 0: not written yet, as NCCL is still making it
  std::int64_t parent;   // number of the parent, 0 without one
  int device;            // -1: unknown
  std::uint32_t splits;  // communicators made of it so far
};
CommEntry* find_comm(Comm handle);
// A communicator that was just made; its definition is written when NCCL can tell its rank and size.
CommEntry* add_comm(Comm handle, std::uint64_t key, std::int64_t parent);
void forget_comm(Comm handle);
// Its number, defined now if need be; 0 for one that is not known or not ready.
std::int64_t comm_number(Comm handle);
std::uint64_t hash_bytes(const void* data, std::size_t bytes);

// What was known of handles is of no use to another file, as a forked child's.
void forget_handles();

// Numbers of streams, events and graphs, given when first met. Streams and events without one (0 handle) too.
std::int64_t stream_number(Stream stream, int device);
void set_stream_kind(Stream stream, StreamKind kind);
void forget_stream(Stream stream);
std::int64_t event_number(Event event);
void forget_event(Event event);
std::int64_t graph_number(Graph graph);

// Counts a call that is in no record of its own, and, of class kCommunication, puts it on the timeline by
// name.
void count(const char* name, CallClass call_class, const Call& call);

}  // namespace weft::trace::nccl
