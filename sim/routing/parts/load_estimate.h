// How loaded a port has been lately, as switch ASICs estimate it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/units/quantity.h"

namespace weft::routing {

// The discounting rate estimator of CONGA: bytes are added up, and with each eighth of `tau` an eighth of the
// sum is taken away, so that it is about what was sent within tau.
class LoadEstimate {
 public:
  LoadEstimate() = default;
  LoadEstimate(Bandwidth rate, Time tau)
      : full_bytes_(static_cast<double>(rate.bps()) / 8 * static_cast<double>(tau.ps()) * 1e-12),
        step_ps_(std::max<std::int64_t>(tau.ps() / kSteps, 1)) {}

  void add(std::uint32_t bytes, Time now) {
    decay(now);
    bytes_ += bytes;
  }
  // Gives the load as a part of the port's rate: 1 where it was busy all the time, and more where packets
  // came faster than it sends.
  double load(Time now) {
    decay(now);
    return bytes_ / full_bytes_;
  }
  // In `levels` equal steps from 0 to its rate: 0 to levels - 1.
  std::uint8_t level(Time now, std::uint32_t levels) {
    return static_cast<std::uint8_t>(std::min<double>(load(now) * levels, levels - 1));
  }

 private:
  static constexpr std::int64_t kSteps = 8;

  void decay(Time now) {
    const std::int64_t step = now.ps() / step_ps_;
    if (step == step_) return;
    constexpr double kKept = 1 - 1.0 / kSteps;
    const std::int64_t passed = step - step_;
    if (passed > 1000) {
      bytes_ = 0;
    } else {
      for (std::int64_t i = 0; i < passed; ++i) bytes_ *= kKept;
    }
    step_ = step;
  }

  double full_bytes_ = 1, bytes_ = 0;
  std::int64_t step_ps_ = 1, step_ = 0;
};

}  // namespace weft::routing
