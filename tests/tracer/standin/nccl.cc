// A stand-in for NCCL (libnccl.so.2) on machines without a GPU: NOT NCCL. It has NCCL's binary interface and
// really moves data between processes, in host memory, so that results can be checked; how (everybody sees
// everybody's chunk) has nothing to do with NCCL's algorithms. Runs on streams of the stand-in for CUDA's
// runtime beside it.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "profiler.h"
#include "segment.h"

extern "C" void weft_standin_enqueue(void* stream, void (*function)(void*), void* argument);
extern "C" int cudaGetDevice(int* device);
extern "C" int cudaSetDevice(int device);
extern "C" int cudaEventCreate(void** event);
extern "C" int cudaEventRecord(void* event, void* stream);
extern "C" int cudaStreamWaitEvent(void* stream, void* event, unsigned flags);

namespace {

using namespace standin;

constexpr int kSuccess = 0, kInvalidArgument = 4;
constexpr std::size_t kTypeBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

struct Id {
  char internal[128];
};

struct Communicator {
  Segment* segment;
  std::string name;
  int rank, ranks, device, splits = 0;
  std::map<std::string, std::uint64_t> sequences;
  Profiler profiler;
  // Operations run in the order in which they were issued, whatever their streams.
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t issued = 0, served = 0;
};

enum class Kind {
  kAllReduce,
  kReduce,
  kBroadcast,
  kReduceScatter,
  kAllGather,
  kAlltoAll,
  kGather,
  kScatter,
  kSend,
  kRecv
};
struct NamedKind {
  const char* name;
  int number;  // ncclFunc_t
               // Recv
};
constexpr NamedKind kNames[] = {{"AllReduce", 4}, {"Reduce", 1},   {"Broadcast", 0}, {"ReduceScatter", 3},
                                {"AllGather", 2}, {"AlltoAll", 8}, {"Gather", 10},   {"Scatter", 9},
                                {"Send", 6},      {"Recv", 7}};

struct Operation {
  Kind kind;
  Communicator* comm;
  void* stream;
  const char* in;
  char* out;
  std::size_t bytes;  // of the block that the count means
  int type, reduction, peer;
};

template <typename T>
void combine(char* to, const char* from, std::size_t bytes, int reduction) {
  auto* a = reinterpret_cast<T*>(to);
  auto* b = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
    switch (reduction) {
      case 1:
        a[i] *= b[i];
        break;
      case 2:
        a[i] = std::max(a[i], b[i]);
        break;
      case 3:
        a[i] = std::min(a[i], b[i]);
        break;
      default:
        a[i] += b[i];
    }
  }
}

void reduce(char* to, const char* from, std::size_t bytes, int type, int reduction) {
  if (type == 7) return combine<float>(to, from, bytes, reduction);
  if (type == 8) return combine<double>(to, from, bytes, reduction);
  if (type == 4) return combine<std::int64_t>(to, from, bytes, reduction);
  combine<std::int32_t>(to, from, bytes, reduction);
}

// Every rank shows `total` bytes of its own, a slot at a time; `see` gets those of each.
void show_all(Communicator& c, const char* mine, std::size_t total,
              const std::function<void(int rank, std::size_t at, const char* data, std::size_t bytes)>& see) {
  for (std::size_t at = 0; at < total; at += kSlotBytes) {
    const std::size_t bytes = std::min(kSlotBytes, total - at);
    if (mine != nullptr) std::memcpy(c.segment->slots[c.rank], mine + at, bytes);
    c.segment->stream_barrier.wait(c.ranks);
    for (int rank = 0; rank < c.ranks; ++rank) see(rank, at, c.segment->slots[rank], bytes);
    c.segment->stream_barrier.wait(c.ranks);
  }
}

void run_collective(const Operation& op) {
  Communicator& c = *op.comm;
  const std::size_t n = op.bytes, ranks = static_cast<std::size_t>(c.ranks),
                    me = static_cast<std::size_t>(c.rank);
  const bool spread =
      op.kind == Kind::kReduceScatter || op.kind == Kind::kAlltoAll || op.kind == Kind::kScatter;
  const std::size_t total = spread ? n * ranks : n;
  const bool at_root = c.rank == op.peer;
  const bool has_input = (op.kind != Kind::kBroadcast && op.kind != Kind::kScatter) || at_root;
  // In place, output overlaps input that others have yet to see.
  std::vector<char> result(
      op.kind == Kind::kAllGather || op.kind == Kind::kAlltoAll || op.kind == Kind::kGather ? n * ranks
                                                                                            : total);
  show_all(c, has_input ? op.in : nullptr, total,
           [&](int rank, std::size_t at, const char* data, std::size_t bytes) {
             switch (op.kind) {
               case Kind::kAllReduce:
               case Kind::kReduce:
               case Kind::kReduceScatter:
                 if (rank == 0) std::memcpy(result.data() + at, data, bytes);
                 if (rank != 0) reduce(result.data() + at, data, bytes, op.type, op.reduction);
                 break;
               case Kind::kBroadcast:
               case Kind::kScatter:
                 if (rank == op.peer) std::memcpy(result.data() + at, data, bytes);
                 break;
               case Kind::kAllGather:
               case Kind::kGather:
                 std::memcpy(result.data() + static_cast<std::size_t>(rank) * n + at, data, bytes);
                 break;
               case Kind::kAlltoAll:
                 for (std::size_t i = 0; i < bytes; ++i) {
                   if ((at + i) / n == me)
                     result[static_cast<std::size_t>(rank) * n + (at + i) % n] = data[i];
                 }
                 break;
               default:
                 break;
             }
           });
  if ((op.kind == Kind::kReduce || op.kind == Kind::kGather) && !at_root) return;
  if (op.kind == Kind::kReduceScatter || op.kind == Kind::kScatter) {
    std::memcpy(op.out, result.data() + me * n, n);
  } else {
    std::memcpy(op.out, result.data(), result.size());
  }
}

