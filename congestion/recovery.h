// The seam for loss recovery: what a connection sends again and when, and what its receiver takes. Pure state
// machines, driven by calls, without any simulator type.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "congestion/arrivals.h"
#include "congestion/packet_sizes.h"
#include "sim/units/capabilities.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::congestion {

// What the network says to every recovery.
struct RecoveryConfig {
  Time min_timeout = Time::us(100);  // the retransmission timeout is never shorter (RFC 6298 §2.4)
  // Back-offs don't make it longer than this, which may not be less than a minute (§2.5, §5.5); a timeout
  // that round trips, or min_timeout, make longer stays as it is.
  Time max_timeout = Time::us(60'000'000);
  bool reordering = false;  // packets of one connection may overtake each other (several paths)
  // Each timeout is longer by a random share of itself, up to this one (0 to 1), so that flows that lost
  // packets together don't all come back together.
  double jitter = 0;
};

// Memory of 8 bytes a packet for the connections of one partition: those at rest keep none. Not thread-safe.
class RingPool {
 public:
  using Ring = std::vector<std::uint64_t>;
  // Gives a ring of this size, with any contents. REQUIRES: a power of two.
  Ring take(std::size_t size) {
    std::vector<Ring>& spare = spare_[std::countr_zero(size)];
    if (spare.empty()) return Ring(size);
    Ring ring = std::move(spare.back());
    spare.pop_back();
    return ring;
  }
  void give_back(Ring ring) {
    if (!ring.empty()) spare_[std::countr_zero(ring.size())].push_back(std::move(ring));
  }

 private:
  std::array<std::vector<Ring>, 40> spare_;
};

// What is fixed when a connection opens.
struct RecoverySetup {
  RecoveryConfig config;
  std::uint32_t mtu_bytes = 0;  // payload of a full packet
  Time base_rtt;                // round trip of a full packet and its ACK without queueing
  Time longest_rtt;             // the same over the longest path that the routing policy may use
  Bandwidth line_rate;          // of the sender's NIC, or NICs
  std::uint32_t random = 0;     // the connection's own draw, for the jitter
  RingPool* rings = nullptr;    // lives longer
  // Where to write down the numbers of packets that are declared lost, for who asks which path they took;
  // null: nobody does. Lives longer; whoever reads it empties it.
  std::vector<std::uint32_t>* losses = nullptr;
  // A count for each of RecoveryKind::signals, shared with other connections: for the sending half to count
  // up.
  std::uint64_t* signals = nullptr;
};

// An ACK or NACK as it reaches the sender.
struct Answer {
  Time now;
  std::uint32_t number = 0;      // of the packet that is answered
  std::uint32_t cumulative = 0;  // all packets below have arrived; 0 if that isn't known
  Time sent;                     // when the transmission that is answered left
  bool duplicate = false;        // the receiver had the packet before, so a retransmission was in vain
  std::uint64_t sack = 0;  // which of the packets from sack_base(cumulative, number) on have arrived as well
  std::uint32_t path = 0;  // entropy of the transmission that is answered
  std::uint64_t window_bytes = 0;  // what congestion control allows in flight
};

// The sending half, one per connection. Packets are numbered from 0 over all its messages, in the order they
// are sent first. Calls come in time order.
class Recovery {
 public:
  // What one answer or timer told.
  struct Outcome {
    std::uint64_t acked_bytes = 0;  // payload newly acknowledged
    std::uint32_t acked_packets = 0;
    std::uint32_t lost_packets = 0;  // newly declared lost
    std::uint64_t lost_bytes = 0;
    std::uint64_t spared_bytes = 0;  // payload that was to be sent, and isn't needed any more
    bool timeout = false;            // the retransmission timer expired
    bool gave_up = false;            // … once too often in a row: nothing is sent again until an ACK comes
  };

