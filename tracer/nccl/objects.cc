// Communicators, streams, events and graphs: from handles to the numbers of the trace.
#include "tracer/nccl/handles.h"
#include "tracer/nccl/real.h"
#include "tracer/nccl/trace.h"

namespace weft::trace::nccl {
namespace {

struct StreamEntry {
  std::int64_t number;
  StreamKind kind;
};
struct Numbered {
  std::int64_t number;
};

Real<Result(Comm, int*)> comm_count("ncclCommCount");
Real<Result(Comm, int*)> comm_user_rank("ncclCommUserRank");
Real<Result(Comm, int*)> comm_cu_device("ncclCommCuDevice");

// Behind the tracer's lock, as all of its state.
Handles<CommEntry> comms;
Handles<StreamEntry> streams;
Handles<Numbered> events, graphs;
std::int64_t last_comm = 0, last_stream = 0, last_event = 0, last_graph = 0;

bool ask(Real<Result(Comm, int*)>& function, Comm comm, int& value) {
  auto* real = function.get();
  return real != nullptr && real(comm, &value) == kSuccess;
}

// cudaStreamLegacy and cudaStreamPerThread are small constants. The null stream is one per device.
const void* stream_key(Stream stream, int device) {
  const auto bits = reinterpret_cast<std::uintptr_t>(stream);
  if (bits > 2) return stream;
  const std::uintptr_t which = bits == 2 ? 1 : 0;
  return reinterpret_cast<const void*>(4 + 2 * static_cast<std::uintptr_t>(device < 0 ? 0 : device) + which);
}

template <typename Value>
std::int64_t number_of(Handles<Value>& handles, const void* handle, std::int64_t& last) {
  if (handle == nullptr) return 0;
  Value* entry = handles.get(handle);
  if (entry == nullptr) return 0;
  if (entry->number == 0) entry->number = ++last;
  return entry->number;
}

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  std::uint64_t hash = bytes;
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = combine(hash, at[i]);
  return hash;
}

CommEntry* find_comm(Comm handle) { return comms.find(handle); }

CommEntry* add_comm(Comm handle, std::uint64_t key, std::int64_t parent) {
  CommEntry* entry = handle == nullptr ? nullptr : comms.get(handle);
  if (entry != nullptr) *entry = {handle, key, 0, parent, -1, 0};
  return entry;
}

void forget_comm(Comm handle) { comms.erase(handle); }

std::int64_t comm_number(Comm handle) {
  CommEntry* entry = comms.find(handle);
  if (entry == nullptr) entry = add_comm(handle, 0, 0);  // made before the trace began
  if (entry == nullptr || entry->number != 0) return entry == nullptr ? 0 : entry->number;
  int rank = 0, size = 0;
  if (!ask(comm_count, handle, size) || !ask(comm_user_rank, handle, rank)) return 0;
  if (!ask(comm_cu_device, handle, entry->device)) entry->device = -1;
  entry->number = ++last_comm;
  note(DeviceFunction::define_communicator,
       {entry->number, static_cast<std::int64_t>(entry->key), entry->parent, rank, size, entry->device});
  return entry->number;
}

std::int64_t stream_number(Stream stream, int device) {
  StreamEntry* entry = streams.get(stream_key(stream, device));
  if (entry == nullptr) return 0;
  if (entry->number == 0) {
    entry->number = ++last_stream;
    if (reinterpret_cast<std::uintptr_t>(stream) <= 1) entry->kind = StreamKind::kLegacyDefault;
    if (reinterpret_cast<std::uintptr_t>(stream) == 2) entry->kind = StreamKind::kBlocking;
    note(DeviceFunction::define_stream, {entry->number, device, static_cast<std::int64_t>(entry->kind)});
  }
  return entry->number;
}

void set_stream_kind(Stream stream, StreamKind kind) {
  if (StreamEntry* entry = streams.get(stream)) *entry = {0, kind};
}
void forget_stream(Stream stream) { streams.erase(stream); }

std::int64_t event_number(Event event) { return number_of(events, event, last_event); }
void forget_event(Event event) { events.erase(event); }
std::int64_t graph_number(Graph graph) { return number_of(graphs, graph, last_graph); }

void forget_handles() {
  // Kinds of streams are learnt when they are made, which may be long before.
  comms.clear();
  events.clear();
  graphs.clear();
  streams.for_each([](StreamEntry& entry) { entry.number = 0; });
  last_comm = last_stream = last_event = last_graph = 0;
}

}  // namespace weft::trace::nccl
