// What routing policies hear of, but for the packets that they are asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/packet/policy_view.h"
#include "sim/packet/wires.h"
#include "sim/routing/switch_policy.h"

namespace weft::sim::packet {

// Tells the policies of one partition's switches of timers that have expired and, where that is asked for, of
// packets that have left a port, were dropped there or lost their payload.
class PolicyNews final : private PortListener {
 public:
  explicit PolicyNews(ViewedSwitches& switches);
  PolicyNews(const PolicyNews&) = delete;
  PolicyNews& operator=(const PolicyNews&) = delete;

  // Events.
  void timer(SwitchId at, std::uint32_t cookie);
  void departed(std::uint32_t record);
  // A switch at a moment when no partition runs. Good until the next call.
  routing::OwnSwitch& view(SwitchId at, Time now);

 private:
  // A packet that is leaving a port.
  struct Departing {
    routing::PacketView view;
    ChannelId channel{0};
  };

  routing::SwitchPolicy& policy_at(NodeId at) const { return switches_.policies.policy_at(at); }
  PolicyView here(NodeId at) const { return {switches_, at, switches_.wires.engine.now()}; }
  routing::PacketView view_of_leaving(PacketHandle handle) const;
  // PortListener.
  void departs(ChannelId c, PacketHandle handle, std::int64_t departure_ps) override;
  void dropped(ChannelId c, PacketHandle handle) override;
  void trimmed(ChannelId c, PacketHandle handle) override;

  ViewedSwitches& switches_;
  const Channels& channels_;
  const routing::SwitchAsks asks_;
  std::vector<Departing> departing_;
  std::vector<std::uint32_t> unused_departing_;
  std::optional<PolicyView> quiet_view_;  // of view()
};

}  // namespace weft::sim::packet