  explicit Recovery(const RecoverySetup& setup)
      : sizes_(setup.mtu_bytes), rings_(setup.rings), losses_(setup.losses) {}
  virtual ~Recovery() { rings_->give_back(std::move(ring_)); }
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  bool done() const { return first_ == sizes_.end(); }
  std::uint32_t packets() const { return sizes_.end(); }  // of all messages so far
  std::uint32_t first_unacked() const { return first_; }
  std::uint32_t next_new() const { return next_; }  // == packets(): all were sent once
  std::uint32_t lost() const { return lost_; }      // to be sent again
  // Payload bytes and packets sent, and neither acknowledged nor declared lost.
  std::uint64_t in_flight_bytes() const { return in_flight_bytes_; }
  std::uint32_t in_flight_packets() const { return in_flight_packets_; }
  // No packet that is so far from first_unacked() is sent, or further, for now.
  std::uint32_t most_span() const { return most_span_; }
  // REQUIRES: first_unacked() <= number < packets().
  std::uint32_t payload(std::uint32_t number) const { return sizes_.of(number); }

  // How many packets a message of so many bytes takes, redundant ones included: at least 1, and the last
  // carries what the full ones before it leave over, if none is redundant. Must not depend on anything else:
  // the receiver counts by it.
  virtual std::uint64_t packets_for(std::uint64_t bytes) const {
    const std::uint64_t full = sizes_.full_bytes();
    return bytes == 0 ? 1 : bytes / full + (bytes % full != 0 ? 1 : 0);
  }
  // The payload of these.
  virtual std::uint64_t payload_for(std::uint64_t bytes) const { return bytes; }
  // A message of so many bytes is to be sent behind the others. REQUIRES: packets() + packets_for(bytes) <
  // 2^32.
  virtual void append(std::uint64_t bytes) {
    const std::uint64_t packets = packets_for(bytes);
    sizes_.append(static_cast<std::uint32_t>(packets),
                  static_cast<std::uint32_t>(bytes - (packets - 1) * sizes_.full_bytes()));
  }

  // The packet to send now: one to be sent again, else the next new one. REQUIRES: lost() > 0 or next_new() <
  // packets().
  virtual std::uint32_t next_to_send() = 0;
  // The entropy of the path that the packet takes for which on_send is called next. Only where
  // RecoveryKind::hears_paths.
  virtual void on_path(std::uint32_t /*entropy*/) {}
  // It went out at `at`. REQUIRES: number == next_to_send().
  virtual void on_send(std::uint32_t number, Time at) = 0;
  // An ACK. REQUIRES, here and below: number < next_new(). Unless the receiver rebuilds packets, before they
  // were sent even, cumulative <= next_new(), and so are the packets of the bitmap.
  virtual Outcome on_ack(const Answer& ack) = 0;
  // A NACK: the payload of the transmission that is answered was cut off on the way, or the receiver can't
  // take the packet before others have come.
  virtual Outcome on_nack(const Answer& nack) = 0;
  // When on_timer should be called; Time::max(): never. It moves forth and back with every other call, and
  // may turn out to have been too early; a late call does no harm but delay.
  virtual Time deadline() const = 0;
  virtual Outcome on_timer(Time now) = 0;
  // Too many timeouts in a row: nothing is sent until an ACK comes after all.
  virtual bool gave_up() const = 0;

  // Everything is acknowledged, and nothing more is to be sent for now: memory that grew with the window is
  // given back. REQUIRES: done().
  virtual void rest() {
    rings_->give_back(std::exchange(ring_, {}));
    sizes_.rest();
  }
  // Fetches the packet's record into the cache.
  [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
    __builtin_prefetch(ring_.data() + (number & (ring_.size() - 1)), 1);
  }

 protected:
  // Twice the room for packets from first_ to next_, each at its number modulo the size. At first it is for
  // what there is to send, if that is little: short messages on many connections are common.
  void grow_ring() {
    const std::size_t first_size = std::bit_ceil(std::min<std::size_t>(sizes_.end() - first_, 16));
    RingPool::Ring wider = rings_->take(ring_.empty() ? first_size : ring_.size() * 2);
    for (std::uint32_t n = first_; n != next_; ++n) {
      wider[n & (wider.size() - 1)] = ring_[n & (ring_.size() - 1)];
    }
    rings_->give_back(std::exchange(ring_, std::move(wider)));
  }
  void note_loss(std::uint32_t number) {
    if (losses_ != nullptr) losses_->push_back(number);
  }

