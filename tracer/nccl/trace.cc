#include "tracer/nccl/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer/mpi/say.h"
#include "tracer/mpi/writer.h"
#include "tracer/nccl/handles.h"
#include "tracer/nccl/real.h"

namespace weft::trace::nccl {

constinit thread_local int call_depth = 0;

namespace {

// Counters are written when those in the file are this old, at the next call.
constexpr std::uint64_t kCountersNs = 1'000'000'000;
constexpr std::uint64_t kRecordBytes = 256;
constexpr std::uint32_t kNoThread = 0xFFFFFFFFu;

constinit thread_local std::uint32_t thread_number = kNoThread;

// A call that has no record of its own.
struct Counter {
  std::uint64_t calls, ns;
  std::uint64_t written_calls;
  std::uint32_t number_plus_1;
  const char* name;
};
constexpr int kMaxCounters = 64;

// One process, one trace: the state of a library that others' calls enter cannot be handed through them.
struct State {
  bool recording = false;
  bool failed = false;
  pid_t process = 0;
  Writer writer;
  std::uint64_t last_leave_ns = 0, counters_written_ns = 0;
  std::uint32_t thread = 0, threads = 1;  // 0 is the process's first thread, traced or not
  std::uint64_t operations = 0;
  std::uint32_t names = 0;
  Counter counters[kMaxCounters] = {};
};
State state;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
bool fork_handlers = false;

void tell(const char* what) {
  say("weft: the NCCL trace of process %d ends here: %s: %s\n", static_cast<int>(getpid()), what,
      strerror(errno));
  state.failed = true;
}

// The file ends behind the last whole record.
void fail(const char* what) {
  tell(what);
  __atomic_store_n(&state.recording, false, __ATOMIC_RELAXED);
  (void)state.writer.finish(End::kStopped);  // one message is enough
}

// A chunk stands for itself.
void begin_chunk() {
  if (!state.writer.reserve(kRecordBytes)) return;
  state.writer.number(state.last_leave_ns);
  state.writer.number(state.thread);
  state.writer.number(1);  // requests, of which NCCL has none
  state.writer.commit();
}

// A forked child has neither the file nor the communicators of its parent, and begins a file of its own with
// the first it makes. The buffer it inherits is the parent's to write.
void before_fork() { pthread_mutex_lock(&mutex); }
void after_fork_in_parent() { pthread_mutex_unlock(&mutex); }
void after_fork_in_child() {
  state = State{};
  thread_number = kNoThread;
  pthread_mutex_unlock(&mutex);
}

std::uint64_t number_in(const char* const* names) {
  for (; *names != nullptr; ++names) {
    const char* text = getenv(*names);
    if (text != nullptr && *text >= '0' && *text <= '9') return strtoull(text, nullptr, 10);
  }
  return 0;
}

// Rank and size as the launcher tells them, which for MPI programs are those in MPI_COMM_WORLD; 0 of 1 if it
// doesn't. NCCL itself knows of communicators only.
void put_rank() {
  static const char* const kRanks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                       "SLURM_PROCID",         "RANK",     nullptr};
  static const char* const kSizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "WORLD_SIZE",
                                       nullptr};
  std::uint64_t rank = number_in(kRanks), size = number_in(kSizes);
  if (rank >= size) rank = 0, size = 1;
  state.writer.number(rank);
  state.writer.number(size);
}

void put_text(const char* text) {
  const std::size_t bytes = strlen(text);
  if (state.writer.reserve(bytes + kRecordBytes)) state.writer.text(text, bytes);
}

bool write_header(const char* host) {
  static Real<Result(int*)> get_version("ncclGetVersion");
  int version = 0;
  if (auto* function = get_version.get()) function(&version);
  char library[64];
  // NCCL_VERSION_CODE: 2.30.7 is 23007; before 2.9 it was 2804 for 2.8.4.
  const int major = version >= 10000 ? version / 10000 : version / 1000;
  const int rest = version >= 10000 ? version % 10000 : version % 1000;
  snprintf(library, sizeof library, "NCCL %d.%d.%d", major, rest / 100, rest % 100);
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if (!state.writer.reserve(kRecordBytes)) return false;
  put_rank();
  put_text(version == 0 ? "NCCL of unknown version" : library);
  put_text(host);
  put_text(program_invocation_name);
  put_text("CLOCK_MONOTONIC");
  state.writer.number(now_ns());
  state.writer.number(static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
                      static_cast<std::uint64_t>(t.tv_nsec));
  state.writer.number(static_cast<std::uint64_t>(getpid()));
  return state.writer.write_header();
}

std::uint32_t this_thread() {
  if (thread_number == kNoThread) {
    thread_number = syscall(SYS_gettid) == getpid() ? 0 : state.threads++;
  }
  return thread_number;
}

void put_counters() {
  for (Counter& counter : state.counters) {
    if (counter.calls == counter.written_calls || !state.writer.reserve(kRecordBytes)) continue;
    state.writer.byte(static_cast<std::uint8_t>(Meta::kCounter));
    state.writer.number(counter.number_plus_1 - 1);
    state.writer.number(counter.calls);
    state.writer.number(counter.ns);
    counter.written_calls = counter.calls;
  }
}

