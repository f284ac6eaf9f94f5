#include "tools/weft/run_control.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace weft::cli {
namespace {

// Signal handlers can reach nothing but a global.
volatile std::sig_atomic_t interrupts = 0;

void on_interrupt(int) {
  interrupts = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

std::uint64_t resident_bytes() {
  unsigned long total = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu %lu", &total, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<std::uint64_t>(resident) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

TerminalControl::TerminalControl(const sim::Limits& limits, bool quiet)
    : limits_(limits), show_(!quiet && isatty(STDERR_FILENO) == 1) {
  interrupts = 0;
  std::signal(SIGINT, on_interrupt);
}

TerminalControl::~TerminalControl() {
  std::signal(SIGINT, SIG_DFL);
  clear_line();
}

void TerminalControl::begin(std::function<double()> fraction) {
  fraction_ = std::move(fraction);
  begin_ = last_shown_ = Clock::now();
}

void TerminalControl::end() {
  seconds_ = elapsed();
  fraction_ = nullptr;
  clear_line();
}

double TerminalControl::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

sim::StopReason TerminalControl::poll(Time now, std::uint64_t events) {
  if (interrupts != 0) return sim::StopReason::kInterrupt;
  if (limits_.time > Time() && now >= limits_.time) return sim::StopReason::kTimeLimit;
  if (limits_.events != 0 && events >= limits_.events) return sim::StopReason::kEventLimit;
  if (limits_.memory_bytes != 0 && ++polls_ % 16 == 0 && resident_bytes() >= limits_.memory_bytes) {
    return sim::StopReason::kMemoryLimit;
  }
  if (show_) show(now, events);
  return sim::StopReason::kNone;
}

void TerminalControl::show(Time now, std::uint64_t events) {
  const auto at = Clock::now();
  if (at - last_shown_ < std::chrono::milliseconds(250)) return;
  last_shown_ = at;
  const double seconds = elapsed(), fraction = fraction_ ? fraction_() : 0;
  std::string left = "?";
  if (fraction > 0.001) left = fmt::format("{:.0f} s", seconds * (1 - fraction) / fraction);
  std::fputs(
      fmt::format("\r\x1b[K{:5.1f}%  simulated {:.3f} ms  {:.2f} million events/s  {} left", 100 * fraction,
                  now.seconds() * 1e3, static_cast<double>(events) / seconds / 1e6, left)
          .c_str(),
      stderr);
  std::fflush(stderr);
  line_shown_ = true;
}

void TerminalControl::clear_line() {
  if (line_shown_) std::fputs("\r\x1b[K", stderr);
  line_shown_ = false;
}

}  // namespace weft::cli
