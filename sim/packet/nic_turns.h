// Turns at the NICs: which connection may send, whose packet is next, and what it looks like.
#pragma once

#include <cstdint>

#include "sim/packet/connections.h"
#include "sim/packet/hosts.h"
#include "sim/routing/routing.h"

namespace weft::sim::packet {

// One partition's. A connection that may send waits in its NIC's list, at most once, and sends one packet at
// each of its turns.
class NicTurns {
 public:
  NicTurns(HostSide& side, Connections& connections) : side_(side), connections_(connections) {}
  NicTurns(const NicTurns&) = delete;
  NicTurns& operator=(const NicTurns&) = delete;

  // The message that Connections::start() took is known to its receiver: its connection may send.
  void begin(SlotId slot);
  // Queues the connection at its NIC if it may send; to be called whenever that may have become so.
  void wake(SlotId slot);
  // The NIC looks at its connections' deadlines (Answers::nic_timer) at this time, or before.
  void arm_timer(Nic& nic, Time deadline);

  // Events.
  void nic_ready(NicId nic);
  void pace(SlotId slot, std::uint16_t generation);
  void sender_timer(SlotId slot, std::uint16_t generation);

 private:
  bool may_send(const Connection& connection) const;
  bool asks_for_ack(Connection& connection) const;
  bool is_held(SlotId slot) { return side_.setup.policy.selectors_hold && hold(slot); }
  bool hold(SlotId slot);
  void serve(NicId nic);  // sends one packet of the next connection
  void send_packet(SlotId slot);
  routing::Path choose_path(SlotId slot, std::uint32_t number, bool again);
  void take_route(PacketHandle handle, ChannelId nic_channel, const routing::Path& path);
  void count_again(SlotId slot, std::uint32_t number);

  HostSide& side_;
  Connections& connections_;
};

}  // namespace weft::sim::packet
