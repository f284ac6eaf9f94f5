#include "tracer/mpi/tracer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tracer/mpi/clocks.h"
#include "tracer/mpi/facts.h"
#include "tracer/mpi/function_table.h"
#include "tracer/mpi/passers.h"
#include "tracer/mpi/say.h"

namespace weft::trace {

constinit thread_local Here here;
constinit thread_local std::uint64_t called_back_ns = 0;
UntimedPolls untimed_polls;
constinit thread_local NowIn* now_in = nullptr;
constinit thread_local CoreTime core_time;

namespace {

// Counters are written when they are this old, at the next call: what a killed process can lose of them.
constexpr std::uint64_t kCountersNs = 1'000'000'000;
// Longest gap between Tests and probes in vain, one after the other, with nothing but the loop between them,
// that become one record: programs that poll make millions a second.
constexpr std::uint64_t kMaxPollGapNs = 1000;
constexpr std::uint64_t kRecordBytes = 256;
// Time off a core is told from so much on: less rounds to no microsecond.
constexpr std::uint64_t kLeastToldNs = 500;
constexpr std::uint32_t kNoThread = 0xFFFFFFFFu;

constinit thread_local std::uint32_t thread_number __attribute__((tls_model("initial-exec"))) = kNoThread;

struct Counter {
  std::uint64_t calls, ns;
  std::uint64_t written_calls;  // as the file has it
  std::uint32_t number_plus_1;  // of its name in the file
};

// One process, one trace: the state of a library that others' calls enter cannot be handed through them.
struct State {
  bool recording = false;
  bool profiling = true;  // as MPI_Pcontrol says
  bool locking = false;   // only under MPI_THREAD_MULTIPLE can two threads be in MPI at once
  bool world = false;     // between MPI_Init and MPI_Finalize
  int sessions = 0;       // begun and not finalized
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pid_t process = 0;
  int rank = 0;
  Writer writer;
  Communicators communicators;
  Requests requests, messages;
  Windows windows;
  std::uint64_t next_request = 1, next_message = 1;
  std::uint64_t last_leave_ns = 0;
  std::uint64_t counters_written_ns = 0;
  std::uint32_t thread = 0, threads = 0;
  std::uint32_t names = 0;
  Usage at_init;
  Counter counters[kFunctions] = {};
};
State state;
NowIn beyond_slots;  // of threads that the file has no place for

void tell(const char* what) {
  say("weft: the trace of rank %d ends here: %s: %s\n", state.rank, what, strerror(errno));
}

// The file ends behind the last whole record.
void fail(const char* what) {
  tell(what);
  __atomic_store_n(&state.recording, false, __ATOMIC_RELAXED);
  untimed_polls.stop();
  (void)state.writer.finish(End::kStopped);  // one message is enough
}

// A chunk stands for itself.
void begin_chunk() {
  if (!state.writer.reserve(kRecordBytes)) return;
  state.writer.number(state.last_leave_ns);
  state.writer.number(state.thread);
  state.writer.number(state.next_request);
  state.writer.commit();
}

std::uint64_t name_number_locked(int i) {
  Counter& counter = state.counters[i];
  if (counter.number_plus_1 == 0) {
    const std::size_t bytes = strlen(function_table[i].name);
    if (!state.writer.reserve(kRecordBytes + bytes)) return 0;
    state.writer.byte(static_cast<std::uint8_t>(Meta::kName));
    state.writer.number(static_cast<std::uint64_t>(function_table[i].call_class));
    state.writer.text(function_table[i].name, bytes);
    counter.number_plus_1 = ++state.names;
  }
  return counter.number_plus_1 - 1;
}

std::uint32_t this_thread() {
  if (thread_number == kNoThread) thread_number = __atomic_fetch_add(&state.threads, 1, __ATOMIC_RELAXED);
  return thread_number;
}

void put_thread(std::uint32_t thread) {
  if (thread == state.thread) return;
  state.thread = thread;
  state.writer.byte(static_cast<std::uint8_t>(Meta::kThread));
  state.writer.number(thread);
}

// Before the record that it is of. Needs kRecordBytes of room.
void put_off_core(const OffCore& before, const OffCore& inside) {
  if (before.sum() + inside.sum() == 0) return;
  put_thread(this_thread());
  const std::uint64_t times_ns[4] = {before.waiting_ns, before.asleep_ns, inside.waiting_ns,
                                     inside.asleep_ns};
  std::uint8_t flags = 0;
  for (int i = 0; i < 4; ++i) flags |= static_cast<std::uint8_t>((times_ns[i] >= kLeastToldNs) << i);
  if (flags == 4) {
    state.writer.byte(static_cast<std::uint8_t>(Meta::kWaitingInside));
  } else {
    state.writer.byte(static_cast<std::uint8_t>(Meta::kOffCore));
    state.writer.byte(flags);
  }
  for (const std::uint64_t ns : times_ns) {
    if (ns >= kLeastToldNs) state.writer.number((ns + 500) / 1000);
  }
}

void put_off_core(const Call& call) {
  if (call.thread_begins_ns() != 0) {
    put_thread(this_thread());
    state.writer.byte(static_cast<std::uint8_t>(Meta::kThreadBegin));
    state.writer.number(call.thread_begins_ns());
  }
  put_off_core(call.off_before(), call.off_inside());
}

// What every record begins with; needs kRecordBytes of room.
void put_call(Function function, std::uint32_t thread, std::uint64_t enter_ns, std::uint64_t leave_ns,
              int error) {
  put_thread(thread);
  const auto gap_ns = static_cast<std::int64_t>(enter_ns - state.last_leave_ns);
  state.writer.begin_call(function, gap_ns, leave_ns - enter_ns, error);
  state.last_leave_ns = leave_ns;
}

// `until_ns`: when what follows them begins.
void put_polls(std::uint64_t until_ns = UINT64_MAX) {
  PendingPolls& polls = state.writer.live()->polls;
  untimed_polls.join(polls, until_ns);
  if (polls.calls == 0 || !state.writer.reserve(kRecordBytes)) return;
  const auto function = static_cast<Function>(polls.function);
  put_call(function, polls.thread, polls.enter_ns, polls.leave_ns, MPI_SUCCESS);
  if (function_info(function).shape == Shape::kProbe) {
    state.writer.number(polls.comm_plus_1);
    state.writer.signed_number(polls.peer);
    state.writer.signed_number(polls.tag);
    state.writer.byte(0);
  } else {
    state.writer.byte(0);
    state.writer.number(polls.given);
  }
  state.writer.end_fields();
  state.writer.number(polls.calls - 1);
  if (polls.calls > 1) state.writer.number(polls.leave_ns - polls.enter_ns - polls.inside_ns);
  state.writer.commit();
  polls.calls = 0;
}

void put_counters() {
  for (int i = 0; i < kFunctions; ++i) {
    Counter& counter = state.counters[i];
    const std::uint64_t calls = __atomic_load_n(&counter.calls, __ATOMIC_RELAXED);
    if (calls == counter.written_calls) continue;
    const std::uint64_t number = name_number_locked(i);
    if (!state.writer.reserve(kRecordBytes)) return;
    state.writer.byte(static_cast<std::uint8_t>(Meta::kCounter));
    state.writer.number(number);
    state.writer.number(calls);
    state.writer.number(counter.ns);
    counter.written_calls = calls;
  }
}

void put_fact(void*, const char* name, const char* value) {
  const std::size_t bytes = strnlen(name, kMaxFactBytes), value_bytes = strnlen(value, kMaxFactBytes);
  if (!state.writer.reserve(kRecordBytes + bytes + value_bytes)) return;
  state.writer.byte(static_cast<std::uint8_t>(Meta::kFact));
  state.writer.text(name, bytes);
  state.writer.text(value, value_bytes);
}

// What grows as the program runs: counts of calls, and what the process used.
void put_sums() {
  put_counters();
  if (this_thread() == 0) tell_usage("", state.at_init, &put_fact, nullptr);
}

// To be called when a record is whole: it counts from here on.
void commit() {
  if (state.writer.failed()) return fail("write");
  state.writer.commit();
  if (static_cast<std::int64_t>(state.last_leave_ns - state.counters_written_ns) >
      static_cast<std::int64_t>(kCountersNs)) {
    put_sums();
    state.writer.commit();
    state.counters_written_ns = state.last_leave_ns;
  }
  if (!state.writer.full()) return;
  if (!state.writer.next_chunk()) return fail("write");
  begin_chunk();
}

void tell_fact(void*, const char* name, const char* value) {
  const Locked locked(state.locking, state.mutex);
  if (state.recording) put_fact(nullptr, name, value);
}

// Set for threads that have made a call, so that their end calls this.
pthread_key_t thread_key;
pthread_once_t thread_key_made = PTHREAD_ONCE_INIT;

void put_thread_end(std::uint64_t number, std::uint64_t at_ns) {
  state.writer.byte(static_cast<std::uint8_t>(Meta::kThreadEnd));
  state.writer.number(number);
  state.writer.signed_number(static_cast<std::int64_t>(at_ns - state.last_leave_ns));
  state.writer.number(process_cpu_ns());
}

void thread_ends(void* number) {
  const Locked locked(state.locking, state.mutex);
  if (state.recording && getpid() == state.process) {
    put_polls();
    if (state.writer.reserve(kRecordBytes))
      put_thread_end(reinterpret_cast<std::uintptr_t>(number), now_ns());
    commit();
  }
}

// What the first thread did since its last call, where it ends the process between two.
void put_exit() {
  if (thread_number != 0 || here.call_depth > 0) return;
  if (!state.writer.reserve(2 * kRecordBytes)) return;
  const std::uint64_t at_ns = now_ns();
  put_off_core(core_time.enter(at_ns), {});
  put_thread_end(0, at_ns);
}

void put_text(const char* text) {
  const std::size_t bytes = strlen(text);
  if (state.writer.reserve(bytes + kRecordBytes)) state.writer.text(text, bytes);
}

bool write_header(int size) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  real.PMPI_Get_library_version(library, &length);
  library[strcspn(library, "\n")] = '\0';
  for (char* at = library; *at != '\0'; ++at) {
    if (*at == '\t') *at = ' ';
  }
  char host[256] = "";
  get_host(host, sizeof host);
  if (!state.writer.reserve(kRecordBytes)) return false;
  state.writer.number(static_cast<std::uint64_t>(state.rank));
  state.writer.number(static_cast<std::uint64_t>(size));
  put_text(library);
  put_text(host);
  put_text(program_invocation_name);
  put_text("CLOCK_MONOTONIC");
  state.writer.number(now_ns());
  state.writer.number(epoch_ns());
  state.writer.number(static_cast<std::uint64_t>(getpid()));
  return state.writer.write_header();
}

const char* trace_directory() {
  const char* directory = getenv("WEFT_TRACE_DIR");
  return directory == nullptr || *directory == '\0' ? nullptr : directory;
}

}  // namespace

