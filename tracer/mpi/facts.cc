#include "tracer/mpi/facts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tracer/mpi/core_time.h"

namespace weft::trace {

namespace {

// Text files of the system, without malloc. Holds the first bytes only.
class SystemFile {
 public:
  explicit SystemFile(const char* root, const char* path) {
    char full[512];
    const int length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length < 0 || static_cast<std::size_t>(length) >= sizeof full) return;
    const int file = open(full, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t bytes = read(file, text_, sizeof text_ - 1);
    close(file);
    if (bytes > 0) text_[bytes] = '\0';
    there_ = bytes > 0;
  }
  bool there() const { return there_; }
  const char* text() const { return text_; }
  // Its first line.
  const char* line() {
    text_[strcspn(text_, "\n")] = '\0';
    return text_;
  }

 private:
  char text_[2048] = "";
  bool there_ = false;
};

class Facts {
 public:
  Facts(const char* root, FactSink sink, void* context) : root_(root), sink_(sink), context_(context) {}
  const char* root() const { return root_; }
  void text(const char* name, const char* value) const { sink_(context_, name, value); }
  void number(const char* name, std::uint64_t value) const {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    text(name, digits);
  }

 private:
  const char* root_;
  FactSink sink_;
  void* context_;
};

std::uint64_t clock_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

// "0-3,8"; what doesn't fit is left out with the cores before it in its run.
void tell_cores(const Facts& facts) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  char text[256] = "";
  std::size_t used = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &set)) continue;
    int last = core;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    char run[32];
    const int bytes = last == core ? snprintf(run, sizeof run, "%s%d", used > 0 ? "," : "", core)
                                   : snprintf(run, sizeof run, "%s%d-%d", used > 0 ? "," : "", core, last);
    if (used + static_cast<std::size_t>(bytes) >= sizeof text) break;
    memcpy(text + used, run, static_cast<std::size_t>(bytes) + 1);
    used += static_cast<std::size_t>(bytes);
    core = last;
  }
  facts.text("cores", text);
}

// Control groups, version 2 ("QUOTA PERIOD" or "max PERIOD", Linux, Documentation/admin-guide/cgroup-v2.rst)
// and version 1. Only the limit that the process sees as its own root's, as in a container.
void tell_quota(const Facts& facts) {
  double quota = 0, period = 0;
  SystemFile second(facts.root(), "/sys/fs/cgroup/cpu.max");
  if (second.there()) {
    if (sscanf(second.text(), "%lf %lf", &quota, &period) != 2) return;
  } else {
    SystemFile first(facts.root(), "/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    SystemFile length(facts.root(), "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    quota = strtod(first.text(), nullptr);
    period = strtod(length.text(), nullptr);
  }
  if (quota <= 0 || period <= 0) return;
  char text[32];
  snprintf(text, sizeof text, "%.2f", quota / period);
  facts.text("cpu_quota", text);
}

// The file of the core that the calling thread is on (Linux, Documentation/admin-guide/pm/cpufreq.rst).
SystemFile frequency_file(const Facts& facts, const char* name) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/%s", sched_getcpu(), name);
  return SystemFile(facts.root(), path);
}

void tell_mhz(const Facts& facts, const char* fact, const char* file) {
  const SystemFile khz = frequency_file(facts, file);
  if (khz.there()) facts.number(fact, strtoull(khz.text(), nullptr, 10) / 1000);
}

// The first line sums up all cores: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
void read_host(const char* root, Usage& usage) {
  const SystemFile stat(root, "/proc/stat");
  if (strncmp(stat.text(), "cpu ", 4) != 0) return;
  std::uint64_t ticks[8] = {};
  char* at = const_cast<char*>(stat.text()) + 4;
  for (std::uint64_t& value : ticks) value = strtoull(at, &at, 10);
  const std::uint64_t tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  usage.host_busy_ns = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * tick_ns;
  usage.host_stolen_ns = ticks[7] * tick_ns;
}

}  // namespace

std::uint64_t epoch_ns() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

void tell_machine(const char* root, FactSink sink, void* context) {
  const Facts facts(root, sink, context);
  tell_cores(facts);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (online > 0) facts.number("cores_online", static_cast<std::uint64_t>(online));
  tell_quota(facts);
  SystemFile governor = frequency_file(facts, "scaling_governor");
  if (governor.there()) facts.text("governor", governor.line());
  tell_mhz(facts, "mhz", "scaling_cur_freq");
  tell_mhz(facts, "max_mhz", "cpuinfo_max_freq");
  SystemFile smt(root, "/sys/devices/system/cpu/smt/active");
  if (smt.there()) facts.text("smt", smt.line());
  facts.number("waiting_known", thread_waited_ns() != 0);
}

Usage usage_now(const char* root) {
  Usage usage;
  usage.cpu_ns = thread_cpu_ns();
  usage.process_cpu_ns = clock_of(CLOCK_PROCESS_CPUTIME_ID);
  usage.waiting_ns = thread_waited_ns();
  rusage switches{};
  getrusage(RUSAGE_SELF, &switches);
  usage.voluntary_switches = static_cast<std::uint64_t>(switches.ru_nvcsw);
  usage.involuntary_switches = static_cast<std::uint64_t>(switches.ru_nivcsw);
  read_host(root, usage);
  return usage;
}

void tell_usage(const char* root, const Usage& begin, FactSink sink, void* context) {
  const Facts facts(root, sink, context);
  const Usage now = usage_now(root);
  facts.number("cpu_ns", now.cpu_ns - begin.cpu_ns);
  facts.number("process_cpu_ns", now.process_cpu_ns - begin.process_cpu_ns);
  facts.number("waiting_ns", now.waiting_ns - begin.waiting_ns);
  facts.number("voluntary_switches", now.voluntary_switches - begin.voluntary_switches);
  facts.number("involuntary_switches", now.involuntary_switches - begin.involuntary_switches);
  const SystemFile status(root, "/proc/self/status");
  const char* threads = strstr(status.text(), "\nThreads:");
  if (threads != nullptr) facts.number("threads", strtoull(threads + 9, nullptr, 10));
  facts.number("host_busy_ns", now.host_busy_ns - begin.host_busy_ns);
  facts.number("host_stolen_ns", now.host_stolen_ns - begin.host_stolen_ns);
  tell_mhz(facts, "last_mhz", "scaling_cur_freq");
}

}  // namespace weft::trace
