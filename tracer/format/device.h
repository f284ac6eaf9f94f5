// Calls of NCCL and of CUDA's runtime as records of a trace file (Function::kDevice): their numbers and
// fields.
//
// Specified in README.md beside this file. Names and meaning are those of NCCL's and CUDA's public interfaces
// (docs.nvidia.com: NCCL user guide; CUDA runtime API). Like format.h, it needs nothing but the language's
// own headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::trace {

// Which fields a record has, in this order; all are signed numbers. Streams, events, graphs and communicators
// are numbers of the file from 1, 0 is none or unknown.
enum class DeviceShape : std::uint8_t {
  kPlain,              // none
  kCreate,             // communicator made (0: none, as without a colour), parent
  kCommunicator,       // communicator
  kCollective,         // communicator, stream, count, datatype, reduction, root
  kPeer,               // communicator, stream, count, datatype, peer (rank in the communicator)
  kOnStream,           // stream
  kCopy,               // stream, bytes
  kEventOnStream,      // stream, event
  kEvent,              // event
  kEndCapture,         // stream, graph
  kInstantiate,        // executable graph, graph
  kGraphLaunch,        // stream, executable graph
  kDefineComm,         // communicator, key, parent, rank, size, device (-1: unknown)
  kDefineStream,       // stream, device (-1: unknown), StreamKind
  kGpuTime,            // number of an operation, nanoseconds that the GPU took for it
  kProfilerComm,       // profiler's communicator, NCCL's own hash, rank, size, nodes
  kProfilerOperation,  // profiler's communicator, function (DeviceFunction), number among that function's,
                       // count, datatype (-1), root or peer, algorithm, protocol, channels, warps, group (0:
                       // none)
  kProfilerStep,  // profiler's communicator, 1 send 0 receive, peer, channel, step, bytes, nanoseconds taken
};

// Numbers are part of the format: append only, below 256. X(number, name, shape)
#define WEFT_TRACE_DEVICE_FUNCTIONS(X)           \
  X(1, ncclCommInitRank, kCreate)                \
  X(2, ncclCommInitRankConfig, kCreate)          \
  X(3, ncclCommInitRankScalable, kCreate)        \
  X(4, ncclCommInitAll, kPlain)                  \
  X(5, ncclCommSplit, kCreate)                   \
  X(6, ncclCommShrink, kCreate)                  \
  X(7, ncclCommGrow, kCreate)                    \
  X(8, ncclCommFinalize, kCommunicator)          \
  X(9, ncclCommDestroy, kCommunicator)           \
  X(10, ncclCommAbort, kCommunicator)            \
  X(11, ncclGroupStart, kPlain)                  \
  X(12, ncclGroupEnd, kPlain)                    \
  X(20, ncclAllReduce, kCollective)              \
  X(21, ncclReduce, kCollective)                 \
  X(22, ncclBroadcast, kCollective)              \
  X(23, ncclBcast, kCollective)                  \
  X(24, ncclReduceScatter, kCollective)          \
  X(25, ncclAllGather, kCollective)              \
  X(26, ncclAlltoAll, kCollective)               \
  X(27, ncclGather, kCollective)                 \
  X(28, ncclScatter, kCollective)                \
  X(29, ncclSend, kPeer)                         \
  X(30, ncclRecv, kPeer)                         \
  X(60, cudaLaunchKernel, kOnStream)             \
  X(61, cudaMemcpyAsync, kCopy)                  \
  X(62, cudaMemsetAsync, kCopy)                  \
  X(63, cudaEventRecord, kEventOnStream)         \
  X(64, cudaStreamWaitEvent, kEventOnStream)     \
  X(65, cudaStreamSynchronize, kOnStream)        \
  X(66, cudaEventSynchronize, kEvent)            \
  X(67, cudaDeviceSynchronize, kPlain)           \
  X(68, cudaGraphLaunch, kGraphLaunch)           \
  X(69, cudaStreamBeginCapture, kOnStream)       \
  X(70, cudaStreamEndCapture, kEndCapture)       \
  X(71, cudaGraphInstantiate, kInstantiate)      \
  X(72, cudaMemcpy, kCopy)                       \
  X(73, cudaStreamQuery, kOnStream)              \
  X(74, cudaEventQuery, kEvent)                  \
  X(100, define_communicator, kDefineComm)       \
  X(101, define_stream, kDefineStream)           \
  X(102, gpu_time, kGpuTime)                     \
  X(110, profiler_communicator, kProfilerComm)   \
  X(111, profiler_operation, kProfilerOperation) \
  X(112, profiler_step, kProfilerStep)

enum class DeviceFunction : std::uint8_t {
#define WEFT_TRACE_X(number, name, shape) name = number,
  WEFT_TRACE_DEVICE_FUNCTIONS(WEFT_TRACE_X)
#undef WEFT_TRACE_X
};

struct DeviceFunctionInfo {
  const char* name;  // "ncclAllReduce"; null for numbers not in use
  DeviceShape shape;
};

constexpr DeviceFunctionInfo device_function_info(DeviceFunction function) {
  switch (function) {
#define WEFT_TRACE_X(number, name, shape) \
  case DeviceFunction::name:              \
    return {#name, DeviceShape::shape};
    WEFT_TRACE_DEVICE_FUNCTIONS(WEFT_TRACE_X)
#undef WEFT_TRACE_X
  }
  return {nullptr, DeviceShape::kPlain};
}

constexpr std::size_t device_field_count(DeviceShape shape) {
  constexpr std::uint8_t kCounts[] = {0, 2, 1, 6, 5, 1, 2, 2, 1, 2, 2, 2, 6, 3, 2, 5, 11, 7};
  return kCounts[static_cast<std::size_t>(shape)];
}
inline constexpr std::size_t kMaxDeviceFields = 11;

// Work put on a stream. Such records are numbered from 1 in the order of the file.
constexpr bool is_stream_operation(DeviceFunction function) {
  switch (device_function_info(function).shape) {
    case DeviceShape::kCollective:
    case DeviceShape::kPeer:
    case DeviceShape::kCopy:
    case DeviceShape::kGraphLaunch:
      return true;
    default:
      return function == DeviceFunction::cudaLaunchKernel;
  }
}

enum class StreamKind : std::uint8_t {
  kUnknown = 0,        // made before the trace began, or by calls that were not seen
  kLegacyDefault = 1,  // the null stream: waits for all blocking streams, and they for it
  kBlocking = 2,
  kNonBlocking = 3,
};

// Bytes of an element of an ncclDataType_t; 0 for one that is not known (NCCL 2.24's ncclNumTypes is 12).
constexpr std::uint32_t nccl_type_bytes(std::int64_t datatype) {
  constexpr std::uint8_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return datatype >= 0 && datatype < static_cast<std::int64_t>(sizeof kBytes) ? kBytes[datatype] : 0;
}

// NCCL's numbers of algorithms and protocols, as its profiler interface names them.
inline constexpr const char* kNcclAlgorithms[] = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
inline constexpr const char* kNcclProtocols[] = {"LL", "LL128", "SIMPLE"};
inline constexpr std::int64_t kNotKnown = -1;

}  // namespace weft::trace