std::uint64_t begin_thread() {
  const std::uint32_t number = this_thread();
  if (number == 0) return 0;
  pthread_once(&thread_key_made, [] { pthread_key_create(&thread_key, thread_ends); });
  pthread_setspecific(thread_key, reinterpret_cast<void*>(std::uintptr_t{number}));
  return process_cpu_ns();
}

bool is_recording() { return __atomic_load_n(&state.recording, __ATOMIC_RELAXED); }

void count_local(int i) {
  std::uint64_t& calls = state.counters[i].calls;
  if (state.locking) {
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  } else {
    ++calls;
  }
}

void find_now_in() {
  const std::uint32_t thread = this_thread();
  now_in = thread < kNowInSlots ? &state.writer.live()->now_in[thread] : &beyond_slots;
}

void after_init() {
  if (trace_directory() == nullptr || state.recording) return;
  char host[256];
  get_host(host, sizeof host);
  measure_clocks_at_begin(host);
}

namespace {

void record_plain(const Call& call) {
  Record record(call);
  record.begin();
}

// `world`: all processes.
void open_trace(const Call& call, MPI_Group world) {
  const char* directory = trace_directory();
  if (directory == nullptr) return;
  int size = 0;
  real.PMPI_Group_rank(world, &state.rank);
  real.PMPI_Group_size(world, &size);
  if (mkdir(directory, 0777) != 0 && errno != EEXIST) return tell(directory);
  if (!state.writer.open(directory, state.rank)) return tell(directory);
  if (!write_header(size)) return tell("write");
  state.process = getpid();
  state.last_leave_ns = state.counters_written_ns = call.leave_ns();
  begin_chunk();
  if (!state.communicators.start(state.writer, world, !state.world)) return fail("MPI_COMM_WORLD");
  tell_machine("", &put_fact, nullptr);
  if (state.world && was_spawned()) put_fact(nullptr, "spawned", "1");
  // Which of the lower levels it is doesn't matter: at none of them may two threads be in MPI at once.
  if (!state.locking) put_fact(nullptr, "threads_take_turns", "1");
  tell_clocks(ClockMoment::kBegin, &put_fact, nullptr);
  commit();
  // A forked child has the same mapping, and must not write there.
  pthread_atfork(nullptr, nullptr, [] {
    state.recording = false;
    untimed_polls.stop();
  });
  __atomic_store_n(&state.recording, true, __ATOMIC_RELEASE);
  record_plain(call);
  state.at_init = usage_now("");
  core_time.begin(now_ns());
}

bool use_world_group(MPI_Group* group) { return real.PMPI_Comm_group(comm_world(), group) == MPI_SUCCESS; }
}  // namespace

