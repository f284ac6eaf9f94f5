// Go-back-N and go-back-0: the receiver takes packets in their order only, as RDMA NICs long did.
#pragma once

#include <cstdint>
#include <deque>

#include "congestion/recoveries/retransmission_timer.h"
#include "congestion/recovery.h"

namespace weft::congestion {

// Sources: InfiniBand Architecture Specification, volume 1, §9.7 (one NACK for each gap, and everything from
// there on again); Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, §4.1 (go-back-0, which
// begins the message anew, and its livelock). Memory: none per packet.
class GoBackN final : public Recovery {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters& parameters);
    bool whole_message = false;  // go-back-0
  };

  GoBackN(const RecoverySetup& setup, const Settings& settings)
      : Recovery(setup), timer_(setup), whole_message_(settings.whole_message), went_back_(setup.signals) {}

  std::uint32_t next_to_send() override { return next_ - lost_; }
  void on_send(std::uint32_t number, Time at) override;
  Outcome on_ack(const Answer& ack) override;
  Outcome on_nack(const Answer& nack) override;
  Time deadline() const override {
    return in_flight_packets_ == 0 || gave_up() ? Time::max() : Time::ps(timer_.due_ps());
  }
  Outcome on_timer(Time now) override;
  bool gave_up() const override { return timer_.gave_up(); }

 private:
  void settle_below(std::uint32_t end, Time now, Outcome& outcome);
  void go_back(Time now, Outcome& outcome);

  RetransmissionTimer timer_;
  std::int64_t went_back_ps_ = 0;  // what was sent before is of no account
  std::uint32_t kept_ = 0;         // what the receiver has for good: go-back-0 takes first_ back to it
  bool whole_message_;
  std::uint64_t* went_back_;
};

// Takes the packet that is next, and tells once of each gap. With go-back-0 a message counts when all of it
// has come in one run; a gap makes it void.
class InOrderOnly final : public Reassembly {
 public:
  explicit InOrderOnly(const GoBackN::Settings& settings) : whole_message_(settings.whole_message) {}
  void append(std::uint32_t packets, std::uint64_t bytes) override;
  Verdict on_packet(std::uint32_t number, Arrivals& arrivals) override;

 private:
  std::uint32_t expected_ = 0;
  bool told_ = false;  // of the present gap
  bool whole_message_;
  std::uint32_t end_ = 0;           // these two with go-back-0 only
  std::deque<std::uint32_t> ends_;  // of messages, numbers behind their last packets
};

RecoveryKind go_back_n();

}  // namespace weft::congestion
