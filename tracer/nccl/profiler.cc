// The profiler plugin: what a stock NCCL tells of its choices (algorithm, protocol, channels) and, if
// WEFT_TRACE_NCCL_STEPS=1, of each step over the network. NCCL loads this library by NCCL_PROFILER_PLUGIN and
// takes the newest ncclProfiler_v* that it knows; it does so too where it is linked statically into a
// program.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/nccl/profiler_abi.h"
#include "tracer/nccl/trace.h"

namespace weft::trace::nccl::profiler {
namespace {

// One communicator.
struct Context {
  std::int64_t number;  // 0: not written yet, as versions up to 3 tell of it with its first event only
  std::uint64_t operations[256];  // by function
};

// A group, or a proxy operation or one of its steps, while NCCL has it.
struct Handle {
  bool is_step;
  std::int64_t group;  // a group's number
  Context* context;
  std::int64_t channel, peer, is_send, step, bytes;
  std::uint64_t begin_ns;
};

std::int64_t last_number = 0, last_group = 0;

bool steps_wanted() {
  const char* text = getenv("WEFT_TRACE_NCCL_STEPS");
  return text != nullptr && strcmp(text, "1") == 0;
}

struct NamedFunction {
  const char* name;
  DeviceFunction function;
};
// In the order of NCCL's ncclFunc_t, which version 1 tells instead of names.
constexpr NamedFunction kFunctions[] = {
    {"Broadcast", DeviceFunction::ncclBroadcast}, {"Reduce", DeviceFunction::ncclReduce},
    {"AllGather", DeviceFunction::ncclAllGather}, {"ReduceScatter", DeviceFunction::ncclReduceScatter},
    {"AllReduce", DeviceFunction::ncclAllReduce}, {"SendRecv", DeviceFunction{}},
    {"Send", DeviceFunction::ncclSend},           {"Recv", DeviceFunction::ncclRecv},
    {"AlltoAll", DeviceFunction::ncclAlltoAll},   {"Scatter", DeviceFunction::ncclScatter},
    {"Gather", DeviceFunction::ncclGather}};

// The number of a function; 0 for one that is not known.
std::int64_t function_of(const char* name) {
  for (const NamedFunction& each : kFunctions) {
    if (name != nullptr && strcmp(each.name, name) == 0) return static_cast<std::int64_t>(each.function);
  }
  return 0;
}
std::int64_t function_of(std::uint8_t number) {
  constexpr std::size_t kCount = sizeof kFunctions / sizeof kFunctions[0];
  return number < kCount ? static_cast<std::int64_t>(kFunctions[number].function) : 0;
}

template <std::size_t n>
std::int64_t number_of(const char* const (&names)[n], const char* name) {
  for (std::size_t i = 0; i < n; ++i) {
    if (name != nullptr && strcmp(names[i], name) == 0) return static_cast<std::int64_t>(i);
  }
  return kNotKnown;
}
template <std::size_t n>
std::int64_t number_of(const char* const (&)[n], std::uint8_t number) {
  return number < n ? number : kNotKnown;
}

constexpr const char* kTypes[] = {"ncclInt8",    "ncclUint8",    "ncclInt32",      "ncclUint32",
                                  "ncclInt64",   "ncclUint64",   "ncclFloat16",    "ncclFloat32",
                                  "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};

// With the tracer's lock.
void define(Context* context, std::uint64_t hash, int rank, int ranks, int nodes) {
  if (context->number != 0) return;
  context->number = ++last_number;
  note(DeviceFunction::profiler_communicator,
       {context->number, static_cast<std::int64_t>(hash), rank, ranks, nodes});
}

// Which communicator an event is of, where the context does not say.
template <typename Details>
void define_by(Context* context, const Details& details, int rank) {
  if constexpr (requires { details.comm_hash; }) define(context, details.comm_hash, rank, 0, 0);
}

int begin(void** context, int* mask) {
  *context = nullptr;
  *mask = 0;
  Locked lock;
  if (!open_file()) return 0;
  *context = calloc(1, sizeof(Context));
  if (*context == nullptr) return 0;
  *mask =
      static_cast<int>(kGroup | kCollective | kPeer | (steps_wanted() ? kProxyOperation | kProxyStep : 0));
  return 0;
}

// Behind every mask there may be calls without a context: what could not be made has none.
template <typename CollectiveType>
void collective(Context* context, const CollectiveType& c, int rank, std::int64_t group) {
  Locked lock;
  define_by(context, c, rank);
  const std::int64_t function = function_of(c.function);
  if (function == 0) return;
  const auto nth = static_cast<std::int64_t>(context->operations[function]++);
  note_now(DeviceFunction::profiler_operation,
           {context->number, function, nth, static_cast<std::int64_t>(c.count), number_of(kTypes, c.datatype),
            c.root, number_of(kNcclAlgorithms, c.algorithm), number_of(kNcclProtocols, c.protocol),
            c.channels, c.warps, group});
}

template <typename PeerType>
void peer(Context* context, const PeerType& p, int rank, std::int64_t group) {
  Locked lock;
  define_by(context, p, rank);
  const std::int64_t function = function_of(p.function);
  if (function == 0) return;
  std::int64_t channels = 0;
  if constexpr (requires { p.channels; }) channels = p.channels;
  const auto nth = static_cast<std::int64_t>(context->operations[function]++);
  note_now(DeviceFunction::profiler_operation,
           {context->number, function, nth, static_cast<std::int64_t>(p.count), number_of(kTypes, p.datatype),
            p.peer, kNotKnown, kNotKnown, channels, 0, group});
}

Handle* make_handle(Context* context) {
  auto* handle = static_cast<Handle*>(calloc(1, sizeof(Handle)));
  if (handle != nullptr) handle->context = context;
  return handle;
}

// The number of the group that an operation is launched in; 0 if it is in none.
template <typename Details>
std::int64_t group_of(const Details& details, const void* parent) {
  if constexpr (requires { details.group; }) parent = details.group;
  return parent == nullptr ? 0 : static_cast<const Handle*>(parent)->group;
}

template <typename EventType>
int start(void* opaque, void** handle, EventType* event) {
  *handle = nullptr;
  auto* context = static_cast<Context*>(opaque);
  if (context == nullptr || !is_recording()) return 0;
  if (event->type == kGroup) {
    Handle* made = make_handle(context);
    if (made != nullptr) made->group = __atomic_add_fetch(&last_group, 1, __ATOMIC_RELAXED);
    *handle = made;
  }
  if (event->type == kCollective) {
    collective(context, event->collective, event->rank, group_of(event->collective, event->parent));
  }
  if (event->type == kPeer) peer(context, event->peer, event->rank, group_of(event->peer, event->parent));
  if (event->type == kProxyOperation) {
    Handle* made = make_handle(context);
    if (made == nullptr) return 0;
    made->channel = event->proxy_operation.channel;
    made->peer = event->proxy_operation.peer;
    made->is_send = event->proxy_operation.is_send != 0 ? 1 : 0;
    *handle = made;
  }
  if (event->type == kProxyStep && event->parent != nullptr) {
    Handle* made = make_handle(context);
    if (made == nullptr) return 0;
    *made = *static_cast<Handle*>(event->parent);
    made->is_step = true;
    made->step = event->proxy_step.step;
    made->begin_ns = now_ns();
    *handle = made;
  }
  return 0;
}

int stop(void* opaque) {
  auto* handle = static_cast<Handle*>(opaque);
  if (handle == nullptr) return 0;
  if (handle->is_step && is_recording()) {
    const auto ns = static_cast<std::int64_t>(now_ns() - handle->begin_ns);
    Locked lock;
    note(DeviceFunction::profiler_step, {handle->context->number, handle->is_send, handle->peer,
                                         handle->channel, handle->step, handle->bytes, ns});
  }
  free(handle);
  return 0;
}

// States before version 4 have other arguments.
int no_state(void*, int, StateArguments*) { return 0; }
int state(void* opaque, int, StateArguments* arguments) {
  auto* handle = static_cast<Handle*>(opaque);
  if (handle == nullptr || !handle->is_step || arguments == nullptr) return 0;
  const auto bytes = static_cast<std::int64_t>(arguments->step_bytes);
  if (bytes > handle->bytes) handle->bytes = bytes;
  return 0;
}

int finalize(void* context) {
  free(context);
  return 0;
}

int init1(void** context, int* mask) { return begin(context, mask); }
int init4(void** context, int* mask, const char*, std::uint64_t hash, int nodes, int ranks, int rank, void*) {
  begin(context, mask);
  Locked lock;
  if (*context != nullptr) define(static_cast<Context*>(*context), hash, rank, ranks, nodes);
  return 0;
}
int init5(void** context, std::uint64_t hash, int* mask, const char* name, int nodes, int ranks, int rank,
          void* log) {
  return init4(context, mask, name, hash, nodes, ranks, rank, log);
}

}  // namespace
}  // namespace weft::trace::nccl::profiler

namespace weft::trace::nccl::profiler {
extern "C" {
#define WEFT_PROFILER(version, Init, init, Event, state)                                        \
  extern __attribute__((visibility("default"))) Functions<Init, Event> ncclProfiler_v##version; \
  Functions<Init, Event> ncclProfiler_v##version = {"weft", init, start<Event>, stop, state, finalize};
WEFT_PROFILER(1, Init1, init1, Event1, no_state)
WEFT_PROFILER(2, Init1, init1, Event2, no_state)
WEFT_PROFILER(3, Init1, init1, Event3, no_state)
WEFT_PROFILER(4, Init4, init4, Event4, state)
WEFT_PROFILER(5, Init5, init5, Event5, state)
WEFT_PROFILER(6, Init5, init5, Event5, state)
#undef WEFT_PROFILER
}
}  // namespace weft::trace::nccl::profiler
