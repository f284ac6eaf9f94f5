// What the wrappers of CUDA's runtime share.
#pragma once

#include "tracer/nccl/gpu_times.h"
#include "tracer/nccl/real.h"
#include "tracer/nccl/trace.h"

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

namespace weft::trace::nccl {

inline constexpr CudaError kInitializationError = 3;  // cudaErrorInitializationError

template <typename... Parameters, typename... Arguments>
CudaError call(Real<CudaError(Parameters...)>& real, Arguments... arguments) {
  auto* function = real.get();
  return function != nullptr ? function(arguments...) : kInitializationError;
}

// The default stream of programs that have one for each thread.
inline Stream per_thread(Stream stream) {
  return stream != nullptr ? stream : reinterpret_cast<Stream>(std::uintptr_t{2});
}

// Work on a stream, timed by the GPU. `bytes` below 0: the record has no such field.
template <typename Invoke>
CudaError work(DeviceFunction function, Stream stream, std::int64_t bytes, Invoke invoke) {
  if (!is_recording()) return invoke();
  Call its_call;
  if (!its_call.outermost()) return invoke();
  const int device = current_device();
  const Measurement measurement = begin_measurement(stream, device);
  const CudaError error = invoke();
  std::uint64_t number = 0;
  if (its_call.left(error)) {
    Locked lock;
    const std::int64_t id = stream_number(stream, device);
    number = bytes < 0 ? record(function, its_call, {id}) : record(function, its_call, {id, bytes});
    write_gpu_times();
  }
  end_measurement(measurement, stream, error == 0 ? number : 0);
  return error;
}

// A call that is recorded with what `fields` says once it has returned. `only_success`: of queries, the one
// that found the work done.
template <typename Invoke, typename Write>
CudaError recorded(bool only_success, Invoke invoke, Write write) {
  if (!is_recording()) return invoke();
  Call its_call;
  const CudaError error = invoke();
  if ((error != 0 && only_success) || !its_call.left(error)) return error;
  Locked lock;
  write(its_call);
  return error;
}

}  // namespace weft::trace::nccl
