// How flows share a link over some time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/run_control.h"
#include "sim/packet/observer.h"
#include "sim/units/quantity.h"

namespace weft::sim::packet {

class RunUntil final : public RunControl {
 public:
  explicit RunUntil(Time end) : RunControl(Bounds{.time = end}) {}
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

// Counts what each host's data brings to its destination from a moment on.
class Meter final : public Observer {
 public:
  Meter(std::uint32_t hosts, Time from) : bytes(hosts), from_(from) {}
  void on_inject(Time, const Sighting&) override {}
  void on_enqueue(Time, std::uint32_t, const Sighting&, Time) override {}
  void on_drop(Time, std::uint32_t, const Sighting&) override {}
  void on_arrive(Time, std::uint32_t, const Sighting&) override {}
  void on_deliver(Time now, const Sighting& packet) override {
    if (!packet.ack && now >= from_) bytes[packet.source] += packet.bytes;
  }
  std::vector<double> bytes;  // on the wire

 private:
  Time from_;
};

}  // namespace weft::sim::packet
