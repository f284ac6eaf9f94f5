// What a person at a terminal needs of a running simulation: a progress line, and limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "sim/core/engine.h"
#include "sim/scenario/scenario.h"
#include "tools/weft/cli/phases.h"

namespace weft::cli {

// Shows progress on standard error, unless `quiet`, and ends the run at limits and after signals (Phases): on
// a terminal in a line that is overwritten, elsewhere, as in a file, one line every `every`. Of limits, those
// of time and events are exact (RunControl::Bounds).
class TerminalControl : public sim::RunControl {
 public:
  TerminalControl(const sim::Limits& limits, Phases& phases, bool quiet,
                  std::chrono::milliseconds every = std::chrono::seconds(10));
  ~TerminalControl() override;
  TerminalControl(const TerminalControl&) = delete;
  TerminalControl& operator=(const TerminalControl&) = delete;

  void begin(std::function<double()> fraction) override;
  void end() override;
  sim::StopReason poll(Time now, std::uint64_t events) override;
  bool process_ends() const override;
  // Wall time between begin() and end().
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const;
  void show(Time now, std::uint64_t events);
  void clear_line();

  Phases& phases_;
  std::function<double()> fraction_;
  const bool show_, on_terminal_;
  const std::chrono::milliseconds every_;
  bool line_shown_ = false;
  Clock::time_point begin_, last_shown_;
  double seconds_ = 0;
};

}  // namespace weft::cli