void start(const Call& call) {
  MPI_Group world;
  int level = MPI_THREAD_SINGLE;
  real.PMPI_Query_thread(&level);
  if (!state.recording) state.locking = level == MPI_THREAD_MULTIPLE;
  state.world = true;
  if (state.recording) return record_plain(call);
  if (use_world_group(&world)) open_trace(call, world);
}

void end_world() {
  state.world = false;
  if (state.sessions == 0) stop(End::kFinalize);
}

#if defined(MPICH)
void start_session(const Call& call, MPI_Session session) {
  // A session's level of threads is its own; and it may not be asked for without MPI_Init.
  state.locking = true;
  MPI_Group world;
  bool known = false;
  {
    const Locked locked(true, state.mutex);
    if (state.recording) put_fact(nullptr, "threads_take_turns", "0");
    const bool first = state.sessions++ == 0 && !state.world;
    known = first && real.PMPI_Group_from_session_pset(session, "mpi://WORLD", &world) == MPI_SUCCESS;
    if (known && state.recording) state.communicators.set_world(world);
  }
  if (state.recording) return record_plain(call);
  if (known) open_trace(call, world);
}

void before_session_finalize() {
  tell_passers(&tell_fact, nullptr);
  flush();
  const Locked locked(state.locking, state.mutex);
  if (state.recording && state.sessions == 1) {
    MPI_Group world;
    state.communicators.free_world();
    if (state.world && use_world_group(&world)) state.communicators.set_world(world);
  }
}

