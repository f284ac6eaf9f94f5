// NCCL's entry points. Each calls NCCL's own and then says what was called.
#include <stdlib.h>
#include <unistd.h>

#include "tracer/mpi/hash.h"
#include "tracer/mpi/say.h"
#include "tracer/nccl/gpu_times.h"
#include "tracer/nccl/real.h"
#include "tracer/nccl/trace.h"

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft::trace::nccl {
namespace {

// As the dynamic linker would have said without us, but an error and no end: newer functions are asked for by
// programs that can do without.
Result absent(const char* name) {
  say("weft: no library of this process defines %s\n", name);
  return kInternalError;
}

template <typename... Parameters, typename... Arguments>
Result call(Real<Result(Parameters...)>& real, Arguments... arguments) {
  auto* function = real.get();
  return function != nullptr ? function(arguments...) : absent(real.name());
}

thread_local int group_depth = 0;

// What one thread's open group has put on a stream so far.
struct GroupStream {
  Stream stream;
  Measurement measurement;
  std::uint64_t operation;  // the first
};
constexpr int kMaxGroupStreams = 64;

// Communicators that are made in a group exist, for NCCL too, when it has ended.
struct Creation {
  Comm* place;
  std::uint64_t key;
  std::int64_t parent;
};
constexpr int kMaxCreations = 1024;

// What a thread has open. On the heap, and only while there is any: a thread's own variables are taken from
// its stack, in programs without NCCL too.
struct Group {
  GroupStream streams[kMaxGroupStreams];
  int stream_count = 0;
  Creation creations[kMaxCreations];
  int creation_count = 0;
};
thread_local Group* group = nullptr;

// Null without memory: then what would be noted there is not.
Group* open_group() {
  if (group == nullptr) {
    group = static_cast<Group*>(malloc(sizeof(Group)));
    if (group != nullptr) group->stream_count = group->creation_count = 0;
  }
  return group;
}

void close_group() {
  free(group);
  group = nullptr;
}

bool in_this_group(Stream stream) {
  for (int i = 0; group != nullptr && i < group->stream_count; ++i) {
    if (group->streams[i].stream == stream) return true;
  }
  return false;
}

// False if it can't be.
bool note_in_group(Stream stream, Measurement measurement, std::uint64_t operation) {
  Group* open = open_group();
  if (open == nullptr || open->stream_count == kMaxGroupStreams) return false;
  open->streams[open->stream_count++] = {stream, measurement, operation};
  return true;
}

int device_of(Comm comm) {
  const CommEntry* entry = find_comm(comm);
  return entry != nullptr ? entry->device : -1;
}

// One collective or message. In a group nothing runs before the group's end, so one measurement there is of
// all that the group put on the stream, and goes with the first operation.
template <typename Invoke>
Result operation(DeviceFunction function, Comm comm, Stream stream, std::size_t count, int datatype,
                 std::initializer_list<int> rest, Invoke invoke) {
  Call call;
  const bool traced = call.outermost() && is_recording();
  int device = -1;
  Measurement measurement = 0;
  if (traced) {
    {
      Locked lock;
      comm_number(comm);
      device = device_of(comm);
    }
    if (group_depth == 0 || !in_this_group(stream)) measurement = begin_measurement(stream, device);
  }
  const Result result = invoke();
  if (!traced || !call.left(result)) return result;
  std::uint64_t number = 0;
  {
    Locked lock;
    const std::int64_t comm_id = comm_number(comm), stream_id = stream_number(stream, device);
    const auto elements = static_cast<std::int64_t>(count);
    const int last = rest.size() == 1 ? *rest.begin() : rest.begin()[1];
    number = rest.size() == 1
                 ? record(function, call, {comm_id, stream_id, elements, datatype, last})
                 : record(function, call, {comm_id, stream_id, elements, datatype, *rest.begin(), last});
  }
  if (group_depth == 0 || measurement == 0 || !note_in_group(stream, measurement, number)) {
    end_measurement(measurement, stream, result == kSuccess || result == kInProgress ? number : 0);
  }
  return result;
}

void end_group() {
  if (group == nullptr) return;
  for (int i = 0; i < group->stream_count; ++i) {
    const GroupStream& on = group->streams[i];
    end_measurement(on.measurement, on.stream, on.operation);
  }
  group->stream_count = 0;
  if (group->creation_count == 0) close_group();
}

// With the tracer's lock.
void define_created() {
  if (group == nullptr) return;
  for (int i = 0; i < group->creation_count; ++i) {
    const Creation& creation = group->creations[i];
    const Comm comm = *creation.place;
    if (comm == nullptr) continue;
    const CommEntry* entry = find_comm(comm);
    if (entry == nullptr || entry->key != creation.key) add_comm(comm, creation.key, creation.parent);
    comm_number(comm);
  }
  close_group();
}

// A communicator was made, or is being made, and will be at *place.
void created(DeviceFunction function, Call& call, Result result, Comm* place, std::uint64_t key,
             Comm parent) {
  call.returned();
  Locked lock;
  if (!call.outermost() || !open_file()) return;
  call.left(result);
  const std::int64_t parent_number = parent != nullptr ? comm_number(parent) : 0;
  std::int64_t number = 0;
  const bool made = (result == kSuccess || result == kInProgress) && place != nullptr;
  Group* open = made ? open_group() : nullptr;
  if (open != nullptr && open->creation_count < kMaxCreations) {
    open->creations[open->creation_count++] = {place, key, parent_number};
    if (*place != nullptr) add_comm(*place, key, parent_number);
    if (group_depth == 0) define_created();
    const CommEntry* entry = find_comm(*place);
    number = entry != nullptr ? entry->number : 0;
  }
  record(function, call, {number, parent_number});
}

// The key of the next communicator that is made of this one, with what tells its members apart from others.
std::uint64_t child_key(Comm parent, std::uint64_t what) {
  Locked lock;
  CommEntry* entry = find_comm(parent);
  if (entry == nullptr) return 0;
  return combine(combine(entry->key, ++entry->splits), what);
}

Result end_of(DeviceFunction function, Comm comm, Real<Result(Comm)>& real, bool forget) {
  std::int64_t number = 0;
  if (is_recording()) {
    Locked lock;
    write_gpu_times();
    number = find_comm(comm) != nullptr ? comm_number(comm) : 0;
  }
  Call its_call;
  const Result result = call(real, comm);
  if (!its_call.left(result)) return result;
  Locked lock;
  record(function, its_call, {number});
  if (forget && result == kSuccess) forget_comm(comm);
  return result;
}

// Calls that are counted by name.
template <typename... Parameters, typename... Arguments>
Result counted(Real<Result(Parameters...)>& real, CallClass call_class, Arguments... arguments) {
  Call its_call;
  const Result result = call(real, arguments...);
  if (!its_call.left(result)) return result;
  Locked lock;
  count(real.name(), call_class, its_call);
  return result;
}

}  // namespace

WEFT_EXPORT Result ncclCommInitRank(Comm* comm, int ranks, UniqueId id, int rank) {
  static Real<Result(Comm*, int, UniqueId, int)> real("ncclCommInitRank");
  Call its_call;
  const Result result = call(real, comm, ranks, id, rank);
  created(DeviceFunction::ncclCommInitRank, its_call, result, comm, hash_bytes(&id, sizeof id), nullptr);
  return result;
}

WEFT_EXPORT Result ncclCommInitRankConfig(Comm* comm, int ranks, UniqueId id, int rank, void* config) {
  static Real<Result(Comm*, int, UniqueId, int, void*)> real("ncclCommInitRankConfig");
  Call its_call;
  const Result result = call(real, comm, ranks, id, rank, config);
  created(DeviceFunction::ncclCommInitRankConfig, its_call, result, comm, hash_bytes(&id, sizeof id),
          nullptr);
  return result;
}

WEFT_EXPORT Result ncclCommInitRankScalable(Comm* comm, int ranks, int rank, int count, UniqueId* ids,
                                            void* config) {
  static Real<Result(Comm*, int, int, int, UniqueId*, void*)> real("ncclCommInitRankScalable");
  // Every rank gives the same list.
  const std::uint64_t key =
      hash_bytes(ids, static_cast<std::size_t>(count > 0 ? count : 0) * sizeof(UniqueId));
  Call its_call;
  const Result result = call(real, comm, ranks, rank, count, ids, config);
  created(DeviceFunction::ncclCommInitRankScalable, its_call, result, comm, key, nullptr);
  return result;
}

WEFT_EXPORT Result ncclCommInitAll(Comm* comms, int count, const int* devices) {
  static Real<Result(Comm*, int, const int*)> real("ncclCommInitAll");
  static std::uint64_t times = 0;
  Call its_call;
  const Result result = call(real, comms, count, devices);
  its_call.returned();
  Locked lock;
  if (!its_call.outermost() || !open_file()) return result;
  its_call.left(result);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::uint64_t process = combine(hash_bytes(host, sizeof host), static_cast<std::uint64_t>(getpid()));
  const std::uint64_t key = combine(process, ++times);
  for (int i = 0; result == kSuccess && i < count; ++i) {
    add_comm(comms[i], key, 0);
    comm_number(comms[i]);
  }
  record(DeviceFunction::ncclCommInitAll, its_call, {});
  return result;
}

WEFT_EXPORT Result ncclCommSplit(Comm comm, int color, int key, Comm* made, void* config) {
  static Real<Result(Comm, int, int, Comm*, void*)> real("ncclCommSplit");
  Call its_call;
  const Result result = call(real, comm, color, key, made, config);
  created(DeviceFunction::ncclCommSplit, its_call, result, made,
          child_key(comm, static_cast<std::uint64_t>(static_cast<std::int64_t>(color))), comm);
  return result;
}

WEFT_EXPORT Result ncclCommShrink(Comm comm, int* excluded, int count, Comm* made, void* config, int flags) {
  static Real<Result(Comm, int*, int, Comm*, void*, int)> real("ncclCommShrink");
  Call its_call;
  const Result result = call(real, comm, excluded, count, made, config, flags);
  // Only those that stay call it.
  created(DeviceFunction::ncclCommShrink, its_call, result, made, child_key(comm, 1ull << 40), comm);
  return result;
}

WEFT_EXPORT Result ncclCommGrow(Comm comm, int ranks, const UniqueId* id, int rank, Comm* made,
                                void* config) {
  static Real<Result(Comm, int, const UniqueId*, int, Comm*, void*)> real("ncclCommGrow");
  Call its_call;
  const Result result = call(real, comm, ranks, id, rank, made, config);
  // New ranks know the id only, and most of the old ones do not have it: no key that all could compute.
  created(DeviceFunction::ncclCommGrow, its_call, result, made, 0, comm);
  return result;
}

WEFT_EXPORT Result ncclCommFinalize(Comm comm) {
  static Real<Result(Comm)> real("ncclCommFinalize");
  return end_of(DeviceFunction::ncclCommFinalize, comm, real, false);
}
WEFT_EXPORT Result ncclCommDestroy(Comm comm) {
  static Real<Result(Comm)> real("ncclCommDestroy");
  return end_of(DeviceFunction::ncclCommDestroy, comm, real, true);
}
WEFT_EXPORT Result ncclCommAbort(Comm comm) {
  static Real<Result(Comm)> real("ncclCommAbort");
  return end_of(DeviceFunction::ncclCommAbort, comm, real, true);
}

WEFT_EXPORT Result ncclCommGetAsyncError(Comm comm, Result* error) {
  static Real<Result(Comm, Result*)> real("ncclCommGetAsyncError");
  Call its_call;
  const Result result = call(real, comm, error);
  // This is how a program learns that a nonblocking communicator is made.
  if (its_call.left(result) && error != nullptr && *error == kSuccess) {
    Locked lock;
    if (find_comm(comm) != nullptr) comm_number(comm);
  }
  return result;
}

WEFT_EXPORT Result ncclGroupStart() {
  static Real<Result()> real("ncclGroupStart");
  Call its_call;
  const Result result = call(real);
  if (!its_call.outermost()) return result;
  ++group_depth;
  if (!its_call.left(result)) return result;
  Locked lock;
  record(DeviceFunction::ncclGroupStart, its_call, {});
  return result;
}

namespace {
template <typename Function, typename... Arguments>
Result group_end(Real<Function>& real, Arguments... arguments) {
  Call its_call;
  const Result result = call(real, arguments...);
  if (!its_call.outermost()) return result;
  if (group_depth > 0) --group_depth;
  if (group_depth == 0) end_group();
  if (!its_call.left(result)) return result;
  Locked lock;
  if (group_depth == 0) define_created();
  record(DeviceFunction::ncclGroupEnd, its_call, {});
  write_gpu_times();
  return result;
}
}  // namespace

WEFT_EXPORT Result ncclGroupEnd() {
  static Real<Result()> real("ncclGroupEnd");
  return group_end(real);
}

// Ends a group without running it: its operations never happen.
WEFT_EXPORT Result ncclGroupSimulateEnd(void* info) {
  static Real<Result(void*)> real("ncclGroupSimulateEnd");
  const Result result = counted(real, CallClass::kCommunication, info);
  if (group_depth > 0) --group_depth;
  if (group_depth == 0) end_group();
  return result;
}

WEFT_EXPORT Result ncclAllReduce(const void* in, void* out, std::size_t count, int type, int reduction,
                                 Comm comm, Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, int, Comm, Stream)> real("ncclAllReduce");
  return operation(DeviceFunction::ncclAllReduce, comm, stream, count, type, {reduction, -1},
                   [&] { return call(real, in, out, count, type, reduction, comm, stream); });
}

