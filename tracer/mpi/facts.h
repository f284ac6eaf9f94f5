// What a process can tell of itself and its machine that bears on its times. The names of facts are in
// tracer/format/README.md.
#pragma once

#include <cstdint>

namespace weft::trace {

// Takes one fact; both texts end with it.
using FactSink = void (*)(void* context, const char* name, const char* value);

// Sums over the process, since a moment.
struct Usage {
  std::uint64_t cpu_ns = 0, process_cpu_ns = 0, waiting_ns = 0;
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  std::uint64_t host_busy_ns = 0, host_stolen_ns = 0;
};

std::uint64_t epoch_ns();  // CLOCK_REALTIME
// `root` is put before /sys and /proc: "", or a test's folder. What can't be read is left out.
void tell_machine(const char* root, FactSink sink, void* context);
// To be called by the process's first thread.
Usage usage_now(const char* root);
// What was used since `begin`.
void tell_usage(const char* root, const Usage& begin, FactSink sink, void* context);

}  // namespace weft::trace
