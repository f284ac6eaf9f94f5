// Entry points of CUDA's runtime, where that is a library of its own (nvcc links it statically unless told
// --cudart shared; PyTorch has it shared). Only what puts work on streams, orders streams, or waits for them.
//
// Functions with _ptsz are what programs call that are compiled for a default stream per thread.
#include "tracer/nccl/wrap_cuda.h"

namespace weft::trace::nccl {
namespace {

CudaError on_stream(DeviceFunction function, Real<CudaError(Stream)>& real, Stream given, Stream meant) {
  return recorded(
      function == DeviceFunction::cudaStreamQuery, [&] { return call(real, given); },
      [&](const Call& its_call) {
        write_gpu_times();
        record(function, its_call, {stream_number(meant, current_device())});
      });
}

template <typename Invoke>
CudaError event_on_stream(DeviceFunction function, Event event, Stream stream, Invoke invoke) {
  return recorded(false, invoke, [&](const Call& its_call) {
    record(function, its_call, {stream_number(stream, current_device()), event_number(event)});
  });
}

void learn(CudaError error, const Stream* stream, unsigned flags) {
  if (error != 0) return;
  Locked lock;
  constexpr unsigned kNonBlockingFlag = 1;
  set_stream_kind(*stream,
                  (flags & kNonBlockingFlag) != 0 ? StreamKind::kNonBlocking : StreamKind::kBlocking);
}

using LaunchFunction = CudaError(const void*, Dim3, Dim3, void**, std::size_t, Stream);
using LaunchExFunction = CudaError(const LaunchConfig*, const void*, void**);
using CopyFunction = CudaError(void*, const void*, std::size_t, int, Stream);
using SetFunction = CudaError(void*, int, std::size_t, Stream);

}  // namespace

WEFT_EXPORT CudaError cudaStreamCreate(Stream* stream) {
  static Real<CudaError(Stream*)> real("cudaStreamCreate");
  const CudaError error = call(real, stream);
  learn(error, stream, 0);
  return error;
}
WEFT_EXPORT CudaError cudaStreamCreateWithFlags(Stream* stream, unsigned flags) {
  static Real<CudaError(Stream*, unsigned)> real("cudaStreamCreateWithFlags");
  const CudaError error = call(real, stream, flags);
  learn(error, stream, flags);
  return error;
}
WEFT_EXPORT CudaError cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  static Real<CudaError(Stream*, unsigned, int)> real("cudaStreamCreateWithPriority");
  const CudaError error = call(real, stream, flags, priority);
  learn(error, stream, flags);
  return error;
}
WEFT_EXPORT CudaError cudaStreamDestroy(Stream stream) {
  static Real<CudaError(Stream)> real("cudaStreamDestroy");
  {
    Locked lock;
    forget_stream(stream);
  }
  return call(real, stream);
}
WEFT_EXPORT CudaError cudaEventDestroy(Event event) {
  static Real<CudaError(Event)> real("cudaEventDestroy");
  {
    Locked lock;
    forget_event(event);
  }
  return call(real, event);
}

WEFT_EXPORT CudaError cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                       std::size_t shared, Stream stream) {
  static Real<LaunchFunction> real("cudaLaunchKernel");
  return work(DeviceFunction::cudaLaunchKernel, stream, -1,
              [&] { return call(real, kernel, grid, block, arguments, shared, stream); });
}
WEFT_EXPORT CudaError cudaLaunchKernel_ptsz(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                            std::size_t shared, Stream stream) {
  static Real<LaunchFunction> real("cudaLaunchKernel_ptsz");
  return work(DeviceFunction::cudaLaunchKernel, per_thread(stream), -1,
              [&] { return call(real, kernel, grid, block, arguments, shared, stream); });
}
WEFT_EXPORT CudaError cudaLaunchCooperativeKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                                  std::size_t shared, Stream stream) {
  static Real<LaunchFunction> real("cudaLaunchCooperativeKernel");
  return work(DeviceFunction::cudaLaunchKernel, stream, -1,
              [&] { return call(real, kernel, grid, block, arguments, shared, stream); });
}
WEFT_EXPORT CudaError cudaLaunchKernelExC(const LaunchConfig* config, const void* kernel, void** arguments) {
  static Real<LaunchExFunction> real("cudaLaunchKernelExC");
  return work(DeviceFunction::cudaLaunchKernel, config->stream, -1,
              [&] { return call(real, config, kernel, arguments); });
}
WEFT_EXPORT CudaError cudaLaunchKernelExC_ptsz(const LaunchConfig* config, const void* kernel,
                                               void** arguments) {
  static Real<LaunchExFunction> real("cudaLaunchKernelExC_ptsz");
  return work(DeviceFunction::cudaLaunchKernel, per_thread(config->stream), -1,
              [&] { return call(real, config, kernel, arguments); });
}

