// NCCL's profiler interface, versions 1 to 6 (NCCL 2.23 to 2.30), as far as it is used here: laid out as in
// plugins/profiler of NCCL's source, which describes it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace weft::trace::nccl::profiler {

// Bits of a descriptor's type and of the mask of events wanted.
inline constexpr std::uint64_t kGroup = 1 << 0, kCollective = 1 << 1, kPeer = 1 << 2,
                               kProxyOperation = 1 << 3, kProxyStep = 1 << 4;

struct Collective1 {
  const char* name;
  std::uint64_t comm_hash, sequence;
  std::uint8_t function;
  const void* in;
  void* out;
  std::size_t count;
  int root;
  std::uint8_t datatype;
  std::uint32_t reduction;
  std::size_t traffic_bytes;
  std::uint8_t channels, warps, algorithm, protocol;
};
struct Collective2 {
  const char* name;
  std::uint64_t comm_hash, sequence;
  const char* function;
  const void* in;
  void* out;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t traffic_bytes;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};
struct Collective3 {
  const char* name;
  std::uint64_t comm_hash, sequence;
  const char* function;
  const void* in;
  void* out;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};
// 4.
struct Collective4 {
  std::uint64_t sequence;
  const char* function;
  const void* in;
  void* out;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};

// 5 and 6. The parent is the call; the group it is launched in stands here.
struct Collective5 : Collective4 {
  void* group;
};

struct Peer1 {
  const char* name;
  std::uint64_t comm_hash;
  std::uint8_t function;
  void* buffer;
  std::uint8_t datatype;
  std::size_t count;
  int peer;
};
// 2 and 3.
struct Peer2 {
  const char* name;
  std::uint64_t comm_hash;
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
};
// 4.
struct Peer4 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};

// 5 and 6.
struct Peer5 : Peer4 {
  void* group;
};

struct ProxyOperation {
  pid_t process;
  std::uint8_t channel;
  int peer, steps, chunk_bytes, is_send;
};
struct ProxyStep {
  int step;
};

// `Type` is a byte before version 5.
template <typename TypeField, typename CollectiveType, typename PeerType>
struct Event {
  TypeField type;
  void* parent;
  int rank;
  union {
    CollectiveType collective;
    PeerType peer;
    ProxyOperation proxy_operation;
    ProxyStep proxy_step;
  };
};
using Event1 = Event<std::uint8_t, Collective1, Peer1>;
using Event2 = Event<std::uint8_t, Collective2, Peer2>;
using Event3 = Event<std::uint8_t, Collective3, Peer2>;
using Event4 = Event<std::uint8_t, Collective4, Peer4>;
using Event5 = Event<std::uint64_t, Collective5, Peer5>;  // 5 and 6

// What comes with a change of state; of a proxy step (from version 4 on) how many bytes it moved.
struct StateArguments {
  std::size_t step_bytes;
};

template <typename InitFunction, typename EventType>
struct Functions {
  const char* name;
  InitFunction* init;
  int (*start)(void* context, void** handle, EventType* event);
  int (*stop)(void* handle);
  int (*state)(void* handle, int state, StateArguments* arguments);
  int (*finalize)(void* context);
};
using Init1 = int(void** context, int* mask);  // 1 to 3
using Init4 = int(void** context, int* mask, const char* name, std::uint64_t hash, int nodes, int ranks,
                  int rank, void* log);
using Init5 = int(void** context, std::uint64_t hash, int* mask, const char* name, int nodes, int ranks,
                  int rank,
                  void* log);  // 5 and 6

}  // namespace weft::trace::nccl::profiler