WEFT_EXPORT Result ncclReduce(const void* in, void* out, std::size_t count, int type, int reduction, int root,
                              Comm comm, Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, int, int, Comm, Stream)> real("ncclReduce");
  return operation(DeviceFunction::ncclReduce, comm, stream, count, type, {reduction, root},
                   [&] { return call(real, in, out, count, type, reduction, root, comm, stream); });
}

WEFT_EXPORT Result ncclBroadcast(const void* in, void* out, std::size_t count, int type, int root, Comm comm,
                                 Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, int, Comm, Stream)> real("ncclBroadcast");
  return operation(DeviceFunction::ncclBroadcast, comm, stream, count, type, {-1, root},
                   [&] { return call(real, in, out, count, type, root, comm, stream); });
}

WEFT_EXPORT Result ncclBcast(void* buffer, std::size_t count, int type, int root, Comm comm, Stream stream) {
  static Real<Result(void*, std::size_t, int, int, Comm, Stream)> real("ncclBcast");
  return operation(DeviceFunction::ncclBcast, comm, stream, count, type, {-1, root},
                   [&] { return call(real, buffer, count, type, root, comm, stream); });
}

WEFT_EXPORT Result ncclReduceScatter(const void* in, void* out, std::size_t count, int type, int reduction,
                                     Comm comm, Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, int, Comm, Stream)> real("ncclReduceScatter");
  return operation(DeviceFunction::ncclReduceScatter, comm, stream, count, type, {reduction, -1},
                   [&] { return call(real, in, out, count, type, reduction, comm, stream); });
}

