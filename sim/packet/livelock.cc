#include "sim/packet/livelock.h"

#include <fmt/core.h>

namespace weft::sim::packet {

bool LivelockWatch::look(const FabricCounters& counters) {
  constexpr std::uint64_t kVeryMany = 1000;
  next_ += interval_;
  const bool suspicious = counters.data_delivered == delivered_ && counters.packets_injected != injected_;
  delivered_ = counters.data_delivered;
  injected_ = counters.packets_injected;
  if (!suspicious) {
    sent_.clear();
    return false;
  }
  const bool again = !sent_.empty();
  sent_.resize(channels_.count());
  std::int64_t longest_ps = 0;
  for (std::uint32_t c = 0; c < channels_.count(); ++c) {
    const Sent now{channels_.hot[c].bytes, channels_.hot[c].packets};
    const std::int64_t busy_ps = channels_.cold[c].rate.serialization(now.bytes - sent_[c].bytes).ps();
    if (now.packets - sent_[c].packets >= kVeryMany && busy_ps > longest_ps) {
      longest_ps = busy_ps;
      busiest_ = c;
    }
    sent_[c] = now;
  }
  found_ = counters;
  return again && longest_ps >= interval_.ps() / 2;
}

void LivelockWatch::rest_until(Time now) {
  if (now < next_) return;
  sent_.clear();
  next_ += interval_ * ((now - next_).ps() / interval_.ps() + 1);
}

std::vector<std::string> LivelockWatch::describe() const {
  const topologies::Channel& wire = channels_.topology.channels()[busiest_];
  return {fmt::format("livelock: links are busy ({} -> {} most), but not one packet with data has come to a "
                      "host for {:.1f} ms",
                      channels_.topology.node(wire.from).name, channels_.topology.node(wire.to).name,
                      (interval_ * 2).seconds() * 1e3),
          fmt::format("  {} of {} packets sent so far were cut to their headers, and {} dropped; a smaller "
                      "window, or a queue that lets some data pass, may help",
                      found_.packets_trimmed, found_.packets_injected, found_.packets_dropped)};
}

}  // namespace weft::sim::packet