  PacketSizes sizes_;
  std::uint32_t first_ = 0, next_ = 0;
  std::uint32_t lost_ = 0;
  std::uint32_t in_flight_packets_ = 0;
  std::uint64_t in_flight_bytes_ = 0;
  std::uint32_t most_span_ = UINT32_MAX;
  RingPool::Ring ring_;  // one word per packet from first_ to next_

 private:
  RingPool* rings_;
  std::vector<std::uint32_t>* losses_;
};

// The receiving half, one per connection, for recoveries whose receiver does more than note what has come.
class Reassembly {
 public:
  enum class Verdict : std::uint8_t {
    kTaken,      // new
    kDuplicate,  // it, or what it would help to rebuild, had come before
    kRefused,    // others have to come first: it is dropped, and answered by a NACK
    kIgnored,    // the same, and not answered
  };
  virtual ~Reassembly() = default;
  // A message of so many packets follows, packets_for() its bytes.
  virtual void append(std::uint32_t /*packets*/, std::uint64_t /*bytes*/) {}
  // A packet has come with its payload. Notes in `arrivals` what is there now, which may be more than the
  // packet, where it completes a block from redundant ones; or nothing. A message is complete when all its
  // packets are noted.
  virtual Verdict on_packet(std::uint32_t number, Arrivals& arrivals) = 0;
};

// Makes both halves with one choice of parameters. They live in memory of the caller's: `…_bytes` is the size
// of one, `construct…` places one at `storage` (aligned to 16 bytes; destroyed through its destructor).
class RecoveryFactory {
 public:
  virtual ~RecoveryFactory() = default;
  virtual std::size_t recovery_bytes() const = 0;
  virtual Recovery* construct(void* storage, const RecoverySetup& setup) const = 0;
  // False: the receiver takes packets in any order, and make_reassembly() returns null.
  virtual bool reassembles() const { return false; }
  virtual std::unique_ptr<Reassembly> make_reassembly() const { return nullptr; }
};

// For a recovery class with a nested `Settings` made from Parameters (it throws InputError for values that
// make no sense) and a constructor (const RecoverySetup&, const Settings&). `Receiving`: void, or a class of
// its receivers with a constructor (const Settings&).
template <typename Sending, typename Receiving = void>
class RecoveryFactoryFor final : public RecoveryFactory {
 public:
  static std::unique_ptr<RecoveryFactory> make(const Parameters& parameters) {
    return std::make_unique<RecoveryFactoryFor>(parameters);
  }
  explicit RecoveryFactoryFor(const Parameters& parameters) : settings_(parameters) {}
  std::size_t recovery_bytes() const override { return sizeof(Sending); }
  Recovery* construct(void* storage, const RecoverySetup& setup) const override {
    return new (storage) Sending(setup, settings_);
  }
  bool reassembles() const override { return !std::is_void_v<Receiving>; }
  std::unique_ptr<Reassembly> make_reassembly() const override {
    if constexpr (std::is_void_v<Receiving>) {
      return nullptr;
    } else {
      return std::make_unique<Receiving>(settings_);
    }
  }

 private:
  typename Sending::Settings settings_;
};

// A loss recovery as users name it: `--recovery rack`.
struct RecoveryKind {
  ModuleInfo info;
  CapabilityNeeds needs = {};  // of queues
  bool hears_paths = false;    // Recovery::on_path
  // ACKs of single packets bring a bitmap as well (Answer::sack), so that one that is lost is made up for
  // while a packet is missing. Where they speak of several they always do.
  bool wants_bitmaps = false;
  bool wants_order = false;      // takes what comes early for a sign of loss: better not over several paths
  bool adds_redundancy = false;  // not all that is sent is needed, so what isn't doesn't count as a duplicate
  std::unique_ptr<RecoveryFactory> (*make_factory)(const Parameters& parameters) = nullptr;
  // What its sending halves count (RecoverySetup::signals), by the names that stand in the results.
  std::vector<std::string> signals = {};
};

}  // namespace weft::congestion
