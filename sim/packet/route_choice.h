// A switch's choice of port: the built-in rule, or the routing policy's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/packet/scheduled_server.h"
#include "sim/packet/switch_policies.h"
#include "sim/packet/wires.h"
#include "sim/routing/hash_choice.h"

namespace weft::sim::packet {

// Of one partition's switches. Knows what a policy may see, and gives it nothing else.
class RouteChoice final : private PortListener {
 public:
  static constexpr std::uint32_t kNone = PacketPool::kNone;  // there is no way

  RouteChoice(Wires& wires, ScheduledServer& scheduled, Forwarding& forwarding, SwitchPolicies& policies);

  // Nothing but the packet and the table decides: it may be worked out ahead.
  bool is_plain() const { return is_hashed_ && !channels_.degraded; }
  // The output of the built-in rule. REQUIRES: is_plain().
  std::uint32_t plain(topologies::Vertex at, const Packet& packet) const {
    // By value: nothing is put into memory for the few lookups that are worked out elsewhere.
    const auto choose = [entropy = packet.entropy, salts = channels_.salts.data(), at](std::size_t count) {
      return routing::hash_choice(entropy, salts[at], count);
    };
    return channels_.table->candidate(at, packet.destination, choose);
  }
  // The output of a packet at a switch; `in`: the channel it came through, or kNone.
  std::uint32_t output(topologies::Vertex at, std::uint32_t in, std::uint32_t handle) {
    return is_plain() ? plain(at, wires_.pool[handle]) : choose(at, in, handle);
  }
  // Another one in place of `c`, whose link is down, or `c` if there is none. The built-in rule decides,
  // unless the packet's source has named its way: then it is lost there.
  std::uint32_t detour(std::uint32_t c, std::uint32_t handle);

  // A packet enters the network: what stood beside the one that had its handle before is void.
  void begin(std::uint32_t handle) {
    if (keeps_records_) [[unlikely]]
      reset_records(handle);
  }

  // Events.
  void timer(EntityId source, std::uint32_t cookie);
  void departed(std::uint32_t record);
  // At a moment when no partition runs.
  routing::OwnSwitch& view(std::uint32_t switch_index, Time now);

 private:
  class Here;
  // A packet that is leaving a port.
  struct Departing {
    routing::PacketView view;
    std::uint32_t channel = 0;
  };

  std::uint32_t choose(topologies::Vertex at, std::uint32_t in, std::uint32_t handle);
  bool has_route(std::uint32_t handle) const;
  std::uint32_t follow_route(topologies::Vertex at, std::uint32_t handle);
  std::uint32_t built_in(topologies::Vertex at, const Packet& packet,
                         std::span<const std::uint32_t> candidates) const;
  std::uint32_t retrace(topologies::Vertex at, std::uint32_t in, std::uint32_t handle);
  std::uint32_t ask(topologies::Vertex at, std::uint32_t in, std::uint32_t handle,
                    std::span<const std::uint32_t> candidates);
  bool is_asked(std::uint32_t in, const Packet& packet) const;
  routing::PacketView view_of(std::uint32_t in, const Packet& packet) const;
  void reset_records(std::uint32_t handle);
  void note_way(std::uint32_t in, std::uint32_t handle);
  // PortListener.
  void departs(std::uint32_t c, std::uint32_t handle, std::int64_t departure_ps) override;
  void dropped(std::uint32_t c, std::uint32_t handle) override;
  void trimmed(std::uint32_t c, std::uint32_t handle) override;

  Wires& wires_;
  const Channels& channels_;  // of wires_, where every hop finds them
  const bool is_hashed_;      // by all switches, while all links are there
  ScheduledServer& scheduled_;
  Forwarding& forwarding_;
  SwitchPolicies& policies_;
  const routing::SwitchAsks asks_;
  const bool keeps_records_;
  std::vector<std::uint32_t> ports_;  // of the packet that is being asked about
  std::vector<Departing> departing_;
  std::vector<std::uint32_t> unused_departing_;
  std::unique_ptr<routing::OwnSwitch> quiet_view_;  // of view()
};

}  // namespace weft::sim::packet
