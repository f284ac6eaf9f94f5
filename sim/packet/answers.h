// Answers: what comes back to connections, or doesn't come in time, and what they are told of it.
#pragma once

#include <cstdint>
#include <vector>

#include "congestion/recovery.h"
#include "sim/packet/connections.h"
#include "sim/packet/hosts.h"
#include "sim/packet/nic_turns.h"

namespace weft::sim::packet {

// One partition's.
class Answers {
 public:
  Answers(HostSide& side, Connections& connections, NicTurns& turns);
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  // Events: a packet for a sender (ACK, NACK, notification, credit, pause, resume);
  // a header of ours that a switch has sent back; and others.
  void on_answer(PacketHandle handle);
  void on_returned(PacketHandle handle);
  void nic_timer(NicId nic);
  void tell_taken(SlotId slot, std::uint16_t generation);

 private:
  bool is_of(SlotId slot, const Packet& packet) const;
  void on_ack(SlotId slot, PacketHandle handle, const Packet& packet);
  void on_nack(SlotId slot, PacketHandle handle, const Packet& packet, std::uint32_t cumulative);
  void tell_acked(SlotId slot, PacketHandle handle, const Packet& packet,
                  const congestion::Recovery::Outcome& outcome, Time held);
  void tell_lost(SlotId slot, const congestion::Recovery::Outcome& outcome, const Packet* trimmed);
  void set_paused(SlotId slot, bool paused);
  Time look_at_pause(SlotId slot);
  void go_on(SlotId slot);
  void retire_messages(SlotId slot);
  void tell_senders();

  HostSide& side_;
  Connections& connections_;
  NicTurns& turns_;
  std::vector<std::uint32_t> lost_paths_;
  std::vector<Message> to_tell_;  // whose on_sent is due, of the present event
};

}  // namespace weft::sim::packet
