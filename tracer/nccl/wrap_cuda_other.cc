// Entry points of CUDA's runtime beside those that wrap_cuda.cc has: other forms of copies, recorded as
// copies, and what no record stands for, counted by name. Of each also the form of programs that are compiled
// for a default stream per thread (_ptsz, or _ptds of calls that name no stream).
#include "tracer/nccl/wrap_cuda.h"

namespace weft::trace::nccl {
namespace {

template <typename... Parameters, typename... Arguments>
CudaError counted(Real<CudaError(Parameters...)>& real, Arguments... arguments) {
  if (!is_recording()) return call(real, arguments...);
  Call its_call;
  const CudaError error = call(real, arguments...);
  if (!its_call.left(error)) return error;
  Locked lock;
  count(real.name(), CallClass::kCommunication, its_call);
  return error;
}

// A peer's memory is reached over the node's own links, which have no part in the replay but this time.
template <typename... Parameters, typename... Arguments>
CudaError copied(DeviceFunction as, Stream stream, std::size_t bytes, Real<CudaError(Parameters...)>& real,
                 Arguments... arguments) {
  return work(as, stream, static_cast<std::int64_t>(bytes), [&] { return call(real, arguments...); });
}

}  // namespace

#define WEFT_LIST(...) __VA_ARGS__
#define WEFT_COPY(function, as, meant, bytes, parameters, arguments)            \
  WEFT_EXPORT CudaError function parameters {                                   \
    static Real<CudaError parameters> real(#function);                          \
    return copied(DeviceFunction::as, meant, bytes, real, WEFT_LIST arguments); \
  }
// Puts work on `stream`.
#define WEFT_COPY_ON_STREAM(function, as, bytes, parameters, arguments) \
  WEFT_COPY(function, as, stream, bytes, parameters, arguments)         \
  WEFT_COPY(function##_ptsz, as, per_thread(stream), bytes, parameters, arguments)
// Goes through the default stream.
#define WEFT_COPY_ON_DEFAULT(function, as, bytes, parameters, arguments) \
  WEFT_COPY(function, as, nullptr, bytes, parameters, arguments)         \
  WEFT_COPY(function##_ptds, as, per_thread(nullptr), bytes, parameters, arguments)
#define WEFT_COUNT_ONE(function, parameters, arguments) \
  WEFT_EXPORT CudaError function parameters {           \
    static Real<CudaError parameters> real(#function);  \
    return counted(real, WEFT_LIST arguments);          \
  }
#define WEFT_COUNT(function, per_thread_form, parameters, arguments) \
  WEFT_COUNT_ONE(function, parameters, arguments)                    \
  WEFT_COUNT_ONE(function##per_thread_form, parameters, arguments)

WEFT_COPY(cudaMemcpy_ptds, cudaMemcpy, per_thread(nullptr), bytes,
          (void* to, const void* from, std::size_t bytes, int kind), (to, from, bytes, kind))
WEFT_COPY_ON_DEFAULT(cudaMemset, cudaMemsetAsync, bytes, (void* to, int value, std::size_t bytes),
                     (to, value, bytes))
WEFT_COPY_ON_DEFAULT(cudaMemset2D, cudaMemsetAsync, width* height,
                     (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height),
                     (to, pitch, value, width, height))
WEFT_COPY_ON_STREAM(cudaMemset2DAsync, cudaMemsetAsync, width* height,
                    (void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                     Stream stream),
                    (to, pitch, value, width, height, stream))
// Between two devices the program does not wait.
WEFT_COPY_ON_DEFAULT(cudaMemcpyPeer, cudaMemcpyAsync, bytes,
                     (void* to, int to_device, const void* from, int from_device, std::size_t bytes),
                     (to, to_device, from, from_device, bytes))
WEFT_COPY_ON_STREAM(cudaMemcpyPeerAsync, cudaMemcpyAsync, bytes,
                    (void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                     Stream stream),
                    (to, to_device, from, from_device, bytes, stream))
WEFT_COPY_ON_DEFAULT(cudaMemcpy2D, cudaMemcpy, width* height,
                     (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, int kind),
                     (to, to_pitch, from, from_pitch, width, height, kind))
WEFT_COPY_ON_STREAM(cudaMemcpy2DAsync, cudaMemcpyAsync, width* height,
                    (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t height, int kind, Stream stream),
                    (to, to_pitch, from, from_pitch, width, height, kind, stream))
WEFT_COPY_ON_DEFAULT(cudaMemcpyToSymbol, cudaMemcpy, bytes,
                     (const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind),
                     (symbol, from, bytes, offset, kind))
WEFT_COPY_ON_STREAM(cudaMemcpyToSymbolAsync, cudaMemcpyAsync, bytes,
                    (const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int kind,
                     Stream stream),
                    (symbol, from, bytes, offset, kind, stream))
WEFT_COPY_ON_DEFAULT(cudaMemcpyFromSymbol, cudaMemcpy, bytes,
                     (void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind),
                     (to, symbol, bytes, offset, kind))
WEFT_COPY_ON_STREAM(cudaMemcpyFromSymbolAsync, cudaMemcpyAsync, bytes,
                    (void* to, const void* symbol, std::size_t bytes, std::size_t offset, int kind,
                     Stream stream),
                    (to, symbol, bytes, offset, kind, stream))

// Their sizes are in structures that differ from version to version.
WEFT_COUNT(cudaMemcpy3D, _ptds, (const void* parameters), (parameters))
WEFT_COUNT(cudaMemcpy3DAsync, _ptsz, (const void* parameters, Stream stream), (parameters, stream))
WEFT_COUNT(cudaMemcpy3DPeer, _ptds, (const void* parameters), (parameters))
WEFT_COUNT(cudaMemcpy3DPeerAsync, _ptsz, (const void* parameters, Stream stream), (parameters, stream))
WEFT_COUNT(cudaMemPrefetchAsync, _ptsz, (const void* memory, std::size_t bytes, int device, Stream stream),
           (memory, bytes, device, stream))
// The host's own work in the order of a stream.
WEFT_COUNT(cudaLaunchHostFunc, _ptsz, (Stream stream, void* function, void* argument),
           (stream, function, argument))
WEFT_COUNT(cudaStreamAddCallback, _ptsz, (Stream stream, void* function, void* argument, unsigned flags),
           (stream, function, argument, flags))
// Waits for, and signals to, what is no stream.
WEFT_COUNT(cudaWaitExternalSemaphoresAsync, _ptsz,
           (const void* semaphores, const void* parameters, unsigned count, Stream stream),
           (semaphores, parameters, count, stream))
WEFT_COUNT(cudaSignalExternalSemaphoresAsync, _ptsz,
           (const void* semaphores, const void* parameters, unsigned count, Stream stream),
           (semaphores, parameters, count, stream))
// Graphs that are changed once they are made.
WEFT_COUNT_ONE(cudaGraphExecUpdate, (Graph executable, Graph graph, void* a, void* b),
               (executable, graph, a, b))
WEFT_COUNT(cudaStreamBeginCaptureToGraph, _ptsz,
           (Stream stream, Graph graph, const void* nodes, const void* edges, std::size_t count, int mode),
           (stream, graph, nodes, edges, count, mode))

}  // namespace weft::trace::nccl
