// A stand-in for CUDA's runtime (libcudart.so.12) on machines without a GPU: NOT CUDA. A stream is a host
// thread that runs what is put on it in order; "device" memory is the program's own; a "kernel" is a host
// function that gets the first argument. Enough to run, in order and asynchronously, what the tracer has to
// see.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

using Task = std::function<void()>;

constexpr int kNotReady = 600;
thread_local int device = 0;
thread_local int last_error = 0;

struct GraphObject {
  std::vector<Task> tasks;
};

class StreamObject {
 public:
  StreamObject() : worker_([this] { work(); }) {}
  ~StreamObject() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  void put(Task task) {
    if (capture != nullptr) {
      capture->tasks.push_back(std::move(task));
      return;
    }
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    ++put_;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = put_;
    changed_.wait(lock, [&] { return done_ >= until; });
  }
  bool idle() {
    std::lock_guard lock(mutex_);
    return done_ == put_;
  }
  GraphObject* capture = nullptr;

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  std::uint64_t put_ = 0, done_ = 0;
  bool ending_ = false;
  std::thread worker_;  // last: it uses the others
};

struct EventObject {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t recorded = 0, passed = 0;
  std::chrono::steady_clock::time_point time;
};

// The null stream, made when first used; never ended, as CUDA's isn't.
StreamObject* stream_of(void* handle) {
  static auto* null_stream = new StreamObject;
  return handle == nullptr ? null_stream : static_cast<StreamObject*>(handle);
}

std::mutex all_mutex;
std::set<StreamObject*> all;

int answer(int error) {
  if (error != 0) last_error = error;
  return error;
}

}  // namespace

extern "C" {

struct dim3_ {
  unsigned x, y, z;
};

// For the stand-in of NCCL.
void weft_standin_enqueue(void* stream, void (*function)(void*), void* argument) {
  stream_of(stream)->put([=] { function(argument); });
}

int cudaGetDevice(int* out) {
  *out = device;
  return 0;
}
int cudaSetDevice(int which) {
  device = which;
  return 0;
}
int cudaPeekAtLastError() { return last_error; }
int cudaGetLastError() {
  const int error = last_error;
  last_error = 0;
  return error;
}
int cudaStreamCreateWithFlags(void** stream, unsigned) {
  auto* made = new StreamObject;
  *stream = made;
  std::lock_guard lock(all_mutex);
  all.insert(made);
  return 0;
}
int cudaStreamCreate(void** stream) { return cudaStreamCreateWithFlags(stream, 0); }
int cudaStreamDestroy(void* stream) {
  {
    std::lock_guard lock(all_mutex);
    all.erase(static_cast<StreamObject*>(stream));
  }
  delete static_cast<StreamObject*>(stream);
  return 0;
}
int cudaStreamSynchronize(void* stream) {
  stream_of(stream)->wait();
  return 0;
}
int cudaStreamQuery(void* stream) { return answer(stream_of(stream)->idle() ? 0 : kNotReady); }
int cudaDeviceSynchronize() {
  std::set<StreamObject*> streams;
  {
    std::lock_guard lock(all_mutex);
    streams = all;
  }
  for (StreamObject* stream : streams) stream->wait();
  stream_of(nullptr)->wait();
  return 0;
}

int cudaEventCreate(void** event) {
  *event = new EventObject;
  return 0;
}
int cudaEventDestroy(void*) { return 0; }  // a stream may still have it to pass
int cudaEventRecord(void* handle, void* stream) {
  auto* event = static_cast<EventObject*>(handle);
  std::uint64_t mine = 0;
  {
    std::lock_guard lock(event->mutex);
    mine = ++event->recorded;
  }
  stream_of(stream)->put([event, mine] {
    std::lock_guard lock(event->mutex);
    event->passed = mine;
    event->time = std::chrono::steady_clock::now();
    event->changed.notify_all();
  });
  return 0;
}
int cudaStreamWaitEvent(void* stream, void* handle, unsigned) {
  auto* event = static_cast<EventObject*>(handle);
  std::uint64_t until = 0;
  {
    std::lock_guard lock(event->mutex);
    until = event->recorded;
  }
  stream_of(stream)->put([event, until] {
    std::unique_lock lock(event->mutex);
    event->changed.wait(lock, [&] { return event->passed >= until; });
  });
  return 0;
}
int cudaEventQuery(void* handle) {
  auto* event = static_cast<EventObject*>(handle);
  std::lock_guard lock(event->mutex);
  return answer(event->passed >= event->recorded ? 0 : kNotReady);
}
int cudaEventSynchronize(void* handle) {
  auto* event = static_cast<EventObject*>(handle);
  std::unique_lock lock(event->mutex);
  event->changed.wait(lock, [&] { return event->passed >= event->recorded; });
  return 0;
}
int cudaEventElapsedTime(float* ms, void* first, void* last) {
  const auto* a = static_cast<EventObject*>(first);
  const auto* b = static_cast<EventObject*>(last);
  *ms = std::chrono::duration<float, std::milli>(b->time - a->time).count();
  return 0;
}

int cudaLaunchKernel(const void* kernel, dim3_, dim3_, void** arguments, std::size_t, void* stream) {
  auto* function = reinterpret_cast<void (*)(long)>(const_cast<void*>(kernel));
  const long argument = arguments != nullptr ? *static_cast<long*>(arguments[0]) : 0;
  stream_of(stream)->put([=] { function(argument); });
  return 0;
}
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, void* stream) {
  stream_of(stream)->put([=] { std::memcpy(to, from, bytes); });
  return 0;
}
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  return cudaStreamSynchronize(nullptr);
}

int cudaMemset(void* to, int value, std::size_t bytes) {
  stream_of(nullptr)->put([=] { std::memset(to, value, bytes); });
  return 0;
}
int cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, void* stream) {
  return cudaMemcpyAsync(to, from, bytes, 3, stream);
}
int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, int, void* stream) {
  stream_of(stream)->put([=] {
    for (std::size_t row = 0; row < height; ++row) {
      std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
                  width);
    }
  });
  return 0;
}
int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  stream_of(stream)->put([=] { function(argument); });
  return 0;
}

int cudaStreamIsCapturing(void* stream, int* status) {
  *status = stream_of(stream)->capture != nullptr ? 1 : 0;
  return 0;
}
int cudaStreamBeginCapture(void* stream, int) {
  stream_of(stream)->capture = new GraphObject;
  return 0;
}
int cudaStreamEndCapture(void* stream, void** graph) {
  *graph = stream_of(stream)->capture;
  stream_of(stream)->capture = nullptr;
  return 0;
}
int cudaGraphInstantiate(void** made, void* graph, unsigned long long) {
  *made = new GraphObject(*static_cast<GraphObject*>(graph));
  return 0;
}
int cudaGraphInstantiateWithParams(void** made, void* graph, void*) {
  return cudaGraphInstantiate(made, graph, 0);
}
int cudaGraphLaunch(void* graph, void* stream) {
  for (const Task& task : static_cast<GraphObject*>(graph)->tasks) stream_of(stream)->put(task);
  return 0;
}

}  // extern "C"
