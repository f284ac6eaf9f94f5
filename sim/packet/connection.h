// What the sending side of a host keeps of a connection and of its messages.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "congestion/congestion.h"
#include "congestion/recovery.h"
#include "sim/core/network.h"
#include "sim/packet/connection_table.h"
#include "sim/packet/ids.h"
#include "sim/routing/routing.h"
#include "sim/units/quantity.h"

namespace weft::sim::packet {

inline constexpr std::uint32_t kNoMessage = UINT32_MAX;     // among OutgoingMessages
inline constexpr std::uint32_t kNotConnected = UINT32_MAX;  // among its source's connections

// What each packet out and each answer touches.
struct alignas(64) Connection {
  congestion::Recovery* recovery = nullptr;   // in the slab; null: the slot is empty
  congestion::Sender* control = nullptr;      // behind it
  routing::PathSelector* selector = nullptr;  // owned by ColdConnection
  std::uint64_t window_bytes = 0;
  Bandwidth rate;                  // 0: not paced
  std::uint64_t credit_bytes = 0;  // may be sent in all
  std::uint64_t sent_bytes = 0;    // payload, in all
  std::int64_t next_send_ps = 0;
  NicId nic{0};   // whose timer it has
  NicId lane{0};  // the NIC its next packet takes
  HostId source{0}, destination{0};
  std::uint32_t number = kNotConnected;  // among its source's connections
  ReceiveSlotId receive_slot{0};         // in the receiver's table
  std::uint32_t entropy = 0;
  SlotId next_waiting = kNoSlot;
  SlotId next = kNoSlot, previous = kNoSlot;  // among its NIC's live ones, or among those that rest
  std::uint32_t first_message = kNoMessage;   // not acknowledged to the last byte; kNoMessage: it rests
  std::uint32_t first_end = 0;                // behind the last packet of that message
  std::uint16_t generation = 0;               // of the slot
  std::uint16_t hops = 0;                     // links of its path
  std::uint32_t target = 0;                   // what its packets go to: see Channels::host_of()
  std::uint8_t reply_nic = 0;
  bool waiting : 1 = false;     // in its NIC's list
  bool pacing : 1 = false;      // a kPace event is under way
  bool paused : 1 = false;      // a switch wants nothing for now
  std::uint32_t not_asked = 0;  // packets sent since one that asked for its ACK
};

// The rest of it.
struct ColdConnection {
  ConnectionKey key;
  std::uint32_t last_message = kNoMessage;
  std::uint32_t first_untold = kNoMessage;  // whose on_sent is still to come
  std::uint64_t given_bytes = 0;            // by all messages so far
  std::int64_t idle_since_ps = 0;
  std::int64_t pause_end_ps = 0;     // at the latest
  std::int64_t wake_ps = INT64_MAX;  // of the kSenderTimer event that counts
  std::unique_ptr<routing::PathSelector> selector;
  // The last transmissions took these: a ring by packet number, empty unless somebody wants to know.
  std::vector<routing::Path> paths;
};

struct OutgoingMessage {
  Message message;
  std::uint64_t end_byte = 0;        // of all the connection was given, up to its last
  std::uint32_t first = 0, end = 0;  // its packets
  std::uint32_t number = 0;          // among its source's
  std::uint32_t retransmissions = 0;
  std::uint32_t next = kNoMessage;
};

}  // namespace weft::sim::packet
