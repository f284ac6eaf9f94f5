// What the wrappers of MPI functions share: when a call counts, and how it becomes a record.
//
// A wrapper makes a Call, calls the library, tells the Call that it has left, and then, if the call is to be
// traced, makes a Record, asks it for what it needs (communicators, requests), and writes the fields of its
// shape (tracer/format/README.md).
#pragma once

#include <errno.h>

#include <cstddef>
#include <cstdint>

#include "tracer/mpi/callers.h"
#include "tracer/mpi/communicators.h"
#include "tracer/mpi/core_time.h"
#include "tracer/mpi/locked.h"
#include "tracer/mpi/polls.h"
#include "tracer/mpi/real.h"
#include "tracer/mpi/requests.h"
#include "tracer/mpi/scratch.h"
#include "tracer/mpi/windows.h"
#include "tracer/mpi/writer.h"

namespace weft::trace {

static_assert(MPI_ANY_TAG == kAnyTag);

// When the program's last call from a function that the library calls back was left: the call around it
// counts from there on, as what the program did before it was its own. So records stand in the order of their
// times.
extern constinit thread_local std::uint64_t called_back_ns __attribute__((tls_model("initial-exec")));

// Where this thread says which call it is in; null before its first traced call.
extern constinit thread_local NowIn* now_in __attribute__((tls_model("initial-exec")));
void find_now_in();  // sets it
// When it ran, for the time from its first traced call on.
extern constinit thread_local CoreTime core_time __attribute__((tls_model("initial-exec")));

// The thread makes its first traced call: notes its end when it comes. Processor time of the process until
// now; 0 for thread 0.
std::uint64_t begin_thread();

std::uint64_t now_ns();   // CLOCK_MONOTONIC
bool is_recording();      // between MPI_Init and MPI_Finalize, if a file could be opened
void count_local(int i);  // one more call of table entry i

// What a call is about, for who looks at a program that hangs or has crashed in it. NowIn has the fields.
struct About {
  std::uint64_t comm = 0;
  std::int32_t peer = kUndefined, tag = kUndefined;
  std::uint32_t count = 0;
};
inline std::int32_t peer_number(int peer) {
  if (peer >= 0) return peer;
  return peer == MPI_ANY_SOURCE ? kAnySource : peer == MPI_PROC_NULL ? kProcNull : kRootHere;
}
inline About about(MPI_Comm comm) { return {.comm = bits(comm)}; }
inline About about(MPI_Comm comm, int peer, int tag = kUndefined) {
  return {.comm = bits(comm), .peer = peer_number(peer), .tag = tag};
}
inline About about_requests(int n) { return {.count = n < 0 ? 0 : static_cast<std::uint32_t>(n)}; }

// Lives as long as the wrapper of one call. `errno` is what the library finds and leaves, whatever is done
// beside it.
class Call {
 public:
  // `polls`: of a test or probe, of which kind it is. `caller`: whom the wrapper returns to.
  [[gnu::always_inline]] explicit Call(Function function, const About& about = {},
                                       std::uint64_t polls = kNoPolls,
                                       const void* caller = __builtin_return_address(0))
      : function_(function),
        polls_(polls),
        outer_(here.call_depth++),
        outermost_(outer_ == 0 || is_programs(caller)),
        traced_(outermost_ && !here.at_work && is_recording()) {
    if (!outermost_) return;
    untimed_ = polls != kNoPolls && traced_ && outer_ == 0 && untimed_polls.go_on(polls);
    if (untimed_) return;
    if (outer_ > 0) around_ = now_in != nullptr ? *now_in : NowIn{};
    enter_ns_ = now_ns();
    if (traced_) enter(about);
  }
  // Made at the end of an untimed poll that was not in vain (below).
  Call(Function function, std::uint64_t polls, int error)
      : function_(function),
        polls_(polls),
        untimed_(true),
        outer_(0),
        outermost_(true),
        traced_(true),
        error_(error) {}
  ~Call() {
    --here.call_depth;
    if (!outermost_) return;
    if (traced_ && !untimed_) __atomic_store_n(&now_in->enter_ns, std::uint64_t{0}, __ATOMIC_RELEASE);
    if (outer_ > 0) called_back();
    if (errno_left_ != kNotLeft) errno = errno_left_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool outermost() const { return outermost_; }
  bool traced() const { return traced_; }
  // To be called as soon as the library has returned `error`.
  void left(int error) {
    error_ = error;
    if (untimed_) return;
    errno_left_ = errno;
    leave_ns_ = now_ns();
    if (!traced_) return;
    if (called_back_ns > enter_ns_) enter_ns_ = called_back_ns;
    off_inside_ = core_time.leave(enter_ns_, leave_ns_);
    if (leave_ns_ - enter_ns_ >= kLongNs) core_time.left_at(leave_ns_ = now_ns());
  }
  Function function() const { return function_; }
  std::uint64_t polls() const { return polls_; }
  // Made from a function that the library has called back.
  bool inner() const { return outer_ > 0; }
  // It was begun without a look at the clock.
  bool untimed() const { return untimed_; }
  // Such a one was in vain: then nothing more is to be done.
  bool counts_only(int flag) const {
    if (!untimed_ || flag != 0 || error_ != MPI_SUCCESS) return false;
    return untimed_polls.count();
  }
  // It was not in vain: it takes the time that others did, since the last timed one was left.
  void time_now(std::uint64_t since_ns) const {
    errno_left_ = errno;
    leave_ns_ = now_ns();
    enter_ns_ = leave_ns_ - untimed_polls.inside_ns();
    if (enter_ns_ < since_ns) enter_ns_ = since_ns;
    untimed_ = false;
  }
  std::uint64_t enter_ns() const { return enter_ns_; }
  std::uint64_t leave_ns() const { return leave_ns_; }
  int error() const { return error_; }
  // Returns what begin_thread() said at a thread's first call; else 0.
  std::uint64_t thread_begins_ns() const { return thread_begins_ns_; }
  // What the thread did not run for, in the call and since its last one.
  const OffCore& off_before() const { return off_before_; }
  const OffCore& off_inside() const { return off_inside_; }

 private:
  void enter(const About& about) {
    const int before = errno;
    if (now_in == nullptr) find_now_in();
    if (!core_time.begun()) {
      thread_begins_ns_ = begin_thread();
      core_time.begin(enter_ns_);
      if (thread_begins_ns_ != 0) off_before_ = core_time.before();
    } else {
      off_before_ = core_time.enter(enter_ns_);
    }
    NowIn& now = *now_in;
    now.comm_handle = about.comm;
    now.peer = about.peer;
    now.tag = about.tag;
    now.function = static_cast<std::uint32_t>(function_);
    now.count = about.count;
    __atomic_store_n(&now.enter_ns, enter_ns_, __ATOMIC_RELEASE);
    errno = before;
  }

  // The call around this one goes on.
  void called_back() {
    if (now_in != nullptr) *now_in = around_;
    called_back_ns = leave_ns_;
  }

  Function function_;
  std::uint64_t polls_;
  mutable bool untimed_ = false;
  int outer_;  // calls around it
  bool outermost_, traced_;
  static constexpr int kNotLeft = -1;  // no error's number
  int error_ = 0;
  mutable int errno_left_ = kNotLeft;
  mutable std::uint64_t enter_ns_ = 0, leave_ns_ = 0;
  std::uint64_t thread_begins_ns_ = 0;
  OffCore off_before_, off_inside_;
  NowIn around_;  // only with a call around it
};

// Most polls in a row are in vain and untimed, and programs make millions a second: these do without a Call.
// A wrapper begins it if it may, calls the library, and asks whether that was in vain. Only if not, it makes
// the Call after all, which then ends it.
[[gnu::always_inline]] inline bool begin_untimed(std::uint64_t kind) {
  return untimed_polls.go_on(kind) && untimed_polls.enter();
}
[[gnu::always_inline]] inline bool in_vain(int error, const int* flag) {
  if (error != MPI_SUCCESS || *flag != 0 || !untimed_polls.count()) return false;
  untimed_polls.leave();
  return true;
}
// What is needed only where something was found lies in memory during the call: to save and restore registers
// for it would take more than to store it.
template <typename T>
[[gnu::always_inline]] inline void keep_in_memory(T& value) {
  asm volatile("" : "+m"(value));
}

// Did the call take a message that was longer than its buffer?
bool is_truncated(const Call& call);

// Writes one record. Holds the tracer's lock while it lives, where there is more than one thread to lock out.
class Record {
 public:
  explicit Record(const Call& call);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // A receive whose message was longer than its buffer has not: the message came, and is gone.
  bool failed() const { return call_.error() != MPI_SUCCESS && !truncated_; }
  // Is the request with this status complete? In a call that completes several each has its own error.
  bool is_complete(const MPI_Status& status) const;
  // The communicator behind a handle; null if the call failed with one that was never seen, since asking MPI
  // about it might fail too. Before begin(), because it may write a definition.
  Comm* find(MPI_Comm handle);
  Comm* define(MPI_Comm handle, const Comm* parent, std::uint64_t label = 0);
  // Writes function and times. False if no record can be written; then nothing more may be put. `bytes`: room
  // needed beyond 256 bytes.
  bool begin(std::size_t bytes = 0);