// All messages of a group go on together.
void run_messages(const std::vector<Operation>& operations) {
  std::vector<std::size_t> done(operations.size(), 0);
  std::map<const Box*, std::size_t> turn;  // messages of one pair and direction are in order
  for (bool all = false; !all;) {
    all = true;
    bool moved = false;
    turn.clear();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& op = operations[i];
      if (done[i] >= op.bytes) continue;
      all = false;
      Segment& s = *op.comm->segment;
      const bool sends = op.kind == Kind::kSend;
      Box& box = sends ? s.boxes[op.comm->rank][op.peer] : s.boxes[op.peer][op.comm->rank];
      const void* direction = sends ? static_cast<void*>(&box) : static_cast<void*>(box.data);
      if (!turn.emplace(static_cast<const Box*>(direction), i).second) continue;
      if ((box.full.load() != 0) == sends) continue;
      if (sends) {
        box.bytes = static_cast<std::uint32_t>(std::min(kBoxBytes, op.bytes - done[i]));
        std::memcpy(box.data, op.in + done[i], box.bytes);
      } else {
        std::memcpy(op.out + done[i], box.data, box.bytes);
      }
      done[i] += box.bytes;
      box.full = sends ? 1 : 0;
      moved = true;
    }
    if (!all && !moved) take_a_break();
  }
}

// What one group does on one communicator.
struct Launch {
  Communicator* comm;
  std::uint64_t ticket;
  std::vector<Operation> operations;
};

void run(void* argument) {
  auto* launch = static_cast<Launch*>(argument);  // kept: a captured one runs again
  Communicator& c = *launch->comm;
  {
    std::unique_lock lock(c.mutex);
    if (c.served <= launch->ticket) c.changed.wait(lock, [&] { return c.served == launch->ticket; });
  }
  std::vector<Operation> messages;
  for (const Operation& op : launch->operations) {
    if (op.kind == Kind::kSend || op.kind == Kind::kRecv) {
      messages.push_back(op);
    } else {
      run_collective(op);
    }
  }
  run_messages(messages);
  std::lock_guard lock(c.mutex);
  c.served = std::max(c.served, launch->ticket + 1);
  c.changed.notify_all();
}

void tell_profiler(const Operation& op) {
  const NamedKind& named = kNames[static_cast<int>(op.kind)];
  const bool message = op.kind == Kind::kSend || op.kind == Kind::kRecv, small = op.bytes <= 65536;
  op.comm->profiler.operation({.function = named.name,
                               .function_number = named.number,
                               .sequence = message ? 0 : op.comm->sequences[named.name]++,
                               .count = op.bytes / kTypeBytes[op.type],
                               .root_or_peer = op.peer,
                               .algorithm = small ? "TREE" : "RING",
                               .protocol = small ? "LL" : "SIMPLE",
                               .algorithm_number = small ? 0 : 1,
                               .protocol_number = small ? 0 : 2,
                               .channels = small ? 2 : 8,
                               .message = message});
}

thread_local int depth = 0;
thread_local std::vector<Operation> group;

int launch_group() {
  std::vector<Communicator*> comms;
  for (const Operation& op : group) {
    if (std::find(comms.begin(), comms.end(), op.comm) == comms.end()) comms.push_back(op.comm);
  }
  for (Communicator* comm : comms) {
    auto* launch = new Launch{comm, 0, {}};
    std::vector<void*> streams;
    comm->profiler.begin_group();
    for (const Operation& op : group) {
      if (op.comm != comm) continue;
      tell_profiler(op);
      launch->operations.push_back(op);
      if (std::find(streams.begin(), streams.end(), op.stream) == streams.end()) streams.push_back(op.stream);
    }
    comm->profiler.end_group();
    {
      std::lock_guard lock(comm->mutex);
      launch->ticket = comm->issued++;
    }
    weft_standin_enqueue(streams[0], run, launch);
    for (std::size_t i = 1; i < streams.size(); ++i) {  // the group's other streams wait for it
      void* event = nullptr;
      cudaEventCreate(&event);
      cudaEventRecord(event, streams[0]);
      cudaStreamWaitEvent(streams[i], event, 0);
    }
  }
  group.clear();
  return kSuccess;
}

