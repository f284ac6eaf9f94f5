// What a person at a terminal needs of a running simulation: a progress line, Ctrl-C, and limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "sim/core/engine.h"
#include "sim/scenario/scenario.h"

namespace weft::cli {

// Shows progress on standard error where that is a terminal (and `quiet` is false), ends the run on SIGINT
// and at limits (checked every RunControl::kPollInterval events). While one exists, SIGINT stops the run at
// its next poll; a second SIGINT kills the process.
class TerminalControl : public sim::RunControl {
 public:
  TerminalControl(const sim::Limits& limits, bool quiet);
  ~TerminalControl() override;
  TerminalControl(const TerminalControl&) = delete;
  TerminalControl& operator=(const TerminalControl&) = delete;

  void begin(std::function<double()> fraction) override;
  void end() override;
  sim::StopReason poll(Time now, std::uint64_t events) override;
  // Wall time between begin() and end().
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const;
  void show(Time now, std::uint64_t events);
  void clear_line();

  sim::Limits limits_;
  std::function<double()> fraction_;
  bool show_;
  bool line_shown_ = false;
  Clock::time_point begin_, last_shown_;
  double seconds_ = 0;
  std::uint64_t polls_ = 0;
};

// Resident size of this process now, and its peak, in bytes.
std::uint64_t resident_bytes();
std::uint64_t peak_resident_bytes();

}  // namespace weft::cli
