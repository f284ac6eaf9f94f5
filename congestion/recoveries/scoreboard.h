// What recoveries that send single packets again have in common: a state for each packet under way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "congestion/recoveries/retransmission_timer.h"
#include "congestion/recovery.h"

namespace weft::congestion {

// Sends lost packets again, the lowest number first, before new ones. By itself it loses packets by NACK and
// by timeout; a recovery that derives from it adds its own rule. Memory: 8 bytes per packet between the
// oldest unacknowledged and the newest sent, rounded up to a power of two.
class Scoreboard : public Recovery {
 public:
  explicit Scoreboard(const RecoverySetup& setup) : Recovery(setup), timer_(setup) {}

  Time smoothed_rtt() const { return Time::ps(timer_.smoothed_ps()); }
  Time timeout() const { return timer_.timeout(); }

  // The lowest-numbered lost one, else the next new one.
  std::uint32_t next_to_send() override;
  void on_send(std::uint32_t number, Time at) override;
  // All that it names is acknowledged.
  Outcome on_ack(const Answer& ack) override {
    Outcome outcome;
    settle(ack, outcome);
    return outcome;
  }
  // The transmission is lost, without waiting, unless the packet was sent again or acknowledged since. The
  // answer is a sign of life: the timeout begins anew.
  Outcome on_nack(const Answer& nack) override;
  Time deadline() const override {
    return in_flight_packets_ == 0 || gave_up() ? Time::max() : Time::ps(timer_.due_ps());
  }
  Outcome on_timer(Time now) override;
  bool gave_up() const override { return timer_.gave_up(); }

 protected:
  enum State : std::uint64_t {
    kInFlight = 0,
    kAcked = 1,
    kLost = 2,     // to be sent again
    kGivenUp = 3,  // it won't come, and isn't missed so far
  };
  // One word per packet: the time it was last sent, in picoseconds (good for 26 days), and its state.
  static std::uint64_t encode(std::int64_t sent_ps, State state) {
    return static_cast<std::uint64_t>(sent_ps) << 2 | state;
  }
  static State state(std::uint64_t word) { return static_cast<State>(word & 3); }
  static std::int64_t sent_ps(std::uint64_t word) { return static_cast<std::int64_t>(word >> 2); }
  std::uint64_t& slot(std::uint32_t number) { return ring_[number & (ring_.size() - 1)]; }

  // REQUIRES: first_ <= number < next_.
  void settle(std::uint32_t number, Outcome& outcome) {
    std::uint64_t& word = slot(number);
    const State was = state(word);
    if (was == kAcked) return;
    word = (word & ~std::uint64_t{3}) | kAcked;
    const std::uint32_t bytes = payload(number);
    ++outcome.acked_packets;
    outcome.acked_bytes += bytes;
    if (was == kInFlight) [[likely]] {
      --in_flight_packets_;
      in_flight_bytes_ -= bytes;
    } else if (was == kLost) {
      --lost_;
    }
  }
  void settle(std::uint32_t base, std::uint64_t sack, Outcome& outcome);
  // All below have arrived.
  void settle_below(std::uint32_t cumulative, Outcome& outcome) {
    for (std::uint32_t n = first_; n < cumulative; ++n) settle(n, outcome);
    pass_acked();
  }
  void pass_acked() {
    while (first_ < next_ && state(slot(first_)) == kAcked) ++first_;
    sizes_.forget_below(first_);
  }
  // Everything an ACK names, its round trip, and the sign of life that it is if any of that is new.
  void settle(const Answer& ack, Outcome& outcome) {
    if (ack.number >= first_) settle(ack.number, outcome);
    if (ack.sack != 0) [[unlikely]]
      settle(sack_base(ack.cumulative, ack.number), ack.sack, outcome);
    settle_below(ack.cumulative, outcome);
    timer_.sample(ack.now.ps() - ack.sent.ps());
    if (outcome.acked_packets > 0) timer_.progress(ack.now);
  }
  // How many beyond a missing one are acknowledged. REQUIRES: nothing is given up.
  std::uint32_t acked_out_of_order() const { return next_ - first_ - in_flight_packets_ - lost_; }

  // REQUIRES, of both: it is in flight.
  void declare_lost(std::uint32_t number, Outcome& outcome) {
    give_up(number, outcome);
    send_again(number);
  }
  void give_up(std::uint32_t number, Outcome& outcome);
  // REQUIRES: it was given up.
  void send_again(std::uint32_t number);
  // The timeout is over: what had its round trip, and a patience, is lost; the oldest anyway. REQUIRES:
  // something is in flight, !gave_up().
  void time_out(Time now, Time patience, Outcome& outcome);

  RetransmissionTimer timer_;
  std::int64_t oldest_ps_ = 0;  // no packet in flight was sent before this

 private:
  std::uint32_t lost_from_ = 0;  // no lost packet has a number below
};

}  // namespace weft::congestion
