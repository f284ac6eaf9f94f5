// The few types of NCCL's and CUDA's binary interfaces that the tracer passes on, so that neither's headers
// are needed. As in their public documentation (NCCL user guide, "NCCL API"; CUDA runtime API); handles are
// opaque.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::trace::nccl {

using Comm = void*;    // ncclComm_t
using Stream = void*;  // cudaStream_t
using Event = void*;   // cudaEvent_t
using Graph = void*;   // cudaGraph_t, cudaGraphExec_t
using Result = int;    // ncclResult_t
using CudaError = int;

inline constexpr Result kSuccess = 0;
inline constexpr Result kInternalError = 3;
inline constexpr Result kInProgress = 7;
inline constexpr int kCudaErrorNotReady = 600;
inline constexpr int kCudaErrorNotSupported = 801;

// ncclUniqueId: passed by value.
struct UniqueId {
  char internal[128];
};

// dim3: passed by value.
struct Dim3 {
  unsigned x, y, z;
};

// cudaLaunchConfig_t, up to what is looked at.
struct LaunchConfig {
  Dim3 grid, block;
  std::size_t shared_bytes;
  Stream stream;
};

}  // namespace weft::trace::nccl
