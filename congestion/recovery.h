// Loss recovery of one flow's sender: which packets are in flight, which are lost, and when to look again.
//
// Sources: RFC 8985 (RACK-TLP: loss found by time, not by counting), RFC 6298 (retransmission timeout).
// What differs from TCP: packets are numbered, and an ACK names the packets it covers and echoes when the
// newest was sent, so there is no ambiguity about which transmission it answers; there is no tail loss probe,
// as the reordering timer and the timeout are short in a data center.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "congestion/arrivals.h"
#include "sim/units/quantity.h"

namespace weft::congestion {

struct RecoveryConfig {
  Time min_timeout = Time::us(100);        // the retransmission timeout is never shorter (RFC 6298 §2.4)
  Time max_timeout = Time::us(1'000'000);  // … nor longer, after any number of back-offs (§5.5)
  // True if packets of one flow may overtake each other (several paths): then a packet is given up only a
  // whole smoothed round trip after one sent later was acknowledged, instead of a quarter of the least.
  bool reordering = false;
  // Each timeout is longer by a random share of itself, up to this one (0 to 1), so that flows that lost
  // packets together don't all come back together.
  double jitter = 0;
};

// A pure state machine: calls come in time order, nothing is read from elsewhere. Packets are numbered from
// 0; all carry mtu bytes but the last. Memory: 8 bytes per packet between the oldest unacknowledged and the
// newest sent, rounded up to a power of two; kept over start(), so that reuse allocates nothing.
class Recovery {
 public:
  // After so many timeouts in a row the next one gives up (RFC 9293 §3.8.3, R2, counts a time instead): else
  // a flow whose way is cut for good would try to the end of time.
  static constexpr std::uint8_t kMostTimeouts = 16;

  // What one ACK or timer told.
  struct Outcome {
    std::uint64_t acked_bytes = 0;  // payload newly acknowledged
    std::uint32_t acked_packets = 0;
    std::uint32_t lost_packets = 0;  // newly declared lost
    std::uint64_t lost_bytes = 0;
    bool timeout = false;  // the retransmission timer expired
    bool gave_up = false;  // … once too often in a row: nothing is sent again until an ACK comes
  };

  // `random`: the flow's own draw, for the jitter. REQUIRES: packets > 0, 0 <= last_bytes <= mtu_bytes.
  void start(const RecoveryConfig& config, std::uint32_t packets, std::uint32_t mtu_bytes,
             std::uint32_t last_bytes, Time base_rtt, std::uint32_t random = 0);

  bool done() const { return first_ == packets_; }
  std::uint32_t packets() const { return packets_; }
  std::uint32_t first_unacked() const { return first_; }
  std::uint32_t next_new() const { return next_; }  // == packets(): all were sent once
  std::uint32_t lost() const { return lost_; }      // declared lost, not sent again yet
  // Payload bytes and packets sent, and neither acknowledged nor declared lost.
  std::uint64_t in_flight_bytes() const { return in_flight_bytes_; }
  std::uint32_t in_flight_packets() const { return in_flight_packets_; }
  std::uint32_t payload(std::uint32_t number) const {
    return number + 1 == packets_ ? last_bytes_ : mtu_bytes_;
  }
  Time smoothed_rtt() const { return Time::ps(srtt_ps_); }
  Time least_rtt() const { return Time::ps(min_rtt_ps_); }
  Time timeout() const;
  Time reordering_window() const;

  // The packet to send now: the lowest-numbered lost one, else the next new one. REQUIRES: lost() > 0 or
  // next_new() < packets().
  std::uint32_t next_to_send();
  // It went out at `at`. REQUIRES: number == next_to_send().
  void on_send(std::uint32_t number, Time at) {
    if (number == next_) [[likely]] {
      if (next_ - first_ == ring_.size()) grow();
      ++next_;
    } else {
      --lost_;
    }
    if (in_flight_packets_ == 0) {
      oldest_ps_ = at.ps();
      last_progress_ps_ = at.ps();
    }
    slot(number) = encode(at.ps(), kInFlight);
    ++in_flight_packets_;
    in_flight_bytes_ += payload(number);
  }

  // An ACK of packet `number`, whose acknowledged transmission left at `sent`; all packets below `cumulative`
  // have arrived too (their own ACKs may have been lost). `duplicate`: the receiver had it before, so a
  // retransmission was in vain. `sack`: which of the packets from sack_base(cumulative, number) on have
  // arrived as well. REQUIRES: number < next_new(), cumulative <= next_new(); so the packets of `sack`.
  Outcome on_ack(Time now, std::uint32_t number, std::uint32_t cumulative, Time sent, bool duplicate,
                 std::uint64_t sack = 0) {
    Outcome outcome;
    if (number >= first_) settle(number, outcome);
    if (sack != 0) [[unlikely]]
      settle(sack_base(cumulative, number), sack, outcome);
    for (std::uint32_t n = first_; n < cumulative; ++n) settle(n, outcome);
    while (first_ < next_ && state(slot(first_)) == kAcked) ++first_;
    sample_rtt(now.ps() - sent.ps());
    if (duplicate) [[unlikely]]
      widen(now);
    if (sent.ps() >= newest_acked_ps_) {
      newest_acked_ps_ = sent.ps();
      newest_rtt_ps_ = now.ps() - sent.ps();
    }
    if (outcome.acked_packets > 0) {
      backoff_ = 0;
      last_progress_ps_ = now.ps();
    }
    if (oldest_ps_ < newest_acked_ps_ && now.ps() >= reordering_deadline_ps()) [[unlikely]] {
      find_lost(now, outcome);
    }
    return outcome;
  }