int issue(Operation op, std::size_t count) {
  if (op.type < 0 || op.type > 11 || op.comm == nullptr) return kInvalidArgument;
  op.bytes = count * kTypeBytes[op.type];
  group.push_back(op);
  return depth == 0 ? launch_group() : kSuccess;
}

std::uint64_t hash_of(const std::string& text) { return std::hash<std::string>()(text); }

Communicator* make(const std::string& name, int ranks, int rank, int device) {
  auto* comm = new Communicator;
  comm->name = name;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->device = device;
  comm->segment = attach(name, ranks);
  comm->profiler.start(hash_of(name), ranks, rank);
  return comm;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = 22304;
  return kSuccess;
}
int ncclGetUniqueId(Id* id) {
  static int count = 0;
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->internal, sizeof id->internal, "/weft-standin-%d-%d", static_cast<int>(getpid()),
                count++);
  return kSuccess;
}
int ncclCommInitRank(Communicator** comm, int ranks, Id id, int rank) {
  if (ranks < 1 || ranks > kMaxRanks || rank < 0 || rank >= ranks) return kInvalidArgument;
  int device = 0;
  cudaGetDevice(&device);
  *comm = make(id.internal, ranks, rank, device);
  return kSuccess;
}
int ncclCommInitRankConfig(Communicator** comm, int ranks, Id id, int rank, void*) {
  return ncclCommInitRank(comm, ranks, id, rank);
}
int ncclCommSplit(Communicator* comm, int color, int key, Communicator** made, void*) {
  Segment& s = *comm->segment;
  const int number = comm->splits++;
  s.colors[comm->rank] = color;
  s.keys[comm->rank] = key;
  s.host_barrier.wait(comm->ranks);
  int ranks = 0, rank = 0;
  for (int other = 0; other < comm->ranks; ++other) {
    if (s.colors[other] != color) continue;
    ++ranks;
    const bool before = s.keys[other] < key || (s.keys[other] == key && other < comm->rank);
    if (before) ++rank;
  }
  s.host_barrier.wait(comm->ranks);
  *made = color < 0 ? nullptr
                    : make(comm->name + "-" + std::to_string(number) + "-" + std::to_string(color), ranks,
                           rank, comm->device);
  return kSuccess;
}
int ncclCommFinalize(Communicator*) { return kSuccess; }
int ncclCommDestroy(Communicator* comm) {
  comm->profiler.end();
  return kSuccess;
}
int ncclCommCount(const Communicator* comm, int* count) {
  *count = comm->ranks;
  return kSuccess;
}
int ncclCommUserRank(const Communicator* comm, int* rank) {
  *rank = comm->rank;
  return kSuccess;
}
int ncclCommCuDevice(const Communicator* comm, int* device) {
  *device = comm->device;
  return kSuccess;
}
int ncclCommRegister(Communicator*, void*, std::size_t, void** handle) {
  *handle = nullptr;
  return kSuccess;
}
int ncclGroupStart() {
  ++depth;
  return kSuccess;
}
int ncclGroupEnd() {
  --depth;
  return depth == 0 ? launch_group() : kSuccess;
}

using C = Communicator;
int ncclAllReduce(const char* in, char* out, std::size_t n, int type, int op, C* comm, void* stream) {
  return issue({Kind::kAllReduce, comm, stream, in, out, 0, type, op, 0}, n);
}
int ncclReduce(const char* in, char* out, std::size_t n, int type, int op, int root, C* comm, void* stream) {
  return issue({Kind::kReduce, comm, stream, in, out, 0, type, op, root}, n);
}
int ncclBroadcast(const char* in, char* out, std::size_t n, int type, int root, C* comm, void* stream) {
  return issue({Kind::kBroadcast, comm, stream, in, out, 0, type, 0, root}, n);
}
int ncclReduceScatter(const char* in, char* out, std::size_t n, int type, int op, C* comm, void* stream) {
  return issue({Kind::kReduceScatter, comm, stream, in, out, 0, type, op, 0}, n);
}
int ncclAllGather(const char* in, char* out, std::size_t n, int type, C* comm, void* stream) {
  return issue({Kind::kAllGather, comm, stream, in, out, 0, type, 0, 0}, n);
}
int ncclAlltoAll(const char* in, char* out, std::size_t n, int type, C* comm, void* stream) {
  return issue({Kind::kAlltoAll, comm, stream, in, out, 0, type, 0, 0}, n);
}
int ncclGather(const char* in, char* out, std::size_t n, int type, int root, C* comm, void* stream) {
  return issue({Kind::kGather, comm, stream, in, out, 0, type, 0, root}, n);
}
int ncclScatter(const char* in, char* out, std::size_t n, int type, int root, C* comm, void* stream) {
  return issue({Kind::kScatter, comm, stream, in, out, 0, type, 0, root}, n);
}
int ncclSend(const char* in, std::size_t n, int type, int peer, C* comm, void* stream) {
  return issue({Kind::kSend, comm, stream, in, nullptr, 0, type, 0, peer}, n);
}
int ncclRecv(char* out, std::size_t n, int type, int peer, C* comm, void* stream) {
  return issue({Kind::kRecv, comm, stream, nullptr, out, 0, type, 0, peer}, n);
}

}  // extern "C"