WEFT_EXPORT Result ncclAllGather(const void* in, void* out, std::size_t count, int type, Comm comm,
                                 Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, Comm, Stream)> real("ncclAllGather");
  return operation(DeviceFunction::ncclAllGather, comm, stream, count, type, {-1, -1},
                   [&] { return call(real, in, out, count, type, comm, stream); });
}

WEFT_EXPORT Result ncclAlltoAll(const void* in, void* out, std::size_t count, int type, Comm comm,
                                Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, Comm, Stream)> real("ncclAlltoAll");
  return operation(DeviceFunction::ncclAlltoAll, comm, stream, count, type, {-1, -1},
                   [&] { return call(real, in, out, count, type, comm, stream); });
}

WEFT_EXPORT Result ncclGather(const void* in, void* out, std::size_t count, int type, int root, Comm comm,
                              Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, int, Comm, Stream)> real("ncclGather");
  return operation(DeviceFunction::ncclGather, comm, stream, count, type, {-1, root},
                   [&] { return call(real, in, out, count, type, root, comm, stream); });
}

WEFT_EXPORT Result ncclScatter(const void* in, void* out, std::size_t count, int type, int root, Comm comm,
                               Stream stream) {
  static Real<Result(const void*, void*, std::size_t, int, int, Comm, Stream)> real("ncclScatter");
  return operation(DeviceFunction::ncclScatter, comm, stream, count, type, {-1, root},
                   [&] { return call(real, in, out, count, type, root, comm, stream); });
}