void end_session() {
  const Locked locked(state.locking, state.mutex);
  if (state.sessions > 0) --state.sessions;
}
#endif

void before_finalize() {
  tell_passers(&tell_fact, nullptr);
  measure_clocks_at_end();
  tell_clocks(ClockMoment::kEnd, &tell_fact, nullptr);
  flush();
}

void flush() {
  const Locked locked(state.locking, state.mutex);
  if (state.recording) {
    put_polls();
    put_sums();
    commit();
  }
}

void region(bool begin, const char* name) {
  // Not from inside of MPI, where this thread may hold the lock.
  if (!is_recording() || here.call_depth > 0 || name == nullptr) return;
  const std::uint64_t at_ns = now_ns();
  const Locked locked(state.locking, state.mutex);
  if (state.recording) {
    put_polls();
    if (state.writer.reserve(kRecordBytes + kMaxRegionName)) {
      state.writer.byte(static_cast<std::uint8_t>(Meta::kRegion));
      state.writer.byte(begin ? 1 : 0);
      state.writer.signed_number(static_cast<std::int64_t>(at_ns - state.last_leave_ns));
      state.writer.text(name, strnlen(name, kMaxRegionName));
    }
    commit();
  }
}

void pcontrol(int level) {
  const bool on = level != 0;
  if (!is_recording() || __atomic_exchange_n(&state.profiling, on, __ATOMIC_RELAXED) == on) return;
  region(on, kPcontrolRegion);
}

void stop(End reason) {
  const Locked locked(state.locking, state.mutex);
  if (state.recording) {
    put_polls();
    if (reason == End::kExit) put_exit();
    put_sums();
    commit();
  }
  if (state.recording) {
    __atomic_store_n(&state.recording, false, __ATOMIC_RELAXED);
    if (!state.writer.finish(reason)) tell("close");
  }
}

// A program that ends without MPI_Finalize. A forked child must leave the parent's file alone; and a signal
// handler that calls exit() may have interrupted a record, of this thread or of one that has the lock.
static void stop_at_exit(int, void*) {
  if (!state.recording || here.at_work || getpid() != state.process) return;
  if (state.locking) {
    if (pthread_mutex_trylock(&state.mutex) != 0) return;
    pthread_mutex_unlock(&state.mutex);
  }
  // After the last session another could have been begun.
  stop(state.world || state.sessions > 0 ? End::kExit : End::kFinalize);
}

// Libraries loaded after this one have their destructors called after this, and may communicate in them. What
// is registered while destructors are called is called behind the last of them.
__attribute__((destructor)) static void stop_behind_destructors() {
  if (!state.recording) return;
  if (on_exit(&stop_at_exit, nullptr) != 0) stop_at_exit(0, nullptr);
}

About about_undecoded(int i) {
  const std::uint32_t* number = &state.counters[i].number_plus_1;
  // A call inside another one is not the program's, and may come from under the lock.
  if (is_recording() && here.call_depth == 0 && !here.at_work &&
      __atomic_load_n(number, __ATOMIC_RELAXED) == 0) {
    const Locked locked(state.locking, state.mutex);
    if (state.recording) {
      name_number_locked(i);
      commit();
    }
  }
  return {.count = __atomic_load_n(number, __ATOMIC_RELAXED)};
}

