#include "tracer/nccl/gpu_times.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/nccl/real.h"
#include "tracer/nccl/trace.h"

namespace weft::trace::nccl {
namespace {

Real<CudaError(int*)> get_device("cudaGetDevice");
Real<CudaError(Event*)> event_create("cudaEventCreate");
Real<CudaError(Event, Stream)> event_record("cudaEventRecord");
Real<CudaError(Event)> event_query("cudaEventQuery");
Real<CudaError(float*, Event, Event)> event_elapsed("cudaEventElapsedTime");
Real<CudaError(Stream, int*)> stream_is_capturing("cudaStreamIsCapturing");
Real<CudaError()> peek_error("cudaPeekAtLastError");
Real<CudaError()> get_error("cudaGetLastError");

// Measurements under way; what finds no room is not measured.
constexpr int kMaxMeasurements = 8192;
enum class Phase : std::uint8_t { kFree, kBegun, kEnded };
struct Slot {
  Event first, last;
  int device;
  Phase phase;
  std::uint64_t operation;
};
Slot slots[kMaxMeasurements];
int next_slot = 0;    // where the search for a free one begins
int oldest_slot = 0;  // where the search for finished ones begins
pthread_mutex_t slots_mutex = PTHREAD_MUTEX_INITIALIZER;

bool wanted() {
  static const bool answer = [] {
    const char* text = getenv("WEFT_TRACE_GPU_TIMES");
    return text == nullptr || strcmp(text, "0") != 0;
  }();
  return answer;
}

// A free slot of that device, or one without events yet.
int take_slot(int device) {
  for (int tries = 0; tries < kMaxMeasurements; ++tries) {
    const int i = next_slot;
    next_slot = (next_slot + 1) % kMaxMeasurements;
    Slot& slot = slots[i];
    if (slot.phase != Phase::kFree || (slot.first != nullptr && slot.device != device)) continue;
    slot.phase = Phase::kBegun;
    slot.device = device;
    slot.operation = 0;
    return i;
  }
  return -1;
}

bool make_events(Slot& slot) {
  if (slot.first != nullptr) return true;
  Event first = nullptr, last = nullptr;
  if (event_create.get()(&first) != 0 || event_create.get()(&last) != 0) return false;
  slot.first = first;
  slot.last = last;
  return true;
}

void give_back(Slot& slot) {
  pthread_mutex_lock(&slots_mutex);
  slot.phase = Phase::kFree;
  pthread_mutex_unlock(&slots_mutex);
}

bool runtime_is_there() {
  return get_device.get() != nullptr && event_create.get() != nullptr && event_record.get() != nullptr &&
         event_query.get() != nullptr && event_elapsed.get() != nullptr &&
         stream_is_capturing.get() != nullptr && peek_error.get() != nullptr && get_error.get() != nullptr;
}

// Has the GPU come past the event? "Not ready" must not stay behind as the program's last error.
bool passed(Event event) {
  const CudaError error = event_query.get()(event);
  if (error == kCudaErrorNotReady) get_error.get()();
  return error == 0;
}

}  // namespace

int current_device() {
  int device = -1;
  auto* real = get_device.get();
  return real != nullptr && real(&device) == 0 ? device : -1;
}

bool is_capturing(Stream stream) {
  int status = 0;
  auto* real = stream_is_capturing.get();
  return real != nullptr && real(stream, &status) == 0 && status != 0;
}

Measurement begin_measurement(Stream stream, int device) {
  if (!wanted() || !runtime_is_there() || device < 0 || current_device() != device || is_capturing(stream)) {
    return 0;
  }
  pthread_mutex_lock(&slots_mutex);
  const int i = take_slot(device);
  pthread_mutex_unlock(&slots_mutex);
  if (i < 0) return 0;
  if (!make_events(slots[i]) || event_record.get()(slots[i].first, stream) != 0) {
    give_back(slots[i]);
    return 0;
  }
  return static_cast<Measurement>(i + 1);
}

void end_measurement(Measurement measurement, Stream stream, std::uint64_t operation) {
  if (measurement == 0) return;
  Slot& slot = slots[measurement - 1];
  const bool good = operation != 0 && event_record.get()(slot.last, stream) == 0;
  pthread_mutex_lock(&slots_mutex);
  slot.operation = operation;
  slot.phase = good ? Phase::kEnded : Phase::kFree;
  pthread_mutex_unlock(&slots_mutex);
}

void write_gpu_times() {
  if (!wanted() || !runtime_is_there() || peek_error.get()() != 0) return;
  pthread_mutex_lock(&slots_mutex);
  // In the order they were begun, up to the first that is not there yet.
  for (int tries = 0; tries < kMaxMeasurements; ++tries) {
    Slot& slot = slots[oldest_slot];
    if (slot.phase == Phase::kBegun || (slot.phase == Phase::kFree && oldest_slot == next_slot)) break;
    if (slot.phase == Phase::kEnded) {
      if (!passed(slot.last)) break;
      float ms = 0;
      if (event_elapsed.get()(&ms, slot.first, slot.last) == 0) {
        note(DeviceFunction::gpu_time, {static_cast<std::int64_t>(slot.operation),
                                        static_cast<std::int64_t>(static_cast<double>(ms) * 1e6)});
      }
      slot.phase = Phase::kFree;
    }
    oldest_slot = (oldest_slot + 1) % kMaxMeasurements;
  }
  pthread_mutex_unlock(&slots_mutex);
}

}  // namespace weft::trace::nccl