  // The payload of the transmission of packet `number` that left at `sent` was cut off on the way, so it is
  // lost, without waiting; unless it was sent again or acknowledged since. The answer is a sign of life: the
  // timeout begins anew. `cumulative` as in on_ack(); 0 if it isn't known. REQUIRES: as there.
  Outcome on_nack(Time now, std::uint32_t number, std::uint32_t cumulative, Time sent);

  // Fetches the packet's record into the cache.
  [[gnu::always_inline]] void prefetch(std::uint32_t number) const {
    __builtin_prefetch(ring_.data() + (number & (ring_.size() - 1)), 1);
  }

  // When on_timer should be called; Time::max() if nothing is in flight, or after giving up. It moves forth
  // and back with every other call, and may turn out to have been too early; a late call does no harm but
  // delay.
  Time deadline() const {
    if (in_flight_packets_ == 0 || gave_up()) return Time::max();
    const std::int64_t timeout_ps = last_progress_ps_ + this->timeout().ps();
    if (oldest_ps_ >= newest_acked_ps_) return Time::ps(timeout_ps);
    return Time::ps(std::min(timeout_ps, reordering_deadline_ps()));
  }
  // Looks for losses by time. Harmless before the deadline.
  Outcome on_timer(Time now);

  bool gave_up() const { return backoff_ > kMostTimeouts; }

 private:
  enum State : std::uint64_t { kInFlight = 0, kAcked = 1, kLost = 2 };
  // One word per packet: the time it was last sent, in picoseconds (good for 26 days), and its state.
  static std::uint64_t encode(std::int64_t sent_ps, State state) {
    return static_cast<std::uint64_t>(sent_ps) << 2 | state;
  }
  static State state(std::uint64_t word) { return static_cast<State>(word & 3); }
  static std::int64_t sent_ps(std::uint64_t word) { return static_cast<std::int64_t>(word >> 2); }
  std::uint64_t& slot(std::uint32_t number) { return ring_[number & (ring_.size() - 1)]; }

  void settle(std::uint32_t number, Outcome& outcome) {
    std::uint64_t& word = slot(number);
    const State was = state(word);
    if (was == kAcked) return;
    word |= kAcked;
    word &= ~std::uint64_t{kLost};
    ++outcome.acked_packets;
    outcome.acked_bytes += payload(number);
    if (was == kInFlight) [[likely]] {
      --in_flight_packets_;
      in_flight_bytes_ -= payload(number);
    } else {
      --lost_;
    }
  }
  void settle(std::uint32_t base, std::uint64_t sack, Outcome& outcome);
  void draw_jitter();
  // RFC 6298 §2.2–2.3 in integers: alpha = 1/8, beta = 1/4.
  void sample_rtt(std::int64_t rtt_ps) {
    if (min_rtt_ps_ == INT64_MAX) [[unlikely]] {
      srtt_ps_ = rtt_ps;
      rttvar_ps_ = rtt_ps / 2;
    } else {
      const std::int64_t error = rtt_ps - srtt_ps_;
      rttvar_ps_ += ((error < 0 ? -error : error) - rttvar_ps_) / 4;
      srtt_ps_ += error / 8;
    }
    min_rtt_ps_ = std::min(min_rtt_ps_, rtt_ps);
  }
  std::int64_t reordering_deadline_ps() const {
    return oldest_ps_ + newest_rtt_ps_ + reordering_window().ps();
  }
  void grow();
  void widen(Time now);
  void declare_lost(std::uint32_t number, Outcome& outcome);
  void find_lost(Time now, Outcome& outcome);

  std::vector<std::uint64_t> ring_;
  std::uint32_t packets_ = 0, first_ = 0, next_ = 0;
  std::uint32_t mtu_bytes_ = 0, last_bytes_ = 0;
  std::uint32_t lost_ = 0, lost_from_ = 0;  // no lost packet has a number below lost_from_
  std::uint32_t in_flight_packets_ = 0;
  std::uint64_t in_flight_bytes_ = 0;
  std::int64_t srtt_ps_ = 0, rttvar_ps_ = 0, min_rtt_ps_ = 0;
  std::int64_t oldest_ps_ = 0;         // no packet in flight was sent before this
  std::int64_t newest_acked_ps_ = 0;   // RACK.xmit_ts: the latest sending time among those acknowledged
  std::int64_t newest_rtt_ps_ = 0;     // RACK.rtt: its round trip
  std::int64_t last_progress_ps_ = 0;  // when something new was last acknowledged
  std::int64_t widened_ps_ = 0;
  std::int64_t min_timeout_ps_ = 0, max_timeout_ps_ = 0;
  std::uint8_t backoff_ = 0;   // the timeout is doubled so often
  std::uint8_t widening_ = 1;  // RACK.reo_wnd_mult
  bool reordering_ = false;
  std::uint16_t most_jitter_ = 0;  // these two in 1/65,536 of the timeout
  std::uint16_t jitter_ = 0;
  std::uint32_t random_ = 0;
};

}  // namespace weft::congestion