void record_undecoded(int i, const Call& call) {
  Record record(call);
  ++state.counters[i].calls;
  state.counters[i].ns += call.leave_ns() - call.enter_ns();
  if (const std::uint64_t number = record.name_number(i); record.begin()) record.out().number(number);
}

Record::Record(const Call& call)
    : call_(call), locked_(state.locking, state.mutex), truncated_(is_truncated(call)) {}

Record::~Record() {
  // Another thread may have met the end of the disk since the call began.
  if (state.recording && !call_.untimed()) commit();
}

bool Record::begin(std::size_t bytes) {
  if (!state.recording) return false;
  if (call_.untimed()) call_.time_now(state.writer.live()->polls.leave_ns);
  put_polls(call_.enter_ns());
  if (!state.writer.reserve(kRecordBytes + bytes)) return false;
  put_off_core(call_);
  put_call(call_.function(), this_thread(), call_.enter_ns(), call_.leave_ns(), call_.error());
  return true;
}

void Record::poll(const Comm* comm, int peer, int tag, int given) {
  if (!state.recording) return;
  if (call_.untimed()) {
    if (untimed_polls.count()) return;
    call_.time_now(state.last_leave_ns);
  }
  PendingPolls poll{};
  poll.function = static_cast<std::uint32_t>(call_.function());
  poll.thread = this_thread();
  poll.comm_plus_1 = comm == nullptr ? 0 : comm->id + 1;
  poll.peer = comm == nullptr ? kUndefined : comm->world_rank(peer);
  poll.tag = tag;
  poll.given = static_cast<std::uint32_t>(given);
  poll.enter_ns = call_.enter_ns();
  PendingPolls& pending = state.writer.live()->polls;
  const bool ran = call_.off_before().sum() + call_.off_inside().sum() == 0 && call_.thread_begins_ns() == 0;
  const std::uint64_t inside_ns = call_.leave_ns() - call_.enter_ns();
  if (pending.calls > 0 && ran && same_polls(pending, poll) &&
      call_.enter_ns() - pending.leave_ns <= untimed_polls.longest_ns(kMaxPollGapNs)) {
    const std::uint64_t period_ns = call_.leave_ns() - pending.leave_ns;
    // Not behind inner ones: the poll around these would be counted with them.
    const bool timed = state.locking || call_.inner();
    untimed_polls.follows(timed ? kNoPolls : call_.polls(), period_ns, inside_ns, pending, call_.enter_ns());
  } else {
    put_polls(call_.enter_ns());
    if (!ran && state.writer.reserve(kRecordBytes)) put_off_core(call_);
    pending = poll;
  }
  pending.leave_ns = call_.leave_ns();
  pending.inside_ns += inside_ns;
  __atomic_store_n(&pending.calls, pending.calls + 1, __ATOMIC_RELEASE);
}

Writer& Record::out() { return state.writer; }
void Record::one_poll() {
  state.writer.end_fields();
  state.writer.number(0);
}
Requests& Record::requests() { return state.requests; }
Requests& Record::messages() { return state.messages; }
Communicators& Record::communicators() { return state.communicators; }
Windows& Record::windows() { return state.windows; }
std::uint64_t Record::next_message_number() { return state.next_message++; }
std::uint64_t Record::name_number(int i) { return state.recording ? name_number_locked(i) : 0; }

Comm* Record::find(MPI_Comm handle) {
  return state.recording ? state.communicators.find(handle, !failed()) : nullptr;
}

Comm* Record::define(MPI_Comm handle, const Comm* parent, std::uint64_t label) {
  return state.recording ? state.communicators.define(handle, parent, label) : nullptr;
}

Request* Record::made(const MPI_Request* request, Request::Kind kind, bool persistent, Comm* comm,
                      const MPI_Comm* new_comm) {
  const std::uint64_t number = state.next_request++;
  if (failed() || *request == request_null()) return nullptr;
  Request* entry = state.requests.add(bits(*request), request);
  if (entry == nullptr) out_of_memory();
  entry->number = number;
  entry->kind = kind;
  entry->persistent = persistent;
  entry->active = !persistent;
  entry->new_comm = new_comm;
  if (kind == Request::Kind::kReceive || kind == Request::Kind::kDuplicate) {
    entry->comm = comm;
    if (comm != nullptr) ++comm->references;
  }
  return entry;
}

void Record::reference(std::uint64_t number) {
  out().number(number == kUnknownRequest ? 0 : state.next_request - number);
}

}  // namespace weft::trace