  // Instead of begin() and fields, for a Test or Iprobe in vain: a run of equal ones becomes one record.
  // `given` is how many requests were handed in, or the window asked about; comm, peer and tag are a probe's.
  void poll(const Comm* comm, int peer, int tag, int given);

  // Ends the fields of a failed test or probe, which is no part of a run.
  void one_poll();

  Writer& out();
  static std::uint64_t comm_number(const Comm* comm) {
    return comm == nullptr ? 0 : static_cast<std::uint64_t>(comm->id) + 1;
  }
  static std::uint64_t world_peer(const Comm* c, int peer) {
    return zigzag(c == nullptr ? kUndefined : c->world_rank(peer));
  }
  void comm(const Comm* comm) { out().number(comm_number(comm)); }
  void posted(const Comm* c, int peer, int tag) {
    out().numbers(comm_number(c), world_peer(c, peer), zigzag(tag));
  }
  void peer_and_tag(const Comm* c, int peer, int tag) { out().numbers(world_peer(c, peer), zigzag(tag)); }
  // Returns the bytes.
  std::uint64_t size(std::uint64_t count, MPI_Datatype type) {
    const std::uint64_t element = failed() ? 0 : type_size(type);
    out().numbers(count, element);
    return count * element;
  }
  // What came: flags and, for a message, its source, tag and bytes, as far as they are not as posted.
  void message(const Comm* c, const MPI_Status& status, const Posted& posted, std::uint8_t flags = 0);
  // Tells what came, or that the program has cancelled the receive.
  void message_or_cancelled(const Comm* c, const MPI_Status& status, const Posted& posted);
  // A request numbered next; the caller's record says that it was made. Null if there is none to remember.
  Request* made(const MPI_Request* request, Request::Kind kind, bool persistent, Comm* comm,
                const MPI_Comm* new_comm = nullptr);
  // A request of an earlier call: its number, from the table.
  void reference(std::uint64_t number);
  Requests& requests();
  Requests& messages();
  std::uint64_t next_message_number();
  Communicators& communicators();
  Windows& windows();
  // Number of the name of table entry i in this file, defined now if need be. Before begin().
  std::uint64_t name_number(int i);