// What every record begins with. Needs room.
void put_call(Function function, std::uint64_t enter_ns, std::uint64_t leave_ns, int error) {
  const std::uint32_t thread = this_thread();
  if (thread != state.thread) {
    state.thread = thread;
    state.writer.byte(static_cast<std::uint8_t>(Meta::kThread));
    state.writer.number(thread);
  }
  const auto gap_ns = static_cast<std::int64_t>(enter_ns - state.last_leave_ns);
  state.writer.begin_call(function, gap_ns, leave_ns - enter_ns, error);
  state.last_leave_ns = leave_ns;
}

// To be called when a record is whole: it counts from here on.
void end_record() {
  if (state.writer.failed()) return fail("write");
  state.writer.commit();
  if (static_cast<std::int64_t>(state.last_leave_ns - state.counters_written_ns) >
      static_cast<std::int64_t>(kCountersNs)) {
    put_counters();
    state.writer.commit();
    state.counters_written_ns = state.last_leave_ns;
  }
  if (!state.writer.full()) return;
  if (!state.writer.next_chunk()) return fail("write");
  begin_chunk();
}

bool put(DeviceFunction function, std::uint64_t enter_ns, std::uint64_t leave_ns, int error,
         std::initializer_list<std::int64_t> fields) {
  if (!state.recording) return false;
  if (!state.writer.reserve(kRecordBytes)) {
    fail("write");
    return false;
  }
  put_call(Function::kDevice, enter_ns, leave_ns, error);
  state.writer.byte(static_cast<std::uint8_t>(function));
  for (const std::int64_t field : fields) state.writer.signed_number(field);
  end_record();
  return state.recording;
}

Counter* counter_of(const char* name, CallClass call_class) {
  for (Counter& counter : state.counters) {
    if (counter.name != nullptr && strcmp(counter.name, name) == 0) return &counter;
    if (counter.name != nullptr) continue;
    const std::size_t bytes = strlen(name);
    if (!state.writer.reserve(kRecordBytes + bytes)) return nullptr;
    state.writer.byte(static_cast<std::uint8_t>(Meta::kName));
    state.writer.number(static_cast<std::uint64_t>(call_class));
    state.writer.text(name, bytes);
    counter.name = name;
    counter.number_plus_1 = ++state.names;
    return &counter;
  }
  return nullptr;
}

void stop_at_exit(int, void*) {
  // A child that handlers of fork() don't see (vfork, clone) must leave the parent's file alone.
  if (getpid() != state.process) return;
  // A signal handler that calls exit() may have interrupted a record, whose lock will never be free.
  if (pthread_mutex_trylock(&mutex) != 0) return;
  if (state.recording) {
    put_counters();
    end_record();
  }
  if (state.recording) {
    __atomic_store_n(&state.recording, false, __ATOMIC_RELAXED);
    if (!state.writer.finish(End::kExit)) tell("close");
  }
  pthread_mutex_unlock(&mutex);
}

// Behind the destructors of libraries that were loaded after this one, as in tracer/mpi/tracer.cc.
__attribute__((destructor)) void stop_behind_destructors() {
  if (on_exit(&stop_at_exit, nullptr) != 0) stop_at_exit(0, nullptr);
}

}  // namespace

std::uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

bool is_recording() { return __atomic_load_n(&state.recording, __ATOMIC_RELAXED); }

Locked::Locked() { pthread_mutex_lock(&mutex); }
Locked::~Locked() { pthread_mutex_unlock(&mutex); }

bool open_file() {
  if (state.recording) return true;
  const char* directory = getenv("WEFT_TRACE_DIR");
  if (directory == nullptr || *directory == '\0' || state.failed) return false;
  if (!fork_handlers)
    fork_handlers = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  char host[256] = "", name[300];
  gethostname(host, sizeof host - 1);
  snprintf(name, sizeof name, "nccl-%s-%d", host, static_cast<int>(getpid()));
  const bool folder = mkdir(directory, 0777) == 0 || errno == EEXIST;
  if (!folder || !state.writer.open(directory, name)) {
    tell(directory);
    return false;
  }
  if (!write_header(host)) {
    tell("write");
    return false;
  }
  state.last_leave_ns = state.counters_written_ns = now_ns();
  state.process = getpid();
  begin_chunk();
  forget_handles();
  __atomic_store_n(&state.recording, true, __ATOMIC_RELEASE);
  return true;
}

std::uint64_t record(DeviceFunction function, const Call& call, std::initializer_list<std::int64_t> fields) {
  if (!put(function, call.enter_ns(), call.leave_ns(), call.error(), fields)) return 0;
  return is_stream_operation(function) ? ++state.operations : 0;
}

void note(DeviceFunction function, std::initializer_list<std::int64_t> fields) {
  // At the time of the record before it, so that no time passes.
  put(function, state.last_leave_ns, state.last_leave_ns, kSuccess, fields);
}

void note_now(DeviceFunction function, std::initializer_list<std::int64_t> fields) {
  const std::uint64_t now = now_ns();
  put(function, now, now, kSuccess, fields);
}

void count(const char* name, CallClass call_class, const Call& call) {
  if (!state.recording) return;
  Counter* counter = counter_of(name, call_class);
  if (counter == nullptr) return;
  ++counter->calls;
  counter->ns += call.leave_ns() - call.enter_ns();
  if (call_class == CallClass::kLocal || !state.writer.reserve(kRecordBytes)) return;
  put_call(Function::kUndecoded, call.enter_ns(), call.leave_ns(), call.error());
  state.writer.number(counter->number_plus_1 - 1);
  end_record();
}

}  // namespace weft::trace::nccl