WEFT_EXPORT Result ncclSend(const void* buffer, std::size_t count, int type, int peer, Comm comm,
                            Stream stream) {
  static Real<Result(const void*, std::size_t, int, int, Comm, Stream)> real("ncclSend");
  return operation(DeviceFunction::ncclSend, comm, stream, count, type, {peer},
                   [&] { return call(real, buffer, count, type, peer, comm, stream); });
}

WEFT_EXPORT Result ncclRecv(void* buffer, std::size_t count, int type, int peer, Comm comm, Stream stream) {
  static Real<Result(void*, std::size_t, int, int, Comm, Stream)> real("ncclRecv");
  return operation(DeviceFunction::ncclRecv, comm, stream, count, type, {peer},
                   [&] { return call(real, buffer, count, type, peer, comm, stream); });
}

// Counted only.
WEFT_EXPORT Result ncclGetUniqueId(UniqueId* id) {
  static Real<Result(UniqueId*)> real("ncclGetUniqueId");
  return counted(real, CallClass::kLocal, id);
}
WEFT_EXPORT Result ncclCommGetUniqueId(Comm comm, UniqueId* id) {
  static Real<Result(Comm, UniqueId*)> real("ncclCommGetUniqueId");
  return counted(real, CallClass::kLocal, comm, id);
}
WEFT_EXPORT Result ncclCommRevoke(Comm comm, int flags) {
  static Real<Result(Comm, int)> real("ncclCommRevoke");
  return counted(real, CallClass::kCommunication, comm, flags);
}
WEFT_EXPORT Result ncclCommSuspend(Comm comm, int flags) {
  static Real<Result(Comm, int)> real("ncclCommSuspend");
  return counted(real, CallClass::kLocal, comm, flags);
}
WEFT_EXPORT Result ncclCommResume(Comm comm) {
  static Real<Result(Comm)> real("ncclCommResume");
  return counted(real, CallClass::kLocal, comm);
}
WEFT_EXPORT Result ncclMemAlloc(void** memory, std::size_t bytes) {
  static Real<Result(void**, std::size_t)> real("ncclMemAlloc");
  return counted(real, CallClass::kLocal, memory, bytes);
}
WEFT_EXPORT Result ncclMemFree(void* memory) {
  static Real<Result(void*)> real("ncclMemFree");
  return counted(real, CallClass::kLocal, memory);
}
WEFT_EXPORT Result ncclCommRegister(Comm comm, void* buffer, std::size_t bytes, void** handle) {
  static Real<Result(Comm, void*, std::size_t, void**)> real("ncclCommRegister");
  return counted(real, CallClass::kLocal, comm, buffer, bytes, handle);
}
WEFT_EXPORT Result ncclCommDeregister(Comm comm, void* handle) {
  static Real<Result(Comm, void*)> real("ncclCommDeregister");
  return counted(real, CallClass::kLocal, comm, handle);
}
WEFT_EXPORT Result ncclCommWindowRegister(Comm comm, void* buffer, std::size_t bytes, void** window,
                                          int flags) {
  static Real<Result(Comm, void*, std::size_t, void**, int)> real("ncclCommWindowRegister");
  return counted(real, CallClass::kLocal, comm, buffer, bytes, window, flags);
}
WEFT_EXPORT Result ncclCommWindowDeregister(Comm comm, void* window) {
  static Real<Result(Comm, void*)> real("ncclCommWindowDeregister");
  return counted(real, CallClass::kLocal, comm, window);
}
WEFT_EXPORT Result ncclRedOpCreatePreMulSum(int* op, void* scalar, int type, int residence, Comm comm) {
  static Real<Result(int*, void*, int, int, Comm)> real("ncclRedOpCreatePreMulSum");
  return counted(real, CallClass::kLocal, op, scalar, type, residence, comm);
}
WEFT_EXPORT Result ncclRedOpDestroy(int op, Comm comm) {
  static Real<Result(int, Comm)> real("ncclRedOpDestroy");
  return counted(real, CallClass::kLocal, op, comm);
}
WEFT_EXPORT Result ncclPutSignal(const void* buffer, std::size_t count, int type, int peer, void* window,
                                 std::size_t offset, int signal, int context, unsigned flags, Comm comm,
                                 Stream stream) {
  static Real<Result(const void*, std::size_t, int, int, void*, std::size_t, int, int, unsigned, Comm,
                     Stream)>
      real("ncclPutSignal");
  return counted(real, CallClass::kCommunication, buffer, count, type, peer, window, offset, signal, context,
                 flags, comm, stream);
}
WEFT_EXPORT Result ncclSignal(int peer, int signal, int context, unsigned flags, Comm comm, Stream stream) {
  static Real<Result(int, int, int, unsigned, Comm, Stream)> real("ncclSignal");
  return counted(real, CallClass::kCommunication, peer, signal, context, flags, comm, stream);
}
WEFT_EXPORT Result ncclWaitSignal(int count, void* signals, Comm comm, Stream stream) {
  static Real<Result(int, void*, Comm, Stream)> real("ncclWaitSignal");
  return counted(real, CallClass::kCommunication, count, signals, comm, stream);
}

}  // namespace weft::trace::nccl
