// The seam between the replay and a network model: the replay cannot tell which model it drives.
#pragma once

#include <array>
#include <cstdint>

#include "sim/core/engine.h"
#include "sim/units/quantity.h"

namespace weft::sim {

// What a host hands to its NIC. Copied into the network; `client` comes back untouched with both callbacks.
struct Message {
  std::uint32_t source = 0;       // host number
  std::uint32_t destination = 0;  // host number; may equal source (then the network uses its loopback rule)
  std::uint8_t source_nic = 0;
  std::uint8_t destination_nic = 0;
  bool notify_sent : 1 = false;  // call on_sent for this message
  bool control : 1 = false;      // a handshake of the client's (rendezvous); it carries no user bytes
  // The client's: it may be divided over so many pairs of NICs; of a piece, how many there are.
  std::uint8_t rails = 1;
  // Which of the connections between the two NICs it belongs to: see ConnectionRules.
  std::uint32_t channel = 0;
  std::uint64_t bytes = 0;  // payload; may be 0
  std::array<std::uint32_t, 7> client{};
  std::uint32_t instance =
      0;                    // of the program it belongs to, where several run side by side; the client's too
  std::uint32_t trail = 0;  // the client's, too
  // Set by the network when it delivers the message, and when that is acknowledged: how long it would take
  // alone on its path, one way, in picoseconds; 0: not known.
  float alone_ps = 0;
};
static_assert(sizeof(Message) == 64);

// The client's connections between two hosts have numbers below this; those from here on are for its answers
// to them, if these are not to wait behind other messages.
inline constexpr std::uint32_t kAnswerChannels = std::uint32_t{1} << 31;

// How messages share connections; the same for a whole run. A connection is (source, destination, source NIC,
// destination NIC, channel), in one direction. Its messages, handshakes too, are sent and delivered in the
// order injected, and its congestion, recovery and path state lives on between them.
struct ConnectionRules {
  bool per_message = true;  // each message is a connection of its own, and Message::channel means nothing
  // on_sent comes when no more than this of what the connection was given, up to this message's last byte, is
  // unacknowledged: the rest is in a buffer of the sender's system. 0, as with RDMA: when all is
  // acknowledged.
  std::uint64_t send_buffer_bytes = 0;
  // A connection that was idle for so long starts anew, as if it had never sent (RFC 5681 §4.1, RFC 2861).
  // 0: as long as its network's least retransmission timeout.
  Time idle;
};

// Called by the network while it runs, at Engine::now().
class NetworkClient {
 public:
  virtual ~NetworkClient() = default;
  // The sender's buffer may be reused: the message is acknowledged, or in a buffer of the sender's system
  // (ConnectionRules). Exactly once per message that asks for it (notify_sent).
  virtual void on_sent(const Message& message) = 0;
  // The last byte is in the receiver's NIC buffer. Exactly once per message.
  virtual void on_delivered(const Message& message) = 0;
  // An event of kind >= kClientKinds that the client scheduled.
  virtual void on_event(const Event& event) = 0;
  // An event, or a message to be delivered, will come soon: the client may fetch into the cache what it needs
  // then, and must change nothing. Each is shown several times, `look` counting from 0.
  virtual void expect(const Event& /*event*/, int /*look*/) const {}
  virtual void expect(const Message& /*message*/, int /*look*/) const {}
};

// The hosts of one partition, as their client sees the network. How a model runs is its own affair.
class Network {
 public:
  virtual ~Network() = default;
  // Accepts a message at Engine::now(). Never calls the client back from within. REQUIRES: the source is a
  // host of this partition.
  virtual void inject(const Message& message) = 0;
  // True if messages of one connection are always delivered in the order injected; in a network without
  // connections, messages from one NIC of a host to one NIC of another. Where it is false, the replay holds
  // early ones back for as long as MPI's ordering rule demands.
  virtual bool delivers_in_order() const = 0;
};

}  // namespace weft::sim