WEFT_EXPORT CudaError cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                      Stream stream) {
  static Real<CopyFunction> real("cudaMemcpyAsync");
  return work(DeviceFunction::cudaMemcpyAsync, stream, static_cast<std::int64_t>(bytes),
              [&] { return call(real, to, from, bytes, kind, stream); });
}
WEFT_EXPORT CudaError cudaMemcpyAsync_ptsz(void* to, const void* from, std::size_t bytes, int kind,
                                           Stream stream) {
  static Real<CopyFunction> real("cudaMemcpyAsync_ptsz");
  return work(DeviceFunction::cudaMemcpyAsync, per_thread(stream), static_cast<std::int64_t>(bytes),
              [&] { return call(real, to, from, bytes, kind, stream); });
}
WEFT_EXPORT CudaError cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream stream) {
  static Real<SetFunction> real("cudaMemsetAsync");
  return work(DeviceFunction::cudaMemsetAsync, stream, static_cast<std::int64_t>(bytes),
              [&] { return call(real, to, value, bytes, stream); });
}
WEFT_EXPORT CudaError cudaMemsetAsync_ptsz(void* to, int value, std::size_t bytes, Stream stream) {
  static Real<SetFunction> real("cudaMemsetAsync_ptsz");
  return work(DeviceFunction::cudaMemsetAsync, per_thread(stream), static_cast<std::int64_t>(bytes),
              [&] { return call(real, to, value, bytes, stream); });
}
// Goes through the null stream, and the program waits.
WEFT_EXPORT CudaError cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  static Real<CudaError(void*, const void*, std::size_t, int)> real("cudaMemcpy");
  return work(DeviceFunction::cudaMemcpy, nullptr, static_cast<std::int64_t>(bytes),
              [&] { return call(real, to, from, bytes, kind); });
}

WEFT_EXPORT CudaError cudaEventRecord(Event event, Stream stream) {
  static Real<CudaError(Event, Stream)> real("cudaEventRecord");
  return event_on_stream(DeviceFunction::cudaEventRecord, event, stream,
                         [&] { return call(real, event, stream); });
}
WEFT_EXPORT CudaError cudaEventRecord_ptsz(Event event, Stream stream) {
  static Real<CudaError(Event, Stream)> real("cudaEventRecord_ptsz");
  return event_on_stream(DeviceFunction::cudaEventRecord, event, per_thread(stream),
                         [&] { return call(real, event, stream); });
}
WEFT_EXPORT CudaError cudaEventRecordWithFlags(Event event, Stream stream, unsigned flags) {
  static Real<CudaError(Event, Stream, unsigned)> real("cudaEventRecordWithFlags");
  return event_on_stream(DeviceFunction::cudaEventRecord, event, stream,
                         [&] { return call(real, event, stream, flags); });
}
WEFT_EXPORT CudaError cudaStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  static Real<CudaError(Stream, Event, unsigned)> real("cudaStreamWaitEvent");
  return event_on_stream(DeviceFunction::cudaStreamWaitEvent, event, stream,
                         [&] { return call(real, stream, event, flags); });
}
WEFT_EXPORT CudaError cudaStreamWaitEvent_ptsz(Stream stream, Event event, unsigned flags) {
  static Real<CudaError(Stream, Event, unsigned)> real("cudaStreamWaitEvent_ptsz");
  return event_on_stream(DeviceFunction::cudaStreamWaitEvent, event, per_thread(stream),
                         [&] { return call(real, stream, event, flags); });
}

WEFT_EXPORT CudaError cudaStreamSynchronize(Stream stream) {
  static Real<CudaError(Stream)> real("cudaStreamSynchronize");
  return on_stream(DeviceFunction::cudaStreamSynchronize, real, stream, stream);
}
WEFT_EXPORT CudaError cudaStreamSynchronize_ptsz(Stream stream) {
  static Real<CudaError(Stream)> real("cudaStreamSynchronize_ptsz");
  return on_stream(DeviceFunction::cudaStreamSynchronize, real, stream, per_thread(stream));
}
WEFT_EXPORT CudaError cudaStreamQuery_ptsz(Stream stream) {
  static Real<CudaError(Stream)> real("cudaStreamQuery_ptsz");
  return on_stream(DeviceFunction::cudaStreamQuery, real, stream, per_thread(stream));
}
WEFT_EXPORT CudaError cudaStreamQuery(Stream stream) {
  static Real<CudaError(Stream)> real("cudaStreamQuery");
  return on_stream(DeviceFunction::cudaStreamQuery, real, stream, stream);
}
WEFT_EXPORT CudaError cudaEventSynchronize(Event event) {
  static Real<CudaError(Event)> real("cudaEventSynchronize");
  return recorded(
      false, [&] { return call(real, event); },
      [&](const Call& its_call) {
        write_gpu_times();
        record(DeviceFunction::cudaEventSynchronize, its_call, {event_number(event)});
      });
}
WEFT_EXPORT CudaError cudaEventQuery(Event event) {
  static Real<CudaError(Event)> real("cudaEventQuery");
  return recorded(
      true, [&] { return call(real, event); },
      [&](const Call& its_call) { record(DeviceFunction::cudaEventQuery, its_call, {event_number(event)}); });
}
WEFT_EXPORT CudaError cudaDeviceSynchronize() {
  static Real<CudaError()> real("cudaDeviceSynchronize");
  return recorded(
      false, [&] { return call(real); },
      [&](const Call& its_call) {
        write_gpu_times();
        record(DeviceFunction::cudaDeviceSynchronize, its_call, {});
      });
}

