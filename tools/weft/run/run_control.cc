#include "tools/weft/run/run_control.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/weft/cli/memory_limit.h"

namespace weft::cli {
namespace {

sim::RunControl::Bounds bounds_of(const sim::Limits& limits) {
  sim::RunControl::Bounds bounds;
  if (limits.time > Time()) bounds.time = limits.time;
  if (limits.events != 0) bounds.events = limits.events;
  return bounds;
}

}  // namespace

TerminalControl::TerminalControl(const sim::Limits& limits, Phases& phases, bool quiet,
                                 std::chrono::milliseconds every)
    : RunControl(bounds_of(limits)),
      phases_(phases),
      show_(!quiet),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      every_(on_terminal_ ? std::chrono::milliseconds(250) : every) {}

TerminalControl::~TerminalControl() {
  // After an exception: from now on it can't be asked.
  if (fraction_) phases_.finish("ending");
  clear_line();
}

void TerminalControl::begin(std::function<double()> fraction) {
  fraction_ = std::move(fraction);
  begin_ = last_shown_ = Clock::now();
  phases_.enter("simulating", [this] { ask_poll(); });
}

void TerminalControl::end() {
  seconds_ = elapsed();
  fraction_ = nullptr;
  clear_line();
  phases_.finish("writing results");
}

double TerminalControl::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

sim::StopReason TerminalControl::poll(Time now, std::uint64_t events) {
  if (Phases::signal() != 0) return sim::StopReason::kInterrupt;
  // Before memory is refused (memory_limit.h), where there is time: so that there are results.
  if (memory_limit() != 0 && resident_bytes() >= memory_limit() / 10 * 9) {
    return sim::StopReason::kMemoryLimit;
  }
  if (show_) show(now, events);
  return sim::StopReason::kNone;
}

bool TerminalControl::process_ends() const { return Phases::signal() != 0; }

void TerminalControl::show(Time now, std::uint64_t events) {
  const auto at = Clock::now();
  if (at - last_shown_ < every_) return;
  last_shown_ = at;
  const double seconds = elapsed(), fraction = fraction_ ? fraction_() : 0;
  std::string left = "?";
  if (fraction > 0.001) left = fmt::format("{:.0f} s", seconds * (1 - fraction) / fraction);
  const std::string line =
      fmt::format("{:5.1f}%  simulated {:.3f} ms  {:.2f} million events/s  {} left", 100 * fraction,
                  now.seconds() * 1e3, static_cast<double>(events) / std::max(seconds, 1e-6) / 1e6, left);
  std::fputs((on_terminal_ ? "\r\x1b[K" + line : "weft: " + line + "\n").c_str(), stderr);
  std::fflush(stderr);
  line_shown_ = on_terminal_;
}

void TerminalControl::clear_line() {
  if (line_shown_) std::fputs("\r\x1b[K", stderr);
  line_shown_ = false;
}

}  // namespace weft::cli