 private:
  const Call& call_;
  const Locked locked_;
  const bool truncated_;
};

// What all ranks do together once the library has initialized, before that call is left.
void after_init();
// After MPI_Init or MPI_Init_thread has returned: opens the file, unless a session has, and records that
// call.
void start(const Call& call);
#if defined(MPICH)
// Opens the file after MPI_Session_init, unless it is open, and records that call; without MPI_Init the group
// of all processes comes from the session.
void start_session(const Call& call, MPI_Session session);
// Before the last session is finalized, and after any has been.
void before_session_finalize();
void end_session();
#endif
// Puts into the file what is kept beside it.
void flush();
// Does what all ranks do together at the end, and flushes: MPI_Finalize may not return.
void before_finalize();
// The program begins or ends a region (weft_region.h). A name that is too long is cut.
void region(bool begin, const char* name);
// MPI_Pcontrol: ends the region that is there from the start, or begins it again.
void pcontrol(int level);
// Ends the file.
void stop(End reason);
// After MPI_Finalize: the same, unless sessions go on.
void end_world();

// What a call of table entry i is about: its name, for which the file gets a number if it has none yet.
About about_undecoded(int i);
// Counts a call of table entry i and puts it on the timeline.
void record_undecoded(int i, const Call& call);

}  // namespace weft::trace