namespace {
CudaError begin_capture(Real<CudaError(Stream, int)>& real, Stream given, Stream meant, int mode) {
  return recorded(
      false, [&] { return call(real, given, mode); },
      [&](const Call& its_call) {
        record(DeviceFunction::cudaStreamBeginCapture, its_call, {stream_number(meant, current_device())});
      });
}
CudaError end_capture(Real<CudaError(Stream, Graph*)>& real, Stream given, Stream meant, Graph* graph) {
  return recorded(
      false, [&] { return call(real, given, graph); },
      [&](const Call& its_call) {
        const std::int64_t number = its_call.error() == 0 ? graph_number(*graph) : 0;
        record(DeviceFunction::cudaStreamEndCapture, its_call,
               {stream_number(meant, current_device()), number});
      });
}
}  // namespace

WEFT_EXPORT CudaError cudaStreamBeginCapture(Stream stream, int mode) {
  static Real<CudaError(Stream, int)> real("cudaStreamBeginCapture");
  return begin_capture(real, stream, stream, mode);
}
WEFT_EXPORT CudaError cudaStreamBeginCapture_ptsz(Stream stream, int mode) {
  static Real<CudaError(Stream, int)> real("cudaStreamBeginCapture_ptsz");
  return begin_capture(real, stream, per_thread(stream), mode);
}
WEFT_EXPORT CudaError cudaStreamEndCapture(Stream stream, Graph* graph) {
  static Real<CudaError(Stream, Graph*)> real("cudaStreamEndCapture");
  return end_capture(real, stream, stream, graph);
}
WEFT_EXPORT CudaError cudaStreamEndCapture_ptsz(Stream stream, Graph* graph) {
  static Real<CudaError(Stream, Graph*)> real("cudaStreamEndCapture_ptsz");
  return end_capture(real, stream, per_thread(stream), graph);
}

namespace {
// CUDA 11 and 12 give cudaGraphInstantiate other parameters behind the first two; all are passed on as they
// came.
using InstantiateFunction = CudaError(Graph*, Graph, std::uintptr_t, std::uintptr_t, std::uintptr_t);
CudaError instantiate(Real<InstantiateFunction>& real, Graph* made, Graph graph, std::uintptr_t a,
                      std::uintptr_t b, std::uintptr_t c) {
  return recorded(
      false, [&] { return call(real, made, graph, a, b, c); },
      [&](const Call& its_call) {
        const std::int64_t number = its_call.error() == 0 ? graph_number(*made) : 0;
        record(DeviceFunction::cudaGraphInstantiate, its_call, {number, graph_number(graph)});
      });
}
}  // namespace

WEFT_EXPORT CudaError cudaGraphInstantiate(Graph* made, Graph graph, std::uintptr_t a, std::uintptr_t b,
                                           std::uintptr_t c) {
  static Real<InstantiateFunction> real("cudaGraphInstantiate");
  return instantiate(real, made, graph, a, b, c);
}
WEFT_EXPORT CudaError cudaGraphInstantiateWithFlags(Graph* made, Graph graph, std::uintptr_t flags) {
  static Real<InstantiateFunction> real("cudaGraphInstantiateWithFlags");
  return instantiate(real, made, graph, flags, 0, 0);
}
WEFT_EXPORT CudaError cudaGraphInstantiateWithParams(Graph* made, Graph graph, void* parameters) {
  static Real<InstantiateFunction> real("cudaGraphInstantiateWithParams");
  return instantiate(real, made, graph, reinterpret_cast<std::uintptr_t>(parameters), 0, 0);
}
WEFT_EXPORT CudaError cudaGraphInstantiateWithParams_ptsz(Graph* made, Graph graph, void* parameters) {
  static Real<InstantiateFunction> real("cudaGraphInstantiateWithParams_ptsz");
  return instantiate(real, made, graph, reinterpret_cast<std::uintptr_t>(parameters), 0, 0);
}

namespace {
CudaError graph_launch(Real<CudaError(Graph, Stream)>& real, Graph graph, Stream given, Stream meant) {
  std::int64_t number = 0;
  if (is_recording()) {
    Locked lock;
    number = graph_number(graph);
  }
  return work(DeviceFunction::cudaGraphLaunch, meant, number, [&] { return call(real, graph, given); });
}
}  // namespace

WEFT_EXPORT CudaError cudaGraphLaunch(Graph graph, Stream stream) {
  static Real<CudaError(Graph, Stream)> real("cudaGraphLaunch");
  return graph_launch(real, graph, stream, stream);
}
WEFT_EXPORT CudaError cudaGraphLaunch_ptsz(Graph graph, Stream stream) {
  static Real<CudaError(Graph, Stream)> real("cudaGraphLaunch_ptsz");
  return graph_launch(real, graph, stream, per_thread(stream));
}

}  // namespace weft::trace::nccl
