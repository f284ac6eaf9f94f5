#include "tracer/mpi/core_time.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace weft::trace {

std::uint64_t thread_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint64_t process_cpu_ns() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

// "RUNNING WAITING SLICES" (Linux, Documentation/scheduler/sched-stats.rst). Opened each time, which is
// seldom: programs close files that they don't know, and threads come and go.
std::uint64_t thread_waited_ns() {
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[96];
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  if (bytes <= 0) return 0;
  text[bytes] = '\0';
  char* at = text;
  strtoull(at, &at, 10);
  return strtoull(at, nullptr, 10);
}

namespace {

std::uint64_t voluntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw);
}

}  // namespace

void CoreTime::begin(std::uint64_t now_ns) {
  // A kernel without this figure has 0; a thread that runs has waited once at least.
  waited_ns_ = thread_waited_ns();
  knows_waiting_ = waited_ns_ != 0;
  if (!knows_waiting_) waited_ns_ = voluntary_switches();
  cpu_ns_ = thread_cpu_ns();
  read_ns_ = left_ns_ = now_ns;
}

OffCore CoreTime::reading(std::uint64_t now_ns) {
  const std::uint64_t cpu_ns = thread_cpu_ns();
  const std::uint64_t passed = now_ns - read_ns_, ran = cpu_ns - cpu_ns_;
  read_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  if (passed < ran + kLeastOffCoreNs) return {};
  const std::uint64_t off = passed - ran;
  const std::uint64_t waited = knows_waiting_ ? thread_waited_ns() : voluntary_switches();
  const std::uint64_t since = waited - waited_ns_;
  waited_ns_ = waited;
  // A thread that never gave its core up had it taken away.
  if (!knows_waiting_) return since == 0 ? OffCore{off, 0} : OffCore{0, off};
  return since < off ? OffCore{since, off - since} : OffCore{off, 0};
}

}  // namespace weft::trace
